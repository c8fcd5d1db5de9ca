// The interface for C, with datagrams that the test carries: all of it against a Host in simulated time.
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "client_sim/c/ashlar_client.h"
#include "server/host/content_shelf.h"
#include "tests/client_sim/net/listener.h"
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// What a caller keeps by hash.
struct Kept {
  static size_t load(void* user, uint64_t hash, uint8_t* out, size_t bytes_max) {
    const auto& kept = *static_cast<Kept*>(user);
    if (kept.hash != hash) return 0;
    if (out != nullptr && kept.bytes.size() <= bytes_max)
      std::memcpy(out, kept.bytes.data(), kept.bytes.size());
    return kept.bytes.size();
  }
  static void keep(void* user, uint64_t hash, const uint8_t* bytes, size_t size) {
    auto& kept = *static_cast<Kept*>(user);
    kept.hash = hash;
    kept.bytes.assign(bytes, bytes + size);
  }
  uint64_t hash = 0;
  std::vector<uint8_t> bytes;
};

/// A player by the interface beside one of the library, on the same Host.
struct PlayedInC {
  explicit PlayedInC(const WorldSetup& setup)
      : play(setup, giving(setup), HostedClient::client_config(setup, "ada")) {
    ashlar_options options = ASHLAR_OPTIONS_INIT;
    options.name = "cee";
    options.own_datagrams = 1;
    const secure::PublicKey pinned = hosts_identity().open;
    options.pinned = pinned.bytes.data();
    options.load_content = Kept::load;
    options.keep_content = Kept::keep;
    options.content_user = &kept;
    char error[128] = "";
    client = ashlar_open(&options, error, sizeof error);
    REQUIRE(client != nullptr);
  }
  /// The server gives its maps away.
  static server::HostConfig giving(const WorldSetup& setup) {
    auto shelf = std::make_shared<server::ContentShelf>();
    REQUIRE(shelf->add(setup).empty());
    server::HostConfig config;
    config.content = shelf;
    config.content_bytes_per_s = 4 << 20;
    return config;
  }
  ~PlayedInC() { ashlar_close(client); }
  PlayedInC(const PlayedInC&) = delete;
  PlayedInC& operator=(const PlayedInC&) = delete;

  void turn() {
    play.now += Micros{2000};
    play.to_client.clear(), play.from_client.clear(), play.to_server.clear();
    play.down.deliver(play.now, play.to_client);
    play.client.advance(play.now, play.to_client, play.from_client);
    play.up.send(play.now, play.from_client);
    play.up.deliver(play.now, play.to_server);
    ashlar_advance_at(client, play.now.count());
    PeerAddress here;
    here.port = 7778;
    std::array<uint8_t, ASHLAR_DATAGRAM_BYTES> bytes{};
    while (const size_t size = ashlar_drain(client, bytes.data(), bytes.size()))
      play.to_server.add(here, std::span(bytes).first(size));
    play.from_server.clear();
    play.advance_host();
    for (const DatagramBatch::Entry& entry : play.from_server.entries()) {
      const auto sent = play.from_server.bytes(entry);
      if (entry.peer.port == 7778) {
        REQUIRE(ashlar_feed(client, sent.data(), sent.size()) == 1);
        continue;
      }
      DatagramBatch one;
      one.add(entry.peer, sent);
      play.down.send(play.now, one);
    }
  }
  void run(double seconds) {
    for (int i = 0; i < static_cast<int>(500 * seconds); ++i) turn();
  }
  /// Until it foresees its player.
  void enter() {
    for (int i = 0; i < 5000; ++i) {
      turn();
      ashlar_self_state self = ASHLAR_SELF_INIT;
      if (ashlar_get_state(client) == ASHLAR_PLAYING && ashlar_self(client, &self) == 1 &&
          play.client.own() && ashlar_block(client, 0, 0, 0) >= -1 && self.tick > 0)
        break;
    }
    run(1);
    CAPTURE(ashlar_reason(client));
    REQUIRE(ashlar_get_state(client) == ASHLAR_PLAYING);
    REQUIRE(play.client.own().has_value());
  }
  ashlar_self_state self() const {
    ashlar_self_state out = ASHLAR_SELF_INIT;
    REQUIRE(ashlar_self(client, &out) == 1);
    return out;
  }

