// Holds the page's examples against our code of today: test_wire.cpp and test_wire_packets.cpp read them
// without it.
#include <cstdio>

#include "protocol/connection/session_end.h"
#include "protocol/decode.h"
#include "protocol/version.h"
#include "tests/protocol/wire_examples.h"

using namespace ashlar;
using namespace ashlar::wire_page;

namespace {

void print_examples(const std::vector<Example>& all) {
  for (const auto& [heading, bytes] : all) {
    std::printf("### %s\n\n```\n", heading.c_str());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      std::printf("%02x%s", static_cast<unsigned>(bytes[i]),
                  i % 32 == 31 || i + 1 == bytes.size() ? "\n" : " ");
    std::printf("```\n\n");
  }
}

std::vector<Example> packets_of_the_page() {
  return packets_today(example("Hello message"), example("Welcome"), example("Input"));
}

}  // namespace

TEST_CASE("the handshake says byte for byte what the page says", "[protocol][wire]") {
  for (const auto& [heading, bytes] : packets_of_the_page()) {
    CAPTURE(heading);
    CHECK(example(heading) == bytes);
  }
}

TEST_CASE("messages are as long as on the page and mean the same", "[protocol][wire]") {
  // The examples are recordings: an encoder may lay tables out anew, but must say the same.
  for (const auto& [heading, bytes] : messages_today()) {
    CAPTURE(heading);
    const test::AlignedBytes page(example(heading));
    CHECK(page.size() == bytes.size());
    const test::AlignedBytes today(bytes);
    const auto client = decode_client_message(page.span());
    const auto server = decode_server_message(page.span());
    REQUIRE((client.has_value() || server.has_value()));
    CHECK(decode_client_message(today.span()).has_value() == client.has_value());
    CHECK(decode_server_message(today.span()).has_value() == server.has_value());
    if (client) CHECK(decode_client_message(today.span())->index() == client->index());
    if (server) CHECK(decode_server_message(today.span())->index() == server->index());
  }
}

TEST_CASE("the page is that of this version", "[protocol][wire]") {
  CHECK(page_text().starts_with("# The wire, version " + std::to_string(protocol_version) + "\n"));
  CHECK(page_text().find("\n| " + std::to_string(protocol_version) + " | ") != std::string::npos);
}

TEST_CASE("the page names each reason of a close", "[protocol][wire]") {
  for (int number = 1; number < 256; ++number) {
    const auto reason = static_cast<CloseReason>(number);
    const std::string row = "\n| " + std::to_string(number) + " | `" + std::string(end_name(reason)) + "` | ";
    CAPTURE(row);
    const bool named =
        session_end(reason).has_value() || (reason < CloseReason::application && name(reason) != "unknown");
    CHECK((page_text().find(row) != std::string::npos) == named);
  }
}

TEST_CASE("prints the examples for the page", "[.][wire_examples]") {
  const std::vector<Example> messages = messages_today();
  print_examples(packets_today(find_example(messages, "Hello message"), find_example(messages, "Welcome"),
                               find_example(messages, "Input")));
  print_examples(messages);
}
