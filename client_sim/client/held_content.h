#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/predictor.h"

namespace ashlar::client_sim {

/// Where a game keeps maps and props that it fetched from servers, as they came, by their hashes. Both may be
/// empty: then what the client has no more in its memory is fetched again.
struct ContentStore {
  /// What was kept of a hash; empty: nothing. It need not be trusted: what the hash does not fit is fetched.
  std::function<std::vector<std::uint8_t>(std::uint64_t hash)> load;
  std::function<void(std::uint64_t hash, std::span<const std::uint8_t> bytes)> keep;
};

/// The maps and props of one client: fetched from its servers, or kept from before. At most held_max stay in
/// memory. One thread.
class HeldContent {
 public:
  /// A world's, and as many of those before.
  static constexpr std::size_t held_max = 2 * (placed_maps_max + placed_props_max);

  explicit HeldContent(ContentStore store) : store_(std::move(store)) {}
  HeldContent(const HeldContent&) = delete;
  HeldContent& operator=(const HeldContent&) = delete;

  /// Has a session and its prediction look here for what a world is made of. @param client, prediction  of a
  /// client that does not outlive this
  void serve(ClientConfig& client, PredictorConfig& prediction);

  /// The map or prop; null: not held. The first call for one that was kept takes tens of milliseconds.
  std::shared_ptr<const PlacedMap> map(std::uint64_t hash);
  std::shared_ptr<const Prop> prop(std::uint64_t hash);

 private:
  struct Held {
    Content content;
    std::uint64_t used = 0;  // by uses_, last
  };
  const Content* find(std::uint64_t hash);
  const Content* keep(std::uint64_t hash, Content content);

  ContentStore store_;
  std::unordered_map<std::uint64_t, Held> known_;
  std::uint64_t uses_ = 0;
};

}  // namespace ashlar::client_sim
