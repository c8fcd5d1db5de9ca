#include "client_sim/load/credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "client_sim/harness/read_file.h"
#include "client_sim/load/options.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/key_text.h"

namespace ashlar::client_sim {
namespace {

constexpr std::size_t identity_bytes_max = 4096;
constexpr std::size_t token_file_bytes_max = load_clients_max * 1024u;
constexpr std::string_view secret_begins[] = {"ashlar-secret-", "ashlar-issuer-secret-"};

const char* key_trouble(secure::KeyTextError error) {
  switch (error) {
    case secure::KeyTextError::no_key: return "is no key";
    case secure::KeyTextError::other_kind: return "is a key of another kind";
    case secure::KeyTextError::wrong_length: return "is a key that was cut, or something follows it";
    default: return "is a key with a wrong character";
  }
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

}  // namespace

secure::KeyPair client_key(const secure::Secret& identity, std::uint32_t index) {
  if (index == 0) return secure::key_pair(identity);
  std::array<std::uint8_t, 4> number;
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::uint8_t>(index >> (8 * i));
  return secure::key_pair(secure::expand(identity, "load client", number));
}

std::expected<secure::PublicKey, std::string> parse_server_key(std::string_view text) {
  const auto key = secure::read_public_key(text);
  if (key) return *key;
  return std::unexpected(std::string(key_trouble(key.error())) +
                         ": give a server's public one (ashlar-public-...), as its ready line says it");
}

std::expected<secure::Secret, std::string> read_identity(const std::string& path) {
  for (const std::string_view begin : secret_begins)
    if (path.starts_with(begin))
      return std::unexpected(
          "a secret key is never given as an argument, which others can see: put it into a file "
          "of mode 600 and name that");
  auto bytes = read_file(path, identity_bytes_max);
  if (!bytes) return std::unexpected(bytes.error());
  const auto key = secure::read_secret_key({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  secure::wipe(*bytes);
  if (!key)
    return std::unexpected(
        path + " " + key_trouble(key.error()) +
        ": it has to be a secret one (ashlar-secret-...), as ashlar-server key new makes it");
  // As the server reads its own: its group may read it where it belongs to somebody else, as containers mount
  // secrets.
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0) return std::unexpected("cannot read " + path);
  if ((what.st_mode & (what.st_uid == ::geteuid() ? 077u : 027u)) != 0)
    return std::unexpected(path + " holds a secret that is not its owner's alone: chmod 600 " + path);
  return key->secret;
}

std::expected<std::vector<std::vector<std::uint8_t>>, std::string> read_tokens(const std::string& path) {
  const auto bytes = read_file(path, token_file_bytes_max);
  if (!bytes) return std::unexpected(bytes.error());
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  std::vector<std::vector<std::uint8_t>> tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    auto token = secure::token_from_text(line);
    const auto read = token ? secure::read_token(*token) : std::unexpected{token.error()};
    if (!read)
      return std::unexpected(path + " line " + std::to_string(number) + " is no connect token (" +
                             std::string(secure::name(read.error())) +
                             "): ashlar-server token mint makes one");
    tokens.push_back(std::move(*token));
  }
  if (tokens.empty())
    return std::unexpected(path + " holds no connect token: ashlar-server token mint makes one");
  return tokens;
}

std::string what_does_not_fit(const Credentials& credentials, std::uint32_t clients) {
  const auto& tokens = credentials.tokens;
  if (tokens.empty()) return {};
  if (!credentials.identity)
    return "--token: a token is of use only with the key that it names: give that with --identity";
  if (tokens.size() != clients)
    return "--token: there are " + std::to_string(tokens.size()) + " tokens for " + std::to_string(clients) +
           " clients: give one a client, or --clients " + std::to_string(tokens.size());
  for (std::uint32_t i = 0; i < clients; ++i) {
    const auto read = secure::read_token(tokens[i]);
    const std::string which = "--token: token " + std::to_string(i + 1);
    if (!read) return which + " is none";
    if (read->claims.client != client_key(*credentials.identity, i).open)
      return which +
             " is of another client's key than --identity gives: mint it for the keys that --print-keys "
             "tells";
    if (credentials.server_key &&
        std::ranges::find(read->claims.servers, *credentials.server_key) == read->claims.servers.end())
      return which + " is for other servers than --server-key";
  }
  return {};
}

std::string public_keys_text(const Credentials& credentials, std::uint32_t clients) {
  std::string out;
  for (std::uint32_t i = 0; i < clients; ++i)
    out += (i == 0 ? "" : "\n") + secure::public_key_text(client_key(*credentials.identity, i).open);
  return out;
}

std::string without_secrets(std::string text) {
  for (const std::string_view begin : secret_begins)
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
      at += begin.size();
      const std::size_t end = std::min(text.find_first_of(" ,;:\"'", at), text.size());
      if (end > at) text.replace(at, end - at, "...");
    }
  return text;
}

}  // namespace ashlar::client_sim
