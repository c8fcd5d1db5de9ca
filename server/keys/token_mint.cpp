#include <algorithm>

#include "protocol/text.h"
#include "server/config/moment.h"
#include "server/keys/key_argument.h"
#include "server/keys/token_commands.h"

namespace ashlar::server {
namespace {

constexpr const char* issuer_key_variable = "ASHLAR_ISSUER_KEY_FILE";
constexpr std::int64_t token_life_s_max = 366 * 24 * 3600;
/// The clocks of a login service and of a game server differ: by so much a token begins before it is made.
constexpr std::int64_t clocks_differ_s = 60;

constexpr CommandOption token_mint_options[] = {
    {"--issuer-key", "FILE",
     "The issuer's secret key, as key new --issuer made it [ASHLAR_ISSUER_KEY_FILE]."},
    {"--client-key", "TEXT|FILE", "The player's public key; the token is of use to nobody else.", true},
    {"--id", "ID",
     "Who the player is at the operator, one for each: 1 to 32 printable ASCII characters, no blanks.", true},
    {"--name", "NAME", "What the player is called in the game, at most 24 characters [the id]."},
    {"--expires", "TIME",
     "Until when it lets in: 10m, 2h30m or 30d from now on, or such as 2030-01-31T12:00:00Z; at most 366 "
     "days "
     "after it begins. Who is in stays.",
     true},
    {"--not-before", "TIME", "From when on, likewise [a minute ago, as clocks differ]."},
    {"--server", "TEXT|FILE", "The public key of a server that it is for; again for more, at most 8.", true,
     true},
};

std::expected<secure::IssuerKeyPair, std::string> mint_issuer(const CommandWords& words,
                                                              const CommandWorld& world) {
  const bool given = words.has("--issuer-key");
  const std::string file = given ? words.value("--issuer-key") : world.variable(issuer_key_variable);
  if (file.empty())
    return std::unexpected("--issuer-key FILE is missing, and " + std::string(issuer_key_variable) +
                           " is not set: make a key with ashlar-server key new --issuer --out FILE");
  auto issuer = read_issuer_pair(file);
  if (!issuer)
    return std::unexpected(std::string(given ? "--issuer-key" : issuer_key_variable) + ": " + issuer.error());
  return issuer;
}

std::expected<void, std::string> take_times(const CommandWords& words, std::int64_t now_s,
                                            secure::TokenClaims& claims) {
  const std::string expires = words.value("--expires"), begins = words.value("--not-before");
  claims.not_before_s = std::max<std::int64_t>(0, now_s - clocks_differ_s);
  if (!begins.empty()) {
    const auto moment = parse_moment_s(begins, now_s);
    if (!moment) return std::unexpected("--not-before: " + moment.error());
    claims.not_before_s = *moment;
  }
  const auto moment = parse_moment_s(expires, now_s, "at most 366d after it begins");
  if (!moment) return std::unexpected("--expires: " + moment.error());
  claims.expires_s = *moment;
  if (claims.expires_s <= now_s)
    return std::unexpected("--expires: at " + moment_text(claims.expires_s) +
                           " it has expired already: give a time to come, such as 10m");
  if (claims.expires_s <= claims.not_before_s)
    return std::unexpected("--expires: at " + moment_text(claims.expires_s) +
                           " it would expire before it begins at " + moment_text(claims.not_before_s) +
                           ": let it expire later");
  if (claims.expires_s - std::max(claims.not_before_s, now_s) > token_life_s_max)
    return std::unexpected("--expires: it would let in for " +
                           span_text(claims.expires_s - claims.not_before_s) +
                           ", and nobody can take it back: at most 366d");
  return {};
}

std::expected<void, std::string> take_player(const CommandWords& words, secure::TokenClaims& claims) {
  auto client = public_key_argument(words.value("--client-key"));
  if (!client) return std::unexpected("--client-key: " + client.error());
  claims.client = *client;
  claims.id = words.value("--id");
  const bool printable = std::ranges::all_of(claims.id, [](char c) { return c > ' ' && c <= '~'; });
  if (claims.id.size() > secure::token_id_bytes_max || !printable)
    return std::unexpected("--id: is no id: give 1 to 32 printable ASCII characters without blanks");
  claims.name = words.has("--name") ? words.value("--name") : claims.id;
  if (!valid_player_name(claims.name) || claims.name.size() > secure::token_name_bytes_max)
    return std::unexpected(
        words.has("--name")
            ? "--name: is no player's name: give 1 to 24 printable characters, no blank at its "
              "ends"
            : "--name NAME is missing: the id is longer than the 24 characters of a name");
  return {};
}

std::expected<void, std::string> take_servers(const CommandWords& words, secure::TokenClaims& claims) {
  for (const std::string& given : words.all("--server")) {
    auto server = public_key_argument(given);
    if (!server) return std::unexpected("--server: " + server.error());
    if (std::ranges::find(claims.servers, *server) == claims.servers.end()) claims.servers.push_back(*server);
  }
  if (claims.servers.size() > secure::token_servers_max)
    return std::unexpected("--server: is given for " + std::to_string(claims.servers.size()) +
                           " servers, and a token is for at most 8: mint another for the others");
  return {};
}

}  // namespace

const CommandTable token_mint_table{"token mint",
                                    "Signs a connect token, with which one player gets into the servers of "
                                    "this issuer, and prints it. It is no "
                                    "secret: only who holds the secret of the player's key can use it.",
                                    "", token_mint_options};

CommandResult token_mint(const CommandWords& words, const CommandWorld& world) {
  secure::TokenClaims claims;
  if (auto taken = take_player(words, claims); !taken) return std::unexpected(taken.error());
  if (auto taken = take_times(words, world.now_s, claims); !taken) return std::unexpected(taken.error());
  if (auto taken = take_servers(words, claims); !taken) return std::unexpected(taken.error());
  const auto issuer = mint_issuer(words, world);
  if (!issuer) return std::unexpected(issuer.error());
  const auto token = secure::mint_token(claims, *issuer);
  if (!token) return std::unexpected("these claims make no token");  // all were checked above
  return CommandAnswer{secure::token_text(*token) + "\n", 0};
}

}  // namespace ashlar::server
