#include "server/config/recording_name.h"

namespace ashlar::server {
namespace {

/// Digits that a conversion gives; 0: it is none of ours.
std::size_t digits_of(char conversion) {
  switch (conversion) {
    case 'Y': return 4;
    case 'j': return 3;
    case 'm':
    case 'd':
    case 'H':
    case 'M':
    case 'S': return 2;
    default: return 0;
  }
}

std::string_view file_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}  // npos + 1 is 0

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name against the pattern's letters and conversions alone.
bool matches(std::string_view name, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern.front() == '%' && pattern.size() > 1 && pattern[1] != '%') {
      const std::size_t digits = digits_of(pattern[1]);
      if (digits == 0 || name.size() < digits || !all_digits(name.substr(0, digits))) return false;
      name.remove_prefix(digits);
      pattern.remove_prefix(2);
      continue;
    }
    if (name.empty() || name.front() != pattern.front()) return false;
    name.remove_prefix(1);
    pattern.remove_prefix(pattern.starts_with("%%") ? 2 : 1);
  }
  return name.empty();
}

}  // namespace

std::expected<void, std::string> check_recording_name(std::string_view pattern) {
  if (pattern.empty()) return std::unexpected("is empty: name a file, or leave the setting out");
  if (file_part(pattern).empty()) return std::unexpected("is a folder's name: name a file in it");
  const std::size_t folder = pattern.size() - file_part(pattern).size();
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2)) {
    const char conversion = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (conversion != '%' && digits_of(conversion) == 0)
      return std::unexpected(
          "has a % that stands for no time: give %Y %m %d %H %M %S or %j, and %% for itself");
    if (conversion != '%' && at < folder)
      return std::unexpected("has a time in a folder's name: only the file's own name may have one");
  }
  return {};
}

std::string recording_name(const std::string& pattern, const std::tm& at) {
  std::string out(pattern.size() * 4 + 16, '\0');
  out.resize(std::strftime(out.data(), out.size(), pattern.c_str(), &at));
  return out;
}

bool is_recording_name(std::string_view name, std::string_view pattern) {
  if (matches(name, pattern)) return true;
  const std::size_t dot = name.rfind('.');
  const std::size_t end = dot == std::string_view::npos || dot == 0 ? name.size() : dot;
  const std::size_t dash = name.substr(0, end).rfind('-');
  if (dash == std::string_view::npos || !all_digits(name.substr(dash + 1, end - dash - 1))) return false;
  const std::string_view number =
      name.substr(dash + 1, end - dash - 1);  // as numbered_recording() gives them
  if (number.size() > 5 || number.front() == '0' || number == "1") return false;
  return matches(std::string(name.substr(0, dash)) + std::string(name.substr(end)), pattern);
}

std::string numbered_recording(const std::string& path, unsigned number) {
  if (number < 2) return path;
  const std::size_t name = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

}  // namespace ashlar::server
