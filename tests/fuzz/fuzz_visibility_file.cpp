// Any bytes as a kept visibility set for a map of as many sectors as the first byte says. The rest is tried
// as it is and with the hash that belongs to it, or nothing would get past that.
#include <cstdlib>

#include "protocol/visibility_file.h"
#include "world/math/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  if (size < 1 + 8) return 0;
  const std::uint32_t sectors = data[0];
  std::vector<std::uint8_t> bytes(data + 1, data + size);
  static_cast<void>(decode_visibility(bytes, 0, sectors));
  Hasher h;
  h.add_bytes(std::span(bytes).first(bytes.size() - 8));
  for (std::size_t i = 0; i < 8; ++i)
    bytes[bytes.size() - 8 + i] = static_cast<std::uint8_t>(h.value() >> (8 * i));
  const auto set = decode_visibility(bytes, 0, sectors);
  if (!set) return 0;
  if (set->sectors != sectors || set->from_above.size() != sectors) std::abort();
  for (std::uint32_t a = 0; a < sectors; ++a)
    for (std::uint32_t b = sectors; b < set->row_words * 64; ++b)
      if (set->sees(a, b)) std::abort();
  if (encode_visibility(*set, 0) != bytes) std::abort();
  return 0;
}
