#include "protocol/recording_header.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "protocol/block_kinds.h"
#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "world/sim/home.h"
#include "world/sim/replication.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr std::uint64_t recorded_props_max = 4096;

/// Rules that a version holds; those that came later stay as they are.
std::size_t rules_of_version(std::uint32_t version) {
  constexpr std::size_t before_acts = 20, before_fights = 24, before_weapons = 29, before_bursts = 39,
                        before_watchers = 40, before_falls = 43;
  return version < 7    ? before_acts
         : version < 8  ? before_fights
         : version < 9  ? before_weapons
         : version < 11 ? before_bursts
         : version < 12 ? before_watchers
         : version < 15 ? before_falls
                        : rule_count();
}

void put_rules(ByteWriter& w, std::size_t count, const Rules& rules) {
  visit_rules(rules, [&](const RuleInfo&, const auto& value) {
    if (count == 0) return;
    --count;
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
      w.u8(static_cast<std::uint8_t>(value));
    else if constexpr (std::is_same_v<Value, double>)
      w.f64(value);
    else
      w.u16(value);
  });
}

bool get_rules(ByteReader& r, std::size_t count, Rules& rules) {
  bool known = true;
  visit_rules(rules, [&](const RuleInfo& info, auto& value) {
    if (count == 0) return;
    --count;
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>) {
      const std::uint8_t v = r.u8();
      if (v > info.high)
        known = false;
      else
        value = static_cast<Value>(v);
    } else if constexpr (std::is_same_v<Value, double>) {
      value = r.f64();
    } else {
      value = r.u16();
    }
  });
  return known && r.ok() && rules_sane(rules);
}

bool get_prop(ByteReader& r, RecordedProp& prop) {
  prop.name = r.text(255);
  prop.content_hash = r.u64();
  for (double* v : {&prop.place.position_m.x, &prop.place.position_m.y, &prop.place.position_m.z})
    *v = r.f64();
  prop.place.yaw = Turn16{r.u16()};
  prop.place.scale = r.f64();
  const std::uint8_t up = r.u8();
  prop.up = static_cast<ModelUp>(up);
  return up <= 1 && in_bounds(prop.place.position_m) && prop.place.scale >= prop_scale_min &&
         prop.place.scale <= prop_scale_max;
}

bool get_spawn(ByteReader& r, SpawnArea& spawn) {
  spawn.centre_m.x = r.f64();
  spawn.centre_m.y = r.f64();
  spawn.radius_m = r.f64();
  return std::fabs(spawn.centre_m.x) <= spawn_centre_m_max &&
         std::fabs(spawn.centre_m.y) <= spawn_centre_m_max && spawn.radius_m > 0 &&
         spawn.radius_m <= spawn_radius_m_max;
}

bool get_zone(ByteReader& r, ProtectedZone& zone) {
  for (IVec3* const corner : {&zone.box.min, &zone.box.max})
    for (std::int32_t* const v : {&corner->x, &corner->y, &corner->z})
      *v = static_cast<std::int32_t>(r.u32());
  zone.name = r.text(zone_name_bytes_max);
  return zone_box_sane(zone.box);
}

