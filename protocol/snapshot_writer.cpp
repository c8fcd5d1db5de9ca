#include "protocol/snapshot_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "protocol/schema/server_message_generated.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// Blocks are copied between our structs and the schema's as they are.
static_assert(std::endian::native == std::endian::little, "the wire is little endian");
static_assert(sizeof(wire::EntityRecord) == sizeof(EntityRecord));
static_assert(sizeof(wire::CellHeader) == sizeof(CellHeader));
static_assert(alignof(wire::CellHeader) == alignof(CellHeader));
static_assert(sizeof(wire::SectorRun) == sizeof(SectorRun));
static_assert(sizeof(wire::SectorHeight) == sizeof(WireHeights));
static_assert(sizeof(wire::SectorMotion) == sizeof(WireMotion));

// What a part costs beside its lists' contents: root, both tables with their virtual tables, five list
// lengths and paddings. Measured at most 140 (a test holds the total); the rest is reserve for new fields.
constexpr std::size_t part_fixed_bytes = 160;
constexpr std::size_t part_room_bytes = payload_bytes_max - part_fixed_bytes;
constexpr std::size_t own_bytes = sizeof(wire::OwnPlayer);
constexpr std::size_t entity_bytes = sizeof(EntityRecord);
constexpr std::size_t cell_bytes = sizeof(CellHeader);
// A block is cut only where at least so many of it find room: a piece costs its header.
constexpr std::size_t cut_entities_min = 8;

static_assert(cell_bytes == entity_bytes);  // what snapshot_part_records_min counts alike
static_assert(part_room_bytes - (cell_bytes + cut_entities_min * entity_bytes) >=
              snapshot_part_records_min * entity_bytes);

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

/// A stretch of one block's entities that travels in one part.
struct Piece {
  CellHeader header;
  const EntityRecord* entities;
};

/// The pieces of one part, [first, first + count), and its motions.
struct PartLayout {
  std::size_t first_piece = 0;
  std::size_t piece_count = 0;
  std::size_t entity_count = 0;
  std::size_t first_motion = 0;
  std::size_t motion_count = 0;
};

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
  std::vector<Piece> pieces;
  std::vector<CellHeader> part_cells;  // of the part being written, as are the entities
  std::array<EntityRecord, part_room_bytes / entity_bytes> part_entities{};
  std::array<PartLayout, snapshot_parts_max> layouts{};
  std::size_t part_count = 0;
  std::size_t parts_max = 0;
  std::size_t room = 0;  // bytes left in the part being laid out
  std::array<SectorRun, snapshot_sector_runs_max> runs{};
  std::size_t run_count = 0;
  std::array<WireHeights, snapshot_sector_heights_max> heights{};
  std::size_t height_count = 0;
  std::array<WireMotion, snapshot_motions_max> motions{};

  bool open_part() {
    if (part_count == parts_max) return false;
    layouts[part_count++] = {pieces.size(), 0, 0, 0, 0};
    room = part_room_bytes;
    return true;
  }

  void add_piece(const CellHeader& header, const EntityRecord* entities) {
    pieces.push_back({header, entities});
    PartLayout& layout = layouts[part_count - 1];
    ++layout.piece_count;
    layout.entity_count += header.entity_count;
    room -= cell_bytes + header.entity_count * entity_bytes;
  }

  /// Lays out the motions: what does not fit into the part that is open goes into the next one.
  void add_motions(std::span<const WireMotion> given) {
    std::copy(given.begin(), given.end(), motions.begin());
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (room < sizeof(WireMotion) && !open_part()) return;
      PartLayout& layout = layouts[part_count - 1];
      if (layout.motion_count++ == 0) layout.first_motion = i;
      room -= sizeof(WireMotion);
    }
  }

  /// Lays out one block, in as many pieces as the parts' ends make of it. False when the parts are full:
  /// then the ids below `resume` are laid out.
  bool add_block(const CellBlock& block, EntityId& resume) {
    std::span<const EntityRecord> rest = block.entities;
    resume = block.first;
    while (room < cell_bytes + rest.size() * entity_bytes) {
      const std::size_t fit = room < cell_bytes ? 0 : (room - cell_bytes) / entity_bytes;
      if (fit >= cut_entities_min) {
        const EntityId last = rest[fit - 1].id;
        add_piece({block.cell, static_cast<std::uint16_t>(fit), resume, last}, rest.data());
        rest = rest.subspan(fit);
        resume = EntityId{static_cast<std::uint32_t>(last) + 1};
      }
      if (!open_part()) return false;
    }
    add_piece({block.cell, static_cast<std::uint16_t>(rest.size()), resume, block.last}, rest.data());
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
  im.pieces.clear();
  im.part_count = 0;
  im.parts_max = parts_max;
  im.open_part();
  if (head.own != nullptr) im.room -= own_bytes;

  im.run_count = 0;
  im.height_count = 0;
  for (const HeightBlock& block : heights) {
    ASHLAR_ASSERT(im.height_count + block.heights.size() <= snapshot_sector_heights_max);
    im.runs[im.run_count++] = {block.map, block.first, static_cast<std::uint16_t>(block.heights.size())};
    std::copy(block.heights.begin(), block.heights.end(),
              im.heights.begin() + static_cast<std::ptrdiff_t>(im.height_count));
    im.height_count += block.heights.size();
  }
  im.room -= im.run_count * sizeof(SectorRun) + im.height_count * sizeof(WireHeights);
  im.add_motions(motions);

  SnapshotPlan plan;
  for (const CellBlock& block : blocks) {
    if (!im.add_block(block, plan.resume)) break;
    ++plan.blocks_taken;
  }
  plan.parts = im.part_count;
  return plan;
}

