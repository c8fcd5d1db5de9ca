#include "server/host/chat_room.h"

#include <array>

#include "protocol/decode.h"
#include "tests/catch.h"

namespace ashlar::server {
namespace {

/// Players who only chat: each with both ends of its connection, and nothing between them.
struct Corner {
  Session& enter(std::uint16_t port, const std::string& name) {
    PeerAddress at;
    at.port = port;
    Session& session = sessions.open(at, port, Identity{static_cast<std::uint8_t>(port)});
    sessions.leave_greeted(session, SessionState::playing);
    session.name = name;
    session.chat_tokens = 2;
    const secure::SessionKeys keys = secure::SessionSecret{}.keys(port);
    ConnectionSettings settings;
    clients[port] = std::make_unique<Connection>(settings, keys, at, secure::Secret{}, Micros{0});
    settings.end = secure::End::server;
    settings.receive_windows = server_stream_windows;
    session.connection = std::make_unique<Connection>(settings, keys, at, secure::Secret{}, Micros{0});
    return session;
  }
  SendResult says(const Session& session, const std::string& text) {
    return clients[session.address.port]->send(StreamId::chat, writer.write(Chat{text}));
  }
  /// Everybody's packets arrive, and the room has a tick.
  void run(std::int64_t at_ms) {
    const Micros now{1000 * at_ms};
    for (const std::uint32_t row : sessions.seated()) {
      Session& session = sessions[row];
      carry(now, *clients[session.address.port], *session.connection);
    }
    chat.advance(now, input, out);
    for (const std::uint32_t row : sessions.seated()) {
      Session& session = sessions[row];
      carry(now, *session.connection, *clients[session.address.port]);
    }
  }
  /// Lines that came to a client since this was last asked.
  std::vector<ChatLine> lines_to(const Session& session) {
    std::vector<ChatLine> lines;
    std::vector<std::uint8_t> message;
    while (clients[session.address.port]->take(StreamId::chat, message)) {
      const auto decoded = decode_server_message(message);
      REQUIRE(decoded);
      lines.push_back(std::get<ChatLine>(*decoded));
    }
    return lines;
  }
  void carry(Micros now, Connection& from, Connection& to) {
    batch.clear();
    from.poll(now, batch);
    for (const auto& entry : batch.entries()) {
      const auto opened = to.open(now, to.address(), batch.bytes(entry), scratch);
      REQUIRE(opened);
      (void)to.accept(now, *opened);
    }
  }

  HostStatus status;
  SessionTable sessions{4};
  std::array<std::unique_ptr<Connection>, 8> clients;
  ChatRoom chat{sessions, status, Defects{}};
  TickInputCollector input{4, Defects{}};
  HostOutput out;
  DatagramBatch batch;
  PacketScratch scratch;
  MessageWriter writer;
};

}  // namespace

TEST_CASE("a line goes to everybody who plays, once", "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  Session& bob = corner.enter(2, "bob");
  CHECK(corner.says(ann, "hello") == SendResult::sent);
  corner.run(1000);
  REQUIRE(corner.out.events.size() == 1);
  CHECK(corner.out.events[0].detail == "hello");
  for (const Session* session : {&ann, &bob}) {
    const auto lines = corner.lines_to(*session);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].from == "ann");
  }
  corner.run(2000);
  CHECK(corner.lines_to(bob).empty());
}

TEST_CASE("who says more than it may waits for its turn, and no line is lost", "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  std::size_t taken = 0, refused = 0, heard = 0;
  // 4 KiB of window and 16 KiB of queue: then its own connection takes no more.
  for (int i = 0; i < 200; ++i)
    (corner.says(ann, std::string(150, 'x')) == SendResult::sent ? taken : refused) += 1;
  CHECK(refused > 0);
  for (int second = 1; second <= 300; ++second) {
    ann.chat_tokens = std::min(ann.chat_tokens + 1, chat_lines_burst);
    corner.run(1000 * second);
    const std::size_t now = corner.lines_to(ann).size();
    CHECK(now <= 3);
    heard += now;
  }
  CHECK(heard == taken);
}

TEST_CASE("what is no line of chat is dropped, and bytes that are no message end the session",
          "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  Session& bob = corner.enter(2, "bob");
  CHECK(corner.clients[1]->send(StreamId::chat, corner.writer.write(Join{})) == SendResult::sent);
  CHECK(corner.clients[2]->send(StreamId::chat, std::vector<std::uint8_t>(20, 9)) == SendResult::sent);
  corner.run(1000);
  CHECK(corner.status.drops[static_cast<std::size_t>(DropReason::wrong_state)] == 1);
  CHECK(ann.connection->state() == ConnectionState::open);
  CHECK(bob.connection->close_reason() == close_reason(SessionEnd::protocol));
}

TEST_CASE("a line that begins with a slash is the game's, and nobody else hears it", "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  CHECK(corner.says(ann, "/kill me") == SendResult::sent);
  corner.run(100);
  corner.run(200);
  CHECK(corner.lines_to(ann).empty());
  const TickInput input = corner.input.input();
  REQUIRE(input.calls.size() == 1);
  CHECK(input.calls[0].text() == "kill me");
}

TEST_CASE("a line of an admin that begins with two slashes is an order, and nobody hears it",
          "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  Session& bob = corner.enter(2, "bob");
  ann.admin = true;
  CHECK(corner.says(ann, "//dig 1 2 3") == SendResult::sent);
  CHECK(corner.says(bob, "//dig 4 5 6") == SendResult::sent);
  corner.run(100);
  REQUIRE(corner.out.events.size() == 1);
  CHECK(corner.out.events[0].kind == HostEventKind::order);
  CHECK(corner.out.events[0].detail == "dig 1 2 3");
  REQUIRE(corner.input.input().calls.size() == 1);
  CHECK(corner.input.input().calls[0].text() == "/dig 4 5 6");
  corner.chat.tell(ann, "done");
  corner.run(200);
  REQUIRE(corner.lines_to(ann).size() == 1);
  CHECK(corner.lines_to(bob).empty());
}

TEST_CASE("notices wait for chat, and lines for a client that takes none are given up and counted",
          "[server][chat_room]") {
  Corner corner;
  Session& ann = corner.enter(1, "ann");
  corner.chat.note_joined("bob");
  std::size_t said = 0;
  while (corner.status.chat_given_up < 3 && said < 1000) corner.chat.say("", "again"), ++said;
  CHECK(corner.status.chat_given_up == 3);
  corner.chat.advance(Micros{1'000'000}, corner.input, corner.out);
  CHECK_FALSE(ann.notices.empty());
  std::vector<ChatLine> heard;
  for (int i = 0; i < 20; ++i) {
    corner.run(2000 + 100 * i);
    for (ChatLine& line : corner.lines_to(ann)) heard.push_back(std::move(line));
  }
  CHECK(ann.notices.empty());
  REQUIRE(heard.size() == said - 3 + 1);
  CHECK(heard.back().text == "bob joined");
}

}  // namespace ashlar::server
