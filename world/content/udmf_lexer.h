#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar {

/// One value of a UDMF assignment.
struct UdmfValue {
  enum class Kind : std::uint8_t { integer, real, text, boolean, word };
  Kind kind = Kind::integer;
  std::int64_t integer = 0;  ///< also the boolean
  double real = 0;           ///< set for integers too
  std::string text;
};

/// Cuts UDMF text into tokens, and keeps the latest error; line() tells where it is.
class UdmfLexer {
 public:
  enum class Token : std::uint8_t { end, identifier, value, open, close, assign, semicolon, error };

  /// The text is not copied: it has to outlive the lexer and what word() gave.
  explicit UdmfLexer(std::string_view text) : text_(text) {}

  /// The next token; its contents are in word() or value().
  Token next();
  std::string_view word() const { return word_; }
  const UdmfValue& value() const { return value_; }
  std::size_t line() const { return line_; }
  const std::string& error() const { return error_; }

 private:
  bool skip_blanks();
  Token number();
  Token quoted();
  Token fail(std::string reason) {
    error_ = std::move(reason);
    return Token::error;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string_view word_;
  UdmfValue value_;
  std::string error_;
};

}  // namespace ashlar
