// Who reads along on the line learns nothing, and who is in between is found out.
#include <bit>
#include <cstring>

#include "protocol/message_writer.h"
#include "protocol/secure/open_packets.h"
#include "protocol/version.h"
#include "tests/integration/hosted_client.h"

using namespace ashlar;
using ashlar::client_sim::ClientState;

namespace {

using Bytes = std::vector<std::uint8_t>;

WorldSetup lonely_world() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  return setup;
}

bool holds(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> what) {
  return std::search(bytes.begin(), bytes.end(), what.begin(), what.end()) != bytes.end();
}
bool holds(std::span<const std::uint8_t> bytes, const std::string& text) {
  return holds(bytes, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}
std::array<std::uint8_t, 8> bytes_of(double value) {
  std::array<std::uint8_t, 8> out{};
  std::memcpy(out.data(), &value, out.size());
  return out;
}

/// Everything that was on a line, one packet behind the other.
void record(const DatagramBatch& batch, Bytes& line) {
  for (const auto& entry : batch.entries()) {
    const auto bytes = batch.bytes(entry);
    line.insert(line.end(), bytes.begin(), bytes.end());
  }
}

}  // namespace

TEST_CASE("a recorded session holds no name, chat line or position in clear", "[integration][eavesdropper]") {
  const std::string name = "Ada King of Lovelace", line = "whoever reads along hears nothing of this";
  testing::HostedClient match(lonely_world(), 1, name);
  Bytes up, down;
  std::vector<DVec3> stood;
  std::vector<ChatLine> heard;
  const auto play = [&](int turns) {
    for (int i = 0; i < turns; ++i) {
      match.from_server.clear();
      match.turn();
      record(match.from_client, up);
      record(match.from_server, down);
      for (ChatLine& said : match.client.take_chat()) heard.push_back(std::move(said));
      if (match.client.own()) stood.push_back(match.client.own()->body.position_m);
    }
  };
  play(500);
  PlayerCommand command;
  command.forward = 0.7;
  command.yaw = Turn16{1234};
  match.client.set_command(command);
  REQUIRE(match.client.say(line));
  play(1500);
  // The session was one: the line came back, the player walked, and the view holds it.
  REQUIRE(heard.size() >= 1);
  CHECK(std::ranges::count(heard, line, &ChatLine::text) == 1);
  REQUIRE(stood.size() > 500);
  CHECK(length(stood.back() - stood.front()) > 1);
  CHECK(up.size() > 10'000);
  CHECK(down.size() > 10'000);

  for (const Bytes* bytes : {&up, &down}) {
    CHECK_FALSE(holds(*bytes, name));
    CHECK_FALSE(holds(*bytes, name.substr(0, 8)));
    CHECK_FALSE(holds(*bytes, line));
    CHECK_FALSE(holds(*bytes, line.substr(0, 8)));
  }
  // In the messages themselves all of it is there to be found: of positions the doubles of the own player,
  // and the record of it that everybody near is told.
  MessageWriter writer;
  CHECK(holds(writer.write(Chat{line}), line));
  Hello hello;
  hello.name = name;
  CHECK(holds(writer.write(hello), name));
  std::size_t looked = 0;
  for (std::size_t i = 0; i < stood.size(); i += 97)
    for (const double v : {stood[i].x, stood[i].y}) {
      const auto pattern = bytes_of(v);
      if (std::ranges::count(pattern, 0) > 1) continue;  // zeros are in every hello
      ++looked;
      CHECK_FALSE(holds(down, pattern));
      const QuantisedPosition q = quantise(stood[i]);
      const std::array<std::uint16_t, 3> record{q.x, q.y, q.z};
      CHECK_FALSE(holds(down, std::bit_cast<std::array<std::uint8_t, 6>>(record)));
    }
  CHECK(looked >= 4);
}

TEST_CASE("who is in between with a key of his own is refused by a client that pins the server's",
          "[integration][eavesdropper]") {
  testing::HostedClient match(lonely_world());
  server::HostConfig config;
  config.clients_max = 4;
  config.identity = secure::key_pair(secure::SeededEntropy(666).secret());
  match.host = std::make_unique<server::Host>(config, std::make_unique<World>(lonely_world()),
                                              secure::SeededEntropy(666).secret());
  std::size_t hellos = 0;
  for (int i = 0; i < 4000 && !match.client.ended(); ++i) {
    match.turn();
    // It never says who it is: that is in the finish.
    for (const auto& entry : match.from_client.entries()) {
      const auto type = secure::packet_type(match.from_client.bytes(entry), protocol_version);
      REQUIRE(type.has_value());
      REQUIRE(*type == secure::PacketType::hello);
      ++hellos;
    }
  }
  CHECK(hellos >= 2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.server_key() == config.identity.open);
  CHECK(match.client.reason().find("pinned") != std::string::npos);
  CHECK(match.host->status().clients == 0);
  CHECK(match.world().player_count() == 0);
}
