// Recordings are foreign bytes to `ashlar-sim replay`: nothing in them may crash the reader.
#include <cstddef>
#include <cstdint>

#include "protocol/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = ashlar::RecordingReader::open({data, size});
  if (!reader) return 0;
  ashlar::TickRecord tick;
  for (auto more = reader->next(tick); more && *more;) more = reader->next(tick);
  return 0;
}
