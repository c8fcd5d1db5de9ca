#include "server/keys/key_argument.h"

#include "server/config/key_value.h"
#include "server/keys/secret_file.h"

namespace ashlar::server {
namespace {

constexpr const char* secrets_in_files =
    "a secret key is never given as an argument, which others can see: put it into a file of mode 600 and "
    "name "
    "that";

/// A key's text: what was given, or what the file of that name holds.
struct GivenKey {
  SecretText text;
  std::string where;  ///< "FILE "; empty: it was given as text
};

std::expected<GivenKey, std::string> given_key(const std::string& given) {
  const KeyKind kind = kind_of_key(given);
  if (is_secret(kind)) return std::unexpected(std::string(secrets_in_files));
  if (kind != KeyKind::none) return GivenKey{SecretText(given), ""};
  auto text = read_key_file(given);
  if (!text) return std::unexpected(text.error() + "; give a key's text or the name of its file");
  return GivenKey{std::move(*text), given + " "};
}

std::expected<SecretText, std::string> secret_key_file(const std::string& path) {
  if (is_secret(kind_of_key(path))) return std::unexpected(std::string(secrets_in_files));
  return read_key_file(path);
}

}  // namespace

std::expected<secure::PublicKey, std::string> public_key_argument(const std::string& given) {
  const auto key = given_key(given);
  if (!key) return std::unexpected(key.error());
  const std::string_view text = key->text.view();
  if (kind_of_key(text) == KeyKind::secret) {
    const auto pair = secure::read_secret_key(text);
    if (!pair) return std::unexpected(key->where + key_complaint(pair.error(), KeyKind::secret, text));
    return pair->open;
  }
  const auto open = secure::read_public_key(text);
  if (!open) return std::unexpected(key->where + key_complaint(open.error(), KeyKind::open, text));
  return *open;
}

std::expected<secure::IssuerKey, std::string> issuer_argument(const std::string& given) {
  const auto key = given_key(given);
  if (!key) return std::unexpected(key.error());
  const std::string_view text = key->text.view();
  if (kind_of_key(text) == KeyKind::issuer_secret) {
    const auto pair = secure::read_issuer_secret(text);
    if (!pair) return std::unexpected(key->where + key_complaint(pair.error(), KeyKind::issuer_secret, text));
    return pair->open;
  }
  auto open = parse_issuer(text);
  if (!open) return std::unexpected(key->where + open.error());
  return *open;
}

std::expected<secure::KeyPair, std::string> read_key_pair(const std::string& path) {
  const auto text = secret_key_file(path);
  if (!text) return std::unexpected(text.error());
  auto pair = secure::read_secret_key(text->view());
  if (!pair) return std::unexpected(path + " " + key_complaint(pair.error(), KeyKind::secret, text->view()));
  return *pair;
}

std::expected<secure::IssuerKeyPair, std::string> read_issuer_pair(const std::string& path) {
  const auto text = secret_key_file(path);
  if (!text) return std::unexpected(text.error());
  auto pair = secure::read_issuer_secret(text->view());
  if (!pair)
    return std::unexpected(path + " " + key_complaint(pair.error(), KeyKind::issuer_secret, text->view()));
  return *pair;
}

}  // namespace ashlar::server
