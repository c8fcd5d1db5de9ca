// How large kinds of monsters are, as a welcome tells it.
#include <cmath>
#include <memory>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"

using namespace ashlar;

namespace {

Welcome round_trip(const Welcome& welcome) {
  MessageWriter writer;
  const auto message = decode_server_message(writer.write(welcome));
  REQUIRE(message.has_value());
  return std::get<Welcome>(*message);
}

bool refused(const std::vector<KindBody>& bodies) {
  Welcome welcome;
  welcome.kind_bodies = bodies;
  MessageWriter writer;
  const auto message = decode_server_message(writer.write(welcome));
  return !message && message.error() == DropReason::out_of_range;
}

}  // namespace

TEST_CASE("built-in kinds are as large as they are, and need not be told", "[protocol][kind_bodies]") {
  CHECK(kind_bodies_of(default_kinds()).empty());
  const Welcome welcome = round_trip({});
  CHECK(welcome.body_of(EntityKind::player)->radius_m == welcome.rules.player.radius_m);
  CHECK(welcome.body_of(entity_kind(MonsterKind::baron))->radius_m ==
        traits(MonsterKind::baron).shape.radius_m);
  CHECK_FALSE(welcome.body_of(entity_kind(static_cast<MonsterKind>(monster_kind_count))).has_value());
  CHECK_FALSE(welcome.body_of(projectile_entity_kind(0)).has_value());
  CHECK_FALSE(welcome.body_of(static_cast<EntityKind>(5)).has_value());
}

TEST_CASE("kinds of a file are told with their size", "[protocol][kind_bodies]") {
  KindSet kinds = default_kinds();
  kinds.monsters.push_back(traits(MonsterKind::imp));
  kinds.monsters.back().shape = {1.25, 3.5};
  kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)].shape.height_m = 0.5;
  Welcome welcome;
  welcome.kind_bodies = kind_bodies_of(kinds);
  REQUIRE(welcome.kind_bodies.size() == 2);
  const Welcome back = round_trip(welcome);
  const auto fresh = back.body_of(entity_kind(static_cast<MonsterKind>(monster_kind_count)));
  REQUIRE(fresh.has_value());
  CHECK(fresh->radius_m == 1.25);
  CHECK(fresh->height_m == 3.5);
  CHECK(back.body_of(entity_kind(MonsterKind::imp))->height_m == 0.5);
  CHECK(back.body_of(entity_kind(MonsterKind::brute))->height_m == traits(MonsterKind::brute).shape.height_m);
}

TEST_CASE("sizes that nobody has are refused", "[protocol][kind_bodies]") {
  const MonsterKind imp = MonsterKind::imp;
  CHECK_FALSE(refused({{imp, {0.5, 1}}}));
  CHECK(refused({{imp, {0, 1}}}));
  CHECK(refused({{imp, {5, 1}}}));
  CHECK(refused({{imp, {0.5, 9}}}));
  CHECK(refused({{imp, {std::nan(""), 1}}}));
  CHECK(refused({{imp, {0.5, std::nan("")}}}));
  CHECK(refused({{static_cast<MonsterKind>(monster_kinds_max), {0.5, 1}}}));
  CHECK(refused({{imp, {0.5, 1}}, {imp, {0.5, 1}}}));
}
