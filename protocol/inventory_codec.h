#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "protocol/bytes.h"
#include "world/sim/block_contents.h"
#include "world/sim/inventory.h"
#include "world/sim/item_table.h"

// What players hold and what lies in a world, as bytes for recordings and disks (little endian):
//
//   inventory = count u8 | count times: slot u8, kind u16, items u8; slots rise
//   items     = version u8 (1) | count varint | count times: x f64, y f64, z f64, age u32, kind u16, items u8
//   held by a block = inventory | text: size u8, bytes
//   for disks and a recording's start: version u8 | held by a block | in version 2: when its timer runs out,
//   a varint that is not 0; who has none is written in version 1

namespace ashlar {

/// An inventory behind what `out` holds already. Precondition: sane(inventory).
void put_inventory(ByteWriter& out, const Inventory& inventory);
/// False, and `out` undefined, for what put_inventory() does not write.
bool get_inventory(ByteReader& in, Inventory& out);

/// What a block holds but for its timer, likewise.
void put_block_data(ByteWriter& out, const BlockData& data);
bool get_block_data(ByteReader& in, BlockData& out);

/// What a block holds, by itself.
std::vector<std::uint8_t> encode_block_data(const BlockData& data);
/// What encode_block_data() made these bytes of; any bytes are allowed. None: they make no sense.
std::optional<BlockData> decode_block_data(std::span<const std::uint8_t> bytes);
inline constexpr std::size_t block_data_bytes_max =
    1 + (1 + 4 * inventory_slots) + (1 + sign_text_bytes_max) + 10;

/// Items that lie in a world, at most items_max.
std::vector<std::uint8_t> encode_items(std::span<const LyingItem> items);
inline constexpr std::size_t items_bytes_max = 8 + std::size_t{items_max} * 31;

/// Why bytes are no list of items.
enum class ItemsError : std::uint8_t { wrong_version, damaged };
/// Half a sentence for people; a literal.
const char* describe(ItemsError error);
/// The list that encode_items() made these bytes of; any bytes are allowed.
std::expected<std::vector<LyingItem>, ItemsError> decode_items(std::span<const std::uint8_t> bytes);

}  // namespace ashlar