std::span<const std::uint8_t> SnapshotWriter::part(std::size_t part, const PacketHeader& header) {
  Impl& im = *impl_;
  ASHLAR_ASSERT(part < im.part_count);
  const PartLayout& layout = im.layouts[part];
  auto& fbb = im.fbb;
  fbb.Clear();

  // CreateVectorOfStructs aligns by the struct's alignment. The variant that hands out uninitialised memory
  // aligns by its size, which is wrong for sizes that are no power of two.
  flatbuffers::Offset<flatbuffers::Vector<const wire::CellHeader*>> cells;
  flatbuffers::Offset<flatbuffers::Vector<const wire::EntityRecord*>> entities;
  if (layout.piece_count > 0) {
    im.part_cells.resize(layout.piece_count);
    EntityRecord* entity_out = im.part_entities.data();
    for (std::size_t i = 0; i < layout.piece_count; ++i) {
      const Piece& piece = im.pieces[layout.first_piece + i];
      im.part_cells[i] = piece.header;
      entity_out = std::copy_n(piece.entities, piece.header.entity_count, entity_out);
    }
    cells = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::CellHeader*>(im.part_cells.data()),
                                      layout.piece_count);
  }
  if (layout.entity_count > 0)
    entities = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::EntityRecord*>(im.part_entities.data()),
                                         layout.entity_count);
  flatbuffers::Offset<flatbuffers::Vector<const wire::SectorRun*>> runs;
  flatbuffers::Offset<flatbuffers::Vector<const wire::SectorHeight*>> heights;
  if (part == 0 && im.run_count > 0) {
    runs = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::SectorRun*>(im.runs.data()), im.run_count);
    heights = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::SectorHeight*>(im.heights.data()),
                                        im.height_count);
  }
  flatbuffers::Offset<flatbuffers::Vector<const wire::SectorMotion*>> motions;
  if (layout.motion_count > 0)
    motions = fbb.CreateVectorOfStructs(
        reinterpret_cast<const wire::SectorMotion*>(im.motions.data() + layout.first_motion),
        layout.motion_count);

  wire::SnapshotBuilder builder(fbb);
  if (part == 0 && im.head.own != nullptr) {
    const wire::OwnPlayer own = to_wire(*im.head.own);
    builder.add_own(&own);
    builder.add_own_delta_yaw(static_cast<std::uint16_t>(im.head.own->delta_yaw));
  }
  builder.add_cells(cells);
  builder.add_entities(entities);
  builder.add_sector_runs(runs);
  builder.add_sector_heights(heights);
  builder.add_sector_motions(motions);
  builder.add_tick(im.head.tick);
  builder.add_applied_tick(im.head.applied_tick);
  builder.add_chat_seen(im.head.chat_seen);
  builder.add_input_ahead(im.head.input_ahead);
  builder.add_refresh_ticks(im.head.refresh_ticks);
  builder.add_part(static_cast<std::uint8_t>(part));
  builder.add_part_count(static_cast<std::uint8_t>(im.part_count));
  const auto snapshot = builder.Finish();
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::Snapshot, snapshot.Union()),
             wire::ServerMessageIdentifier());
  const auto bytes = encode(header);
  fbb.PushBytes(bytes.data(), bytes.size());
  ASHLAR_ASSERT(fbb.GetSize() <= datagram_bytes_max);
  seal({fbb.GetBufferPointer(), fbb.GetSize()});
  return {fbb.GetBufferPointer(), fbb.GetSize()};
}

}  // namespace ashlar
