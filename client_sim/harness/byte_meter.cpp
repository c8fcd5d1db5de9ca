#include "client_sim/harness/byte_meter.h"

#include <algorithm>
#include <numeric>

#include "protocol/decode.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/snapshot/plain_codec.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<std::string_view, byte_use_count> use_names{
    "seals",       "frames", "streams", "snapshot heads", "own player", "sector heights", "sector motions",
    "block heads", "blocks", "fields",  "cues",           "inputs up",  "seals up",       "frames up"};
constexpr std::size_t first_up = static_cast<std::size_t>(ByteUse::inputs);

ByteUse use_of(PackedItem item) {
  switch (item) {
    case PackedItem::own:
    case PackedItem::own_foreseen: return ByteUse::own;
    case PackedItem::heights: return ByteUse::heights;
    case PackedItem::motion: return ByteUse::motions;
    case PackedItem::fields: return ByteUse::fields;
    case PackedItem::cues: return ByteUse::cues;
    case PackedItem::blocks:
    case PackedItem::gone:
    case PackedItem::moved: break;
  }
  return ByteUse::block_heads;
}

}  // namespace

std::string_view name(ByteUse use) { return use_names[static_cast<std::size_t>(use)]; }

std::uint64_t KindBytes::all_bits() const {
  return std::accumulate(bits.begin(), bits.end(), std::uint64_t{0});
}

void ByteMeter::begin_world(std::uint16_t tick_rate_hz, std::uint16_t snapshot_every_ticks) {
  tick_rate_hz_ = tick_rate_hz, snapshot_every_ticks_ = snapshot_every_ticks;
  view_.reset(tick_rate_hz);
  memory_.reset(tick_rate_hz, snapshot_every_ticks);
}

void ByteMeter::replicated(const std::shared_ptr<const ReplicationRegistry>& registry) {
  memory_.reset(tick_rate_hz_, snapshot_every_ticks_, registry);
}

void ByteMeter::welcomed(const Welcome& welcome, bool goes_on) {
  if (goes_on) return memory_.begin_session();
  begin_world(welcome.rules.tick_rate_hz, welcome.snapshot_every_ticks);
}

void ByteMeter::unreliable_in(std::span<const std::uint8_t> message) {
  auto reader = PackedPartReader::open(message);
  if (!reader) return add_plain(message);
  snapshots_ += reader->head().part == 0 ? 1 : 0;
  PackedPartReader items = *reader;
  add(ByteUse::head, message.size() - items.bytes_left());
  for (std::size_t left = items.bytes_left(); const auto entry = items.next(); left = items.bytes_left()) {
    const std::size_t bytes = left - items.bytes_left();
    const std::size_t told = entry->item == PackedItem::blocks ? entry->bytes.size() : 0;
    add(ByteUse::blocks, told);
    add(use_of(entry->item), bytes - told);
  }
  SnapshotPart part;
  memory_.take(*reader, view_, part, this);
}

/// What FlatBuffers wrap it in counts as the head.
void ByteMeter::add_plain(std::span<const std::uint8_t> message) {
  const auto decoded = decode_server_message(message);
  const auto* part = decoded ? std::get_if<PlainPart>(&*decoded) : nullptr;
  if (part == nullptr) return add(ByteUse::head, message.size());
  snapshots_ += part->part == 0 ? 1 : 0;
  std::size_t told = 0;
  const auto count = [&](ByteUse use, std::size_t bytes) { add(use, bytes), told += bytes; };
  count(ByteUse::own, part->own ? plain_own_bytes : 0);
  count(ByteUse::heights, part->slices.size_bytes() + part->heights.size_bytes());
  count(ByteUse::motions, part->motions.size_bytes());
  count(ByteUse::block_heads, part->blocks.size_bytes() + part->gone.size_bytes() + part->moved.size_bytes());
  count(ByteUse::blocks, part->entities.size_bytes() + part->removed.size_bytes());
  count(ByteUse::fields, part->fields.size_bytes() + part->groups.size_bytes() + part->grouped.size_bytes() +
                             part->values.size_bytes());
  count(ByteUse::cues, part->cues.size() * plain_cue_bytes);
  add(ByteUse::head, message.size() - told);
}

void ByteMeter::stream_in(StreamId, std::string_view what, std::size_t bytes) {
  add(ByteUse::streams, bytes);
  MessageBytes& alike = messages_[what];
  ++alike.count, alike.bytes += bytes;
}
void ByteMeter::input_out(std::size_t bytes) { add(ByteUse::inputs, bytes); }

void ByteMeter::wire(std::uint64_t packets_in, std::uint64_t bytes_in, std::uint64_t packets_out,
                     std::uint64_t bytes_out) {
  // What came twice, or of an earlier session, may make the parts more than the whole.
  const auto rest = [](std::uint64_t whole, std::uint64_t parts) {
    return whole > parts ? whole - parts : 0;
  };
  add(ByteUse::seal, packets_in * secure::seal_overhead_bytes);
  add(ByteUse::frames, rest(bytes_in, bytes_down()));
  add(ByteUse::seal_up, packets_out * secure::seal_overhead_bytes);
  add(ByteUse::frames_up, rest(bytes_out, bytes_up()));
}

void ByteMeter::merge(const ByteMeter& other) {
  for (std::size_t i = 0; i < uses_.size(); ++i) uses_[i] += other.uses_[i];
  for (const auto& [kind, theirs] : other.kinds_) {
    KindBytes& ours = kinds_[kind];
    for (std::size_t i = 0; i < ours.bits.size(); ++i) ours.bits[i] += theirs.bits[i];
    ours.changes += theirs.changes, ours.wholes += theirs.wholes;
  }
  for (const auto& [what, theirs] : other.messages_) {
    MessageBytes& ours = messages_[what];
    ours.count += theirs.count, ours.bytes += theirs.bytes;
  }
  for (const auto& [cell, bytes] : other.cells_) cells_[cell] += bytes;
  frame_bits_ += other.frame_bits_, snapshots_ += other.snapshots_;
}

std::uint64_t ByteMeter::bytes_down() const {
  return std::accumulate(uses_.begin(), uses_.begin() + first_up, std::uint64_t{0});
}
std::uint64_t ByteMeter::bytes_up() const {
  return std::accumulate(uses_.begin() + first_up, uses_.end(), std::uint64_t{0});
}

void ByteMeter::field(EntityKind kind, BlockField field, unsigned bits) {
  kinds_[kind].bits[static_cast<std::size_t>(field)] += bits;
}

void ByteMeter::entity(EntityKind kind, bool whole) {
  ++(whole ? kinds_[kind].wholes : kinds_[kind].changes);
}

}  // namespace ashlar::client_sim
