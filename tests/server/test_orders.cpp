// Orders of the console by an admin who plays: done, answered to that player, and said to be its doing.
#include "server/orders.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "protocol/secure/key_text.h"
#include "server/log/log.h"
#include "tests/catch.h"
#include "tests/server/host/host_table.h"
#include "tests/server/lines.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;
using ashlar::server::test::Hand;
using ashlar::server::test::Table;

namespace {

/// A table at which one of two players is an admin.
struct Court {
  Court() {
    HostConfig config;
    Hand first(server::test::peer(1), "ann", 1000);  // as the first at a table is
    config.admins = {first.identity.open};
    table = std::make_unique<Table>(3, std::vector<std::shared_ptr<const Prop>>{}, config);
    ann = &table->hand(server::test::peer(1), "ann");
    bob = &table->hand(server::test::peer(2), "bob");
    table->enter(*ann), table->enter(*bob);
    REQUIRE(ann->identity.open == first.identity.open);
  }
  /// What a player says in chat. @return orders that came of it
  std::vector<HostEvent> says(Hand& who, const std::string& text) {
    table->output.events.clear();
    REQUIRE(who.send(Chat{text}) == SendResult::sent);
    table->run(10);
    std::vector<HostEvent> orders;
    for (const HostEvent& event : table->output.events)
      if (event.kind == HostEventKind::order) orders.push_back(event);
    return orders;
  }
  bool heard(const Hand& who, const std::string& text) const {
    return std::ranges::any_of(
        who.lines, [&](const ChatLine& line) { return line.text.find(text) != std::string::npos; });
  }

  std::unique_ptr<Table> table;
  Hand *ann = nullptr, *bob = nullptr;
};

}  // namespace

TEST_CASE("what an admin says behind two slashes is an order, what others say there is none",
          "[server][orders]") {
  Court court;
  const auto orders = court.says(*court.ann, "//set 1 2 40 brick");
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].detail == "set 1 2 40 brick");
  CHECK(orders[0].name == "ann");
  CHECK(court.says(*court.bob, "//set 1 2 40 brick").empty());
  CHECK_FALSE(court.heard(*court.bob, "brick"));
  CHECK_FALSE(court.heard(*court.ann, "brick"));
}

TEST_CASE("an admin's order is done in its name, and it alone is answered", "[server][orders]") {
  Court court;
  Host& host = *court.table->host;
  const auto lines = std::make_shared<server::test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::warning, lines);
    const auto orders = court.says(*court.ann, "//fill 1 2 40 3 4 41 brick");
    REQUIRE(orders.size() == 1);
    Reply reply(log, host, orders[0].connection);
    CHECK(reply.by() == court.ann->own->id);
    const auto done = obey(orders[0].detail, {}, host, court.table->now, 0, reply);
    CHECK_FALSE((done.stop || done.reload || done.status));
    court.table->run(1);
    const auto edits = host.world().applied_edits();
    REQUIRE(edits.size() == 18);  // both corners are in the box
    CHECK(edits[0].who == court.ann->own->id);
    court.table->run(10);
    CHECK(court.heard(*court.ann, "fill=brick"));
    CHECK_FALSE(court.heard(*court.bob, "fill=brick"));

    Reply wrong(log, host, orders[0].connection);
    CHECK(obey("stop", {}, host, court.table->now, 0, wrong).stop);
    CHECK_FALSE(obey("", {}, host, court.table->now, 0, wrong).stop);
    (void)obey("fil 1", {}, host, court.table->now, 0, wrong);
    (void)obey("ban bob", {}, host, court.table->now, 0, wrong);  // there is nobody who keeps bans
    court.table->run(10);
    CHECK(court.heard(*court.ann, "did you mean fill?"));
    CHECK(court.heard(*court.ann, "keeps no bans"));

    // Of a long answer so much, and no more to who has left.
    Reply longest(log, host, orders[0].connection);
    court.table->run(60);
    const std::size_t before = court.ann->lines.size();
    for (int i = 0; i < 100; ++i) longest.info("edit", {{"x", i}});
    court.table->run(60);
    CHECK(court.ann->lines.size() == before + Reply::lines_max + 1);
    Reply gone(log, host, 4711);
    CHECK(gone.by() == operator_entity);
    gone.info("edit", {{"x", 1}});
  }
  // The log has what its level lets through, whoever asked.
  CHECK(std::ranges::any_of(lines->all,
                            [](const std::string& line) { return line.find("fil") != std::string::npos; }));
  CHECK(std::ranges::none_of(lines->all,
                             [](const std::string& line) { return line.find("x=") != std::string::npos; }));
}

TEST_CASE("all who bear a name are banned and put out, or none", "[server][orders][bans]") {
  HostConfig config;
  config.clients_per_address_max = 8;
  Table table(4, {}, config);
  for (std::uint16_t port = 1; port <= 3; ++port)
    table.enter(table.hand(server::test::peer(port), port < 3 ? "bob" : "ann"));
  BanList almost_full;
  const std::size_t room = GENERATE(1u, 2u);
  for (std::size_t i = room; i < BanList::bans_max; ++i)
    REQUIRE(almost_full.add(TokenId{std::to_string(i)}, {}));
  BanKeeper bans("", {almost_full, ""});
  const auto lines = std::make_shared<server::test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::info, lines);
    Reply reply(log);
    (void)obey("ban bob", {.bans = &bans}, *table.host, table.now, 0, reply);
  }
  table.run(2);
  CHECK(table.host->players().size() == (room == 1 ? 3 : 1));
  CHECK(bans.list()->entries().size() == BanList::bans_max - (room == 1 ? 1 : 0));
  CHECK(lines->all.size() == room);  // one that nobody was, or one for each
}

TEST_CASE("a name is unbanned though one of its bans is over", "[server][orders][bans]") {
  Table table;
  const auto list = parse_bans(
      "[[ban]]\naddress = \"192.0.2.1\"\nname = \"Griefer\"\n"
      "[[ban]]\naddress = \"192.0.2.2\"\nname = \"Griefer\"\nuntil = \"2020-01-01T00:00:00Z\"\n",
      "bans.toml");
  REQUIRE(list.has_value());
  BanKeeper bans("", {*list, ""});
  const auto lines = std::make_shared<server::test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::info, lines);
    Reply reply(log);
    (void)obey("unban Griefer", {.bans = &bans}, *table.host, table.now, 0, reply);
  }
  CHECK(bans.list()->entries().empty());
  CHECK(lines->all.size() == 2);
}
