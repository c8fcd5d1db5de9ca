#include <functional>
#include <limits>

#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/sim/kinds.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

WeaponKinds ours() { return {default_kinds().weapons, default_kinds().ammo, 3}; }

Carried some() {
  Carried c{1234, 3, {}, {}};
  Arsenal& a = c.arsenal;
  a.weapons = 0x1ff, a.ammo = {400, 3, 0, 65535}, a.power_ticks = {1, 65535, 3, 0, 5, 6};
  a.wait_ticks = 7, a.windup_ticks = 8, a.switch_ticks = 9;
  a.held = 2, a.wanted = 8, a.firing = 1, a.backpack = 1;
  a.reload_ticks = 10, a.charge_ticks = 65535, a.spent[0] = 1, a.spent[weapons_max - 1] = 255;
  return c;
}

template <typename Message>
bool refused(const Message& m) {
  MessageWriter writer;
  const AlignedBytes bytes(writer.write(m));
  const auto back = decode_server_message(bytes.span());
  return !back && back.error() == DropReason::out_of_range;
}

}  // namespace

TEST_CASE("weapons and what somebody carries come back whole", "[protocol][messages][weapons]") {
  MessageWriter writer;
  const AlignedBytes bytes(writer.write(ours()));
  CHECK(bytes.size() <= properties(StreamId::control).message_bytes_max);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  WeaponKinds back = std::get<WeaponKinds>(*message);
  CHECK(back.world == 3);
  CHECK(back.ammo == default_kinds().ammo);
  REQUIRE(back.weapons.size() == weapon_kind_count);
  for (std::size_t i = 0; i < back.weapons.size(); ++i) {
    back.weapons[i].projectile = default_kinds().weapons[i].projectile;  // stays with the server
    CHECK(back.weapons[i] == default_kinds().weapons[i]);
  }
  const AlignedBytes carried(writer.write(some()));
  CHECK(carried.size() <= properties(StreamId::events).message_bytes_max);
  const auto told = decode_server_message(carried.span());
  REQUIRE(told.has_value());
  CHECK(std::get<Carried>(*told).tick == 1234);
  CHECK(std::get<Carried>(*told).world == 3);
  CHECK(std::get<Carried>(*told).arsenal == some().arsenal);
}

TEST_CASE("how monsters show comes back whole, and what no client could look up is refused",
          "[protocol][messages][weapons]") {
  MessageWriter writer;
  CHECK(kind_shows_of(default_kinds()).empty());
  KindSet kinds = default_kinds();
  kinds.monsters[3].show.blood = "green";
  kinds.monsters[3].show.attack_sound = std::string(show_name_bytes_max, '~');
  kinds.monsters.push_back(kinds.monsters[0]);
  const MonsterShows shows{kind_shows_of(kinds), 3};
  REQUIRE(shows.kinds.size() == 2);
  const AlignedBytes bytes(writer.write(shows));
  const auto back = decode_server_message(bytes.span());
  REQUIRE(back.has_value());
  CHECK(std::get<MonsterShows>(*back).world == 3);
  CHECK(std::get<MonsterShows>(*back).kinds == shows.kinds);

  // All kinds with the longest names fit the stream.
  MonsterShows most{{}, 1};
  for (std::size_t i = 0; i < monster_kinds_max; ++i) {
    KindShow& one = most.kinds.emplace_back();
    one.kind = static_cast<MonsterKind>(i);
    visit_show(one.show, [](const char*, std::string& name) { name.assign(show_name_bytes_max, 'x'); });
  }
  CHECK(AlignedBytes(writer.write(most)).size() <= properties(StreamId::control).message_bytes_max);

  const auto error_of = [&](const MonsterShows& m) {
    const AlignedBytes wrong(writer.write(m));
    const auto read = decode_server_message(wrong.span());
    return read ? std::optional<DropReason>() : read.error();
  };
  MonsterShow strange;
  strange.pain_sound = "a\nb";
  CHECK(error_of({{{MonsterKind{1}, strange}}, 1}) == DropReason::bad_text);
  CHECK(error_of({{{MonsterKind{2}, {}}, {MonsterKind{2}, {}}}, 1}) == DropReason::out_of_range);
  CHECK(error_of({{{MonsterKind{64}, {}}}, 1}) == DropReason::out_of_range);
}

