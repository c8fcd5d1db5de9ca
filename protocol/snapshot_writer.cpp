#include "protocol/snapshot_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "protocol/schema/server_message_generated.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// Structs are copied between ours and the schema's as they are.
static_assert(std::endian::native == std::endian::little, "the wire is little endian");
static_assert(sizeof(wire::EntityRecord) == sizeof(EntityRecord));
static_assert(sizeof(wire::CellHeader) == sizeof(CellHeader));
static_assert(sizeof(wire::SectorRun) == sizeof(SectorRun));
static_assert(sizeof(wire::SectorHeight) == sizeof(WireHeights));
static_assert(sizeof(wire::SectorMotion) == sizeof(WireMotion));

// What a part costs at most beside its lists' contents: root, both tables with their virtual tables, list
// lengths and paddings. Measured at most 138; the rest is reserve for new fields.
constexpr std::size_t part_fixed_bytes = 144;
constexpr std::size_t part_room_bytes = unreliable_bytes_max - part_fixed_bytes;
constexpr std::size_t own_bytes = sizeof(wire::OwnPlayer);

static_assert(sizeof(CellHeader) == sizeof(EntityRecord));  // what snapshot_part_records_min counts alike
// A part is left with less than a header and a record: see add_block().
static_assert(part_room_bytes - block_bytes(1) >= snapshot_part_records_min * sizeof(EntityRecord));

static_assert(own_bytes + snapshot_sector_heights_max * sizeof(WireHeights) +
                  snapshot_sector_runs_max * sizeof(SectorRun) <=
              part_room_bytes);
static_assert(snapshot_motions_max * sizeof(WireMotion) <= part_room_bytes);

wire::Vec to_wire(DVec3 v) { return {v.x, v.y, v.z}; }

wire::OwnPlayer to_wire(const OwnPlayer& own) {
  const Body& b = own.body;
  return {to_wire(b.position_m),
          to_wire(b.velocity_mps),
          to_wire(b.recovery_velocity_mps),
          to_wire(b.recovery_target_m),
          to_wire(b.last_free_m),
          b.eye_offset_m,
          static_cast<std::uint32_t>(own.id),
          b.grounded,
          b.stuck_ticks,
          b.noclip,
          own.health};
}

/// What a part has before its blocks: the message up to the length of the list of blocks. FlatBuffers are
/// written from their end to their front, so the list that is made first lies last: blocks behind the frame
/// are in it once its length says so. What differs by receiver and part has a place in it, where each writes
/// its own.
struct Frame {
  alignas(8) std::array<std::uint8_t, unreliable_bytes_max> bytes{};
  std::size_t size = 0;
  // Where these are; own and its turn only with an own player.
  std::size_t tick = 0, applied_tick = 0, world = 0, input_ahead = 0, refresh_ticks = 0;
  std::size_t part = 0, part_count = 0, own = 0, own_delta_yaw = 0;

  template <class Value>
  void set(std::size_t place, Value value) {
    std::memcpy(bytes.data() + place, &value, sizeof value);
  }
};

/// Which frame and which blocks, [first_block, first_block + block_count) of those laid out.
struct PartLayout {
  std::size_t frame = 0;
  std::size_t first_block = 0;
  std::size_t block_count = 0;
  std::size_t block_bytes = 0;
};

/// What a frame holds that is the same for all receivers.
struct FrameContent {
  bool own = false;  // a place for the own player
  std::span<const SectorRun> runs;
  std::span<const WireHeights> heights;
  std::span<const WireMotion> motions;
};

/// A list of our structs as one of the schema's; none for none.
/// CreateVectorOfStructs aligns by the struct's alignment. The variant that hands out uninitialised memory
/// aligns by its size, which is wrong for sizes that are no power of two.
template <class Wire, class Ours>
flatbuffers::Offset<flatbuffers::Vector<const Wire*>> list_of(flatbuffers::FlatBufferBuilder& fbb,
                                                              std::span<const Ours> list) {
  if (list.empty()) return {};
  return fbb.CreateVectorOfStructs(reinterpret_cast<const Wire*>(list.data()), list.size());
}

