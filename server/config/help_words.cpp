#include "server/config/help_words.h"

#include <sstream>

namespace ashlar::server {

std::string wrapped_text(std::string_view text, std::size_t width, std::size_t indent) {
  std::istringstream words{std::string(text)};
  std::string out;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) out += ' ', ++column;
    out += word;
    column += word.size();
  }
  return out;
}

}  // namespace ashlar::server
