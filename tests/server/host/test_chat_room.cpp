#include "server/host/chat_room.h"

#include "protocol/decode.h"
#include "tests/catch.h"

namespace ashlar::server {
namespace {

/// Players who only chat.
struct Corner {
  Session& enter(std::uint16_t port, const std::string& name) {
    PeerAddress a;
    a.port = port;
    Session& session = sessions.open(a, port);
    sessions.begin_join(session);
    session.state = SessionState::playing;
    session.name = name;
    session.chat_tokens = 2;
    return session;
  }
  /// The lines that went to a port.
  std::vector<ChatLine> lines_to(std::uint16_t port) {
    std::vector<ChatLine> lines;
    for (const auto& entry : out.datagrams.entries()) {
      if (entry.peer.port != port) continue;
      const auto packet = decode_packet(out.datagrams.bytes(entry));
      REQUIRE(packet);
      const auto message = decode_server_message(packet->payload);
      REQUIRE(message);
      lines.push_back(std::get<ChatLine>(*message));
    }
    return lines;
  }
  void send(std::int64_t at_ms) {
    out.clear();
    chat.send(Micros{1000 * at_ms}, out.datagrams);
  }

  HostStatus status;
  SessionTable sessions{4};
  ControlSender sender{status};
  ChatRoom chat{sessions, sender, status, Defects{}};
  HostOutput out;
};

}  // namespace

TEST_CASE("a line goes to everybody and is said again until it is confirmed", "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  Session& bob = corner.enter(2, "bob");
  CHECK(corner.chat.take(ann, {1, "hello"}, corner.out));
  REQUIRE(corner.out.events.size() == 1);
  CHECK(corner.out.events[0].detail == "hello");
  corner.send(1000);
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}}) {
    REQUIRE(corner.lines_to(port).size() == 1);
    CHECK(corner.lines_to(port)[0].from == "ann");
  }
  bob.chat.seen(1);
  corner.send(1100);
  CHECK(corner.out.datagrams.empty());
  corner.send(1250);
  CHECK(corner.lines_to(1).size() == 1);
  CHECK(corner.lines_to(2).empty());
  CHECK(corner.status.datagrams_out == 3);
}

TEST_CASE("a line counts once, in its number's turn, and within what a client may say",
          "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  CHECK(corner.chat.take(ann, {2, "too early"}, corner.out));
  CHECK(corner.chat.take(ann, {1, "one"}, corner.out));
  CHECK(corner.chat.take(ann, {1, "one"}, corner.out));
  CHECK(corner.chat.take(ann, {2, "two"}, corner.out));
  CHECK_FALSE(corner.chat.take(ann, {3, "three"}, corner.out));
  CHECK(corner.out.events.size() == 2);
  CHECK(ann.chat_taken == 2);
  ann.chat_tokens = 1;
  CHECK(corner.chat.take(ann, {3, "three"}, corner.out));
  CHECK(ann.chat.size() == 3);
}

TEST_CASE("notices wait for chat, and lines that nobody confirms are given up and counted",
          "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  corner.chat.note_joined("bob");
  for (std::size_t i = 0; i < ChatQueue::lines_max + 3; ++i) corner.chat.say("", "again");
  CHECK(corner.status.chat_given_up == 3);
  corner.send(1000);
  CHECK_FALSE(ann.notices.empty());
  ann.chat.seen(ann.chat.newest());
  corner.send(3000);
  REQUIRE(corner.lines_to(1).size() == 1);
  CHECK(corner.lines_to(1)[0].text == "bob joined");
}

}  // namespace ashlar::server
