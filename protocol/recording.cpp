#include "protocol/recording.h"

#include <algorithm>
#include <cstring>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/player_life_codec.h"
#include "protocol/recording_header.h"
#include "protocol/text.h"
#include "world/math/hash.h"
#include "world/sim/replication.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr char magic[8] = {'A', 'S', 'H', 'R', 'E', 'C', '0', '1'};
constexpr std::size_t list_max = 1u << 20;
constexpr std::size_t slots_max = 1u << entity_slot_bits;

namespace section {
constexpr std::uint64_t joins = 1, leaves = 2, commands = 4, admin = 8, edits = 16, ready = 32, dropped = 64,
                        acts = 128, returning = 256, calls = 512, watchers = 1024, lives = 2048,
                        told_apart = 4096, kept = 8192, names = 16384, away = 32768;
constexpr std::uint64_t known = 65535;
}  // namespace section

namespace field {
constexpr std::uint8_t id = 1, forward = 2, left = 4, yaw = 8, pitch = 16, buttons = 32, seen = 64,
                       told = 128;
}

std::uint64_t block_check(std::span<const std::uint8_t> payload) {
  Hasher hasher;
  hasher.add_bytes(payload);
  return hasher.value();
}

void put_block(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> payload) {
  ByteWriter w(out);
  w.u32(static_cast<std::uint32_t>(payload.size()));
  w.u64(block_check(payload));
  out.insert(out.end(), payload.begin(), payload.end());
}

void put(ByteWriter& w, IVec3 v) { w.svarint(v.x), w.svarint(v.y), w.svarint(v.z); }
void put(ByteWriter& w, ChunkCoord v) { put(w, IVec3{v.x, v.y, v.z}); }

IVec3 get_ivec3(ByteReader& r, bool& sane) {
  IVec3 v;
  v.x = get_i32(r, sane);
  v.y = get_i32(r, sane);
  v.z = get_i32(r, sane);
  return v;
}

PlayerInput& last_of(std::vector<PlayerInput>& last, EntityId id) {
  const std::size_t slot = slot_of(id);
  if (last.size() <= slot) last.resize(slot + 1);
  return last[slot];
}

/// Who gets a snapshot each tick sees one tick more in each: only what differs from that is written.
std::uint32_t next_seen(const PlayerCommand& last) {
  return last.seen == TickId{0} ? 0 : number(last.seen) + 1;
}

void put_command(ByteWriter& w, PlayerInput& last, const PlayerInput& now) {
  const PlayerCommand& a = last.command;
  const PlayerCommand& b = now.command;
  std::uint8_t changed = 0;
  if (last.player != now.player) changed |= field::id;
  if (a.forward != b.forward) changed |= field::forward;
  if (a.left != b.left) changed |= field::left;
  if (a.yaw != b.yaw) changed |= field::yaw;
  if (a.pitch != b.pitch) changed |= field::pitch;
  if (a.buttons != b.buttons) changed |= field::buttons;
  if (next_seen(a) != number(b.seen)) changed |= field::seen;
  if (a.told_before != b.told_before || a.told_after != b.told_after) changed |= field::told;
  w.varint(slot_of(now.player));
  w.u8(changed);
  if (changed & field::id) w.varint(generation_of(now.player));
  if (changed & field::forward) w.f64(b.forward);
  if (changed & field::left) w.f64(b.left);
  if (changed & field::yaw) w.u16(static_cast<std::uint16_t>(b.yaw));
  if (changed & field::pitch) w.u16(static_cast<std::uint16_t>(b.pitch));
  if (changed & field::buttons) w.u16(b.buttons);
  if (changed & field::seen) w.svarint(std::int64_t{number(b.seen)} - std::int64_t{next_seen(a)});
  if (changed & field::told) w.u8(b.told_before), w.u8(static_cast<std::uint8_t>(b.told_after));
  last = now;
}

