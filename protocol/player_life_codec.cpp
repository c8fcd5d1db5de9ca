#include "protocol/player_life_codec.h"

#include "world/sim/match.h"

namespace ashlar {
namespace {

constexpr std::uint8_t built = 128;  // beside the team: whoever placed nothing has no number as a builder

void put_arsenal(ByteWriter& out, const Arsenal& a) {
  out.u32(a.weapons);
  for (const std::uint16_t count : a.ammo) out.u16(count);
  for (const std::uint16_t ticks : a.power_ticks) out.u16(ticks);
  for (const std::uint16_t ticks :
       {a.wait_ticks, a.windup_ticks, a.switch_ticks, a.reload_ticks, a.charge_ticks})
    out.u16(ticks);
  for (const std::uint8_t shots : a.spent) out.u8(shots);
  for (const std::uint8_t value : {a.held, a.wanted, a.firing, a.backpack}) out.u8(value);
}

bool get_arsenal(ByteReader& in, Arsenal& a) {
  a.weapons = in.u32();
  for (std::uint16_t& count : a.ammo) count = in.u16();
  for (std::uint16_t& ticks : a.power_ticks) ticks = in.u16();
  for (std::uint16_t* const ticks :
       {&a.wait_ticks, &a.windup_ticks, &a.switch_ticks, &a.reload_ticks, &a.charge_ticks})
    *ticks = in.u16();
  for (std::uint8_t& shots : a.spent) shots = in.u8();
  for (std::uint8_t* const value : {&a.held, &a.wanted, &a.firing, &a.backpack}) *value = in.u8();
  return a.weapons >> weapons_max == 0 && a.held < weapons_max && a.wanted < weapons_max && a.firing <= 1 &&
         a.backpack <= 1;
}

bool get_score(ByteReader& in, KeptScore& out) {
  const std::uint64_t match = in.varint();
  const std::int64_t score = in.svarint();
  out.match = static_cast<std::uint32_t>(match);
  out.score = static_cast<std::int32_t>(score);
  out.kills = in.u16(), out.deaths = in.u16();
  const std::uint8_t team = in.u8();
  out.team = team & static_cast<std::uint8_t>(~built);
  const std::uint64_t builder = (team & built) != 0 ? in.varint() : 0;
  out.builder = static_cast<std::uint32_t>(builder);
  return match == out.match && score == out.score && out.team <= teams_max && builder == out.builder &&
         (builder != 0) == ((team & built) != 0);
}

}  // namespace

void put_life(ByteWriter& out, const KeptScore& score, const PlayerLife& life) {
  out.varint(score.match), out.svarint(score.score);
  out.u16(score.kills), out.u16(score.deaths);
  out.u8(score.builder == 0 ? score.team : static_cast<std::uint8_t>(score.team | built));
  if (score.builder != 0) out.varint(score.builder);
  out.u16(life.health);
  if (life.health == 0) return;
  out.u16(life.armour), out.u8(life.armour_half), out.u64(life.kinds_of);
  put_arsenal(out, life.arsenal);
}

bool get_life(ByteReader& in, KeptScore& score, PlayerLife& life) {
  score = {};
  life = {};
  if (!get_score(in, score)) return false;
  life.health = in.u16();
  if (life.health == 0) return in.ok();
  life.armour = in.u16(), life.armour_half = in.u8(), life.kinds_of = in.u64();
  return get_arsenal(in, life.arsenal) && life.armour_half <= 1 && in.ok();
}

}  // namespace ashlar
