#include "server/config/world_file.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "world/math/hash.h"

namespace ashlar::server {
namespace {

constexpr std::string_view check_begin = "# check = ";

std::string check_line(std::string_view text) {
  Hasher hasher;
  hasher.add_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  char line[64];
  std::snprintf(line, sizeof line, "%.*s%016llx\n", static_cast<int>(check_begin.size()), check_begin.data(),
                static_cast<unsigned long long>(hasher.value()));
  return line;
}

/// Where the last line that says something begins; 0 when there is no other.
std::size_t last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return 0;
  const std::size_t before = text.rfind('\n', end);
  return before == std::string_view::npos ? 0 : before + 1;
}

/// The line `format = N`, as it stands; empty: there is none.
std::string_view format_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("format")) return line;
    at = end + 1;
  }
  return {};
}

bool names(const std::vector<FileValue>& values, const char* key) {
  return std::ranges::any_of(values, [&](const FileValue& v) { return v.setting == find_setting(key); });
}

/// Without an old check line, and of the format that has one.
std::string resealed(std::string_view text) {
  const std::size_t last = last_line(text);
  std::string out(text.substr(last).starts_with(check_begin) ? text.substr(0, last) : text);
  if (!out.ends_with('\n')) out += '\n';
  const std::string_view format = format_line(out);
  if (!format.empty()) {
    const auto at = static_cast<std::size_t>(format.data() - out.data());
    out.replace(at, format.size(), "format = " + std::to_string(world_format));
  }
  return seal_world_text(std::move(out));
}

}  // namespace

std::string seal_world_text(std::string text) {
  text += check_line(text);
  return text;
}

std::expected<WorldFile, std::string> parse_world_file(std::string_view text, const std::string& name,
                                                       bool accept) {
  const auto wrong = [&](const std::string& what) { return std::unexpected(name + ": " + what); };
  constexpr const char* remedy =
      "restore it from a backup, or start once with --accept-world if it is right as it is";
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return wrong("it is empty, so this world's seed and maps are lost: restore it from a backup");
  const std::size_t last = last_line(text);
  const bool has_check = text.substr(last).starts_with(check_begin);
  const bool good = has_check && text.substr(last) == check_line(text.substr(0, last));
  const bool old = !has_check && format_line(text) == "format = 1";
  if (!good && !accept && !old)
    return wrong(has_check ? "it is not as the server wrote it (its last line, the check, does not agree): " +
                                 std::string(remedy)
                           : "its last line, the check, is missing, so it was cut or edited: " +
                                 std::string(remedy));
  auto values = parse_settings(text, name, FileKind::world);
  if (!values)
    return std::unexpected(values.error() + (old ? "; if it was cut, restore it from a backup" : ""));
  // Nobody means a world without these. Of the format that had no check it is all that can be seen.
  const bool whole = names(*values, "seed") && names(*values, "map");
  if (!whole && (old || accept))
    return wrong(
        "it lacks its seed or its maps, so it was cut: restore it from a backup, or write them into it");
  WorldFile file;
  file.unchecked = old && !accept;
  if (accept && !good) file.resealed = resealed(text);
  file.values = std::move(*values);
  return file;
}

}  // namespace ashlar::server
