// What a client does to blocks, and what it is told of them.

#include <algorithm>
#include <utility>

#include "client_sim/client/client.h"
#include "client_sim/client/client_tap.h"
#include "protocol/text.h"
#include "world/sim/day.h"
#include "world/voxel/terrain.h"

namespace ashlar::client_sim {
namespace {

/// Puts what is told of a block beside what is known of others. Where those are too many, which no server of
/// this version makes them, the one farthest from there goes.
template <typename Place, typename Held>
void know(std::map<Place, Held>& known, const Place& place, const Held& held, std::size_t most) {
  if (known.size() >= most && !known.contains(place)) {
    const auto distance2 = [&place](const auto& one) {
      const auto square = [](std::int64_t d) { return d * d; };
      const auto& [x, y, z] = one.first;
      return square(std::int64_t{x} - std::get<0>(place)) + square(std::int64_t{y} - std::get<1>(place)) +
             square(std::int64_t{z} - std::get<2>(place));
    };
    known.erase(std::ranges::max_element(known, {}, distance2));
  }
  known[place] = held;
}

}  // namespace

/// @return 0: it cannot be said, or there is no room for it
std::uint32_t Client::queue(BlockAct act) {
  if (static_cast<std::uint8_t>(act.face) >= block_face_count ||
      static_cast<std::uint8_t>(act.kind) >= block_act_kind_count)
    return 0;
  if (state_ != ClientState::playing || world_.acts_out.size() >= acts_queue_max) return 0;
  act.number = ++act_number_;
  world_.acts_out.push_back(act);
  return act.number;
}

std::uint32_t Client::act(BlockActKind kind, IVec3 block, BlockFace face, BlockId id) {
  const bool in_world = kind == BlockActKind::drop || VoxelVolume::in_range(chunk_of(block));
  if (!in_world) return 0;
  const std::uint32_t number = queue({{}, 0, kind, face, block, names_kind(kind) ? id : BlockId::air, 0, {}});
  if (kind != BlockActKind::place || number == 0) return number;
  const IVec3 target = block + normal_of(face);
  const bool refused = in_any_zone(welcome_.zones, target);  // as the server is going to say
  if (!refused) ground_.foresee({number, target, id});
  return number;
}

std::uint32_t Client::open_block(IVec3 block, BlockFace face) { return act(BlockActKind::open, block, face); }

std::uint32_t Client::close_block() { return act(BlockActKind::close, {}); }

std::uint32_t Client::take_from_block(BlockId kind, std::uint8_t count) {
  if (!opened_ || count < 1 || count > stack_items_max) return 0;
  return queue({{}, 0, BlockActKind::take, {}, opened_->block, kind, count, {}});
}

std::uint32_t Client::put_into_block(BlockId kind, std::uint8_t count) {
  if (!opened_ || count < 1 || count > stack_items_max) return 0;
  return queue({{}, 0, BlockActKind::put, {}, opened_->block, kind, count, {}});
}

std::uint32_t Client::write_sign(IVec3 block, BlockFace face, std::string_view text) {
  if (!valid_text(text, 0, sign_text_bytes_max)) return 0;
  return queue({{}, 0, BlockActKind::write, face, block, BlockId::air, 0, SignText::of(text)});
}

std::string_view Client::sign_text(IVec3 block) const {
  const auto at = signs_.find({block.x, block.y, block.z});
  return at == signs_.end() ? std::string_view() : at->second.view();
}

std::optional<std::uint64_t> Client::timer_ticks(IVec3 block) const {
  const auto at = timers_.find({block.x, block.y, block.z});
  if (at == timers_.end()) return std::nullopt;
  const std::uint64_t now = life_tick();
  return at->second > now ? at->second - now : 1;
}

int Client::sky() const { return sky_light(welcome_.rules, life_tick()); }

void Client::handle(const HeldByBlock& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  if (message.open)
    opened_ = {message.block, message.data};
  else if (opened_ && opened_->block == message.block)
    opened_.reset();
  const BlockPlace place(message.block.x, message.block.y, message.block.z);
  if (message.data.text.empty())
    signs_.erase(place);
  else
    know(signs_, place, message.data.text, signs_max);
  if (message.data.due == 0)
    timers_.erase(place);
  else
    know(timers_, place, message.data.due, signs_max);
}

std::uint32_t Client::drop_items(BlockId kind, std::uint16_t count) {
  return act(BlockActKind::drop, {count, 0, 0}, BlockFace::top, kind);
}

void Client::handle(const InventoryChange& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  if (message.whole) world_.inventory = Inventory{};
  for (const SlotChange& change : message.slots) world_.inventory.slots[change.slot] = change.stack;
}

std::vector<ActAnswer> Client::take_verdicts(std::size_t most) {
  const auto end =
      world_.verdicts.begin() + static_cast<std::ptrdiff_t>(std::min(most, world_.verdicts.size()));
  std::vector<ActAnswer> out(world_.verdicts.begin(), end);
  world_.verdicts.erase(world_.verdicts.begin(), end);
  return out;
}

/// With the command that is numbered now, so that both are judged in one tick.
void Client::send_acts() {
  if (!world_.command_due) return;
  while (!world_.acts_out.empty()) {
    Acts message;
    message.tick = world_.filled_tick;
    message.world = welcome_.world;
    bool writes = false;
    for (const BlockAct& act : world_.acts_out) {
      const bool second = act.kind == BlockActKind::write && std::exchange(writes, true);
      if (message.act_count == acts_max || second) break;
      message.acts[message.act_count++] = act;
    }
    if (connection_->send(StreamId::edits, writer_.write(message)) != SendResult::sent) return;
    for (std::uint8_t i = 0; i < message.act_count; ++i) {
      if (world_.acts_sent.size() == acts_sent_max) world_.acts_sent.erase(world_.acts_sent.begin());
      world_.acts_sent.push_back({message.tick, message.acts[i], ActVerdict::progress});
      if (config_.tap != nullptr) config_.tap->act_out(message.tick, message.acts[i]);
    }
    world_.acts_out.erase(world_.acts_out.begin(), world_.acts_out.begin() + message.act_count);
  }
}

void Client::handle(const ActAnswers& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  if (config_.tap != nullptr) config_.tap->answers_in(message);
  for (const ActAnswer& answer : message.answers) {
    ground_.take(answer);
    const auto sent =
        std::ranges::find(world_.acts_sent, answer.number, [](const SentAct& s) { return s.act.number; });
    if (sent != world_.acts_sent.end()) sent->answer = answer.verdict;
    if (answer.verdict == ActVerdict::done) ++stats_.acts_done;
    const bool changes = sent != world_.acts_sent.end() &&
                         (sent->act.kind == BlockActKind::dig || sent->act.kind == BlockActKind::place);
    if (answer.verdict == ActVerdict::done && changes) ++stats_.blocks_changed;
    if (refused(answer.verdict)) ++stats_.acts_refused;
    if (world_.verdicts.size() == verdicts_max) world_.verdicts.erase(world_.verdicts.begin());
    world_.verdicts.push_back(answer);
  }
}

void Client::handle(const Saved& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  world_.saved_tick = std::max(world_.saved_tick, message.tick);
  if (config_.tap != nullptr) config_.tap->saved_in(message.tick);
}

void Client::handle(const BlockEdits& message) {
  if (!greeted_ || message.world != welcome_.world || !knows_blocks()) return drop(DropReason::wrong_state);
  if (config_.light) return;
  if (world_.own && !ground_.room_for(message.changes.size()))
    ground_.forget_far(chunk_of(block_at(world_.own->body.position_m)), message.chunk);
  take_ground(ground_.take(message));
}

/// @param wrong  null: it was taken
void Client::take_ground(const char* wrong) {
  if (wrong != nullptr)
    close(SessionEnd::protocol, ClientState::lost,
          "the server's ground cannot be read: " + std::string(wrong));
}

/// Who keeps no picture of the world needs none.
bool Client::wants_ground() const {
  const bool known = terrain_known(welcome_.terrain, welcome_.generator);
  return !config_.light && (config_.stream_ground || !known);
}

void Client::handle(const GroundChunk& message) {
  if (!greeted_ || message.world != welcome_.world || !knows_blocks() || !ground_.streamed().streams())
    return drop(DropReason::wrong_state);
  ++stats_.chunks_told;
  stats_.chunks_kept += message.bytes.empty() ? 1 : 0;
  stats_.chunk_bytes += message_.size();
  take_ground(ground_.take(message));
}

void Client::handle(const GroundGone& message) {
  if (!greeted_ || message.world != welcome_.world || !ground_.streamed().streams())
    return drop(DropReason::wrong_state);
  ground_.take(message);
}

}  // namespace ashlar::client_sim
