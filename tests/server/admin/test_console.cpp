#include "server/admin/console.h"
#include "server/admin/edit_order.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/catch.h"

namespace ashlar::server {
namespace {

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    ::close(ends[0]);
    close_writer();
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  void write(const std::string& text) {
    if (::write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("short write");
  }
  int ends[2] = {-1, -1};
};

}  // namespace

TEST_CASE("commands are read with and without something behind them", "[server][console]") {
  CHECK(*parse_console_line("status") == ConsoleCommand{ConsoleVerb::status, ""});
  CHECK(*parse_console_line("  stop \r") == ConsoleCommand{ConsoleVerb::stop, ""});
  CHECK(*parse_console_line("motd  good  evening ") == ConsoleCommand{ConsoleVerb::motd, "good  evening"});
  CHECK(*parse_console_line("motd") == ConsoleCommand{ConsoleVerb::motd, ""});
  CHECK(*parse_console_line("help") == ConsoleCommand{ConsoleVerb::help, ""});
  CHECK(*parse_console_line("players") == ConsoleCommand{ConsoleVerb::players, ""});
  CHECK(*parse_console_line("reload") == ConsoleCommand{ConsoleVerb::reload, ""});
  CHECK(*parse_console_line("noclip ann on") == ConsoleCommand{ConsoleVerb::noclip, "ann", true});
  CHECK(*parse_console_line("noclip  big  ann \t off") ==
        ConsoleCommand{ConsoleVerb::noclip, "big  ann", false});
  CHECK(*parse_console_line("spectate big  ann") == ConsoleCommand{ConsoleVerb::spectate, "big  ann"});
  CHECK(*parse_console_line("play ann") == ConsoleCommand{ConsoleVerb::play, "ann"});
  CHECK_FALSE(parse_console_line("spectate").has_value());
  for (const char* wrong : {"noclip", "noclip ann", "noclip on", "noclip ann maybe"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("noclip NAME on|off"));
}

TEST_CASE("boxes are filled and spheres cleared within their bounds", "[server][console]") {
  const auto fill = parse_console_line("fill 3 -2 40 0 5 40 brick");
  REQUIRE(fill.has_value());
  CHECK(fill->verb == ConsoleVerb::fill);
  CHECK(fill->box == BlockBox{{0, -2, 40}, {4, 6, 41}});
  CHECK(fill->id == BlockId::brick);
  CHECK(parse_console_line("fill 0 0 0 15 15 15 air").has_value());
  CHECK_THAT(parse_console_line("fill 0 0 0 15 15 16 air").error(), ContainsSubstring("4096 blocks"));
  CHECK_THAT(parse_console_line("fill 0 0 0 1048576 0 0 air").error(), ContainsSubstring("fill"));
  for (const char* wrong : {"fill", "fill 1 2 3 4 5 brick", "fill 1 2 3 4 5 6", "fill 1 2 3 4 5 6 brick more",
                            "fill 1 2 3 4 5 2147483648 brick"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("fill X Y Z X Y Z NAME"));
  CHECK_THAT(parse_console_line("fill 0 0 0 1 1 1 brik").error(), ContainsSubstring("did you mean brick?"));

  const auto blast = parse_console_line("blast 3 -2 40 2.5");
  REQUIRE(blast.has_value());
  CHECK(blast->verb == ConsoleVerb::blast);
  CHECK(blast->block == IVec3{3, -2, 40});
  CHECK(blast->radius_m == 2.5);
  for (const char* wrong : {"blast", "blast 1 2 3", "blast 1 2 3 9.5", "blast 1 2 3 -1", "blast 1 2 3 nan",
                            "blast 1 2 3 1 1", "blast 1 2 99999 1"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("blast X Y Z RADIUS"));
}

TEST_CASE("items are given by name, to players whose names may hold blanks", "[server][console]") {
  CHECK(*parse_console_line("give ann chest") ==
        ConsoleCommand{ConsoleVerb::give, "ann", false, {}, *BlockRegistry::builtin().find("chest"), 1});
  CHECK(*parse_console_line("give  big  ann clay 2304 ") ==
        ConsoleCommand{ConsoleVerb::give, "big  ann", false, {}, BlockId::clay, 2304});
  CHECK(*parse_console_line("give 7 clay 7") ==
        ConsoleCommand{ConsoleVerb::give, "7", false, {}, BlockId::clay, 7});
  for (const char* wrong : {"give", "give ann", "give clay 5", "give ann clay 0", "give ann clay 2305",
                            "give ann clay 99999999999", "give ann air", "give ann clay -1",
                            "give ann clay 1.5", "give ann clay +2"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("give NAME ITEM [N]"));
  CHECK_THAT(parse_console_line("give ann cley 5").error(), ContainsSubstring("did you mean clay?"));
}

TEST_CASE("blocks are set by name, within the world", "[server][console]") {
  CHECK(*parse_console_line("dig 1 -2 3") ==
        ConsoleCommand{ConsoleVerb::dig, "", false, {1, -2, 3}, BlockId::air});
  CHECK(*parse_console_line("set  -1048576 0 4095 brick") ==
        ConsoleCommand{ConsoleVerb::set, "", false, {-1048576, 0, 4095}, BlockId::brick});
  for (const char* wrong :
       {"dig", "dig 1 2", "dig 1 2 x", "dig 1 2 3 4", "dig 1 2 99999", "dig 1 2 99999999999"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("dig X Y Z"));
  for (const char* wrong :
       {"set", "set 1 2 3", "set 1 2 brick", "set 1 2 3 brick now", "set 1048576 0 0 brick"})
    CHECK_THAT(parse_console_line(wrong).error(), ContainsSubstring("set X Y Z NAME"));
  CHECK_THAT(parse_console_line("set 1 2 3 brik").error(), ContainsSubstring("did you mean brick?"));
  CHECK_THAT(parse_console_line("set 1 2 3 qqqqqqqqq").error(), ContainsSubstring("there are air, stone"));
}

TEST_CASE("the console asks who changed what, and has it put back", "[server][console]") {
  CHECK(*parse_console_line("log 1 2 3") == ConsoleCommand{ConsoleVerb::log, "1 2 3"});
  const auto block = parse_log_order("1 -2 3", 10'000);
  REQUIRE(block.has_value());
  CHECK(block->query.area->low == IVec3{1, -2, 3});
  CHECK(block->query.area->high == IVec3{1, -2, 3});
  CHECK_FALSE(block->query.player.has_value());
  CHECK(block->query.limit == edit_lines_max);
  const auto player = parse_log_order("big ann since 10m area 5,6,7", 10'000);
  REQUIRE(player.has_value());
  CHECK(player->query.player == "big ann");
  CHECK(player->query.since_s == 9400);
  CHECK(player->query.area->high.x == 12);
  CHECK_FALSE(player->rollback);
  const auto back = parse_rollback_order("big ann since 10m dry-run force", 10'000);
  REQUIRE(back.has_value());
  CHECK(back->query.player == "big ann");
  CHECK((back->rollback && back->force && back->dry_run));
  CHECK(back->query.limit == 0);
  CHECK_FALSE(parse_rollback_order("@all since 1h", 10'000)->query.player.has_value());
  CHECK_THAT(parse_log_order("", 0).error(), ContainsSubstring("log X Y Z"));
  CHECK_THAT(parse_log_order("1 2 9999999", 0).error(), ContainsSubstring("X,Y,R"));
  for (const char* wrong : {"", "ann", "since 10m", "ann force"})
    CHECK_THAT(parse_rollback_order(wrong, 10'000).error(), ContainsSubstring("rollback NAME since"));
  CHECK_THAT(parse_rollback_order("ann since noon", 10'000).error(), ContainsSubstring("noon"));
  CHECK_THAT(parse_rollback_order("ann since 10m area 1,2", 10'000).error(), ContainsSubstring("area: "));
}

TEST_CASE("no word in a player's name changes what is put back", "[server][console]") {
  for (const char* name : {"Anna force", "Anna dry-run", "Anna  force", "long since gone", "since", "area 51",
                           "a since", "my area", "force", "Anna since 30d force"}) {
    CAPTURE(name);
    const auto back = parse_rollback_order(std::string(name) + " since 10m", 10'000);
    REQUIRE(back.has_value());
    CHECK(back->query.player == name);
    CHECK(back->subject == name);
    CHECK(back->query.since_s == 9400);
    CHECK_FALSE((back->force || back->dry_run || back->query.area));
    const auto forced = parse_rollback_order(std::string(name) + "  since 10m area 1,2,3 force ", 10'000);
    REQUIRE(forced.has_value());
    CHECK(forced->query.player == name);
    CHECK((forced->force && !forced->dry_run && forced->query.area));
  }
  // What could be meant in two ways is not done in either.
  for (const char* both :
       {"Anna since 1h since 10m", "Anna area 1,2,3 since 10m", "Anna since 1h area 1,2,3 since 10m"})
    for (const auto& parse : {parse_rollback_order, parse_log_order})
      CHECK_THAT(parse(both, 10'000).error(), ContainsSubstring("is named by its key"));
  CHECK(parse_log_order("Anna force", 10'000)->query.player == "Anna force");
  CHECK(parse_log_order(" big  ann  since 10m", 10'000)->query.player == "big  ann");
  CHECK_FALSE(parse_log_order("@all", 10'000)->query.player.has_value());
}

TEST_CASE("a kick is for the longest name that is there, and what is behind it is the reason",
          "[server][console]") {
  CHECK(*parse_console_line("kick big ann") == ConsoleCommand{ConsoleVerb::kick, "big ann"});
  CHECK_THAT(parse_console_line("kick").error(), ContainsSubstring("kick NAME [REASON]"));
  const std::vector<std::string> names{"big", "big ann", "big ann b", "ann"};
  const auto order = [&](std::string_view text) { return *kick_order(text, names); };
  CHECK(order("big").name == "big");
  CHECK(order("big ann").name == "big ann");
  CHECK(order("big ann be kind").name == "big ann");
  CHECK(order("big ann be kind").reason == "be kind");
  CHECK(order("ann  spam ").reason == "spam");
  CHECK_FALSE(order("ann").reason.empty());
  CHECK_THAT(kick_order("anna", names).error(), ContainsSubstring("no player is called anna"));
  CHECK_FALSE(kick_order("ann", {}).has_value());
}

TEST_CASE("what is said to everybody is a line of chat", "[server][console]") {
  CHECK(*parse_console_line("say  good  evening ") == ConsoleCommand{ConsoleVerb::say, "good  evening"});
  CHECK_THAT(parse_console_line("say").error(), ContainsSubstring("say TEXT"));
  CHECK_THAT(parse_console_line("say " + std::string(201, 'x')).error(), ContainsSubstring("at most 200"));
  CHECK_FALSE(parse_console_line("say \x1b[2J").has_value());
}

TEST_CASE("what is no command is named, with the nearest one", "[server][console]") {
  CHECK_THAT(parse_console_line("statsu").error(), ContainsSubstring("did you mean status?"));
  CHECK_THAT(parse_console_line("frobnicate").error(), ContainsSubstring("type help"));
  CHECK_THAT(parse_console_line("stop now").error(), ContainsSubstring("leave \"now\" out"));
  CHECK_THAT(parse_console_line("motd " + std::string(161, 'x')).error(), ContainsSubstring("at most 160"));
  CHECK_FALSE(parse_console_line("motd \x1b[2J").has_value());
}

TEST_CASE("lines arrive whole, however they were written, and nothing blocks", "[server][console]") {
  Pipe pipe;
  Console console(pipe.ends[0]);
  CHECK(console.poll().empty());
  pipe.write("sta");
  CHECK(console.poll().empty());
  pipe.write("tus\nhelp\nst");
  CHECK(console.poll() == std::vector<std::string>{"status", "help"});
  pipe.write("op");
  CHECK_FALSE(console.ended());
  pipe.close_writer();
  std::vector<std::string> rest = console.poll();
  while (!console.ended()) {
    const auto more = console.poll();
    rest.insert(rest.end(), more.begin(), more.end());
  }
  CHECK(rest == std::vector<std::string>{"stop"});
  CHECK(console.poll().empty());
}

TEST_CASE("a line without end is not kept growing, and refused", "[server][console]") {
  Pipe pipe;
  Console console(pipe.ends[0]);
  for (int i = 0; i < 10; ++i) {
    pipe.write(std::string(4096, 'x'));
    CHECK(console.poll().empty());
  }
  pipe.write("\n");
  const auto lines = console.poll();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() == Console::line_bytes_max + 1);
  CHECK_THAT(parse_console_line(lines[0]).error(), ContainsSubstring("longer than 1024 bytes"));
}

TEST_CASE("a closed descriptor ends the console and nothing else", "[server][console]") {
  int gone = -1;
  {
    Pipe pipe;
    gone = ::fcntl(pipe.ends[0], F_DUPFD_CLOEXEC, 500);
    ::close(gone);
  }
  Console console(gone);
  CHECK(console.poll().empty());
  CHECK(console.poll().empty());
}

}  // namespace ashlar::server
