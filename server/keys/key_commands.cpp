#include "server/keys/key_commands.h"

#include <array>

#include "protocol/secure/key_text.h"
#include "server/config/key_value.h"
#include "server/keys/key_argument.h"
#include "server/keys/secret_file.h"

namespace ashlar::server {
namespace {

constexpr CommandOption key_new_options[] = {
    {"--issuer", "", "Make an issuer's key, which signs connect tokens, instead of a server's or player's."},
    {"--out", "FILE",
     "Where the secret key goes: a new file of mode 600 that nobody else may read. A file that is there is "
     "never written over.",
     true},
};
constexpr CommandTable key_new_table{
    "key new",
    "Makes a key of random bytes, writes its secret part to a file and prints its public part, which others "
    "know it by.",
    "", key_new_options};
constexpr CommandTable key_show_table{
    "key show",
    "Prints the public key that belongs to the key in a file. The secret one is never printed.",
    "FILE",
    {}};

CommandResult key_new(const CommandWords& words, const CommandWorld& world) {
  std::string open;
  SecretText secret;
  if (words.has("--issuer")) {
    const auto pair = secure::issuer_key_pair(world.entropy.secret());
    open = secure::issuer_public_text(pair.open);
    secret = SecretText(secure::issuer_secret_text(pair) + "\n");
  } else {
    const auto pair = secure::key_pair(world.entropy.secret());
    open = secure::public_key_text(pair.open);
    secret = SecretText(secure::secret_key_text(pair) + "\n");
  }
  auto file = NewSecretFile::create(words.value("--out"), secret.view());
  if (!file) return std::unexpected("--out: " + file.error());
  if (auto kept = file->keep(); !kept) return std::unexpected("--out: " + kept.error());
  return CommandAnswer{open + "\n", 0};
}

CommandResult key_show(const CommandWords& words, const CommandWorld&) {
  const auto text = read_key_file(words.operand);
  if (!text) return std::unexpected(text.error());
  const KeyKind kind = kind_of_key(text->view());
  if (kind == KeyKind::none)
    return std::unexpected(words.operand +
                           " holds no key: one begins with ashlar-secret-, ashlar-public-, "
                           "ashlar-issuer-secret- or ashlar-issuer-public-");
  if (kind == KeyKind::issuer_secret || kind == KeyKind::issuer_open) {
    const auto issuer = issuer_argument(words.operand);
    if (!issuer) return std::unexpected(issuer.error());
    return CommandAnswer{secure::issuer_public_text(*issuer) + "\n", 0};
  }
  const auto open = public_key_argument(words.operand);
  if (!open) return std::unexpected(open.error());
  return CommandAnswer{secure::public_key_text(*open) + "\n", 0};
}

constexpr std::array<GroupEntry, 2> key_entries{{{key_new_table, key_new}, {key_show_table, key_show}}};

}  // namespace

CommandResult key_command(std::span<const std::string> words, const CommandWorld& world) {
  return run_group("key", key_entries, words, world);
}

}  // namespace ashlar::server
