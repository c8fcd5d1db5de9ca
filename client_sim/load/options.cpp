#include "client_sim/load/options.h"

#include <CLI/CLI.hpp>

#include "client_sim/harness/command_words.h"
#include "client_sim/harness/content_library.h"
#include "client_sim/harness/parse.h"

namespace ashlar::client_sim {
namespace {

constexpr const char* footer =
    "Exit codes: 0 all went well; 1 a client was refused, dropped, starved (a second without a snapshot, "
    "and\n"
    "more than two of them where they come seldom), told a wrong place or never started, or hostile peers\n"
    "sent no attack; 2 bad arguments, a named WAD that is missing, or no server address.\n"
    "Example: ashlar-sim load --server 127.0.0.1:7777 --clients 200 --transport tcp --duration 1m";

/// Adds an option whose text one of our parsers reads; what it says of bad text becomes CLI11's error.
template <class Value, class Parse>
void add_parsed(CLI::App& app, const char* option, Value& value, Parse parse, const char* type,
                const char* help) {
  app.add_option_function<std::string>(
         option,
         [&value, parse, option](const std::string& text) {
           auto parsed = parse(text);
           if (!parsed) throw CLI::ValidationError(option, parsed.error());
           value = static_cast<Value>(*std::move(parsed));
         },
         help)
      ->type_name(type);
}

std::vector<std::string> hostile_names() {
  std::vector<std::string> out{"mixed"};
  for (std::size_t i = 0; i < raid_kind_count; ++i) out.emplace_back(name(static_cast<RaidKind>(i)));
  return out;
}

std::vector<std::string> brain_names() {
  std::vector<std::string> out{"mixed"};
  for (std::size_t i = 0; i < brain_kind_count; ++i) out.emplace_back(name(static_cast<BrainKind>(i)));
  return out;
}

std::vector<std::string> cheat_names() {
  std::vector<std::string> out{"none"};
  for (std::size_t i = 0; i < load_cheat_count; ++i) out.emplace_back(name(static_cast<LoadCheat>(i)));
  return out;
}

/// What stays text until all of it is there.
struct GivenTexts {
  std::string transport = "udp", brain = "mixed", hostile = "mixed", cheat = "none";
};

void add_run(CLI::App& app, LoadOptions& o, GivenTexts& given) {
  app.add_option("--server", o.server, "Where the server is")->type_name("HOST:PORT")->capture_default_str();
  app.add_option("--transport", given.transport, "udp or tcp")
      ->check(CLI::IsMember({"udp", "tcp"}))
      ->capture_default_str();
  app.add_flag("--fallback", o.fallback, "Clients that hear nothing over UDP try TCP, too");
  app.add_option("--clients", o.clients, "Simulated players")
      ->check(CLI::Range(std::uint32_t{1}, load_clients_max))
      ->capture_default_str();
  app.add_option(
         "--light", o.light,
         "So many more that speak, run and count but keep no picture of the world: thousands fit on a "
         "core, and the others check what they are told of each other")
      ->check(CLI::Range(0u, load_clients_max - 1));
  const auto some_time = [](std::string_view text) -> std::expected<Micros, std::string> {
    auto time = parse_duration(text);
    if (time && *time == Micros{0}) return std::unexpected("is no time to play in; write it like 30s or 5m");
    return time;
  };
  add_parsed(app, "--duration", o.duration, some_time, "TIME", "How long to play, like 30s or 5m [30s]");
  app.add_option("--seed", o.seed, "Of brains and links: same seed, same behaviour")
      ->check(check_seed)
      ->capture_default_str();
  app.add_option(
         "--wad", o.wads,
         "WAD whose maps the clients hold, others are fetched; may be repeated [freedoom2.wad where found]")
      ->type_name("FILE");
  app.add_option("--prop", o.props, "OBJ file of a prop that the clients hold; may be repeated")
      ->type_name("FILE");
  o.cache = usual_cache_folder();
  app.add_option("--cache", o.cache,
                 "Folder for maps and props that the clients lacked and got from the server; \"\": they are "
                 "fetched anew in each run [ASHLAR_CACHE]")
      ->envname("ASHLAR_CACHE")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--cache-mib", o.cache_mib, "What that folder holds at most; the oldest go")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--report", o.report, "Write the report as JSON")->type_name("FILE");
  app.add_option(
         "--acts", o.acts,
         "Write what players did to blocks, each verdict that they were told, and which tick was said to "
         "be saved, as CSV")
      ->type_name("FILE");
}

void add_players(CLI::App& app, LoadOptions& o, GivenTexts& given) {
  app.add_option(
         "--brain", given.brain,
         "How players behave; explore enters every sector of the server's maps and is not part of the mix")
      ->check(CLI::IsMember(brain_names()))
      ->capture_default_str();
  app.add_option("--joins-per-second", o.joins_per_s, "How fast clients come")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  app.add_option(
         "--predict", o.predict,
         "So many of the clients run ahead of the server as a game's do, and the report says how that "
         "felt; they must hold the server's maps and props")
      ->check(CLI::Range(0u, load_clients_max))
      ->capture_default_str();
  app.add_option(
         "--cheat", given.cheat,
         "Every second client plays by other rules, and the report says what that gained it: a clock that is "
         "fast, packets said twice, kept back or silent for a while, digging out of reach, looking through "
         "walls at "
         "whom it is told of; only over UDP")
      ->check(CLI::IsMember(cheat_names()))
      ->capture_default_str();
  app.add_flag("--stream-ground", o.stream_ground,
               "The server sends them the ground, as it does to those who cannot compute it");
  app.add_option("--chat-every", o.chat_every_s, "Seconds between a client's lines of chat; 0: silent")
      ->check(CLI::Range(0u, 86'400u))
      ->capture_default_str();
  app.add_option("--hostile", o.hostile, "Hostile peers beside the clients")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  app.add_option(
         "--hostile-kind", given.hostile,
         "What they do: mixed plays and does a little of everything; the others attack over sockets of "
         "their own, only over IPv4")
      ->check(CLI::IsMember(hostile_names()))
      ->capture_default_str();
  app.add_option("--hostile-rate", o.hostile_datagrams_per_s,
                 "Attacks per second of each: datagrams, handshakes, joins, KB of tiny frames")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  add_parsed(app, "--progress", o.progress, parse_duration, "TIME",
             "Between progress lines, 0 for none [5s]");
}

void add_link(CLI::App& app, LinkConditions& link) {
  add_parsed(app, "--latency", link.latency, parse_duration, "TIME", "Added each way");
  add_parsed(app, "--jitter", link.jitter, parse_duration, "TIME", "Added each way, from 0 to this");
  add_parsed(app, "--loss", link.loss, parse_share, "SHARE", "Lost each way, like 2% (over TCP: late)");
  add_parsed(app, "--duplicate", link.duplication, parse_share, "SHARE", "Doubled each way");
  add_parsed(app, "--reorder", link.reordering, parse_share, "SHARE", "Overtaken each way");
  add_parsed(app, "--corrupt", link.corruption, parse_share, "SHARE", "Damaged each way");
  add_parsed(app, "--rate", link.bytes_per_s, parse_rate, "BYTES/S", "Limit each way, like 200k");
}

void add_credentials(CLI::App& app, Credentials& given, bool& print_keys) {
  add_parsed(app, "--server-key", given.server_key, parse_server_key, "KEY",
             "The server's public key; another server is refused");
  add_parsed(
      app, "--identity", given.identity, read_identity, "FILE",
      "The clients' secret key (ashlar-server key new): the first client's own, the others' are derived "
      "from it [ASHLAR_IDENTITY_FILE, else keys of this run]");
  add_parsed(app, "--token", given.tokens, read_tokens, "FILE",
             "Connect tokens for a closed server, one a line and client [ASHLAR_TOKEN_FILE]");
  app.get_option("--identity")->envname("ASHLAR_IDENTITY_FILE");
  app.get_option("--token")->envname("ASHLAR_TOKEN_FILE");
  app.add_flag("--print-keys", print_keys, "Print the clients' public keys, one a line, and exit");
}

/// What is wrong with options that are each fine; empty: nothing.
std::string what_contradicts(const LoadOptions& o, bool print_keys) {
  if (o.clients + o.light > load_clients_max)
    return "--light: " + std::to_string(o.clients) + " and " + std::to_string(o.light) +
           " clients are more than the " + std::to_string(load_clients_max) + " that one run may have";
  if (o.cheat && o.transport == Transport::tcp) return "--cheat: cheats speak over UDP, not over TCP";
  if (o.cheat && o.clients < 2) return "--cheat: there is no honest client to compare with; --clients 2";
  if (!print_keys) return what_does_not_fit(o.credentials, o.clients + o.light);
  return o.credentials.identity ? "" : "--print-keys: each run has keys of its own without --identity FILE";
}

/// What was given and does nothing beside the rest.
std::vector<std::string> without_effect(const CLI::App& app, const LoadOptions& o) {
  const struct {
    const char* option;
    const char* needs;
    bool met;
  } all[] = {{"--hostile-kind", "--hostile above 0", o.hostile > 0},
             {"--hostile-rate", "--hostile above 0", o.hostile > 0},
             {"--fallback", "--transport udp", o.transport == Transport::udp},
             {"--cache-mib", "--cache DIR", !o.cache.empty()}};
  std::vector<std::string> lines;
  for (const auto& one : all)
    if (!one.met && app.count(one.option) > 0)
      lines.push_back(std::string(one.option) + " has no effect: it needs " + one.needs);
  return lines;
}

}  // namespace

LoadCommand parse_load(int argc, const char* const* argv) {
  LoadOptions o;
  GivenTexts given;
  CLI::App app{"Plays with many simulated clients over real sockets, reports, and passes or fails.",
               "ashlar-sim load"};
  app.footer(footer);
  add_run(app, o, given);
  add_players(app, o, given);
  add_link(app, o.link);
  bool print_keys = false;
  add_credentials(app, o.credentials, print_keys);

  take_decimals_alone(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    if (const std::size_t end = line.find('\n'); end != std::string::npos) line.resize(end);
    return {std::nullopt, "ashlar-sim load: " + without_secrets(line) + " (see --help)", 2};
  }
  o.transport = given.transport == "tcp" ? Transport::tcp : Transport::udp;
  o.cheat = load_cheat(given.cheat);
  if (const std::string wrong = what_contradicts(o, print_keys); !wrong.empty())
    return {std::nullopt, "ashlar-sim load: " + wrong, 2};
  if (print_keys) return {std::nullopt, public_keys_text(o.credentials, o.clients + o.light), 0};
  o.raid = raid_kind(given.hostile);
  if (given.brain != "mixed") o.brain = brain_kind(given.brain);
  o.link.ordered = o.transport == Transport::tcp;
  return {o, "", 0, without_effect(app, o)};
}

}  // namespace ashlar::client_sim
