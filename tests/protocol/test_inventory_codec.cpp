#include "protocol/inventory_codec.h"

#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

Inventory random_inventory(Rng& rng) {
  Inventory held;
  for (ItemStack& slot : held.slots)
    if (rng.below(2) == 0)
      slot = {static_cast<BlockId>(1 + rng.below(block_kinds_max - 1)),
              static_cast<std::uint16_t>(1 + rng.below(stack_items_max))};
  return held;
}

std::vector<std::uint8_t> coded_inventory(const Inventory& held) {
  std::vector<std::uint8_t> bytes;
  ByteWriter writer(bytes);
  put_inventory(writer, held);
  return bytes;
}

}  // namespace

TEST_CASE("an inventory comes back whole, and none of its beginnings does", "[protocol][inventory_codec]") {
  Rng rng{5};
  for (int i = 0; i < 50; ++i) {
    const Inventory held = i == 0 ? Inventory{} : random_inventory(rng);
    const auto bytes = coded_inventory(held);
    ByteReader reader(bytes);
    Inventory back;
    REQUIRE(get_inventory(reader, back));
    CHECK(reader.at_end());
    CHECK(back == held);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ByteReader cut{std::span<const std::uint8_t>(bytes).first(size)};
      CHECK_FALSE(get_inventory(cut, back));
    }
  }
}

TEST_CASE("bytes that no inventory has are refused", "[protocol][inventory_codec]") {
  const auto refused = [](std::vector<std::uint8_t> bytes) {
    ByteReader reader(bytes);
    Inventory out;
    return !get_inventory(reader, out);
  };
  CHECK_FALSE(refused({1, 0, 8, 0, 64}));
  CHECK(refused({1, 36, 8, 0, 64}));                 // no such slot
  CHECK(refused({1, 0, 8, 0, 65}));                  // too many
  CHECK(refused({1, 0, 8, 0, 0}));                   // none
  CHECK(refused({1, 0, 0, 0, 1}));                   // air
  CHECK(refused({1, 0, 0, 1, 1}));                   // kind 256
  CHECK(refused({2, 1, 8, 0, 1, 1, 8, 0, 1}));       // a slot twice
  CHECK(refused({37, 0, 8, 0, 1, 1, 8, 0, 1, 40}));  // more than there are
}

TEST_CASE("what lies in a world comes back whole, and nothing else does", "[protocol][inventory_codec]") {
  Rng rng{6};
  std::vector<LyingItem> items;
  for (int i = 0; i < 40; ++i)
    items.push_back(
        {{static_cast<BlockId>(1 + rng.below(255)), static_cast<std::uint16_t>(1 + rng.below(64))},
         {rng.between(-1e6, 1e6), rng.between(-1e6, 1e6), rng.between(-4000, 4000)},
         rng.next_u32()});
  const auto bytes = encode_items(items);
  CHECK(bytes.size() <= items_bytes_max);
  const auto back = decode_items(bytes);
  REQUIRE(back.has_value());
  REQUIRE(back->size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    CHECK((*back)[i].stack == items[i].stack);
    CHECK((*back)[i].position_m == items[i].position_m);
    CHECK((*back)[i].age_ticks == items[i].age_ticks);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_items(std::span(bytes).first(size)).has_value());
  auto wrong = bytes;
  wrong[0] = 2;
  CHECK(decode_items(wrong).error() == ItemsError::wrong_version);
  wrong = bytes;
  wrong.push_back(0);
  CHECK(decode_items(wrong).error() == ItemsError::damaged);
  wrong = bytes;
  wrong[9] = 0x7f;  // the first x is beyond the world
  CHECK(decode_items(wrong).error() == ItemsError::damaged);
}

TEST_CASE("news of an inventory come back whole", "[protocol][messages]") {
  MessageWriter writer;
  InventoryChange change{77, 3, true, {}};
  for (std::uint8_t i = 0; i < inventory_slots; ++i)
    change.slots.push_back({i, i % 3 == 0 ? ItemStack{} : ItemStack{static_cast<BlockId>(i + 200), 64}});
  const AlignedBytes bytes(writer.write(change));
  CHECK(bytes.size() <= properties(StreamId::events).message_bytes_max);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const auto& back = std::get<InventoryChange>(*message);
  CHECK(back.tick == 77);
  CHECK(back.world == 3);
  CHECK(back.whole);
  CHECK(back.slots == change.slots);
}

TEST_CASE("news of slots that there are not are refused", "[protocol][messages]") {
  MessageWriter writer;
  const auto refused = [&](std::vector<SlotChange> slots) {
    const AlignedBytes bytes(writer.write(InventoryChange{1, 1, false, std::move(slots)}));
    const auto message = decode_server_message(bytes.span());
    return !message && message.error() == DropReason::out_of_range;
  };
  CHECK_FALSE(refused({{35, {BlockId::dirt, 1}}}));
  CHECK_FALSE(refused({{3, {}}}));
  CHECK(refused({{3, {BlockId::air, 1}}}));
  CHECK(refused({{3, {BlockId::dirt, 0}}}));
  CHECK(refused({{3, {static_cast<BlockId>(256), 1}}}));
  CHECK(refused({{3, {BlockId::dirt, 1}}, {3, {BlockId::dirt, 1}}}));
  CHECK(refused({{4, {BlockId::dirt, 1}}, {3, {BlockId::dirt, 1}}}));
}