bool get_command(ByteReader& r, std::vector<PlayerInput>& last_inputs, PlayerInput& out) {
  const std::uint64_t slot = r.varint();
  const std::uint8_t changed = r.u8();
  if (!r.ok() || slot >= slots_max) return false;
  PlayerInput& last = last_of(last_inputs, make_entity_id(static_cast<std::uint32_t>(slot), 0));
  if (changed & field::id) {
    const std::uint64_t generation = r.varint();
    if (generation == 0 || generation > 4095) return false;
    last.player = make_entity_id(static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(generation));
  }
  PlayerCommand& c = last.command;
  if (changed & field::forward) c.forward = r.f64();
  if (changed & field::left) c.left = r.f64();
  if (changed & field::yaw) c.yaw = Turn16{r.u16()};
  if (changed & field::pitch) c.pitch = Turn16{r.u16()};
  if (changed & field::buttons) c.buttons = r.u16();
  const std::uint64_t seen =
      next_seen(c) + (changed & field::seen ? static_cast<std::uint64_t>(r.svarint()) : 0);
  if (seen > UINT32_MAX) return false;
  c.seen = TickId{static_cast<std::uint32_t>(seen)};
  if (changed & field::told) c.told_before = r.u8(), c.told_after = static_cast<std::int8_t>(r.u8());
  const bool axes = c.forward >= -1 && c.forward <= 1 && c.left >= -1 && c.left <= 1;
  // A slot's first command has to say whose it is.
  if (!r.ok() || !axes || last.player == EntityId{}) return false;
  out = last;
  return true;
}

/// A list's length, refused when it could not fit into what is left (each element takes a byte at least).
bool get_count(ByteReader& r, std::size_t& count) {
  const std::uint64_t v = r.varint();
  if (!r.ok() || v > list_max || v > r.left()) return false;
  count = static_cast<std::size_t>(v);
  return true;
}

bool get_admin(ByteReader& r, AdminCommand& out) {
  const std::uint8_t action = r.u8();
  if (action >= admin_action_count) return false;
  out.action = static_cast<AdminAction>(action);
  out.player = EntityId{r.u32()};
  out.position_m.x = r.f64();
  out.position_m.y = r.f64();
  out.position_m.z = r.f64();
  if (out.action == AdminAction::fill_box) {
    bool sane = true;
    out.box.min = get_ivec3(r, sane);
    out.box.max = get_ivec3(r, sane);
    const std::uint16_t id = r.u16();
    out.id = static_cast<BlockId>(id);
    if (!sane || id >= block_kinds_max) return false;
  }
  if (out.action == AdminAction::blast) out.radius_m = r.f64();
  if (out.action == AdminAction::give) {
    const std::uint16_t id = r.u16();
    out.id = static_cast<BlockId>(id);
    out.count = r.u16();
    if (id >= block_kinds_max) return false;
  }
  if (out.action == AdminAction::fill_block) {
    bool sane = true;
    out.box.min = get_ivec3(r, sane);
    if (!sane || !get_block_data(r, out.data)) return false;
  }
  return r.ok() && in_bounds(out.position_m);
}

bool get_returning(ByteReader& r, Returning& out) {
  out.token = r.u32();
  return get_inventory(r, out.inventory);
}