void build_frame(flatbuffers::FlatBufferBuilder& fbb, const FrameContent& content, Frame& out) {
  using wire::Snapshot;
  fbb.Clear();
  fbb.ForceDefaults(true);  // every number gets its place
  const auto blocks = fbb.CreateVector(static_cast<const std::uint8_t*>(nullptr), 0);  // see Frame
  const auto runs = list_of<wire::SectorRun>(fbb, content.runs);
  const auto heights = list_of<wire::SectorHeight>(fbb, content.heights);
  const auto motions = list_of<wire::SectorMotion>(fbb, content.motions);
  wire::SnapshotBuilder builder(fbb);
  const wire::OwnPlayer own{};
  if (content.own) {
    builder.add_own(&own);
    builder.add_own_delta_yaw(0);
  }
  builder.add_sector_runs(runs);
  builder.add_sector_heights(heights);
  builder.add_sector_motions(motions);
  builder.add_blocks(blocks);
  builder.add_tick(0);
  builder.add_applied_tick(0);
  builder.add_world(0);
  builder.add_input_ahead(0);
  builder.add_refresh_ticks(0);
  builder.add_part(0);
  builder.add_part_count(0);
  const auto snapshot = builder.Finish();
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::Snapshot, snapshot.Union()),
             wire::ServerMessageIdentifier());

  const std::span<const std::uint8_t> message(fbb.GetBufferPointer(), fbb.GetSize());
  out.size = message.size();
  ASHLAR_ASSERT(out.size <= out.bytes.size());
  std::ranges::copy(message, out.bytes.begin());
  const auto* root = flatbuffers::GetRoot<flatbuffers::Table>(out.bytes.data());
  const auto* body = root->GetPointer<const flatbuffers::Table*>(wire::ServerMessage::VT_BODY);
  const auto place_of = [&](flatbuffers::voffset_t field) {
    const std::uint8_t* at = body->GetAddressOf(field);
    ASHLAR_ASSERT(at != nullptr);
    return static_cast<std::size_t>(at - out.bytes.data());
  };
  out.tick = place_of(Snapshot::VT_TICK);
  out.applied_tick = place_of(Snapshot::VT_APPLIED_TICK);
  out.world = place_of(Snapshot::VT_WORLD);
  out.input_ahead = place_of(Snapshot::VT_INPUT_AHEAD);
  out.refresh_ticks = place_of(Snapshot::VT_REFRESH_TICKS);
  out.part = place_of(Snapshot::VT_PART);
  out.part_count = place_of(Snapshot::VT_PART_COUNT);
  out.own = content.own ? place_of(Snapshot::VT_OWN) : 0;
  out.own_delta_yaw = content.own ? place_of(Snapshot::VT_OWN_DELTA_YAW) : 0;
}

void fill_frame(const SnapshotHead& head, Frame& out) {
  out.set(out.tick, head.tick);
  out.set(out.applied_tick, head.applied_tick);
  out.set(out.world, head.world);
  out.set(out.input_ahead, head.input_ahead);
  out.set(out.refresh_ticks, head.refresh_ticks);
  if (out.own == 0) return;
  ASHLAR_ASSERT(head.own != nullptr);  // frames with a place for it are made for heads that have one
  out.set(out.own, to_wire(*head.own));
  out.set(out.own_delta_yaw, static_cast<std::uint16_t>(head.own->delta_yaw));
}

