#include "protocol/kept_state_codec.h"

#include <cmath>

#include "protocol/bytes.h"
#include "world/bsp/doorway.h"
#include "world/content/map_check.h"
#include "world/sim/loose_blocks.h"
#include "world/sim/placed_blocks.h"
#include "world/sim/projectiles.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

constexpr std::uint8_t state_version = 3, version_before_matches = 1, version_before_builders = 2;
constexpr std::uint64_t maps_max = 64;
// Of a map as compiled: what was drawn, and the stairs of its doorway.
constexpr std::uint64_t stairs_lines_max = 4 * (doorway_steps_max + 4);
constexpr std::uint64_t sectors_max = map_records_max + stairs_lines_max, lines_max = sectors_max;
constexpr std::size_t sector_bytes = 16, monster_bytes = 61, projectile_bytes = 53, placement_bytes = 4;

void put(ByteWriter& w, DVec3 v) { w.f64(v.x), w.f64(v.y), w.f64(v.z); }

DVec3 get_place(ByteReader& r) {
  DVec3 v;
  v.x = r.f64(), v.y = r.f64(), v.z = r.f64();
  return v;
}

void put_mover(ByteWriter& w, const Mover& m) {
  w.varint(m.sector);
  w.u8(static_cast<std::uint8_t>(m.plane)), w.u8(static_cast<std::uint8_t>(m.motion));
  w.u8(static_cast<std::uint8_t>(m.phase)), w.u8(static_cast<std::uint8_t>(m.resume));
  w.u8(static_cast<std::uint8_t>(m.crushes | m.slows << 1 | m.pressed << 2 | m.fresh << 3));
  for (const double v : {m.low_m, m.high_m, m.speed_mps, m.wait_s, m.left_s, m.hurt_in_s}) w.f64(v);
}

bool get_mover(ByteReader& r, std::uint64_t sectors, Mover& m) {
  const std::uint64_t sector = r.varint();
  m.sector = static_cast<std::uint32_t>(sector);
  m.plane = static_cast<Plane>(r.u8()), m.motion = static_cast<Motion>(r.u8());
  m.phase = static_cast<MotionPhase>(r.u8()), m.resume = static_cast<MotionPhase>(r.u8());
  const std::uint8_t flags = r.u8();
  m.crushes = flags & 1, m.slows = flags >> 1 & 1, m.pressed = flags >> 2 & 1, m.fresh = flags >> 3 & 1;
  for (double* const v : {&m.low_m, &m.high_m, &m.speed_mps, &m.wait_s, &m.left_s, &m.hurt_in_s})
    *v = r.f64();
  return sector < sectors && flags < 16 && mover_sane(m);
}

void put_map(ByteWriter& w, const KeptSectors& map) {
  w.u64(map.map_hash);
  w.varint(map.heights.size());
  for (const SectorHeights& h : map.heights) w.f64(h.floor_m), w.f64(h.ceiling_m);
  w.varint(map.movers.size());
  for (const Mover& m : map.movers) put_mover(w, m);
  w.varint(map.spent.size());
  for (std::size_t i = 0; i < map.spent.size(); i += 8) {
    std::uint8_t bits = 0;
    for (std::size_t bit = 0; bit < 8 && i + bit < map.spent.size(); ++bit)
      bits = static_cast<std::uint8_t>(bits | (map.spent[i + bit] & 1) << bit);
    w.u8(bits);
  }
}

bool get_map(ByteReader& r, KeptSectors& map) {
  map.map_hash = r.u64();
  const std::uint64_t sectors = r.varint();
  if (sectors > sectors_max || sectors * sector_bytes > r.left()) return false;
  for (std::uint64_t i = 0; i < sectors; ++i) {
    SectorHeights& h = map.heights.emplace_back();
    h.floor_m = r.f64(), h.ceiling_m = r.f64();
    if (!std::isfinite(h.floor_m) || !std::isfinite(h.ceiling_m)) return false;
  }
  const std::uint64_t movers = r.varint();
  if (movers > 2 * sectors) return false;
  for (std::uint64_t i = 0; i < movers; ++i)
    if (!get_mover(r, sectors, map.movers.emplace_back()) || !r.ok()) return false;
  const std::uint64_t lines = r.varint();
  if (lines > lines_max || (lines + 7) / 8 > r.left()) return false;
  std::uint8_t bits = 0;
  for (std::uint64_t i = 0; i < lines; ++i) {
    if (i % 8 == 0) bits = r.u8();
    map.spent.push_back(bits >> (i % 8) & 1);
  }
  return r.ok() && (lines % 8 == 0 || bits >> (lines % 8) == 0);
}