bool get_kinds(ByteReader& r, std::shared_ptr<const BlockRegistry>& out) {
  const std::string_view text = r.text(block_kinds_bytes_max);
  auto kinds = decode_block_kinds({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (kinds) out = std::move(*kinds);
  return kinds.has_value();
}

constexpr std::uint64_t home_chunks_max = std::uint64_t{home_columns_max} * column_chunks_max;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What a kept world began with: nothing but a 0 in a world that is new.
void put_start(ByteWriter& w, const RecordedStart& start) {
  const bool fresh = start.age_ticks == 0 && start.items.empty() && start.contents.empty() &&
                     start.kept == nullptr && start.chunks.empty();
  w.u8(fresh ? 0 : 1);
  if (fresh) return;
  w.varint(start.age_ticks);
  const std::vector<std::uint8_t> items = encode_items(start.items);
  w.text(text_of(items));
  w.varint(start.contents.size());
  for (const PlacedData& one : start.contents) {
    w.svarint(one.block.x), w.svarint(one.block.y), w.svarint(one.block.z);
    const std::vector<std::uint8_t> data = encode_block_data(one.data);
    w.text(text_of(data));
  }
  std::vector<std::uint8_t> kept;
  if (start.kept != nullptr) encode_kept_state(*start.kept, kept);
  w.text(text_of(kept));
  w.varint(start.chunks.size());
  for (const ChangedChunk& chunk : start.chunks) put_recorded_chunk(w, chunk);
}

bool get_contents(ByteReader& r, std::vector<PlacedData>& out) {
  const std::uint64_t count = r.varint();
  if (!r.ok() || count > BlockContents::entries_max || count > r.left()) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    PlacedData& one = out.emplace_back();
    bool sane = true;
    one.block.x = get_i32(r, sane), one.block.y = get_i32(r, sane), one.block.z = get_i32(r, sane);
    const auto data = decode_block_data(bytes_of(r.text(block_data_bytes_max)));
    if (!sane || !data || !in_bounds(to_dvec3(one.block))) return false;
    one.data = *data;
  }
  return r.ok();
}

bool get_start(ByteReader& r, RecordedStart& out) {
  const std::uint8_t began = r.u8();
  if (began == 0 || !r.ok()) return r.ok();
  out.age_ticks = r.varint();
  auto items = decode_items(bytes_of(r.text(items_bytes_max)));
  if (began != 1 || out.age_ticks > life_ticks_max || !items || !get_contents(r, out.contents)) return false;
  out.items = std::move(*items);
  if (const std::string_view kept = r.text(recording_block_bytes_max); !kept.empty()) {
    auto state = decode_kept_state(bytes_of(kept));
    if (!state) return false;
    out.kept = std::make_shared<const KeptState>(std::move(*state));
  }
  const std::uint64_t chunks = r.varint();
  if (!r.ok() || chunks > home_chunks_max || chunks > r.left()) return false;
  out.chunks.resize(chunks);
  ChunkCodec codec;
  return std::ranges::all_of(out.chunks,
                             [&](ChangedChunk& chunk) { return get_recorded_chunk(r, codec, chunk); });
}

}  // namespace

void put_recorded_chunk(ByteWriter& w, const ChangedChunk& chunk) {
  w.svarint(chunk.at.x), w.svarint(chunk.at.y), w.svarint(chunk.at.z);
  w.text(text_of(*chunk.bytes));
}

bool get_recorded_chunk(ByteReader& r, ChunkCodec& codec, ChangedChunk& out) {
  bool sane = true;
  out.at.x = get_i32(r, sane), out.at.y = get_i32(r, sane), out.at.z = get_i32(r, sane);
  const auto bytes = bytes_of(r.text(chunk_bytes_max));
  if (!sane || !r.ok() || !VoxelVolume::in_range(out.at) || !codec.decode(bytes)) return false;
  out.bytes = std::make_shared<const std::vector<std::uint8_t>>(bytes.begin(), bytes.end());
  return true;
}

std::vector<std::uint8_t> encode_recording_header(const RecordingHeader& header) {
  std::vector<std::uint8_t> payload;
  ByteWriter w(payload);
  w.u32(header.version);
  w.text(header.build);
  w.u64(header.seed);
  put_rules(w, rules_of_version(header.version), header.rules);
  w.u32(header.players_max), w.u32(header.monsters_max), w.u32(header.monsters);
  w.u64(header.start_hash);
  w.varint(header.maps.size());
  for (const RecordedMap& map : header.maps) {
    w.text(map.name);
    w.u64(map.content_hash);
    w.svarint(map.origin_block.x), w.svarint(map.origin_block.y), w.svarint(map.surface_z);
    w.u8(static_cast<std::uint8_t>((map.doors_open ? 1 : 0) | (map.doorway ? 2 : 0)));
  }
  w.varint(header.props.size());
  for (const RecordedProp& prop : header.props) {
    w.text(prop.name);
    w.u64(prop.content_hash);
    w.f64(prop.place.position_m.x), w.f64(prop.place.position_m.y), w.f64(prop.place.position_m.z);
    w.u16(static_cast<std::uint16_t>(prop.place.yaw));
    w.f64(prop.place.scale);
    w.u8(static_cast<std::uint8_t>(prop.up));
  }
  if (header.version >= 6) w.u8(static_cast<std::uint8_t>(header.terrain)), w.u16(header.generator);
  if (header.version >= 8) {
    const std::vector<std::uint8_t> kinds = encode_block_kinds(*header.blocks);
    w.text({reinterpret_cast<const char*>(kinds.data()), kinds.size()});
    w.text(header.kinds);
  }
  if (header.version >= 9) {
    w.u8(header.secret.has_value() ? 1 : 0);
    if (header.secret) w.u64(*header.secret);
  }
  if (header.version >= 11) {
    w.varint(header.zones.size());
    for (const ProtectedZone& zone : header.zones) {
      for (const IVec3& corner : {zone.box.min, zone.box.max})
        for (const std::int32_t v : {corner.x, corner.y, corner.z}) w.u32(static_cast<std::uint32_t>(v));
      w.text(zone.name);
    }
  }
  if (header.version >= 13) put_start(w, header.start);
  if (header.spawn.radius_m > 0)
    w.f64(header.spawn.centre_m.x), w.f64(header.spawn.centre_m.y), w.f64(header.spawn.radius_m);
  return payload;
}