bool get_call(ByteReader& r, GameCall& out) {
  out.player = EntityId{r.u32()};
  out.message = r.u8();
  const std::string_view bytes = r.text(game_call_bytes_max);
  out = GameCall::of(out.player, out.message,
                     {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return r.ok() && (out.message == GameCall::chat_command || out.message < game_messages_max);
}

static_assert(PlayerName::bytes_max == 4 * player_name_chars_max);

bool get_name(ByteReader& r, PlayerName& out) {
  const std::string_view text = r.text(PlayerName::bytes_max);
  out = PlayerName(text);
  return r.ok() && (text.empty() || valid_player_name(text));
}

bool get_away(ByteReader& r, AwayChange& out) {
  out.player = EntityId{r.u32()};
  const std::uint8_t away = r.u8();
  out.away = away != 0;
  return away <= 1 && get_name(r, out.name);
}

bool get_told_apart(ByteReader& r, ToldApart& out) {
  out.shooter = EntityId{r.u32()};
  out.target = EntityId{r.u32()};
  out.told_before = r.u8();
  out.told_after = static_cast<std::int8_t>(r.u8());
  return r.ok();
}

/// Kinds and faces in one byte; any block and any id, as the world judges them.
bool get_act(ByteReader& r, BlockAct& out) {
  bool sane = true;
  out.player = EntityId{r.u32()};
  out.number = r.u32();
  const std::uint8_t what = r.u8();
  const std::uint8_t kind = what >> 4, face = what & 15;
  if (kind >= block_act_kind_count || face >= block_face_count) return false;
  out.kind = static_cast<BlockActKind>(kind);
  out.face = static_cast<BlockFace>(face);
  out.block = get_ivec3(r, sane);
  out.id = names_kind(out.kind) ? static_cast<BlockId>(r.u16()) : BlockId::air;
  if (moves_items(out.kind)) out.count = r.u8();
  if (out.kind == BlockActKind::write) {
    BlockData held;
    if (!get_block_data(r, held) || !held.items.empty()) return false;
    out.text = held.text;
  }
  return r.ok() && sane;
}

bool get_edit(ByteReader& r, BlockEdit& out) {
  bool sane = true;
  out.block = get_ivec3(r, sane);
  const std::uint16_t id = r.u16();
  out.id = static_cast<BlockId>(id);
  return r.ok() && sane && id < block_kinds_max;
}

template <class T, class Get>
bool get_list(ByteReader& r, std::vector<T>& out, Get get) {
  std::size_t count = 0;
  if (!get_count(r, count)) return false;
  out.resize(count);
  return std::ranges::all_of(out, get);
}

bool get_tick(ByteReader& r, std::vector<PlayerInput>& last, TickRecord& out) {
  out.clear();
  const std::uint64_t sections = r.varint();
  if (!r.ok() || (sections & ~section::known) != 0) return false;
  const auto chunk = [&r](ChunkCoord& c) {
    bool sane = true;
    const IVec3 v = get_ivec3(r, sane);
    c = {v.x, v.y, v.z};
    return sane && r.ok() && VoxelVolume::in_range(c);
  };
  bool good = true;
  if (sections & section::joins)
    good = good && get_list(r, out.joins, [&r](auto& v) { return v = r.u32(), r.ok(); });
  if (sections & section::leaves)
    good = good && get_list(r, out.leaves, [&r](auto& v) { return v = EntityId{r.u32()}, r.ok(); });
  if (sections & section::commands)
    good = good && get_list(r, out.commands, [&](auto& v) { return get_command(r, last, v); });
  if (sections & section::admin)
    good = good && get_list(r, out.admin, [&r](auto& v) { return get_admin(r, v); });
  if (sections & section::edits)
    good = good && get_list(r, out.edits, [&r](auto& v) { return get_edit(r, v); });
  if (sections & section::ready) good = good && get_list(r, out.chunks_ready, chunk);
  if (sections & section::dropped) good = good && get_list(r, out.chunks_dropped, chunk);
  if (sections & section::kept) {
    ChunkCodec codec;
    good = good && get_list(r, out.chunks_kept, [&](auto& v) { return get_recorded_chunk(r, codec, v); });
  }
  if (sections & section::acts) good = good && get_list(r, out.acts, [&r](auto& v) { return get_act(r, v); });
  if (sections & section::returning)
    good = good && get_list(r, out.returning, [&r](auto& v) { return get_returning(r, v); });
  if (sections & section::calls)
    good = good && get_list(r, out.calls, [&r](auto& v) { return get_call(r, v); });
  if (sections & section::watchers)
    good = good && get_list(r, out.watchers, [&r](auto& v) { return v = r.u32(), r.ok(); });
  if (sections & section::lives)
    good = good &&
           std::ranges::all_of(out.returning, [&r](Returning& v) { return get_life(r, v.score, v.life); });
  if (sections & section::told_apart)
    good = good && get_list(r, out.told_apart, [&r](auto& v) { return get_told_apart(r, v); });
  if (sections & section::names)
    good = good && get_list(r, out.names, [&r](auto& v) { return v.token = r.u32(), get_name(r, v.name); });
  if (sections & section::away)
    good = good && get_list(r, out.away, [&r](auto& v) { return get_away(r, v); });
  out.hash = r.u64();
  return good && r.ok();
}

/// Which of them a tick has.
std::uint64_t sections_of(const TickRecord& tick) {
  std::uint64_t sections = 0;
  if (!tick.joins.empty()) sections |= section::joins;
  if (!tick.leaves.empty()) sections |= section::leaves;
  if (!tick.commands.empty()) sections |= section::commands;
  if (!tick.admin.empty()) sections |= section::admin;
  if (!tick.edits.empty()) sections |= section::edits;
  if (!tick.chunks_ready.empty()) sections |= section::ready;
  if (!tick.chunks_dropped.empty()) sections |= section::dropped;
  if (!tick.chunks_kept.empty()) sections |= section::kept;
  if (!tick.acts.empty()) sections |= section::acts;
  if (!tick.returning.empty()) sections |= section::returning;
  if (!tick.calls.empty()) sections |= section::calls;
  if (!tick.watchers.empty()) sections |= section::watchers;
  if (!tick.told_apart.empty()) sections |= section::told_apart;
  if (!tick.names.empty()) sections |= section::names;
  if (!tick.away.empty()) sections |= section::away;
  const bool lives = std::ranges::any_of(tick.returning, [](const Returning& v) {
    return !(v.score == KeptScore{}) || !(v.life == PlayerLife{});
  });
  if (lives) sections |= section::lives;
  return sections;
}

}  // namespace

const char* describe(RecordingError error) {
  switch (error) {
    case RecordingError::not_a_recording: return "not an Ashlar recording";
    case RecordingError::wrong_version: return "written by another version of the recording format";
    case RecordingError::damaged_header: return "the header is damaged";
    case RecordingError::damaged_block: return "a block in the middle is damaged";
    case RecordingError::bad_tick: return "a tick holds values that are out of range";
  }
  return "unknown";
}

void TickRecord::clear() {
  joins.clear(), leaves.clear(), commands.clear(), admin.clear(), edits.clear();
  chunks_ready.clear(), chunks_kept.clear(), chunks_dropped.clear();
  acts.clear(), returning.clear(), calls.clear(), watchers.clear(), told_apart.clear();
  names.clear(), away.clear();
  hash = 0;
}

void TickRecord::assign(const TickInput& input) {
  joins.assign(input.joins.begin(), input.joins.end());
  leaves.assign(input.leaves.begin(), input.leaves.end());
  commands.assign(input.commands.begin(), input.commands.end());
  admin.assign(input.admin.begin(), input.admin.end());
  edits.assign(input.edits.begin(), input.edits.end());
  chunks_ready.clear();
  chunks_kept.clear();
  for (const ReadyChunk& ready : input.chunks_ready) {
    chunks_ready.push_back(ready.at);
    if (ready.kept != nullptr) chunks_kept.push_back({ready.at, ready.kept});
  }
  chunks_dropped.assign(input.chunks_dropped.begin(), input.chunks_dropped.end());
  acts.assign(input.acts.begin(), input.acts.end());
  returning.assign(input.returning.begin(), input.returning.end());
  calls.assign(input.calls.begin(), input.calls.end());
  watchers.assign(input.watchers.begin(), input.watchers.end());
  told_apart.assign(input.told_apart.begin(), input.told_apart.end());
  names.assign(input.names.begin(), input.names.end());
  away.assign(input.away.begin(), input.away.end());
  hash = 0;
}

RecordingWriter::RecordingWriter(const RecordingHeader& header, std::uint32_t ticks_per_block)
    : ticks_per_block_(std::max(1u, ticks_per_block)) {
  head_.assign(std::begin(magic), std::end(magic));
  put_block(head_, encode_recording_header(header));
}

void RecordingWriter::add(const TickRecord& tick) {
  ByteWriter w(payload_);
  const std::uint64_t sections = sections_of(tick);
  const bool lives = (sections & section::lives) != 0;
  w.varint(sections);
  const auto list = [&w](const auto& values, auto put_one) {
    if (values.empty()) return;
    w.varint(values.size());
    for (const auto& v : values) put_one(v);
  };
  list(tick.joins, [&w](std::uint32_t v) { w.u32(v); });
  list(tick.leaves, [&w](EntityId v) { w.u32(static_cast<std::uint32_t>(v)); });
  list(tick.commands, [&](const PlayerInput& v) { put_command(w, last_of(last_, v.player), v); });
  list(tick.admin, [&w](const AdminCommand& v) {
    w.u8(static_cast<std::uint8_t>(v.action));
    w.u32(static_cast<std::uint32_t>(v.player));
    w.f64(v.position_m.x), w.f64(v.position_m.y), w.f64(v.position_m.z);
    if (v.action == AdminAction::fill_box)
      put(w, v.box.min), put(w, v.box.max), w.u16(static_cast<std::uint16_t>(v.id));
    if (v.action == AdminAction::blast) w.f64(v.radius_m);
    if (v.action == AdminAction::give) w.u16(static_cast<std::uint16_t>(v.id)), w.u16(v.count);
    if (v.action == AdminAction::fill_block) put(w, v.box.min), put_block_data(w, v.data);
  });
  list(tick.edits, [&w](const BlockEdit& v) { put(w, v.block), w.u16(static_cast<std::uint16_t>(v.id)); });
  list(tick.chunks_ready, [&w](ChunkCoord v) { put(w, v); });
  list(tick.chunks_dropped, [&w](ChunkCoord v) { put(w, v); });
  list(tick.chunks_kept, [&w](const ChangedChunk& v) { put_recorded_chunk(w, v); });
  list(tick.acts, [&w](const BlockAct& v) {
    w.u32(static_cast<std::uint32_t>(v.player));
    w.u32(v.number);
    w.u8(static_cast<std::uint8_t>(static_cast<unsigned>(v.kind) << 4 | static_cast<unsigned>(v.face)));
    put(w, v.block);
    if (names_kind(v.kind)) w.u16(static_cast<std::uint16_t>(v.id));
    if (moves_items(v.kind)) w.u8(v.count);
    if (v.kind == BlockActKind::write) put_block_data(w, {{}, v.text});
  });
  list(tick.returning, [&w](const Returning& v) { w.u32(v.token), put_inventory(w, v.inventory); });
  list(tick.calls, [&w](const GameCall& v) {
    w.u32(static_cast<std::uint32_t>(v.player));
    w.u8(v.message);
    w.text(v.text());
  });
  list(tick.watchers, [&w](std::uint32_t v) { w.u32(v); });
  if (lives)
    for (const Returning& v : tick.returning) put_life(w, v.score, v.life);
  list(tick.told_apart, [&w](const ToldApart& v) {
    w.u32(static_cast<std::uint32_t>(v.shooter)), w.u32(static_cast<std::uint32_t>(v.target));
    w.u8(v.told_before), w.u8(static_cast<std::uint8_t>(v.told_after));
  });
  list(tick.names, [&w](const JoinName& v) { w.u32(v.token), w.text(v.name.text()); });
  list(tick.away, [&w](const AwayChange& v) {
    w.u32(static_cast<std::uint32_t>(v.player)), w.u8(v.away ? 1 : 0), w.text(v.name.text());
  });
  w.u64(tick.hash);
  ++ticks_in_block_;
}

void RecordingWriter::take(std::vector<std::uint8_t>& out) {
  out.insert(out.end(), head_.begin(), head_.end());
  head_.clear();
  if (payload_.empty()) return;
  put_block(out, payload_);
  payload_.clear();
  ticks_in_block_ = 0;
}

/// Magic and first block: its payload is block_ then.
std::expected<void, RecordingError> RecordingReader::read_head() {
  if (bytes_.size() < sizeof magic || std::memcmp(bytes_.data(), magic, sizeof magic) != 0)
    return std::unexpected{RecordingError::not_a_recording};
  position_ = sizeof magic;
  const auto block = next_block();
  if (!block || !*block) return std::unexpected{RecordingError::damaged_header};
  return {};
}

std::optional<std::uint32_t> version_of_recording(std::span<const std::uint8_t> bytes) {
  RecordingReader reader(bytes);
  if (!reader.read_head()) return std::nullopt;
  ByteReader r(reader.block_);
  const std::uint32_t version = r.u32();
  return r.ok() ? std::optional(version) : std::nullopt;
}

std::expected<RecordingReader, RecordingError> RecordingReader::open(std::span<const std::uint8_t> bytes) {
  RecordingReader reader(bytes);
  if (const auto head = reader.read_head(); !head) return std::unexpected{head.error()};
  auto header = decode_recording_header(reader.block_);
  if (!header) return std::unexpected{header.error()};
  reader.header_ = std::move(*header);
  reader.in_block_ = reader.block_.size();
  return reader;
}

std::expected<bool, RecordingError> RecordingReader::next_block() {
  const std::span<const std::uint8_t> rest = bytes_.subspan(position_);
  if (rest.empty()) return false;
  if (rest.size() < recording_block_head_bytes) return torn_ = true, false;
  ByteReader r(rest);
  const std::size_t size = r.u32();
  const std::uint64_t check = r.u64();
  if (size > recording_block_bytes_max) return std::unexpected{RecordingError::damaged_block};
  if (size > rest.size() - recording_block_head_bytes) return torn_ = true, false;
  const auto payload = rest.subspan(recording_block_head_bytes, size);
  if (block_check(payload) != check) {
    // Wrong, and nothing but zeros behind it: a torn write that left a hole, of a block or of several.
    const auto behind = rest.subspan(recording_block_head_bytes + size);
    if (std::ranges::all_of(behind, [](std::uint8_t byte) { return byte == 0; })) return torn_ = true, false;
    return std::unexpected{RecordingError::damaged_block};
  }
  block_ = payload;
  in_block_ = 0;
  position_ += recording_block_head_bytes + size;
  return true;
}

std::expected<bool, RecordingError> RecordingReader::next(TickRecord& out) {
  while (in_block_ == block_.size()) {
    const auto block = next_block();
    if (!block || !*block) return block;
  }
  ByteReader r(block_.subspan(in_block_));
  if (!get_tick(r, last_, out)) return std::unexpected{RecordingError::bad_tick};
  in_block_ += r.position();
  return true;
}

}  // namespace ashlar
