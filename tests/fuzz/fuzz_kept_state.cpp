// Any bytes as the kept state of a world: what is taken comes out as it went in.
#include <cstdlib>

#include "protocol/kept_state_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto state = ashlar::decode_kept_state({data, size});
  if (!state) return 0;
  std::vector<std::uint8_t> bytes;
  ashlar::encode_kept_state(*state, bytes);
  const auto again = ashlar::decode_kept_state(bytes);
  if (!again || !(*again == *state)) std::abort();
  return 0;
}