template <class Value>
bool same_bytes(std::span<const Value> a, std::span<const Value> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

WireHeights quantise_heights(const SectorHeights& heights) {
  const auto steps = [](double v_m) {
    const double clamped = v_m > 32767 ? 32767 : (v_m < -32767 ? -32767 : v_m);
    return static_cast<std::int32_t>(std::floor(clamped * height_steps_per_m + 0.5));
  };
  return {steps(heights.floor_m), steps(heights.ceiling_m)};
}

struct SnapshotWriter::Impl {
  flatbuffers::FlatBufferBuilder fbb{2 * datagram_bytes_max};
  // Of part 0, of part 1 where motions go on there, and of all others. Built when what all receivers of a
  // tick share changes, and filled for each receiver.
  static constexpr std::size_t frame_first = 0, frame_motions = 1, frame_rest = 2;
  std::array<Frame, 3> frames;
  bool frames_built = false, with_own = false;
  std::array<SectorRun, snapshot_sector_runs_max> runs{};
  std::array<WireHeights, snapshot_sector_heights_max> heights{};
  std::array<WireMotion, snapshot_motions_max> motions{};
  std::size_t run_count = 0, height_count = 0, motion_count = 0;
  std::size_t motions_first = 0;  // of them in part 0

  std::vector<CellBlock> blocks;  // laid out, as pieces where a part's end cuts one
  std::array<PartLayout, snapshot_parts_max> layouts{};
  std::size_t part_count = 0;
  std::size_t parts_max = 0;
  std::size_t filling = 0;  // the part that blocks go into
  std::size_t room = 0;     // bytes left in it

  void open_part(std::size_t frame) { layouts[part_count++] = {frame, 0, 0, 0}; }

  void fill(std::size_t part) {
    filling = part;
    layouts[part].first_block = blocks.size();
    room = unreliable_bytes_max - frames[layouts[part].frame].size;
  }

  bool fill_next_part() {
    if (filling + 1 == part_count) {
      if (part_count == parts_max) return false;
      open_part(frame_rest);
    }
    fill(filling + 1);
    return true;
  }

  void put(const CellBlock& block) {
    const std::size_t bytes = block_bytes(block.entities.size());
    blocks.push_back(block);
    ++layouts[filling].block_count;
    layouts[filling].block_bytes += bytes;
    room -= bytes;
  }

  bool same_sectors(std::span<const HeightBlock> given, std::span<const WireMotion> given_motions) const {
    if (!same_bytes(std::span(motions).first(motion_count), given_motions)) return false;
    if (given.size() != run_count) return false;
    std::size_t at = 0;
    for (std::size_t i = 0; i < run_count; ++i) {
      const HeightBlock& block = given[i];
      if (block.map != runs[i].map || block.first != runs[i].first || block.heights.size() != runs[i].count ||
          !same_bytes(std::span<const WireHeights>(heights).subspan(at, runs[i].count), block.heights))
        return false;
      at += runs[i].count;
    }
    return true;
  }

  void build_frames(bool own, std::span<const HeightBlock> given, std::span<const WireMotion> given_motions) {
    frames_built = true;
    with_own = own;
    run_count = height_count = 0;
    for (const HeightBlock& block : given) {
      ASHLAR_ASSERT(height_count + block.heights.size() <= snapshot_sector_heights_max);
      runs[run_count++] = {block.map, block.first, static_cast<std::uint16_t>(block.heights.size())};
      std::ranges::copy(block.heights, heights.begin() + static_cast<std::ptrdiff_t>(height_count));
      height_count += block.heights.size();
    }
    motion_count = given_motions.size();
    std::ranges::copy(given_motions, motions.begin());
    const std::size_t left = part_room_bytes - (own ? own_bytes : 0) - run_count * sizeof(SectorRun) -
                             height_count * sizeof(WireHeights);
    motions_first = std::min(motion_count, left / sizeof(WireMotion));
    const auto all = std::span<const WireMotion>(motions).first(motion_count);
    build_frame(fbb,
                {own, std::span(runs).first(run_count), std::span(heights).first(height_count),
                 all.first(motions_first)},
                frames[frame_first]);
    build_frame(fbb, {false, {}, {}, all.subspan(motions_first)}, frames[frame_motions]);
    build_frame(fbb, {}, frames[frame_rest]);
  }

  /// Lays out one block, in as many pieces as the parts' ends make of it. False when the parts are full:
  /// then the ids below `resume` are laid out.
  bool add_block(const CellBlock& block, EntityId& resume) {
    CellBlock rest = block;
    resume = block.first;
    while (room < block_bytes(rest.entities.size())) {
      // A piece costs a header, which is less than what stays empty without it.
      if (room >= block_bytes(1)) {
        const std::size_t fit = (room - sizeof(CellHeader)) / sizeof(EntityRecord);
        resume = EntityId{static_cast<std::uint32_t>(rest.entities[fit - 1].id) + 1};
        put(rest.below(resume));
        rest = rest.from(resume);
      }
      if (!fill_next_part()) return false;
    }
    put(rest);
    return true;
  }
};

SnapshotWriter::SnapshotWriter() : impl_(std::make_unique<Impl>()) {}
SnapshotWriter::~SnapshotWriter() = default;
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;
SnapshotWriter& SnapshotWriter::operator=(SnapshotWriter&&) noexcept = default;

SnapshotPlan SnapshotWriter::begin(const SnapshotHead& head, std::span<const CellBlock> blocks,
                                   std::span<const HeightBlock> heights, std::size_t parts_max,
                                   std::span<const WireMotion> motions) {
  ASHLAR_ASSERT(parts_max >= 1 && parts_max <= snapshot_parts_max);
  ASHLAR_ASSERT(motions.size() <= snapshot_motions_max);
  ASHLAR_ASSERT(heights.size() <= snapshot_sector_runs_max);
  Impl& im = *impl_;
  const bool own = head.own != nullptr;
  if (!im.frames_built || own != im.with_own || !im.same_sectors(heights, motions))
    im.build_frames(own, heights, motions);
  for (Frame& frame : im.frames) fill_frame(head, frame);
  im.blocks.clear();
  im.part_count = 0;
  im.parts_max = parts_max;
  im.open_part(Impl::frame_first);
  // Motions that part 0 has no room for go on in part 1.
  if (im.motions_first < im.motion_count && parts_max > 1) im.open_part(Impl::frame_motions);
  im.fill(0);

  SnapshotPlan plan;
  for (const CellBlock& block : blocks) {
    if (!im.add_block(block, plan.resume)) break;
    ++plan.blocks_taken;
  }
  plan.parts = im.part_count;
  return plan;
}

std::size_t SnapshotWriter::part_bytes(std::size_t part) const {
  const Impl& im = *impl_;
  ASHLAR_ASSERT(part < im.part_count);
  if (part + 1 < im.part_count) return unreliable_bytes_max;
  return im.frames[im.layouts[part].frame].size + im.layouts[part].block_bytes;
}

void SnapshotWriter::write(std::size_t part, std::span<std::uint8_t> out) const {
  const Impl& im = *impl_;
  ASHLAR_ASSERT(out.size() == part_bytes(part));
  const PartLayout& layout = im.layouts[part];
  const Frame& frame = im.frames[layout.frame];
  std::uint8_t* at = out.data();
  const auto copy = [&at](const void* bytes, std::size_t size) {
    std::memcpy(at, bytes, size);
    at += size;
  };
  copy(frame.bytes.data(), frame.size);
  out[frame.part] = static_cast<std::uint8_t>(part);
  out[frame.part_count] = static_cast<std::uint8_t>(im.part_count);
  const auto length = static_cast<std::uint32_t>(layout.block_bytes);
  std::memcpy(at - sizeof length, &length, sizeof length);

  for (std::size_t i = layout.first_block; i < layout.first_block + layout.block_count; ++i) {
    const CellBlock& block = im.blocks[i];
    if (!block.coded.empty()) {
      copy(block.coded.data(), block.coded.size());
      continue;
    }
    const CellHeader own{block.cell, static_cast<std::uint16_t>(block.entities.size()), block.first,
                         block.last};
    copy(&own, sizeof own);
    if (!block.entities.empty()) copy(block.entities.data(), block.entities.size_bytes());
  }
  std::memset(at, 0, static_cast<std::size_t>(out.data() + out.size() - at));
}

}  // namespace ashlar
