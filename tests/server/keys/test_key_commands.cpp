#include <sys/stat.h>

#include "protocol/secure/key_text.h"
#include "server/keys/key_commands.h"
#include "server/keys/token_commands.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

constexpr std::int64_t asked_at_s = 1'800'000'000;

/// Three keys in files, and commands that are run at a known time.
struct Bench {
  Bench() {
    player = said(run(key_command, {"new", "--out", folder.path("player.key")}));
    server = said(run(key_command, {"new", "--out", folder.path("server.key")}));
    issuer = said(run(key_command, {"new", "--issuer", "--out", folder.path("issuer.key")}));
  }
  CommandResult run(CommandResult (*command)(std::span<const std::string>, const CommandWorld&),
                    const std::vector<std::string>& words, std::int64_t at_s = asked_at_s) {
    const CommandWorld world{environment, at_s, entropy};
    return command(words, world);
  }
  static std::string said(const CommandResult& result) {
    REQUIRE(result.has_value());
    return result->text.substr(0, result->text.find_last_not_of('\n') + 1);
  }
  /// `token mint` with its usual options, some of them replaced and some added.
  CommandResult mint(const std::vector<std::pair<std::string, std::string>>& changed) {
    std::vector<std::pair<std::string, std::string>> options{{"--issuer-key", folder.path("issuer.key")},
                                                             {"--client-key", player},
                                                             {"--id", "anna"},
                                                             {"--expires", "10m"},
                                                             {"--server", server}};
    for (const auto& [flag, value] : changed) {
      const auto same = std::ranges::find(options, flag, &std::pair<std::string, std::string>::first);
      if (same == options.end())
        options.emplace_back(flag, value);
      else
        same->second = value;
    }
    std::vector<std::string> words{"mint"};
    for (const auto& [flag, value] : options) words.insert(words.end(), {flag, value});
    return run(token_command, words);
  }
  std::string mint_error(const std::vector<std::pair<std::string, std::string>>& changed) {
    const auto result = mint(changed);
    return result ? "no error" : result.error();
  }

  testing::TemporaryFolder folder;
  Environment environment;
  secure::SystemEntropy entropy;
  std::string player, server, issuer;
};

}  // namespace

TEST_CASE("a new key's public part is what show tells of it", "[server][key_commands]") {
  Bench bench;
  CHECK(bench.player.starts_with("ashlar-public-"));
  CHECK(bench.issuer.starts_with("ashlar-issuer-public-"));
  CHECK(bench.player != bench.server);
  CHECK(Bench::said(bench.run(key_command, {"show", bench.folder.path("player.key")})) == bench.player);
  CHECK(Bench::said(bench.run(key_command, {"show", bench.folder.path("issuer.key")})) == bench.issuer);
  const std::string open = bench.folder.write("open", bench.player + "\n");
  CHECK(Bench::said(bench.run(key_command, {"show", open})) == bench.player);
  CHECK(bench.folder.read("player.key").starts_with("ashlar-secret-"));
}

TEST_CASE("wrong words of a command get one line with the remedy", "[server][key_commands]") {
  Bench bench;
  const auto error = [&](const std::vector<std::string>& words) {
    const auto result = bench.run(key_command, words);
    return result ? "no error" : result.error();
  };
  CHECK_THAT(error({}), ContainsSubstring("key new or key show"));
  CHECK_THAT(error({"make"}), ContainsSubstring("there is no command \"key make\""));
  CHECK_THAT(error({"new"}), ContainsSubstring("--out FILE is missing"));
  CHECK_THAT(error({"new", "--out"}), ContainsSubstring("--out needs a value, FILE"));
  CHECK_THAT(error({"new", "--out", ""}), ContainsSubstring("--out is empty"));
  CHECK_THAT(error({"new", "--uot", "x"}),
             ContainsSubstring("there is no option --uot: did you mean --out?"));
  CHECK_THAT(error({"new", "--out", "x", "--out", "y"}), ContainsSubstring("--out is given 2 times"));
  CHECK_THAT(error({"new", "x", "--out", "y"}), ContainsSubstring("\"x\" is nothing that it takes"));
  CHECK_THAT(error({"new", "--out", bench.folder.path("player.key")}),
             ContainsSubstring("it is there already"));
  CHECK_THAT(error({"show"}), ContainsSubstring("FILE is missing"));
  CHECK_THAT(error({"show", "a", "b"}), ContainsSubstring("\"b\" is one word too many"));
  CHECK_THAT(error({"show", bench.folder.write("f", "hello")}), ContainsSubstring("holds no key"));
  const std::string secret = bench.folder.read("player.key");
  for (const auto& words :
       {std::vector<std::string>{"show", secret}, {secret}, {"new", "--out", "x", secret}}) {
    CHECK_FALSE(error(words).contains(secret.substr(14, 48)));
    CHECK_THAT(error(words), ContainsSubstring("ashlar-secret-..."));
  }
}

