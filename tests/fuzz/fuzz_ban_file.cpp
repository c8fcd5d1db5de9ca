#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/bans/ban_file.h"

// Any bytes as a file of bans: it is refused in one line that names the place, or its list comes back from
// its text as it was.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::server;
  const auto bans = parse_bans({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!bans) {
    if (!bans.error().starts_with("fuzz.toml:") || bans.error().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto again = parse_bans(bans_text(*bans), "written.toml");
  if (!again || !(*again == *bans)) std::abort();
  return 0;
}
