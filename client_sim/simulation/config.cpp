#include "client_sim/simulation/config.h"

#include "protocol/secure/seeded_entropy.h"
#include "world/bsp/placement.h"
#include "world/math/random.h"

namespace ashlar::simulation {

std::shared_ptr<const PlacedMap> map_at(const SimulationConfig& config, std::string_view name,
                                        IVec2 origin_block) {
  for (const auto& map : config.maps)
    if (map->name() == name && map->options().origin_block == origin_block) return map;
  return nullptr;
}

std::expected<LineTrouble, std::string> line_from_text(std::string_view text) {
  const auto shares =
      rates_from_text(text, FaultRates::none(), "KIND=SHARE with a share of 0 to 60 per cent");
  if (!shares) return std::unexpected{shares.error()};
  LineTrouble line;
  for (std::size_t i = 0; i < fault_kind_count; ++i) {
    const double share = shares->per_minute[i];
    switch (const auto kind = static_cast<FaultKind>(i)) {
      case FaultKind::loss: line.loss = share; break;
      case FaultKind::reorder: line.reorder = share; break;
      case FaultKind::duplicate: line.duplicate = share; break;
      case FaultKind::corrupt: line.corrupt = share; break;
      default:
        if (share != 0)
          return std::unexpected{"a line knows loss, reorder, duplicate and corrupt, not '" +
                                 std::string(name(kind)) + "'"};
    }
  }
  return line;
}

secure::Secret drawn_secret(const SimulationConfig& config, std::uint64_t purpose, std::uint64_t number) {
  return secure::SeededEntropy(rng_for(config.seed, purpose, number).next_u64()).secret();
}

secure::KeyPair server_identity(const SimulationConfig& config) {
  return secure::key_pair(drawn_secret(config, 0x1de, 0));
}

std::uint64_t world_secret(const SimulationConfig& config) {
  return rng_for(config.seed, 0x10de, 0).next_u64() >> 16 | 1;  // as long as a server's, and never none
}

}  // namespace ashlar::simulation