TEST_CASE("each command and group has its help", "[server][key_commands]") {
  Bench bench;
  CHECK_THAT(Bench::said(bench.run(key_command, {"--help"})),
             ContainsSubstring("key new [--issuer] --out FILE"));
  CHECK_THAT(Bench::said(bench.run(key_command, {"new", "--help"})), ContainsSubstring("--out FILE"));
  CHECK_THAT(Bench::said(bench.run(token_command, {"mint", "--id", "x", "-h"})),
             ContainsSubstring("--not-before"));
  CHECK_THAT(Bench::said(bench.run(token_command, {"show", "--help"})), ContainsSubstring("--issuer"));
}

TEST_CASE("a minted token says what it was told and verifies", "[server][token_commands]") {
  Bench bench;
  const std::string text = Bench::said(bench.mint({{"--name", "Anna von W"}, {"--not-before", "5m"}}));
  const auto token = secure::token_from_text(text);
  REQUIRE(token.has_value());
  const std::array<secure::IssuerKey, 1> issuers{*secure::read_issuer_public(bench.issuer)};
  const auto claims = secure::verify_token(*token, asked_at_s + 400, *secure::read_public_key(bench.player),
                                           *secure::read_public_key(bench.server), issuers);
  REQUIRE(claims.has_value());
  CHECK(claims->id == "anna");
  CHECK(claims->name == "Anna von W");
  CHECK(claims->not_before_s == asked_at_s + 300);
  CHECK(claims->expires_s == asked_at_s + 600);
}

TEST_CASE("a token is good from a minute before it was made, as clocks differ", "[server][token_commands]") {
  Bench bench;
  const auto token = secure::read_token(*secure::token_from_text(Bench::said(bench.mint({}))));
  REQUIRE(token.has_value());
  CHECK(token->claims.not_before_s == asked_at_s - 60);
  CHECK(token->claims.name == "anna");
}

TEST_CASE("the issuer's key may come from the environment, keys from files", "[server][token_commands]") {
  Bench bench;
  const std::vector<std::string> words{"mint", "--client-key", bench.folder.path("player.key"),
                                       "--id", "anna",         "--expires",
                                       "10m",  "--server",     bench.folder.path("server.key")};
  CHECK_THAT(bench.run(token_command, words).error(), ContainsSubstring("ASHLAR_ISSUER_KEY_FILE"));
  bench.environment = {{"ASHLAR_ISSUER_KEY_FILE", bench.folder.path("issuer.key")}};
  CHECK(Bench::said(bench.run(token_command, words)) == Bench::said(bench.mint({})));
  bench.environment = {{"ASHLAR_ISSUER_KEY_FILE", bench.folder.path("server.key")}};
  CHECK_THAT(bench.run(token_command, words).error(),
             ContainsSubstring("ASHLAR_ISSUER_KEY_FILE: ") &&
                 ContainsSubstring("has to be the secret key of an issuer"));
}

TEST_CASE("claims that make no sense are refused each with its flag", "[server][token_commands]") {
  Bench bench;
  CHECK_THAT(bench.mint_error({{"--expires", "soon"}}), ContainsSubstring("--expires: \"soon\" is no time"));
  CHECK_THAT(bench.mint_error({{"--expires", "soon"}}), ContainsSubstring("at most 366d"));
  CHECK_THAT(bench.mint_error({{"--expires", "0s"}}), ContainsSubstring("it has expired already"));
  CHECK_THAT(bench.mint_error({{"--expires", "2020-01-01T00:00:00Z"}}),
             ContainsSubstring("at 2020-01-01T00:00:00Z it has expired already"));
  CHECK_THAT(bench.mint_error({{"--expires", "367d"}}), ContainsSubstring("at most 366d"));
  CHECK(bench.mint_error({{"--expires", "366d"}}) == "no error");
  CHECK_THAT(bench.mint_error({{"--not-before", "20m"}}),
             ContainsSubstring("it would expire before it begins"));
  CHECK_THAT(bench.mint_error({{"--id", "an na"}}), ContainsSubstring("--id: is no id"));
  CHECK_THAT(bench.mint_error({{"--id", std::string(33, 'a')}}), ContainsSubstring("--id: is no id"));
  CHECK_THAT(bench.mint_error({{"--id", std::string(32, 'a')}}), ContainsSubstring("--name NAME is missing"));
  CHECK_THAT(bench.mint_error({{"--name", " x"}}), ContainsSubstring("--name: is no player's name"));
  CHECK_THAT(bench.mint_error({{"--client-key", bench.issuer}}),
             ContainsSubstring("--client-key: is the public key of an issuer"));
  CHECK_THAT(bench.mint_error({{"--client-key", bench.player.substr(0, 40)}}), ContainsSubstring("was cut"));
  CHECK_THAT(bench.mint_error({{"--server", "nowhere"}}), ContainsSubstring("--server: cannot read nowhere"));
  CHECK_THAT(bench.mint_error({{"--issuer-key", bench.folder.read("issuer.key")}}),
             ContainsSubstring("put it into a file"));
}

