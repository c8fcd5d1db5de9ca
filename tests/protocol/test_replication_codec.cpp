#include "protocol/replication_codec.h"

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/registries.h"

using namespace ashlar;
using test::some_registry;

TEST_CASE("what a world tells of its kinds comes back, and cut or changed bytes are none or another",
          "[protocol][replication]") {
  Rng rng = rng_for(150, 0);
  for (int round = 0; round < 300; ++round) {
    const ReplicationRegistry registry = some_registry(rng);
    auto bytes = encode_replication(registry);
    const auto back = decode_replication(bytes);
    REQUIRE(back.has_value());
    REQUIRE(**back == registry);
    CHECK(replication_hash(**back) == replication_hash(registry));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + rng.below(30)) {
      const auto none = decode_replication(std::span(bytes).first(cut));
      REQUIRE_FALSE(none.has_value());
    }
    bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))] ^=
        static_cast<std::uint8_t>(1 + rng.below(255));
    if (const auto other = decode_replication(bytes)) CHECK_FALSE(**other == registry);
    bytes.push_back(0);
    CHECK_FALSE(decode_replication(bytes).has_value());
  }
}

TEST_CASE("ours come back as the built-in registry itself", "[protocol][replication]") {
  const auto back = decode_replication(encode_replication(*ReplicationRegistry::builtin_ptr()));
  REQUIRE(back.has_value());
  CHECK(back->get() == ReplicationRegistry::builtin_ptr().get());
  std::vector<std::uint8_t> bytes = encode_replication(**back);
  bytes[0] = 9;
  CHECK(decode_replication(bytes).error() == ReplicationError::format);
  bytes = encode_replication(**back);
  bytes[4] = 30;  // the bits of x
  CHECK(decode_replication(bytes).error() == ReplicationError::standard);
}

TEST_CASE("messages of a game, its kinds and its fields come back as they were sent",
          "[protocol][replication]") {
  MessageWriter writer;
  ReplicationRegistry registry;
  REQUIRE(registry.add_message("scored", 3));
  const auto shared = std::make_shared<const ReplicationRegistry>(registry);
  {
    const auto message =
        decode_server_message(test::AlignedBytes(writer.write(ReplicatedKinds{shared, 7})).span());
    REQUIRE(message.has_value());
    const auto* back = std::get_if<ReplicatedKinds>(&*message);
    REQUIRE(back != nullptr);
    CHECK(*back->registry == registry);
    CHECK(back->world == 7);
  }
  {
    const auto message =
        decode_server_message(test::AlignedBytes(writer.write(GameMessage{90, 7, 63, {1, 0, 255}})).span());
    REQUIRE(message.has_value());
    const auto* back = std::get_if<GameMessage>(&*message);
    REQUIRE(back != nullptr);
    CHECK(back->tick == 90);
    CHECK(back->number == 63);
    CHECK(back->bytes == std::vector<std::uint8_t>{1, 0, 255});
  }
}