void put_monster(ByteWriter& w, const KeptMonster& m) {
  w.varint(m.row);
  w.u8(static_cast<std::uint8_t>(m.kind));
  w.u8(static_cast<std::uint8_t>((m.deaf ? 1 : 0) | (m.asleep ? 2 : 0)));
  w.u16(m.health);
  w.u32(m.respawn_ticks);
  put(w, m.position_m), put(w, m.home_m);
  w.u16(static_cast<std::uint16_t>(m.yaw)), w.u16(static_cast<std::uint16_t>(m.home_yaw));
}

bool get_monster(ByteReader& r, KeptMonster& m) {
  const std::uint64_t row = r.varint();
  m.row = static_cast<std::uint32_t>(row);
  m.kind = static_cast<MonsterKind>(r.u8());
  const std::uint8_t flags = r.u8();
  m.deaf = (flags & 1) != 0, m.asleep = (flags & 2) != 0;
  m.health = r.u16();
  m.respawn_ticks = r.u32();
  m.position_m = get_place(r), m.home_m = get_place(r);
  m.yaw = Turn16{r.u16()}, m.home_yaw = Turn16{r.u16()};
  return row < kept_monsters_max && flags < 4 && in_bounds(m.position_m) && in_bounds(m.home_m);
}

void put_projectile(ByteWriter& w, const KeptProjectile& p) {
  w.u8(p.kind), w.u8(p.bounces_left), w.u16(p.life_ticks);
  w.varint(p.owner_row == KeptProjectile::nobody ? 0 : std::uint64_t{p.owner_row} + 1);
  put(w, p.position_m), put(w, p.velocity_mps);
}

bool get_projectile(ByteReader& r, KeptProjectile& p) {
  p.kind = r.u8(), p.bounces_left = r.u8(), p.life_ticks = r.u16();
  const std::uint64_t owner = r.varint();
  p.owner_row = owner == 0 ? KeptProjectile::nobody : static_cast<std::uint32_t>(owner - 1);
  p.position_m = get_place(r), p.velocity_mps = get_place(r);
  const DVec3 v = p.velocity_mps;
  return owner <= kept_monsters_max && in_bounds(p.position_m) && std::isfinite(v.x) && std::isfinite(v.y) &&
         std::isfinite(v.z);
}

void put_match(ByteWriter& w, const KeptMatch& m) {
  w.u8(static_cast<std::uint8_t>(m.mode)), w.u8(static_cast<std::uint8_t>(m.phase));
  w.varint(m.number), w.varint(m.left_ticks);
  for (const std::int32_t score : m.team_score) w.svarint(score);
}

bool get_match(ByteReader& r, KeptMatch& m) {
  const std::uint8_t mode = r.u8(), phase = r.u8();
  const std::uint64_t number = r.varint(), left = r.varint();
  m.mode = static_cast<GameMode>(mode), m.phase = static_cast<MatchPhase>(phase);
  m.number = static_cast<std::uint32_t>(number), m.left_ticks = static_cast<std::uint32_t>(left);
  for (std::int32_t& score : m.team_score) {
    const std::int64_t value = r.svarint();
    score = static_cast<std::int32_t>(value);
    if (score != value) return false;
  }
  return mode <= static_cast<std::uint8_t>(GameMode::building) && phase < match_phase_count &&
         number == m.number && left == m.left_ticks;
}

