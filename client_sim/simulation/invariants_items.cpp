// What must hold of items: every one that a block left behind or that a treasure held is held, lies there or
// in a chest, became a block again, or is gone by a rule that counts it. Blocks are watched from outside, so
// that the world's own books are checked, too.

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "world/sim/block_acts.h"
#include "world/sim/dropped_items.h"
#include "world/sim/loot.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

using ByKind = std::array<std::int64_t, block_kinds_max>;

class NoItemIsLostOrDoubled final : public Invariant {
 public:
  std::string_view name() const override { return "no item is lost or doubled"; }
  /// The world goes on as it was last saved, and so do the books.
  void on_server_start(const Match& match) override {
    const std::uint64_t restored = match.kept().first_tick();
    while (!books_.empty() && books_.back().tick > restored) books_.pop_back();
    left_ = books_.empty() ? ByKind{} : books_.back().left;
    gone_before_ = books_.empty() ? 0 : books_.back().gone;
    while (!spent_.empty() && spent_.back().tick > restored) spent_.pop_back();
    brought_ = match.host()->world().items().counters().brought;
  }

  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord& record) override {
    const World& world = match.host()->world();
    if (world.setup().rules.free_blocks == FreeBlocks::yes) return std::nullopt;
    const std::uint64_t tick = match.kept().first_tick() + number(world.tick());
    std::uint64_t loot = 0;
    const BlockId treasure = world.setup().blocks->treasure();
    for (const AppliedEdit& edit : world.applied_edits()) {
      const bool hoard = treasure != BlockId::air && edit.before == treasure;
      if (hoard) {
        if (auto twice = spend(edit.block, tick)) return twice;
        loot += count_loot(world, edit.block);
      }
      // An operator has put one there.
      if (edit.after == treasure)
        std::erase_if(spent_, [&](const Spent& s) { return s.block == edit.block; });
      if (hoard && edit.after == world.setup().blocks->type(treasure).drops) continue;  // it was opened
      const BlockType& before = world.setup().blocks->type(edit.before);
      // What falls and what explodes leaves nothing behind; what a timer takes away does.
      const bool by_hand = edit.who != EntityId{0};
      if (by_hand && edit.after != BlockId::air)
        --left_[index(edit.after)];
      else if (edit.after == BlockId::air && before.drops != BlockId::air &&
               (by_hand ? dug(world, edit) : before.timer_s > 0 && before.blast_m == 0))
        ++left_[index(before.drops)];
    }
    take_gifts(world, record, loot);
    keep_book(match, tick);
    return std::nullopt;
  }

  /// After the Host has noted who left and who came.
  std::optional<Finding> after_clients(const Match& match) override {
    if (match.host() == nullptr) return std::nullopt;
    const World& world = match.host()->world();
    ByKind found{};
    const PlayerTable& players = world.players();
    for (std::size_t i = 0; i < players.rows(); ++i) {
      if (players.id[i] == EntityId{0}) continue;
      if (!sane(players.inventory[i])) return Finding{entity_name(players.id[i]), "its inventory is none"};
      for (const ItemStack& stack : players.inventory[i].slots) found[index(stack.kind)] += stack.count;
    }
    for (const ItemStack& stack : world.items().table().stack) found[index(stack.kind)] += stack.count;
    world.contents().each([&found](IVec3, const BlockData& data) {
      for (const ItemStack& stack : data.items.slots) found[index(stack.kind)] += stack.count;
    });
    std::int64_t missing = 0;
    for (std::size_t kind = 1; kind < found.size(); ++kind) {
      found[kind] += static_cast<std::int64_t>(match.audit().items_away[kind]);
      if (found[kind] > left_[kind])
        return Finding{"block " + std::to_string(kind), "there are " + std::to_string(found[kind]) +
                                                            " items of " + std::to_string(left_[kind])};
      missing += left_[kind] - found[kind];
    }
    const std::int64_t gone = gone_before_ + static_cast<std::int64_t>(world.items().counters().gone);
    if (missing == gone) return std::nullopt;
    return Finding{"server", std::to_string(missing) + " items are missing, " + std::to_string(gone) +
                                 " of them by rule"};
  }

 private:
  /// As of a tick, counted over all servers.
  struct Book {
    std::uint64_t tick = 0;
    ByKind left{};
    std::int64_t gone = 0;
  };
  /// Those of ticks that a kill may lead back to.
  void keep_book(const Match& match, std::uint64_t tick) {
    const World& world = match.host()->world();
    const std::int64_t gone = gone_before_ + static_cast<std::int64_t>(world.items().counters().gone);
    if (books_.empty() || books_.back().left != left_ || books_.back().gone != gone)
      books_.push_back({tick, left_, gone});
    while (books_.size() > 1 && books_[1].tick <= match.kept().saved_tick()) books_.pop_front();
  }

  /// A treasure that is none any more, as of a tick counted over all servers.
  struct Spent {
    std::uint64_t tick = 0;
    IVec3 block;
  };
  /// What a treasure holds comes into the world once, also where a server was killed afterwards.
  std::optional<Finding> spend(IVec3 block, std::uint64_t tick) {
    if (std::ranges::any_of(spent_, [block](const Spent& s) { return s.block == block; }))
      return Finding{
          "block " + std::to_string(block.x) + " " + std::to_string(block.y) + " " + std::to_string(block.z),
          "its treasure comes into the world a second time"};
    spent_.push_back({tick, block});
    return std::nullopt;
  }
  std::uint64_t count_loot(const World& world, IVec3 block) {
    const BlockData loot = loot_of(*world.setup().blocks, *world.setup().secret, block);
    for (const ItemStack& stack : loot.items.slots) left_[index(stack.kind)] += stack.count;
    return loot.items.count();
  }

  static bool dug(const World& world, const AppliedEdit& edit) {
    return std::ranges::any_of(world.block_acts().verdicts(), [&edit](const BlockVerdict& v) {
      return v.player == edit.who && v.block == edit.block && v.verdict == ActVerdict::done;
    });
  }
  static std::size_t index(BlockId kind) { return static_cast<std::size_t>(kind); }
  /// What an operator gave and there was room for: nothing else brings but who comes back, and treasures.
  void take_gifts(const World& world, const TickRecord& record, std::uint64_t loot) {
    const std::uint64_t brought = world.items().counters().brought;
    std::uint64_t gifts = brought - brought_ - loot;
    brought_ = brought;
    for (const Returning& returning : record.returning) gifts -= returning.inventory.count();
    // An operator of the simulation gives one kind of item.
    for (const AdminCommand& command : record.admin)
      if (command.action == AdminAction::give)
        left_[index(command.id)] += static_cast<std::int64_t>(std::exchange(gifts, 0));
  }

  std::deque<Book> books_;
  std::vector<Spent> spent_;  // in the order of their ticks
  std::int64_t gone_before_ = 0;
  std::uint64_t brought_ = 0;
  ByKind left_{};  // by kind: left behind, and not placed again
};

}  // namespace

void add_item_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<NoItemIsLostOrDoubled>());
}

}  // namespace ashlar::simulation