  Kept kept;
  HostedClient play;
  ashlar_client* client = nullptr;
};

}  // namespace

TEST_CASE("by the interface for C somebody joins, walks, shoots and talks without a socket",
          "[integration][c_interface]") {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  PlayedInC p(setup);
  CHECK(ashlar_version() == ASHLAR_CLIENT_VERSION);
  uint8_t key[32] = {};
  CHECK(ashlar_server_key(p.client, key) == 0);
  p.enter();
  REQUIRE(ashlar_server_key(p.client, key) == 1);
  CHECK(std::memcmp(key, hosts_identity().open.bytes.data(), 32) == 0);

  // A list whose elements are shorter than ours, and one whose are longer.
  struct Longer {
    ashlar_entity entity;
    uint64_t newer = 7;
  };
  std::array<Longer, 4> longer{};
  longer[0].newer = longer[1].newer = 7;
  CHECK(ashlar_others(p.client, &longer[0].entity, sizeof(Longer), longer.size()) == 1);
  CHECK(longer[0].entity.id == static_cast<uint32_t>(p.play.client.player()));
  CHECK(longer[0].newer == 0);  // nothing is known of it
  CHECK(longer[1].newer == 7);
  std::array<uint32_t, 2> ids{0, 7};
  CHECK(ashlar_others(p.client, reinterpret_cast<ashlar_entity*>(ids.data()), sizeof ids[0], 1) == 1);
  CHECK(ids[0] == longer[0].entity.id);
  CHECK(ids[1] == 7);

  const ashlar_self_state from = p.self();
  ashlar_command command = ASHLAR_COMMAND_INIT;
  command.forward = NAN;
  ashlar_set_command(p.client, &command);
  p.run(0.2);
  CHECK(p.self().x == from.x);
  command.forward = 1;
  command.buttons = ASHLAR_ATTACK;
  ashlar_set_command(p.client, &command);
  p.run(1);
  CHECK(std::hypot(p.self().x - from.x, p.self().y - from.y) > 0.5);
  std::array<ashlar_shot, 64> shots{};
  const size_t fired = ashlar_take_shots(p.client, shots.data(), sizeof shots[0], shots.size());
  CHECK(fired >= 2);
  CHECK(shots[0].launched == 0);
  CHECK(shots[0].weapon == p.self().weapon);
  CHECK(std::hypot(shots[0].direction[0], shots[0].direction[1], shots[0].direction[2]) == Approx(1));
  CHECK(shots[0].reach_m > 0);
  CHECK(ashlar_take_shots(p.client, shots.data(), sizeof shots[0], shots.size()) == 0);

  // The other weapon that everybody has is its fist.
  command = ASHLAR_COMMAND_INIT;
  const uint8_t held = p.self().weapon;
  command.weapon = static_cast<uint8_t>(held == 0 ? 2 : 1);
  ashlar_set_command(p.client, &command);
  p.run(2);
  CHECK(p.self().weapon == command.weapon - 1);
  const auto row = static_cast<std::size_t>(p.play.world().player_row(EntityId{p.self().id}));
  CHECK(p.play.world().players().arsenal[row].held == command.weapon - 1);

  CHECK(ashlar_say(p.client, "good morning") == 1);
  CHECK(ashlar_say(p.client, "") == 0);
  CHECK(ashlar_say(p.client, nullptr) == 0);
  p.run(0.5);
  char who[4], text[64];
  REQUIRE(ashlar_take_line(p.client, who, sizeof who, text, sizeof text) == 1);
  CHECK(std::string(who).empty());  // the server tells who joined
  CHECK(std::string(text).ends_with("joined"));
  REQUIRE(ashlar_take_line(p.client, who, sizeof who, text, sizeof text) == 1);
  CHECK(std::string(who) == "cee");
  CHECK(std::string(text) == "good morning");
  CHECK(ashlar_take_line(p.client, who, sizeof who, text, sizeof text) == 0);

  // A datagram that is none, and one too long, change nothing.
  const std::vector<uint8_t> nonsense(ASHLAR_DATAGRAM_BYTES + 1, 0x5a);
  CHECK(ashlar_feed(p.client, nonsense.data(), nonsense.size()) == 0);
  CHECK(ashlar_feed(p.client, nonsense.data(), 100) == 1);
  ashlar_leave(p.client);
  p.run(1);
  CHECK(ashlar_get_state(p.client) == ASHLAR_LEFT);
}