TEST_CASE("arsenals that no player can have are refused", "[protocol][messages][weapons]") {
  CHECK_FALSE(refused(some()));
  const auto wrong = [](const std::function<void(Arsenal&)>& change) {
    Carried c = some();
    change(c.arsenal);
    return refused(c);
  };
  CHECK(wrong([](Arsenal& a) { a.held = weapons_max; }));
  CHECK(wrong([](Arsenal& a) { a.wanted = 255; }));
  CHECK(wrong([](Arsenal& a) { a.firing = 2; }));
  CHECK(wrong([](Arsenal& a) { a.backpack = 2; }));
}

TEST_CASE("weapons cut short anywhere are refused or sane", "[protocol][messages][weapons]") {
  MessageWriter writer;
  const auto whole = writer.write(ours());
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    const AlignedBytes bytes(whole.first(size));
    const auto back = decode_server_message(bytes.span());
    if (!back) continue;
    for (const WeaponTraits& w : std::get<WeaponKinds>(*back).weapons) REQUIRE(weapon_sane(w));
  }
  // Every byte turned over, one after the other: numbers out of bounds never come through.
  std::vector<std::uint8_t> copy(whole.begin(), whole.end());
  for (std::size_t i = 0; i < copy.size(); ++i) {
    copy[i] = static_cast<std::uint8_t>(copy[i] ^ 0xff);
    const AlignedBytes bytes(copy);
    const auto back = decode_server_message(bytes.span());
    if (back && std::holds_alternative<WeaponKinds>(*back))
      for (const WeaponTraits& w : std::get<WeaponKinds>(*back).weapons) REQUIRE(weapon_sane(w));
    copy[i] = static_cast<std::uint8_t>(copy[i] ^ 0xff);
  }
}

TEST_CASE("a score comes back whole, and wrong ones are refused", "[protocol][messages][score]") {
  MessageWriter writer;
  Score score{77, 2, 5, MatchPhase::intermission, 600, {3, -4, 0, 9}, {}};
  for (std::uint32_t i = 1; i <= score_rows_max; ++i)
    score.rows.push_back({EntityId{i},
                          "a player of twenty-four" + std::string(1, static_cast<char>(97 + i % 26)),
                          static_cast<std::int32_t>(i) - 40, static_cast<std::uint16_t>(i), 65535,
                          static_cast<std::uint8_t>(i % 5)});
  const AlignedBytes bytes(writer.write(score));
  CHECK(bytes.size() <= properties(StreamId::events).message_bytes_max);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const Score& back = std::get<Score>(*message);
  CHECK((back.tick == 77 && back.world == 2 && back.match == 5 && back.left_ticks == 600));
  CHECK(back.phase == MatchPhase::intermission);
  CHECK(back.teams == score.teams);
  CHECK(back.rows == score.rows);
  Score wrong = score;
  wrong.phase = static_cast<MatchPhase>(match_phase_count);
  CHECK(refused(wrong));
  wrong = score;
  wrong.rows[3].id = EntityId{0};
  CHECK(refused(wrong));
  wrong = score;
  wrong.changes = true, wrong.gone = {EntityId{0}};
  CHECK(refused(wrong));
}

TEST_CASE("changes of a score come back, without the names that are known", "[protocol][messages][score]") {
  MessageWriter writer;
  const Score told{90,
                   2,
                   5,
                   MatchPhase::playing,
                   500,
                   {1, 0, 0, 0},
                   {{EntityId{7}, "", 3, 2, 1, 1}, {EntityId{8}, "Bob", 0, 0, 0, 2}},
                   true,
                   {EntityId{9}, EntityId{10}}};
  const AlignedBytes bytes(writer.write(told));
  CHECK(bytes.size() < 256);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const Score& back = std::get<Score>(*message);
  CHECK(back.changes);
  CHECK(back.rows == told.rows);
  CHECK(back.gone == told.gone);
}
