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
constexpr std::size_t part_fixed_bytes = 160;
constexpr std::size_t part_room_bytes = payload_bytes_max - part_fixed_bytes;
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

/// What a part has before its blocks: room for the packet's header, then the message up to the length of the
/// list of blocks. FlatBuffers are written from their end to their front, so the list that is made first lies
/// last: blocks behind the frame are in it once its length says so.
struct Frame {
  std::array<std::uint8_t, datagram_bytes_max> bytes{};
  std::size_t size = 0;
  std::size_t part_at = 0, part_count_at = 0;  // where these two numbers are
};

/// Which frame and which blocks, [first_block, first_block + block_count) of those laid out.
struct PartLayout {
  std::size_t frame = 0;
  std::size_t first_block = 0;
  std::size_t block_count = 0;
  std::size_t block_bytes = 0;
};

/// What a frame holds of the snapshot.
struct FrameContent {
  const OwnPlayer* own = nullptr;
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

void build_frame(flatbuffers::FlatBufferBuilder& fbb, const SnapshotHead& head, const FrameContent& content,
                 Frame& out) {
  fbb.Clear();
  const auto blocks = fbb.CreateVector(static_cast<const std::uint8_t*>(nullptr), 0);  // see Frame
  const auto runs = list_of<wire::SectorRun>(fbb, content.runs);
  const auto heights = list_of<wire::SectorHeight>(fbb, content.heights);
  const auto motions = list_of<wire::SectorMotion>(fbb, content.motions);
  wire::SnapshotBuilder builder(fbb);
  if (content.own != nullptr) {
    const wire::OwnPlayer own = to_wire(*content.own);
    builder.add_own(&own);
    builder.add_own_delta_yaw(static_cast<std::uint16_t>(content.own->delta_yaw));
  }
  builder.add_sector_runs(runs);
  builder.add_sector_heights(heights);
  builder.add_sector_motions(motions);
  builder.add_blocks(blocks);
  builder.add_tick(head.tick);
  builder.add_applied_tick(head.applied_tick);
  builder.add_chat_seen(head.chat_seen);
  builder.add_input_ahead(head.input_ahead);
  builder.add_refresh_ticks(head.refresh_ticks);
  // Written also where they are 0, as every part writes its own over them.
  fbb.ForceDefaults(true);
  builder.add_part(0);
  builder.add_part_count(0);
  fbb.ForceDefaults(false);
  const auto snapshot = builder.Finish();
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::Snapshot, snapshot.Union()),
             wire::ServerMessageIdentifier());

  const std::span<const std::uint8_t> message(fbb.GetBufferPointer(), fbb.GetSize());
  out.size = packet_header_bytes + message.size();
  ASHLAR_ASSERT(out.size <= out.bytes.size());
  std::ranges::copy(message, out.bytes.begin() + packet_header_bytes);
  const auto* root = flatbuffers::GetRoot<flatbuffers::Table>(out.bytes.data() + packet_header_bytes);
  const auto* body = root->GetPointer<const flatbuffers::Table*>(wire::ServerMessage::VT_BODY);
  const auto place_of = [&](flatbuffers::voffset_t field) {
    return static_cast<std::size_t>(body->GetAddressOf(field) - out.bytes.data());
  };
  out.part_at = place_of(wire::Snapshot::VT_PART);
  out.part_count_at = place_of(wire::Snapshot::VT_PART_COUNT);
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
  SnapshotHead head;
  // Of part 0, of part 1 where motions go on there, and of all others.
  static constexpr std::size_t frame_first = 0, frame_motions = 1, frame_rest = 2;
  std::array<Frame, 3> frames;
  bool rest_built = false;
  std::vector<CellBlock> blocks;  // laid out, as pieces where a part's end cuts one
  std::array<PartLayout, snapshot_parts_max> layouts{};
  std::size_t part_count = 0;
  std::size_t parts_max = 0;
  std::size_t filling = 0;  // the part that blocks go into
  std::size_t room = 0;     // bytes left in it
  std::array<SectorRun, snapshot_sector_runs_max> runs{};
  std::array<WireHeights, snapshot_sector_heights_max> heights{};

  void open_part(std::size_t frame) { layouts[part_count++] = {frame, 0, 0, 0}; }

  void fill(std::size_t part) {
    filling = part;
    layouts[part].first_block = blocks.size();
    room = datagram_bytes_max - frames[layouts[part].frame].size;
  }

  bool fill_next_part() {
    if (filling + 1 == part_count) {
      if (part_count == parts_max) return false;
      if (!rest_built) build_frame(fbb, head, {}, frames[frame_rest]);
      rest_built = true;
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

  /// Frames of own player, heights and motions: what does not fit into part 0 opens part 1.
  void add_sectors(std::span<const HeightBlock> given, std::span<const WireMotion> motions) {
    std::size_t run_count = 0, height_count = 0;
    for (const HeightBlock& block : given) {
      ASHLAR_ASSERT(height_count + block.heights.size() <= snapshot_sector_heights_max);
      runs[run_count++] = {block.map, block.first, static_cast<std::uint16_t>(block.heights.size())};
      std::ranges::copy(block.heights, heights.begin() + static_cast<std::ptrdiff_t>(height_count));
      height_count += block.heights.size();
    }
    const std::size_t left = part_room_bytes - (head.own != nullptr ? own_bytes : 0) -
                             run_count * sizeof(SectorRun) - height_count * sizeof(WireHeights);
    const std::size_t here = std::min(motions.size(), left / sizeof(WireMotion));
    build_frame(fbb, head,
                {head.own, std::span(runs).first(run_count), std::span(heights).first(height_count),
                 motions.first(here)},
                frames[frame_first]);
    open_part(frame_first);
    if (here == motions.size() || parts_max == 1) return;
    build_frame(fbb, head, {nullptr, {}, {}, motions.subspan(here)}, frames[frame_motions]);
    open_part(frame_motions);
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
  im.head = head;
  im.blocks.clear();
  im.part_count = 0;
  im.parts_max = parts_max;
  im.rest_built = false;
  im.add_sectors(heights, motions);
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
  if (part + 1 < im.part_count) return datagram_bytes_max;
  return im.frames[im.layouts[part].frame].size + im.layouts[part].block_bytes;
}

void SnapshotWriter::write(std::size_t part, const PacketHeader& header, std::span<std::uint8_t> out) const {
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
  const auto head = encode(header);
  std::memcpy(out.data(), head.data(), head.size());
  out[frame.part_at] = static_cast<std::uint8_t>(part);
  out[frame.part_count_at] = static_cast<std::uint8_t>(im.part_count);
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
  seal(out);
}

}  // namespace ashlar
