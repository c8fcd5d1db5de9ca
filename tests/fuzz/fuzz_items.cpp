// Any bytes as kept items, as what a block holds and as an inventory: what is taken is sane, and comes out as
// it went in.
#include <cstdlib>

#include "protocol/inventory_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  if (const auto items = ashlar::decode_items(bytes)) {
    const auto again = ashlar::decode_items(ashlar::encode_items(*items));
    if (!again || again->size() != items->size()) std::abort();
  }
  if (const auto held = ashlar::decode_block_data(bytes)) {
    const auto again = ashlar::encode_block_data(*held);
    if (!ashlar::sane(held->items) || again.size() != size || !std::equal(again.begin(), again.end(), data))
      std::abort();
  }
  ashlar::ByteReader reader(bytes);
  ashlar::Inventory inventory;
  if (!ashlar::get_inventory(reader, inventory)) return 0;
  if (!ashlar::sane(inventory)) std::abort();
  std::vector<std::uint8_t> written;
  ashlar::ByteWriter writer(written);
  ashlar::put_inventory(writer, inventory);
  if (written.size() != reader.position() || !std::equal(written.begin(), written.end(), data)) std::abort();
  return 0;
}
