// What a client and its server say to each other in a session.

#include <algorithm>
#include <utility>

#include "client_sim/client/client.h"
#include "protocol/packed_input.h"
#include "world/voxel/terrain.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros input_repeat{std::chrono::milliseconds{100}};
constexpr std::uint32_t reach_growth = 8;

/// Who can neither compute the ground nor is told how high it is would fall through it.
std::string ground_unknown(const Welcome& welcome) {
  return "the server's ground is " + std::string(name(static_cast<TerrainKind>(welcome.terrain))) +
         " (kind " + std::to_string(welcome.terrain) + ") of generator " + std::to_string(welcome.generator) +
         ", and this client has generator " + std::to_string(terrain_generator) +
         ": take the client of the server's version";
}

}  // namespace

void Client::note_round_trip() {
  const RoundTrip& measured = connection_->round_trip();
  if (measured.samples() == rtt_samples_) return;
  rtt_samples_ = measured.samples();
  const Micros rtt = measured.latest();
  if (rtt > now_ - rtt_from_) return;
  stats_.rtt.add(rtt);
  rtt_ = rtt_ == Micros{0} ? rtt : (rtt_ * 7 + rtt) / 8;
  clock_.take_round_trip(now_, rtt);
}

void Client::take_messages() {
  for (std::size_t i = 0; i < stream_count; ++i)
    while (!ended() && connection_->take(static_cast<StreamId>(i), message_))
      take_message(static_cast<StreamId>(i));
}

/// Nothing of it can be believed any more; but what is only unknown comes of a newer server.
void Client::undecodable(DropReason reason) {
  drop(reason);
  if (reason == DropReason::unknown_message) return;
  close(SessionEnd::protocol, ClientState::lost,
        "the server said what is no message (" + std::string(name(reason)) + ")");
}

void Client::take_message(StreamId stream) {
  auto message = decode_server_message(message_);
  if (!message) return undecodable(message.error());
  if (config_.tap != nullptr) config_.tap->stream_in(stream, server_message_name(message_), message_.size());
  if (auto* welcome = std::get_if<Welcome>(&*message); welcome != nullptr && stream == StreamId::control)
    return handle(*welcome);
  if (auto* kinds = std::get_if<BlockKinds>(&*message); kinds != nullptr && stream == StreamId::control)
    return handle(*kinds);
  if (auto* weapons = std::get_if<WeaponKinds>(&*message); weapons != nullptr && stream == StreamId::control)
    return handle(*weapons);
  if (auto* shows = std::get_if<MonsterShows>(&*message); shows != nullptr && stream == StreamId::control)
    return handle(*shows);
  if (auto* told = std::get_if<ReplicatedKinds>(&*message); told != nullptr && stream == StreamId::control)
    return handle(*told);
  if (auto* said = std::get_if<GameMessage>(&*message); said != nullptr && stream == StreamId::events)
    return handle(*said);
  if (auto* score = std::get_if<Score>(&*message); score != nullptr && stream == StreamId::events)
    return handle(*score);
  if (const auto* carried = std::get_if<Carried>(&*message); carried != nullptr && stream == StreamId::events)
    return handle(*carried);
  if (auto* line = std::get_if<ChatLine>(&*message); line != nullptr && stream == StreamId::chat)
    return handle(*line);
  if (auto* answers = std::get_if<ActAnswers>(&*message); answers != nullptr && stream == StreamId::edits)
    return handle(*answers);
  if (auto* edits = std::get_if<BlockEdits>(&*message); edits != nullptr && stream == StreamId::edits)
    return handle(*edits);
  if (const auto* saved = std::get_if<Saved>(&*message); saved != nullptr && stream == StreamId::edits)
    return handle(*saved);
  if (const auto* held = std::get_if<HeldByBlock>(&*message); held != nullptr && stream == StreamId::edits)
    return handle(*held);
  if (const auto* held = std::get_if<InventoryChange>(&*message);
      held != nullptr && stream == StreamId::events)
    return handle(*held);
  if (auto* fight = std::get_if<Fight>(&*message); fight != nullptr && stream == StreamId::events)
    return handle(*fight);
  if (const auto* chunk = std::get_if<GroundChunk>(&*message); chunk != nullptr && stream == StreamId::bulk)
    return handle(*chunk);
  if (const auto* gone = std::get_if<GroundGone>(&*message); gone != nullptr && stream == StreamId::bulk)
    return handle(*gone);
  if (auto* part = std::get_if<ContentPart>(&*message); part != nullptr && stream == StreamId::bulk)
    return handle(*part);
  if (auto* no = std::get_if<ContentRefused>(&*message); no != nullptr && stream == StreamId::bulk)
    return handle(*no);
  drop(DropReason::wrong_state);
}

