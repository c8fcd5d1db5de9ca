// A client of a newer build, within the same version of the protocol, says what this server does not know.
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// A whole message of a type that nobody knows yet: a line of chat in another wrapping.
std::vector<std::uint8_t> newer_message() {
  MessageWriter writer;
  const auto chat = writer.write(Chat{"from the future"});
  std::vector<std::uint8_t> message(chat.begin(), chat.end());
  for (std::uint8_t& byte : message) {
    const std::uint8_t was = std::exchange(byte, std::uint8_t{200});
    const auto decoded = decode_client_message(message);
    if (!decoded && decoded.error() == DropReason::unknown_message) return message;
    byte = was;
  }
  FAIL("no byte says what a message is");
  return message;
}

}  // namespace

TEST_CASE("messages of types that are not known yet are counted, and the session goes on",
          "[server][host][versions]") {
  const auto newer = newer_message();
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  for (int second = 0; second < 5; ++second) {
    for (const StreamId stream : {StreamId::control, StreamId::events, StreamId::chat, StreamId::edits})
      (void)ann.connection->send(stream, newer);
    DatagramBatch said;
    (void)ann.connection->send_unreliable(t.now, newer, said);
    for (const auto& entry : said.entries()) t.in.add(ann.at, said.bytes(entry));
    t.run(60);
  }
  CAPTURE(ann.end_text());
  CHECK_FALSE(ann.end());
  CHECK(t.drops(DropReason::unknown_message) >= 4 * 5);
  CHECK(ann.snapshot_tick == t.host->status().tick);
  // What it says besides is heard.
  CHECK(ann.send(Chat{"and from now"}) == SendResult::sent);
  t.run(60);
  CHECK(ann.lines.back().text == "and from now");
}
