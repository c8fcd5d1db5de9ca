#include "client_sim/load/credentials.h"

#include <sys/stat.h>

#include "client_sim/load/options.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_text.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::client_sim {
namespace {

secure::Secret secret_of(std::uint8_t number) {
  secure::Bytes32 bytes;
  bytes.fill(number);
  return secure::Secret(bytes);
}

std::string identity_file(const testing::TemporaryFolder& folder, const char* name, std::uint8_t number) {
  const std::string path =
      folder.write(name, secure::secret_key_text(secure::key_pair(secret_of(number))) + "\n");
  ::chmod(path.c_str(), 0600);
  return path;
}

std::string token_for(const secure::PublicKey& client, const secure::PublicKey& server) {
  secure::TokenClaims claims;
  claims.client = client;
  claims.id = claims.name = "anna";
  claims.not_before_s = 1, claims.expires_s = 2;
  claims.servers = {server};
  return secure::token_text(*secure::mint_token(claims, secure::issuer_key_pair(secret_of(9)))) + "\n";
}

LoadCommand load_with(std::vector<std::string> words) {
  words.insert(words.begin(), "load");
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return parse_load(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

TEST_CASE("the first client has the identity's key, the others keys of their own",
          "[client_sim][credentials]") {
  const secure::Secret identity = secret_of(1);
  CHECK(client_key(identity, 0).open == secure::key_pair(identity).open);
  std::vector<secure::PublicKey> keys;
  for (std::uint32_t i = 0; i < 300; ++i) keys.push_back(client_key(identity, i).open);
  std::ranges::sort(keys);
  CHECK(std::ranges::adjacent_find(keys) == keys.end());
  CHECK(client_key(identity, 299).open == client_key(identity, 299).open);
  CHECK(client_key(secret_of(2), 1).open != client_key(identity, 1).open);
}

TEST_CASE("load takes keys and tokens that fit each other", "[client_sim][credentials]") {
  const testing::TemporaryFolder folder;
  const std::string identity = identity_file(folder, "identity", 1);
  const secure::PublicKey server = secure::key_pair(secret_of(5)).open,
                          other = secure::key_pair(secret_of(6)).open;
  const std::string tokens =
      folder.write("tokens", token_for(client_key(secret_of(1), 0).open, server) + "\r\n" +
                                 token_for(client_key(secret_of(1), 1).open, server));
  const std::string key = secure::public_key_text(server);
  const auto good =
      load_with({"--identity", identity, "--token", tokens, "--clients", "2", "--server-key", key});
  INFO(good.text);
  REQUIRE(good.options.has_value());
  CHECK(good.options->credentials.tokens.size() == 2);
  CHECK(good.options->credentials.server_key == server);
  CHECK(*good.options->credentials.identity == secret_of(1));

  const auto error = [](const LoadCommand& command) {
    CHECK(command.exit_code == 2);
    return command.options ? "no error" : command.text;
  };
  CHECK_THAT(error(load_with({"--identity", identity, "--token", tokens})),
             ContainsSubstring("2 tokens for 32"));
  CHECK_THAT(error(load_with({"--token", tokens, "--clients", "2"})), ContainsSubstring("--identity"));
  CHECK_THAT(
      error(load_with({"--identity", identity_file(folder, "two", 2), "--token", tokens, "--clients", "2"})),
      ContainsSubstring("token 1 is of another client's key"));
  CHECK_THAT(error(load_with({"--identity", identity, "--token", tokens, "--clients", "2", "--server-key",
                              secure::public_key_text(other)})),
             ContainsSubstring("token 1 is for other servers"));
  CHECK_THAT(error(load_with({"--print-keys"})), ContainsSubstring("--identity FILE"));
  const auto keys = load_with({"--identity", identity, "--clients", "2", "--print-keys"});
  CHECK(keys.exit_code == 0);
  CHECK(keys.text == secure::public_key_text(client_key(secret_of(1), 0).open) + "\n" +
                         secure::public_key_text(client_key(secret_of(1), 1).open));
}

TEST_CASE("files and keys that will not do are named without a secret", "[client_sim][credentials]") {
  const testing::TemporaryFolder folder;
  const std::string identity = identity_file(folder, "identity", 1);
  const std::string secret = folder.read("identity").substr(0, 62);
  CHECK_THAT(parse_server_key(secret).error(), ContainsSubstring("is a key of another kind"));
  CHECK_THAT(parse_server_key("x").error(), ContainsSubstring("is no key"));
  CHECK_THAT(read_identity(secret).error(), ContainsSubstring("put it into a file"));
  CHECK_THAT(read_identity(folder.path("absent")).error(), ContainsSubstring("absent"));
  CHECK_THAT(read_identity(folder.write("f", "hello")).error(), ContainsSubstring("is no key"));
  CHECK_THAT(read_tokens(folder.write("f", "")).error(), ContainsSubstring("holds no connect token"));
  CHECK_THAT(read_tokens(folder.write("f", "\nhello\n")).error(),
             ContainsSubstring("f line 2 is no connect token (malformed)"));
  CHECK_THAT(read_tokens(folder.write("f", "ashlar-token-AAAA")).error(), ContainsSubstring("line 1"));
  ::chmod(identity.c_str(), 0644);
  CHECK_THAT(read_identity(identity).error(), ContainsSubstring("chmod 600 " + identity));
  for (const LoadCommand& command :
       {load_with({secret}), load_with({"--server-key", secret}), load_with({"--seed", secret})})
    CHECK_FALSE(command.text.contains(secret.substr(14)));
}

}  // namespace ashlar::client_sim
