#pragma once
#include <string>

namespace ashlar {

/// Why foreign bytes were refused. Formats to one line that names the file, the lump, the entry and the
/// reason.
struct ContentError {
  std::string source;  ///< file or map, as the operator named it; may be empty
  std::string lump;    ///< "LINEDEFS", "TEXTMAP", "directory"; may be empty
  std::string entry;   ///< "entry 12", "line 40"; may be empty
  std::string reason;  ///< what is wrong, and the remedy where there is one

  std::string line() const {
    std::string out;
    for (const std::string* part : {&source, &lump, &entry}) {
      if (part->empty()) continue;
      if (!out.empty()) out += ' ';
      out += *part;
    }
    out = out.empty() ? reason : out + ": " + reason;
    // Foreign text may be quoted in any part: it stays one line that a terminal survives.
    for (char& c : out)
      if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    return out;
  }
};

/// ContentError::entry for the record of this number.
inline std::string entry(std::size_t i) { return "entry " + std::to_string(i); }

}  // namespace ashlar
