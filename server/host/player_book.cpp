#include "server/host/player_book.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "world/math/prefetch.h"

namespace ashlar::server {

namespace {

/// Is somebody other than it was said to be? Who walks and fights only now and then (`asked`), so that not
/// all are written in one tick, who died or lives again at once.
bool tells(const KeptPlayer& told, const KeptPlayer& now, bool asked) {
  if ((told.life.health == 0) != (now.life.health == 0)) return true;
  return asked &&
         (!(told.position_m == now.position_m) || !(told.life == now.life) || !(told.score == now.score));
}

}  // namespace

void PlayerBook::begin_world(std::uint32_t players_max, std::uint16_t tick_rate_hz) {
  place_every_ticks_ = place_every_s * tick_rate_hz;
  away_.clear();
  ranks_.clear();
  present_.assign(players_max, {});
  departed_.clear();
  returning_.clear();
  arrivals_.clear();
  changed_.clear();
}

void PlayerBook::remember(const KeptPlayer& player) { put_away(player); }

PlayerBook::Rank PlayerBook::next_rank(const Inventory& held) {
  const std::uint32_t items = held.count();
  const std::uint64_t bonus = most_away_ * static_cast<std::uint64_t>(std::bit_width(items)) / 4;
  const std::uint64_t order = next_order_++;
  return {items > 0, order + bonus, order};
}

void PlayerBook::put_away(const KeptPlayer& player) {
  const auto [at, is_new] = away_.try_emplace(player.identity);
  if (!is_new) ranks_.erase(at->second.rank);
  at->second = {player, next_rank(player.inventory)};
  ranks_.emplace(at->second.rank, player.identity);
}

void PlayerBook::forget(std::map<PlayerIdentity, Away>::iterator who) {
  ranks_.erase(who->second.rank);
  away_.erase(who);
}

void PlayerBook::make_room() {
  // More than one: an earlier run may have left more than are kept.
  for (int i = 0; i < 16 && away_.size() >= most_away_ && !away_.empty(); ++i) {
    const auto& [rank, identity] = *ranks_.begin();
    if (rank.holds) ++forgotten_;
    KeptPlayer& goes = changed_.emplace_back();
    goes.identity = identity;
    goes.gone = true;
    forget(away_.find(goes.identity));
  }
}

bool PlayerBook::worth_keeping(const Present& present) const {
  const KeptPlayer& player = present.player;
  if (!player.inventory.empty()) return true;
  if (player.score.score != 0 || player.score.kills != 0 || player.score.deaths != 0) return true;
  if (present.returned) return back_.place || back_.life;
  if (!present.seen) return false;
  const bool went = length(player.position_m - present.first_position_m) > place_kept_m;
  return (back_.place && went) || !(player.life == present.first_life);
}

void PlayerBook::tell(Present& present) {
  present.told = present.player;
  present.kept = true;
  changed_.push_back(present.player);
}

EntityId PlayerBook::body_of(const PlayerIdentity& identity) const {
  const auto found = std::ranges::find_if(present_, [&](const Present& present) {
    return present.id != EntityId{0} && present.player.identity == identity;
  });
  return found == present_.end() ? EntityId{0} : found->id;
}

Returning PlayerBook::bring(std::uint32_t session, const KeptPlayer& was) const {
  Returning out{session, was.inventory, was.score, {}};
  if (back_.life) out.life = was.life;
  return out;
}

void PlayerBook::collect(const World& world, const SessionTable& sessions, TickInputCollector& input) {
  returning_.clear();
  for (const std::uint32_t row : sessions.seated()) {
    const Session& session = sessions[row];
    if (session.state != SessionState::joining) continue;
    const EntityId body = body_of(session.identity);
    if (const int at = world.player_row(body); at >= 0) {
      // It leaves before anybody joins, and nothing happens in between.
      input.leave(body);
      // As of the last step, after which nothing happened to it.
      returning_.push_back(bring(row, present_[static_cast<std::size_t>(at)].player));
    } else if (const auto found = away_.find(session.identity); found != away_.end()) {
      returning_.push_back(bring(row, found->second.player));
    }
  }
}

void PlayerBook::note_departed(const Departed& departed) {
  Present& present = present_[slot_of(departed.id)];
  if (present.id != departed.id) return;  // its session was none of this Host's
  if (departed_.size() >= departed_max) departed_.pop_back();
  departed_.push_front({departed.id, present.player.identity, present.name});
  present.id = EntityId{0};
  present.player.inventory = departed.inventory;
  const KeptPlayer& player = present.player;
  // Nobody goes who holds something for one who holds nothing.
  const bool crowded = away_.size() >= most_away_ && !ranks_.empty() && ranks_.begin()->first.holds;
  if (!worth_keeping(present) || (crowded && departed.inventory.empty())) {
    if (!present.kept) return;
    changed_.push_back(player);
    changed_.back().gone = true;
    return;
  }
  make_room();
  put_away(player);
  changed_.push_back(player);
}

void PlayerBook::stepped(const World& world, const SessionTable& sessions) {
  changed_.clear();
  arrivals_.clear();
  for (const Departed& departed : world.departed()) note_departed(departed);
  for (const Joined& joined : world.joined()) {
    if (joined.id == EntityId{0}) continue;
    Present& present = present_[slot_of(joined.id)];
    present = {};
    present.id = joined.id;
    present.name = sessions[joined.token].name;
    present.told.life.health = 1;  // that it came is told of later, with where it walks
    present.player.identity = sessions[joined.token].identity;
    if (const auto found = away_.find(present.player.identity); found != away_.end()) {
      const KeptPlayer& was = found->second.player;
      present.player.inventory = was.inventory;
      if (back_.place && was.life.health > 0)
        arrivals_.push_back({joined.token, joined.id, was.position_m, was.yaw});
      present.returned = present.kept = true;
      forget(found);
    }
  }
  const PlayerTable& players = world.players();
  for (std::size_t row = 0; row < players.rows(); ++row) {
    if (const std::size_t later = row + 4; later < players.rows() && players.id[later] != EntityId{0}) {
      prefetch(&present_[later].player, sizeof(KeptPlayer));
      prefetch(&players.inventory[later], sizeof(Inventory));
    }
    Present& present = present_[row];
    if (present.id == EntityId{0} || players.id[row] != present.id) continue;
    KeptPlayer& player = present.player;
    player.position_m = players.body[row].position_m;
    player.yaw = players.yaw[row], player.pitch = players.pitch[row];
    // Where a spectator flew is no place to come back to.
    player.life = players.takes_part(row) ? keep_life(players, row, world.kinds_hash()) : PlayerLife{};
    player.score = keep_score(world.match(), row);
    const bool same_items = player.inventory == players.inventory[row];
    player.inventory = players.inventory[row];
    if (!std::exchange(present.seen, true)) {
      present.first_position_m = player.position_m;
      present.first_life = player.life;
    }
    if (same_items && !tells(present.told, player, (number(world.tick()) + row) % place_every_ticks_ == 0))
      continue;
    if (present.kept || worth_keeping(present)) tell(present);
  }
}

std::vector<KeptPlayer> PlayerBook::present() const {
  std::vector<KeptPlayer> here;
  for (const Present& present : present_)
    if (present.id != EntityId{0} && (present.kept || worth_keeping(present))) here.push_back(present.player);
  return here;
}

void PlayerBook::author_of(EntityId id, EditAuthor& out) const {
  if (id == EntityId{0}) return;
  const auto tell = [&out](const PlayerIdentity& identity, const std::string& name) {
    out.kind = EditAuthor::Kind::player;
    out.identity = identity;
    out.name = name;
  };
  const std::size_t slot = slot_of(id);
  if (slot < present_.size() && present_[slot].id == id)
    return tell(present_[slot].player.identity, present_[slot].name);
  const auto left = std::ranges::find(departed_, id, &DepartedAuthor::id);
  if (left != departed_.end()) tell(left->identity, left->name);
}

void PlayerBook::count_away(std::array<std::uint64_t, block_kinds_max>& out) const {
  out.fill(0);
  for (const auto& [identity, away] : away_)
    for (const ItemStack& stack : away.player.inventory.slots)
      out[static_cast<std::size_t>(stack.kind)] += stack.count;
}

}  // namespace ashlar::server