void Client::take_unreliable(std::span<const std::uint8_t> bytes) {
  if (config_.tap != nullptr) config_.tap->unreliable_in(bytes);
  SnapshotPart part;
  if (is_packed_part(bytes)) {
    auto reader = PackedPartReader::open(bytes);
    if (!reader) return undecodable(DropReason::malformed);
    if (!begin_part(reader->head(), part)) return;
    if (!config_.light && !packed_.take(*reader, view_, part)) return undecodable(DropReason::malformed);
    return take_part(part, config_.light || packed_.whole());
  }
  const auto message = decode_server_message(bytes);
  if (!message) return undecodable(message.error());
  const auto* plain = std::get_if<PlainPart>(&*message);
  if (plain == nullptr) return drop(DropReason::wrong_state);
  if (!begin_part(*plain, part)) return;
  if (!config_.light && !packed_.take(*plain, view_, part)) return undecodable(DropReason::malformed);
  take_part(part, config_.light || packed_.whole());
}

/// A part of a snapshot, before what it tells of entities and sectors goes into the view. False: that is not
/// to be looked at.
bool Client::begin_part(const PartHead& head, SnapshotPart& part) {
  // Parts of a world that is gone, or that is not welcomed yet, tell nothing.
  if (!greeted_ || head.world != welcome_.world) return drop(DropReason::wrong_state), false;
  if (ending_) return false;
  static_cast<PartHead&>(part) = head;
  // It counts as arrived: the server must hear that we hold nothing of it.
  if (!believable(head.tick)) return packed_.lost(), drop(DropReason::out_of_range), false;
  return true;
}

void Client::handle(Welcome& message) {
  const bool first = !std::exchange(greeted_, true);
  const bool again = first && welcomed_;
  welcome_ = std::move(message);
  welcomed_ = true;
  resuming_ = false;
  handshakes_.stop();
  // A session that goes on is told anew what is still so, and never that the rest ended meanwhile.
  opened_.reset();
  signs_.clear();
  timers_.clear();
  take_content();
  // Whose player is in the world knows its blocks.
  const bool goes_on = again && welcome_.resumed && missing_maps_.empty() && knows_blocks();
  if (config_.tap != nullptr) config_.tap->welcomed(welcome_, goes_on);
  stats_.resumes += goes_on ? 1 : 0;
  stats_.rejoins += again && !goes_on ? 1 : 0;
  if (!terrain_known(welcome_.terrain, welcome_.generator) && welcome_.columns.count() == 0)
    return close(SessionEnd::unknown_terrain, ClientState::refused, ground_unknown(welcome_));
  if (!missing_maps_.empty() && !config_.fetched) return lack("give its file");
  // Who does not know what blocks are like cannot tell what is solid, nor read what is told of other kinds.
  kinds_told_ = false;
  join_waits_ = !knows_world();
  ground_.begin_stream(wants_ground());
  if (goes_on) {
    started_at_ = now_;  // who waited for its first snapshot waits for that of this session
    state_ = world_.snapshot_tick != 0 ? ClientState::playing : ClientState::joining;
    if (!join_waits_) send_join();
    return;
  }
  begin_world();
  begin_fetch();
  if (!fetching_ && !join_waits_) join_world();
}

void Client::handle(BlockKinds& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  if (message.kinds->hash() != welcome_.blocks_hash)
    return close(SessionEnd::protocol, ClientState::lost,
                 "the server's kinds of blocks are not those that its welcome named");
  // Those that it knows stay the same object: what was made with them goes on.
  if (!knows_blocks()) blocks_ = std::move(message.kinds), ground_.use_kinds(blocks_);
  join_if_ready();
}