TEST_CASE("by the interface for C maps are fetched, kept, and their doors and lifts are seen to move",
          "[integration][c_interface]") {
  const auto map =
      placed_rooms(row_of_rooms({{0, 256}, {96, 320, 3}, {96, 320}}, {{62, 3}, {}}, {thing_at(40, 128, 1)}));
  PlayedInC p(setup_of_rooms(map));
  CHECK(ashlar_maps(p.client) == 0);
  p.enter();
  CHECK(p.kept.bytes.size() > 100);
  REQUIRE(ashlar_maps(p.client) == 1);
  CHECK(ashlar_sectors(p.client, 0) == map->initial_heights().size());
  CHECK(ashlar_sectors(p.client, 1) == 0);
  const DVec2 lift = map->to_world({1.5 * room_units, 128});
  const int64_t sector = ashlar_sector_at(p.client, 0, lift.x, lift.y);
  REQUIRE(sector >= 0);
  CHECK(ashlar_sector_at(p.client, 0, NAN, 0) == -1);
  CHECK(ashlar_sector_at(p.client, 1, lift.x, lift.y) == -1);
  double floor_m = 0, ceiling_m = 0;
  REQUIRE(ashlar_sector(p.client, 0, static_cast<size_t>(sector), &floor_m, &ceiling_m) == 1);
  CHECK(floor_m == Approx(map->z_to_world(96)));
  CHECK(ceiling_m == Approx(map->z_to_world(320)));
  CHECK(ashlar_sector(p.client, 0, 1000, &floor_m, &ceiling_m) == 0);

  // It walks up to the lift, uses it, and sees it come down.
  const DVec2 at = map->to_world({40, 128});
  p.play.host->admin({AdminAction::teleport, EntityId{p.self().id}, {at.x, at.y, map->z_to_world(0)}});
  p.run(1);
  double lowest_m = floor_m;
  ashlar_command command = ASHLAR_COMMAND_INIT;
  command.forward = 1;
  for (int i = 0; i < 30; ++i) {
    command.buttons = i % 2 == 0 ? 0 : ASHLAR_USE;
    ashlar_set_command(p.client, &command);
    p.run(0.2);
    double z = 0;
    REQUIRE(ashlar_sector(p.client, 0, static_cast<size_t>(sector), &z, nullptr) == 1);
    lowest_m = std::min(lowest_m, z);
  }
  CHECK(lowest_m < floor_m - 1);
}

