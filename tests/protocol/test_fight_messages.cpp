#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

Fight most_hits() {
  Fight fight{1234, 3, 65535, 200, 1, {}};
  for (std::uint32_t i = 0; i < fight_hits_max; ++i)
    fight.hits.push_back({static_cast<CombatEventKind>(i % combat_event_kind_count),
                          static_cast<HurtBy>(i % hurt_by_count), static_cast<std::uint16_t>(i * 900),
                          EntityId{i + 1}, EntityId{i * 77}});
  return fight;
}

}  // namespace

TEST_CASE("what fights did comes back whole", "[protocol][messages]") {
  MessageWriter writer;
  const Fight fight = GENERATE(most_hits(), Fight{7, 0, 0, 0, 0, {}});
  const AlignedBytes bytes(writer.write(fight));
  CHECK(bytes.size() <= properties(StreamId::events).message_bytes_max);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const Fight& back = std::get<Fight>(*message);
  CHECK(back.tick == fight.tick);
  CHECK(back.world == fight.world);
  CHECK(back.health == fight.health);
  CHECK(back.armour == fight.armour);
  CHECK(back.armour_half == fight.armour_half);
  CHECK(back.hits == fight.hits);
}

TEST_CASE("hits of kinds that there are not are refused", "[protocol][messages]") {
  MessageWriter writer;
  const auto refused = [&](const CombatEvent& hit) {
    const AlignedBytes bytes(writer.write(Fight{1, 1, 100, 0, 0, {hit}}));
    const auto message = decode_server_message(bytes.span());
    return !message && message.error() == DropReason::out_of_range;
  };
  const CombatEvent good{CombatEventKind::hurt, HurtBy::claw, 5, EntityId{4}, EntityId{0}};
  CHECK_FALSE(refused(good));
  CombatEvent wrong = good;
  wrong.kind = static_cast<CombatEventKind>(combat_event_kind_count);
  CHECK(refused(wrong));
  wrong = good;
  wrong.how = static_cast<HurtBy>(hurt_by_count);
  CHECK(refused(wrong));
  wrong = good;
  wrong.who = EntityId{0};
  CHECK(refused(wrong));
}
