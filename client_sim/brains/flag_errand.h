#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client_sim/client/client.h"

namespace ashlar::client_sim {

/// Where one who plays capture the flag has to be, in games that tell of flags as the example does
/// (world/examples/capture/capture.h): a kind named "flag" with a field "carrier". Knows nothing but its
/// client's picture; what it saw of a flag it remembers.
class FlagErrand {
 public:
  /// Takes in what is seen. @param home_m  where the player last began
  void look(const Client& client, std::span<const ViewEntity> seen, DVec3 home_m);
  /// Home with the other team's flag, after whoever carries ours, or to the other's flag; nullopt: there are
  /// no flags, or none to go to is known.
  std::optional<DVec3> place_m(EntityId player) const;

 private:
  struct Flag {
    EntityId id{}, carrier{};
    DVec3 base_m, at_m;  // where it was first, and last, seen
  };
  const Flag* own() const;

  std::vector<Flag> flags_;
  DVec3 home_m_;
  std::uint8_t world_ = 0;
};

}  // namespace ashlar::client_sim