TEST_CASE(
    "by the interface for C somebody digs, is told what became of it, and holds and drops what came of it",
    "[integration][c_interface]") {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  setup.terrain = TerrainKind::flat;
  setup.rules.free_blocks = FreeBlocks::no;
  PlayedInC p(setup);
  CHECK(std::string(ashlar_block_name(p.client, 1)).empty());
  p.enter();
  ashlar_command command = ASHLAR_COMMAND_INIT;
  command.pitch = -16384;
  ashlar_set_command(p.client, &command);
  p.run(0.5);
  const auto x = static_cast<int32_t>(std::floor(p.self().x)),
             y = static_cast<int32_t>(std::floor(p.self().y)),
             z = static_cast<int32_t>(std::lround(p.self().z)) - 1;
  const int there = ashlar_block(p.client, x, y, z);
  REQUIRE(there > 0);
  CHECK(std::string(ashlar_block_name(p.client, static_cast<uint16_t>(there))) == "grass");
  CHECK(std::string(ashlar_block_name(p.client, 60000)).empty());

  struct Longer {
    ashlar_verdict verdict;
    uint64_t newer = 7;
  };
  std::array<Longer, 4> told{};
  const auto answers = [&] { return ashlar_take_verdicts(p.client, &told[0].verdict, sizeof(Longer), 1); };
  CHECK(answers() == 0);
  CHECK(ashlar_dig(p.client, x, y, z, 6) == 0);
  const uint32_t far = ashlar_dig(p.client, x + 60, y, z, 5);
  const uint32_t act = ashlar_dig(p.client, x, y, z, 5);
  REQUIRE(act > far);
  p.run(10);
  REQUIRE(answers() == 1);  // one at a time, as there is room for one
  CHECK(told[0].verdict.act == far);
  CHECK(told[0].verdict.verdict == ASHLAR_ACT_OUT_OF_REACH);
  CHECK(told[0].newer == 0);
  REQUIRE(answers() == 1);
  CHECK(told[0].verdict.act == act);
  CHECK(told[0].verdict.verdict == ASHLAR_ACT_PROGRESS);
  REQUIRE(answers() == 1);
  CHECK(told[0].verdict.act == act);
  CHECK(told[0].verdict.verdict == ASHLAR_ACT_DONE);
  CHECK(told[0].verdict.x == x);
  CHECK(told[0].verdict.z == z);
  CHECK(answers() == 0);
  CHECK(ashlar_block(p.client, x, y, z) == 0);

  // It fell onto what came of it.
  std::array<ashlar_stack, 2> held{};
  const auto holds = [&] { return ashlar_inventory(p.client, held.data(), sizeof held[0], held.size()); };
  REQUIRE(holds() == 1);
  CHECK(held[0].count == 1);
  CHECK_FALSE(std::string(ashlar_block_name(p.client, held[0].item)).empty());
  CHECK(ashlar_inventory(p.client, nullptr, sizeof held[0], 0) == 1);
  const uint32_t none = ashlar_drop(p.client, static_cast<uint16_t>(held[0].item + 1), 1);
  p.run(1);
  REQUIRE(answers() == 1);
  CHECK(told[0].verdict.act == none);
  CHECK(told[0].verdict.verdict == ASHLAR_ACT_NO_BLOCKS);
  command.pitch = 0;
  ashlar_set_command(p.client, &command);
  p.run(0.2);
  const uint32_t dropped = ashlar_drop(p.client, held[0].item, 1);
  for (int i = 0; i < 100 && answers() == 0; ++i) p.run(0.02);
  CHECK(told[0].verdict.act == dropped);
  CHECK(told[0].verdict.verdict == ASHLAR_ACT_DONE);
  CHECK(holds() == 0);
}

namespace {

/// Keeps what players say to it.
struct Hears : Game {
  explicit Hears(std::vector<std::string>& said) : heard(said) {}
  void declare(ReplicationRegistry& to) override { to.add_client_message("vote", 8); }
  void begin(GameApi&) override {}
  void message(GameApi&, EntityId, std::size_t, std::span<const std::uint8_t> bytes) override {
    heard.emplace_back(bytes.begin(), bytes.end());
  }
  std::vector<std::string>& heard;
};

}  // namespace

TEST_CASE("by the interface for C a game is told something, and no shot of the last world comes in the next",
          "[integration][c_interface]") {
  std::vector<std::string> heard;
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  setup.game = [&heard] { return std::make_unique<Hears>(heard); };
  PlayedInC p(setup);
  const auto* const bytes = reinterpret_cast<const uint8_t*>("stone");
  CHECK(ashlar_send_game_message(p.client, "vote", bytes, 5) == 0);
  p.enter();
  CHECK(ashlar_send_game_message(p.client, "vote", bytes, 5) == 1);
  CHECK(ashlar_send_game_message(p.client, "vote", nullptr, 0) == 1);
  CHECK(ashlar_send_game_message(p.client, "vote", nullptr, 5) == 0);
  CHECK(ashlar_send_game_message(p.client, "vote", bytes, 9) == 0);
  CHECK(ashlar_send_game_message(p.client, "veto", bytes, 5) == 0);
  CHECK(ashlar_send_game_message(p.client, nullptr, bytes, 5) == 0);
  p.run(0.5);
  CHECK(heard == std::vector<std::string>{"stone", ""});

  ashlar_command command = ASHLAR_COMMAND_INIT;
  command.buttons = ASHLAR_ATTACK | ASHLAR_RELOAD;
  ashlar_set_command(p.client, &command);
  p.run(1);
  command.buttons = 0;
  ashlar_set_command(p.client, &command);
  p.run(0.5);
  std::array<ashlar_shot, 64> shots{};
  REQUIRE(ashlar_take_shots(p.client, shots.data(), sizeof shots[0], 1) == 1);
  p.play.host->change_world(std::make_unique<World>(setup));
  p.run(3);
  REQUIRE(ashlar_get_state(p.client) == ASHLAR_PLAYING);
  CHECK(ashlar_take_shots(p.client, shots.data(), sizeof shots[0], shots.size()) == 0);
}

