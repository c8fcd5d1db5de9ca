#include "world/content/udmf_lexer.h"

#include <charconv>

#include "world/math/ascii.h"

namespace ashlar {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_word(char c) { return begins_word(c) || is_digit(c); }
bool in_number(char c) { return in_word(c) || c == '.' || c == '+' || c == '-'; }

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower_ascii(a[i]) != b[i]) return false;
  return true;
}

}  // namespace

bool UdmfLexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      for (; at_ < end + 2; ++at_)
        if (text_[at_] == '\n') ++line_;
    } else {
      break;
    }
  }
  return true;
}

UdmfLexer::Token UdmfLexer::number() {
  const std::size_t from = at_;
  while (at_ < text_.size() && in_number(text_[at_])) ++at_;
  std::string_view digits = text_.substr(from, at_ - from);
  const auto bad = [&] { return fail("'" + std::string(digits.substr(0, 24)) + "' is no number"); };

  value_ = {};
  bool negative = false;
  std::string_view rest = digits;
  if (rest[0] == '+' || rest[0] == '-') negative = rest[0] == '-', rest.remove_prefix(1);
  if (rest.empty() || (!is_digit(rest[0]) && rest[0] != '.')) return bad();

  int base = 10;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X'))
    base = 16, rest.remove_prefix(2);
  const bool real = base == 10 && rest.find_first_of(".eE") != std::string_view::npos;
  const char* const begin = rest.data();
  const char* const end = begin + rest.size();
  if (real) {
    double v = 0;
    const auto [stop, code] = std::from_chars(begin, end, v);
    if (code != std::errc{} || stop != end) return bad();
    value_.kind = UdmfValue::Kind::real;
    value_.real = negative ? -v : v;
    return Token::value;
  }
  std::int64_t v = 0;
  if (base == 10 && rest.size() > 1 && rest[0] == '0') base = 8;
  const auto [stop, code] = std::from_chars(begin, end, v, base);
  // After a second sign from_chars would take it: digits only.
  if (code != std::errc{} || stop != end || rest[0] == '-') return bad();
  value_.kind = UdmfValue::Kind::integer;
  value_.integer = negative ? -v : v;
  value_.real = static_cast<double>(value_.integer);
  return Token::value;
}

UdmfLexer::Token UdmfLexer::quoted() {
  value_ = {};
  value_.kind = UdmfValue::Kind::text;
  for (++at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return Token::value;
    }
    if (c == '\\' && at_ + 1 < text_.size()) c = text_[++at_];
    if (c == '\n') ++line_;  // an escaped one, too
    value_.text += c;
  }
  return fail("a quoted text does not end");
}

UdmfLexer::Token UdmfLexer::next() {
  if (!skip_blanks()) return fail("a comment does not end");
  if (at_ >= text_.size()) return Token::end;
  const char c = text_[at_];
  switch (c) {
    case '{': ++at_; return Token::open;
    case '}': ++at_; return Token::close;
    case '=': ++at_; return Token::assign;
    case ';': ++at_; return Token::semicolon;
    case '"': return quoted();
    default: break;
  }
  if (is_digit(c) || c == '.' || c == '+' || c == '-') return number();
  if (!begins_word(c)) {
    const bool printable = c > ' ' && c < 127;
    return fail(printable ? std::string("unexpected '") + c + "'" : "an unexpected byte");
  }
  const std::size_t from = at_;
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  word_ = text_.substr(from, at_ - from);
  // true and false are values; what is left and right of '=' the parser knows.
  value_ = {};
  value_.kind = UdmfValue::Kind::word;
  if (same_word(word_, "true") || same_word(word_, "false")) {
    value_.kind = UdmfValue::Kind::boolean;
    value_.integer = lower_ascii(word_[0]) == 't' ? 1 : 0;
  }
  return Token::identifier;
}

}  // namespace ashlar
