#include "client_sim/client/held_content.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "world/bsp/placement.h"
#include "world/collide/prop.h"

namespace ashlar::client_sim {

void HeldContent::serve(ClientConfig& client, PredictorConfig& prediction) {
  client.content = [this](const WelcomeMap& wanted) {
    return map(wanted.content_hash) == nullptr ? std::nullopt : std::optional(wanted.content_hash);
  };
  client.prop_content = [this](const WelcomeProp& wanted) {
    return prop(wanted.content_hash) == nullptr ? std::nullopt : std::optional(wanted.content_hash);
  };
  client.map = [this](const WelcomeMap& wanted) { return map(wanted.content_hash); };
  client.fetched = [this](const ContentFetch::Fetched& fetched) {
    keep(fetched.hash, fetched.content.value());
    if (store_.keep) store_.keep(fetched.hash, fetched.bytes);
  };
  prediction.map = client.map;
  prediction.prop = [this](const WelcomeProp& wanted) { return prop(wanted.content_hash); };
}

const Content* HeldContent::find(std::uint64_t hash) {
  if (const auto at = known_.find(hash); at != known_.end()) {
    at->second.used = ++uses_;
    return &at->second.content;
  }
  if (!store_.load) return nullptr;
  const std::vector<std::uint8_t> bytes = store_.load(hash);
  if (bytes.empty() || bytes.size() > content_bytes_max) return nullptr;
  auto kept = decode_content(bytes, hash);
  if (!kept) return nullptr;
  return keep(hash, *std::move(kept));
}

/// In place of what was not used for longest where there are too many. No two were used last at once, so it
/// is the same one whatever the order of the table.
const Content* HeldContent::keep(std::uint64_t hash, Content content) {
  if (known_.size() >= held_max && !known_.contains(hash))
    known_.erase(std::ranges::min_element(known_, {}, [](const auto& held) { return held.second.used; }));
  return &known_.insert_or_assign(hash, Held{std::move(content), ++uses_}).first->second.content;
}

std::shared_ptr<const PlacedMap> HeldContent::map(std::uint64_t hash) {
  const Content* const held = find(hash);
  const auto* const map = held == nullptr ? nullptr : std::get_if<std::shared_ptr<const PlacedMap>>(held);
  return map == nullptr ? nullptr : *map;
}

std::shared_ptr<const Prop> HeldContent::prop(std::uint64_t hash) {
  const Content* const held = find(hash);
  const auto* const prop = held == nullptr ? nullptr : std::get_if<std::shared_ptr<const Prop>>(held);
  return prop == nullptr ? nullptr : *prop;
}

}  // namespace ashlar::client_sim