bool get_block(ByteReader& r, IVec3& block) {
  const std::int64_t x = r.svarint(), y = r.svarint(), z = r.svarint();
  constexpr auto xy_max = static_cast<std::int64_t>(world_extent_m);
  constexpr auto z_max = static_cast<std::int64_t>(world_height_m);
  block = {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)};
  return r.ok() && x >= -xy_max && x < xy_max && y >= -xy_max && y < xy_max && z > -z_max && z < z_max;
}

bool get_falling(ByteReader& r, std::vector<IVec3>& falling) {
  const std::uint64_t count = r.varint();
  if (count > LooseBlocks::waiting_max) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!get_block(r, falling.emplace_back())) return false;
  return true;
}

bool get_built(ByteReader& r, KeptBuilt& built) {
  const std::uint64_t builders = r.varint(), count = r.varint();
  built.builders = static_cast<std::uint32_t>(builders);
  if (builders != built.builders || count > PlacedBlocks::blocks_max || count * placement_bytes > r.left())
    return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    KeptPlacement& one = built.placed.emplace_back();
    if (!get_block(r, one.block)) return false;
    const std::uint64_t builder = r.varint();
    one.builder = static_cast<std::uint32_t>(builder);
    if (builder == 0 || builder > builders) return false;
  }
  return true;
}

bool get_state(ByteReader& r, std::uint8_t version, KeptState& state) {
  if (!get_falling(r, state.falling)) return false;
  const std::uint64_t maps = r.varint();
  if (maps > maps_max) return false;
  for (std::uint64_t i = 0; i < maps; ++i)
    if (!get_map(r, state.maps.emplace_back())) return false;
  state.monsters_of = r.u64();
  const std::uint64_t monsters = r.varint();
  if (monsters > kept_monsters_max || monsters * monster_bytes > r.left()) return false;
  for (std::uint64_t i = 0; i < monsters; ++i)
    if (!get_monster(r, state.monsters.emplace_back())) return false;
  if (version == version_before_matches) return r.ok() && r.at_end();
  state.kinds_of = r.u64();
  const std::uint64_t projectiles = r.varint();
  if (projectiles > projectiles_max || projectiles * projectile_bytes > r.left()) return false;
  for (std::uint64_t i = 0; i < projectiles; ++i)
    if (!get_projectile(r, state.projectiles.emplace_back())) return false;
  if (!get_match(r, state.match)) return false;
  if (version != version_before_builders && !get_built(r, state.built)) return false;
  return r.ok() && r.at_end();
}

}  // namespace

void encode_kept_state(const KeptState& state, std::vector<std::uint8_t>& out) {
  out.clear();
  ByteWriter w(out);
  w.u8(state_version);
  w.varint(state.falling.size());
  for (const IVec3 block : state.falling) w.svarint(block.x), w.svarint(block.y), w.svarint(block.z);
  w.varint(state.maps.size());
  for (const KeptSectors& map : state.maps) put_map(w, map);
  w.u64(state.monsters_of);
  w.varint(state.monsters.size());
  for (const KeptMonster& monster : state.monsters) put_monster(w, monster);
  w.u64(state.kinds_of);
  w.varint(state.projectiles.size());
  for (const KeptProjectile& projectile : state.projectiles) put_projectile(w, projectile);
  put_match(w, state.match);
  w.varint(state.built.builders);
  w.varint(state.built.placed.size());
  for (const auto& [block, builder] : state.built.placed)
    w.svarint(block.x), w.svarint(block.y), w.svarint(block.z), w.varint(builder);
}

const char* describe(KeptStateError error) {
  switch (error) {
    case KeptStateError::wrong_version: return "it is of a version that this build does not know";
    case KeptStateError::damaged: return "it makes no sense";
  }
  return "it makes no sense";
}

std::expected<KeptState, KeptStateError> decode_kept_state(std::span<const std::uint8_t> bytes) {
  ByteReader r(bytes);
  const std::uint8_t version = r.u8();
  if (version < version_before_matches || version > state_version)
    return std::unexpected{KeptStateError::wrong_version};
  KeptState state;
  if (!get_state(r, version, state)) return std::unexpected{KeptStateError::damaged};
  return state;
}

}  // namespace ashlar
