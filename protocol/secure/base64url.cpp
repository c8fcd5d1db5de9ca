#include "protocol/secure/base64url.h"

#include <sodium.h>

namespace ashlar::secure {

std::string base64url(ByteSpan bytes) {
  std::string out(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING), '\0');
  sodium_bin2base64(out.data(), out.size(), bytes.data(), bytes.size(),
                    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  out.pop_back();  // its zero
  return out;
}

std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text, std::size_t bytes_max) {
  if (text.size() > (bytes_max * 4 + 2) / 3) return std::nullopt;
  std::vector<std::uint8_t> out(text.size() * 3 / 4 + 1);
  std::size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(out.data(), out.size(), text.data(), text.size(), nullptr, &size, &end,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      end != text.data() + text.size())
    return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace ashlar::secure
