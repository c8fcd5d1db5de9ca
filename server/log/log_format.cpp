#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "protocol/text.h"
#include "server/log/log.h"

namespace ashlar::server {
namespace {

/// Inside quotes, for both formats: JSON's escapes.
void append_escaped(std::string& out, std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[0];
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '=') return true;
  }
  return false;
}

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), result.ptr);
}

void append_value(std::string& out, LogFormat format, const LogField& field) {
  const bool json = format == LogFormat::json;
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    const bool quotes = json || needs_quotes(*text);
    if (quotes) out += '"';
    append_escaped(out, *text);
    if (quotes) out += '"';
  } else if (const auto* flag = std::get_if<bool>(&field.value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    if (json && !std::isfinite(*real))
      out += "null";  // JSON has no word for it
    else
      append_number(out, *real);
  } else if (const auto* whole = std::get_if<std::int64_t>(&field.value)) {
    append_number(out, *whole);
  } else {
    append_number(out, std::get<std::uint64_t>(field.value));
  }
}

}  // namespace

std::string format_event(LogFormat format, std::string_view name, std::span<const LogField> fields) {
  std::string out;
  out.reserve(128);
  const auto add = [&](const LogField& field) {
    if (format == LogFormat::json) {
      if (!out.empty()) out += ',';
      out += '"';
      append_escaped(out, field.key);
      out += "\":";
    } else {
      if (!out.empty()) out += ' ';
      out += field.key;
      out += '=';
    }
    append_value(out, format, field);
  };
  add(LogField("event", name));
  for (const LogField& field : fields) add(field);
  return out;
}

bool RateCap::allow(std::chrono::microseconds now, std::uint64_t& suppressed) {
  if (now - begun_ >= per_) begun_ = now, count_ = 0;
  if (count_ >= count_max_) {
    ++suppressed_;
    return false;
  }
  ++count_;
  suppressed = suppressed_;
  suppressed_ = 0;
  return true;
}

}  // namespace ashlar::server