/// Forgets the world that was; the welcome says all that is to be known of the new one.
void Client::begin_world() {
  ++stats_.worlds;
  state_ = ClientState::joining;
  if (stats_.worlds > 1) started_at_ = now_;
  world_ = InWorld{};
  last_snapshot_ = now_;
  ground_.clear();
  view_.reset(welcome_.rules.tick_rate_hz);
  sectors_ = SectorForecast({}, welcome_.rules.tick_rate_hz, sectors_.changes() + 1);
  packed_.reset(welcome_.rules.tick_rate_hz, welcome_.snapshot_every_ticks, replication_);
  cues_.reset();
  // A world whose monsters show as usual says nothing of it.
  if (MonsterShows usual{{}, welcome_.world}; !welcome_.resumed && !kind_shows_of(*kinds_).empty())
    handle(usual);
  skipped_before_ += clock_.skipped();
  clock_.reset(welcome_.rules.tick_rate_hz, config_.lead_ticks, welcome_.snapshot_every_ticks);
  if (rtt_samples_ == 0) rtt_ = Micros{0};
  if (rtt_ > Micros{0}) clock_.take_round_trip(now_, rtt_);
}

/// A tick far ahead of the clock would make every true one after it look old. The reach grows faster than
/// the server's ticks, for who was away for long: what its socket had kept told of the first seconds only.
bool Client::believable(std::uint32_t tick) const {
  const std::int64_t elapsed_ticks =
      (now_ - last_snapshot_).count() * welcome_.rules.tick_rate_hz / 1'000'000;
  const std::uint32_t reach =
      reach_growth * static_cast<std::uint32_t>(elapsed_ticks) + 5u * welcome_.rules.tick_rate_hz;
  const std::uint32_t known = std::max(world_.snapshot_tick, welcome_.tick);
  return tick <= known || tick - known <= reach;
}

/// @param whole  nothing that is news in it was left out
void Client::take_part(const SnapshotPart& message, bool whole) {
  if (state_ == ClientState::joining) {
    state_ = ClientState::playing;
    played_ = true;
    if (stats_.joined_after == Micros{0}) stats_.joined_after = now_ - started_at_;
    last_snapshot_ = hungry_since_ = now_;
  }
  count_snapshot(message, whole);
  view_.take(message);
  hear(message.tick, message.part, message.cues);
  if (config_.map) sectors_.take(message);
  if (message.tick < world_.snapshot_tick) return;
  world_.snapshot_tick = message.tick;
  world_.applied_tick = std::max(world_.applied_tick, message.applied_tick);
  if (!message.own) return;
  command_.yaw = command_.yaw + (message.own->delta_yaw - delta_yaw());
  world_.own = message.own;
  world_.own_tick = message.tick;
}

/// Of what is more than 64 ticks late nobody knows whether it is another part of what was there in time.
void Client::count_overtaken(std::uint32_t tick) {
  const std::uint32_t back = world_.parts_tick - tick;
  if (back >= 64 || (world_.ticks_heard >> back & 1) != 0) return;
  world_.ticks_heard |= std::uint64_t{1} << back;
  ++stats_.snapshots_overtaken;
}

void Client::count_snapshot(const SnapshotPart& message, bool whole) {
  if (message.tick < world_.parts_tick) return count_overtaken(message.tick);
  if (message.tick > world_.parts_tick) {
    const std::uint32_t on = message.tick - world_.parts_tick;
    world_.ticks_heard = (on < 64 ? world_.ticks_heard << on : 0) | 1;
    world_.parts_tick = message.tick;
    world_.parts_have = 0;
    ++stats_.snapshots;
    stats_.longest_gap = std::max(stats_.longest_gap, now_ - last_snapshot_);
    last_snapshot_ = hungry_since_ = now_;
    world_.in_long_gap = false;
    if (message.input_ahead != input_ahead_none)
      ++stats_.leads[static_cast<std::size_t>(std::clamp<int>(message.input_ahead + 1, 0, 15))];
    if (!clock_.running())
      clock_.start(now_, message.tick);
    else
      clock_.observe(
          now_, message.tick,
          message.input_ahead == input_ahead_none ? std::nullopt : std::optional<int>{message.input_ahead});
  }
  if (whole) ++world_.parts_have;
  if (!whole || world_.parts_have != message.part_count) return;
  ++stats_.snapshots_complete;
  world_.complete_tick = world_.parts_tick;
}

void Client::handle(ChatLine& message) {
  if (chat_in_.size() == chat_in_max) chat_in_.erase(chat_in_.begin());
  chat_in_.push_back(std::move(message));
}

