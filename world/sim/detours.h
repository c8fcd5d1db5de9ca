#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/hash.h"
#include "world/nav/detour.h"
#include "world/sim/tables.h"

namespace ashlar {

/// Who hunts by a way and gets no nearer gets a detour (nav/detour.h): one search at a time for a whole
/// world, by at most cells_per_tick a tick, so a crowd that stands in its own way costs no more than one
/// monster. Part of the world's state and hash. Nothing allocates after construction.
class Detours {
 public:
  static constexpr std::size_t held_max = 32;  ///< detours that are walked at one time
  static constexpr std::uint32_t cells_per_tick = 64;
  static constexpr std::uint32_t patience_ticks = 120;  ///< so long without getting nearer
  static constexpr std::uint32_t walked_ticks_max = 360;

  Detours() = default;
  explicit Detours(std::size_t monster_rows);

  /// How far a row still has to go to whom it hunts; call every now and then.
  /// @return true: it has not come nearer for long, and a search may begin for it
  bool gets_no_nearer(std::size_t row, EntityId target, double remaining_m, std::uint32_t tick);
  bool searching() const { return searched_ != nobody; }
  std::size_t searched() const { return searched_; }
  /// Precondition: no search goes on.
  void begin(const MonsterTable& monsters, std::size_t row, const Cylinder& shape, double step_m,
             std::uint32_t tick);
  /// Goes on with the search, through the map and by the field that its row hunts by.
  /// @return true: it is over, and nothing leads on from there
  bool advance(const LeafGraph& graph, const WayRules& rules, const WayField& ways,
               const MonsterTable& monsters, std::uint32_t tick);
  /// Its row is gone, or hunts no more.
  void give_up() { searched_ = nobody; }
  /// Points that were come to are behind, and who is elsewhere is on its way again. Call once a tick.
  void follow(const MonsterTable& monsters, std::uint32_t tick);

  /// Where a row goes first.
  std::optional<DVec2> next(std::size_t row) const;
  std::uint64_t found() const { return found_; }
  void add_to_hash(StripeHasher& hash) const;

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};
  static constexpr std::uint8_t none = 0xff;
  static_assert(held_max < none);
  struct Progress {
    EntityId target{};
    float best_m = 0;
    std::uint32_t since_tick = 0;
    std::uint8_t held = none;
  };
  struct Held {
    EntityId id{};  // of the monster; 0: free
    std::size_t row = 0;
    std::size_t at = 0;
    std::uint32_t since_tick = 0;
    Detour way;
  };
  void drop(Held& held);

  std::vector<Progress> progress_;  // by monster row
  std::vector<Held> held_;
  std::size_t searched_ = nobody;
  EntityId searched_id_{};
  DetourSearch search_;
  std::uint64_t found_ = 0;
};

}  // namespace ashlar