std::expected<RecordingHeader, RecordingError> decode_recording_header(
    std::span<const std::uint8_t> payload) {
  ByteReader r(payload);
  RecordingHeader header;
  header.version = r.u32();
  if (r.ok() && (header.version < recording_version_min || header.version > recording_version))
    return std::unexpected{RecordingError::wrong_version};
  header.build = r.text(200);
  header.seed = r.u64();
  bool sane = get_rules(r, rules_of_version(header.version), header.rules);
  header.players_max = r.u32(), header.monsters_max = r.u32(), header.monsters = r.u32();
  header.start_hash = r.u64();
  const std::uint64_t maps = r.varint();
  sane = sane && maps <= 64 && header.players_max >= 1 && header.players_max <= 1u << 16 &&
         header.monsters_max <= 1u << 16 && header.monsters <= header.monsters_max;
  for (std::uint64_t i = 0; sane && r.ok() && i < maps; ++i) {
    RecordedMap map;
    map.name = r.text(64);
    map.content_hash = r.u64();
    map.origin_block.x = get_i32(r, sane);
    map.origin_block.y = get_i32(r, sane);
    map.surface_z = get_i32(r, sane);
    const std::uint8_t flags = r.u8();
    sane = sane && flags < 4;
    map.doors_open = (flags & 1) != 0;
    map.doorway = (flags & 2) != 0;
    header.maps.push_back(std::move(map));
  }
  const std::uint64_t props = sane && r.ok() ? r.varint() : 0;
  sane = sane && props <= recorded_props_max;
  for (std::uint64_t i = 0; sane && r.ok() && i < props; ++i) sane = get_prop(r, header.props.emplace_back());
  if (sane && r.ok() && header.version >= 6) {
    const std::uint8_t kind = r.u8();
    header.generator = r.u16();
    sane = kind < terrain_kind_count;
    header.terrain = static_cast<TerrainKind>(sane ? kind : 0);
  } else {
    header.generator = 1;
  }
  if (sane && r.ok() && header.version >= 8) {
    sane = get_kinds(r, header.blocks);
    header.kinds = r.text(kinds_bytes_max);
  } else {
    header.rules.monsters_fight = Switch::off;
  }
  if (sane && r.ok() && header.version >= 9) {
    const std::uint8_t secret = r.u8();
    sane = secret <= 1;
    if (secret == 1) header.secret = r.u64();
  }
  const std::uint64_t zones = sane && r.ok() && header.version >= 11 ? r.varint() : 0;
  sane = sane && zones <= protected_zones_max;
  for (std::uint64_t i = 0; sane && r.ok() && i < zones; ++i) sane = get_zone(r, header.zones.emplace_back());
  if (sane && r.ok() && header.version >= 13) sane = get_start(r, header.start);
  if (header.version < 9) header.rules.free_ammo = FreeAmmo::yes, header.rules.items = Switch::off;
  if (sane && r.ok() && !r.at_end()) sane = get_spawn(r, header.spawn);
  if (!sane || !r.ok() || !r.at_end()) return std::unexpected{RecordingError::damaged_header};
  return header;
}

}  // namespace ashlar