void Client::number_commands() {
  PlayerCommand numbered = command_;
  numbered.yaw = command_.yaw - delta_yaw();
  const bool own_seen = numbered.seen != TickId{0};
  while (clock_.next(now_)) {
    world_.command_due = true;
    ++stats_.commands;
    // Ticks that were jumped over carry the present command: it is what the player wanted. The clock also
    // jumps while snapshots are read, so what counts is how far the commands reach.
    const std::uint32_t newest = clock_.newest_tick();
    // Before the first one the player stood.
    if (world_.filled_tick == 0) {
      world_.first_command_tick = newest;
      world_.filled_tick = world_.sent_tick = newest - 1;
    }
    const std::uint32_t count =
        std::min(newest - world_.filled_tick, static_cast<std::uint32_t>(world_.commands.size()));
    world_.filled_tick = newest;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t tick = newest - i;
      if (!own_seen) {
        numbered.seen = world_.view_lag_ticks == 0 ? TickId{world_.complete_tick}
                                                   : TickId{tick - std::min(tick, world_.view_lag_ticks)};
        const ToldTicks::Pair told = world_.told.around(numbered.seen);
        numbered.told_before = told.before, numbered.told_after = told.after;
      }
      world_.commands[tick % world_.commands.size()] = numbered;
    }
  }
  stats_.commands_skipped = skipped_before_ + clock_.skipped();
}

/// What is foreseen of the newest command, as it is said to the server.
void Client::foresee(Foresight* foresight) {
  if (foresight == nullptr) return;
  const std::optional<OwnPlayer> own = foresight->foresee(now_, *this);
  if (own && world_.command_due) packed_.foresee(world_.filled_tick, *own);
}

void Client::send_inputs(DatagramBatch& out) {
  // While the clock waits for the server the last input is repeated: it shows that we are here.
  if (world_.filled_tick == 0 || (!world_.command_due && now_ - last_input_ < input_repeat)) return;
  // Who is called a few times a second has more to say than one packet holds, of what is not played yet.
  const auto held = static_cast<std::uint32_t>(world_.commands.size());
  const std::uint32_t newest = world_.filled_tick, oldest = newest - std::min(newest, held);
  std::uint32_t said = std::max({world_.sent_tick, world_.snapshot_tick, oldest});
  while (said < newest && newest - said > input_commands_max)
    if (!send_input(said += input_commands_max, out)) return;
  // Where the path holds no more, the next one says it again.
  if (!send_input(newest, out)) return;
  last_input_ = now_;
  world_.sent_tick = newest;
  world_.command_due = false;
}

/// The commands of a tick and of those before it. @return false: the path holds no more
bool Client::send_input(std::uint32_t newest_tick, DatagramBatch& out) {
  Input input;
  input.world = welcome_.world;
  input.newest_tick = newest_tick;
  input.snapshot_tick = world_.snapshot_tick;
  input.lost_epoch = packed_.lost_epoch();
  input.foreseen = packed_.foreseen_hash(newest_tick);
  const std::uint32_t settled = std::max(world_.applied_tick, world_.first_command_tick - 1);
  const std::uint32_t open = input.newest_tick > settled ? input.newest_tick - settled : 1;
  input.command_count = static_cast<std::uint8_t>(std::clamp<std::uint32_t>(open, 1, input_commands_max));
  for (std::uint32_t i = 0; i < input.command_count; ++i)
    input.commands[i] = world_.commands[(input.newest_tick - i) % world_.commands.size()];
  std::array<std::uint8_t, packed_input_bytes_max> packed;
  const auto message = config_.takes_packed ? write_packed_input(input, packed) : writer_.write(input);
  if (!connection_->send_unreliable(now_, message, out)) return false;
  if (config_.tap != nullptr) config_.tap->input_out(message.size());
  return true;
}

/// One line at a time, so that a session that goes on over another connection says few of them twice.
void Client::send_chat() {
  if (chat_out_.empty()) return;
  if (chat_sent_) {
    if (connection_->status().queue_bytes[row(StreamId::chat)] > 0) return;
    chat_out_.pop_front();
    chat_sent_ = false;
    if (chat_out_.empty()) return;
  }
  chat_sent_ = connection_->send(StreamId::chat, writer_.write(Chat{chat_out_.front()})) == SendResult::sent;
}

}  // namespace ashlar::client_sim