TEST_CASE("a token is for at most eight servers", "[server][token_commands]") {
  Bench bench;
  std::vector<std::string> words{"mint",         "--issuer-key", bench.folder.path("issuer.key"),
                                 "--client-key", bench.player,   "--id",
                                 "anna",         "--expires",    "10m"};
  for (int i = 0; i < 9; ++i) {
    words.insert(words.end(),
                 {"--server", Bench::said(bench.run(
                                  key_command, {"new", "--out", bench.folder.path(std::to_string(i))}))});
    CAPTURE(i);
    CHECK(bench.run(token_command, words).has_value() == (i < 8));
  }
}

TEST_CASE("show tells a token's fields, whether it is valid now and whose it is",
          "[server][token_commands]") {
  Bench bench;
  const std::string token = Bench::said(bench.mint({{"--not-before", "5m"}}));
  const auto show = [&](std::int64_t at_s, std::vector<std::string> words) {
    words.insert(words.begin(), "show");
    const auto result = bench.run(token_command, words, at_s);
    REQUIRE(result.has_value());
    return *result;
  };
  CHECK_THAT(show(asked_at_s, {token}).text, ContainsSubstring("not yet, it begins in 5m"));
  CHECK(show(asked_at_s, {token}).exit_code == 1);
  const CommandAnswer good = show(asked_at_s + 420, {token, "--issuer", bench.issuer});
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.text, ContainsSubstring("id          anna\n") && ContainsSubstring(bench.player) &&
                            ContainsSubstring(bench.server) && ContainsSubstring("yes, for another 3m") &&
                            ContainsSubstring("signature   right"));
  CHECK_THAT(show(asked_at_s + 600, {token}).text, ContainsSubstring("no, it expired 0s ago"));
  CHECK(show(asked_at_s + 600, {token}).exit_code == 1);

  const std::string other =
      Bench::said(bench.run(key_command, {"new", "--issuer", "--out", bench.folder.path("o")}));
  const CommandAnswer foreign = show(asked_at_s + 420, {token, "--issuer", other});
  CHECK_THAT(foreign.text, ContainsSubstring("another issuer's"));
  CHECK(foreign.exit_code == 1);
  std::string changed = token;
  changed[changed.size() - 20] = changed[changed.size() - 20] == 'A' ? 'B' : 'A';
  CHECK_THAT(show(asked_at_s + 420, {changed, "--issuer", bench.issuer}).text,
             ContainsSubstring("signature   WRONG"));
  CHECK(show(asked_at_s + 420, {bench.folder.write("token", token + "\n")}).exit_code == 0);
}

TEST_CASE("what is no token is told so", "[server][token_commands]") {
  Bench bench;
  const std::string token = Bench::said(bench.mint({}));
  const auto error = [&](const std::string& text) {
    const auto result = bench.run(token_command, {"show", text});
    return result ? "no error" : result.error();
  };
  CHECK_THAT(error(token.substr(0, 100)), ContainsSubstring("this was cut"));
  CHECK_THAT(error("ashlar-token-!"), ContainsSubstring("this is no token"));
  CHECK_THAT(error(bench.folder.write("f", "hello")), ContainsSubstring("f is no token"));
  CHECK_THAT(error(bench.folder.path("absent")), ContainsSubstring("No such file"));
  for (std::size_t length = 13; length < token.size(); ++length) {
    CAPTURE(length);
    CHECK(error(token.substr(0, length)) != "no error");
  }
}

}  // namespace ashlar::server
