// Settings files: whatever the bytes, either checked values or one line, and what was read can be written and
// read again to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/config/config_file.h"

namespace {

using namespace ashlar::server;

void require(bool good) {
  if (!good) std::abort();
}

/// Applies what the file gives; false when a value is refused.
bool apply(const std::vector<FileValue>& values, Config& config) {
  for (const FileValue& value : values) {
    const auto set = settings()[value.setting].set(config, value.raw);
    if (!set) {
      require(!set.error().empty());
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const FileKind kind = (data[0] & 1) != 0 ? FileKind::world : FileKind::settings;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto values = parse_settings(text, "fuzz.toml", kind);
  if (!values) {
    require(values.error().starts_with("fuzz.toml:"));
    return 0;
  }
  Config config;
  if (!apply(*values, config)) return 0;
  WriteStyle style;
  style.kind = kind;
  const auto again = parse_settings(write_settings(config, style), "written.toml", kind);
  require(again.has_value());
  Config second;
  require(apply(*again, second));
  for (const Setting& setting : settings())
    if (kind == FileKind::settings || setting.of_world) require(setting.get(second) == setting.get(config));
  return 0;
}