TEST_CASE("by the interface for C whoever sets no size of his options is told so",
          "[integration][c_interface]") {
  ashlar_options options{};
  options.own_datagrams = 1;
  char error[128] = "";
  CHECK(ashlar_open(&options, error, sizeof error) == nullptr);
  CHECK_THAT(std::string(error), ContainsSubstring("ashlar_options.size"));
}

TEST_CASE("by the interface for C a client that is none is one that is over", "[integration][c_interface]") {
  ashlar_client* const none = nullptr;
  ashlar_advance(none), ashlar_leave(none), ashlar_close(none), ashlar_set_command(none, nullptr);
  CHECK(ashlar_get_state(none) == ASHLAR_LOST);
  CHECK(std::string(ashlar_reason(none)).empty());
  CHECK(ashlar_self(none, nullptr) == 0);
  CHECK(ashlar_others(none, nullptr, sizeof(ashlar_entity), 4) == 0);
  CHECK(ashlar_dig(none, 1, 2, 3, 0) == 0);
  CHECK(ashlar_send_game_message(none, "vote", nullptr, 0) == 0);
  CHECK(ashlar_block(none, 1, 2, 3) == -1);
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  PlayedInC p(setup);
  p.enter();
  CHECK(ashlar_self(p.client, nullptr) == 0);
  CHECK(ashlar_others(p.client, nullptr, sizeof(ashlar_entity), 4) == 0);
  ashlar_get_stats(p.client, nullptr);
  CHECK(ashlar_dig(p.client, INT32_MIN, INT32_MAX, 0, 0) == 0);
  CHECK(ashlar_place(p.client, INT32_MAX, 0, INT32_MIN, 2, 1) == 0);
}

TEST_CASE("by the interface for C a ray that leaves what is loaded ends nowhere",
          "[integration][c_interface]") {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  PlayedInC p(setup);
  p.enter();
  const ashlar_self_state self = p.self();
  const double from[3] = {self.x, self.y, self.z + self.eye_z};
  const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
  CHECK(ashlar_ray(p.client, from, down, 64) == Approx(self.eye_z).margin(1.5));
  CHECK(ashlar_ray(p.client, from, up, 2) == 2);
  CHECK(ashlar_ray(p.client, from, up, 4000) == -1);
}

TEST_CASE("by the interface for C a client goes on from another port, where the sockets are its own",
          "[integration][c_interface]") {
  char error[128] = "";
  CHECK(ashlar_roam(nullptr, error, sizeof error) == 0);
  WorldSetup setup;
  setup.monsters = setup.monsters_max = 0;
  const PlayedInC p(setup);
  CHECK(ashlar_roam(p.client, error, sizeof error) == 0);
  CHECK_THAT(std::string(error), ContainsSubstring("own_datagrams"));

  const test::Listener udp(false);
  const std::string server = "127.0.0.1:" + std::to_string(udp.port);
  ashlar_options options = ASHLAR_OPTIONS_INIT;
  options.server = server.c_str();
  ashlar_client* const client = ashlar_open(&options, error, sizeof error);
  REQUIRE(client != nullptr);
  const auto port_of_hello = [&] {
    test::wait_readable(udp.socket);
    std::array<uint8_t, ASHLAR_DATAGRAM_BYTES> bytes{};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    REQUIRE(recvfrom(udp.socket, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size) >
            0);
    return from.sin_port;
  };
  ashlar_advance(client);
  const auto before = port_of_hello();
  REQUIRE(ashlar_roam(client, error, sizeof error) == 1);
  for (int i = 0; i < 300; ++i) ashlar_advance(client), usleep(10'000);  // the hello is said again
  CHECK(port_of_hello() != before);
  ashlar_close(client);
}
