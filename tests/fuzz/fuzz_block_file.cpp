#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "protocol/block_kinds.h"
#include "world/content/block_file.h"

// Any bytes as a block file: it is refused in one line, or its kinds are some that a world can have, and come
// back from their bytes as they were. Any bytes as such bytes as well.

namespace {

void check_kinds(const ashlar::BlockRegistry& kinds) {
  using namespace ashlar;
  if (BlockRegistry::check(kinds.types())) std::abort();
  const auto again = decode_block_kinds(encode_block_kinds(kinds));
  if (!again || (*again)->hash() != kinds.hash()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto kinds = read_block_file(text, "fuzz.toml"))
    check_kinds(*kinds);
  else if (kinds.error().line().find('\n') != std::string::npos)
    std::abort();
  if (const auto kinds = decode_block_kinds({data, size})) check_kinds(**kinds);
  return 0;
}
