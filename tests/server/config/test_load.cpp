#include "server/config/load.h"

#include "protocol/secure/key_text.h"
#include "server/config/config_file.h"
#include "server/config/without_effect.h"
#include "server/config/world_file.h"
#include "server/store/world_folder.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {

using ashlar::testing::TemporaryFolder;

namespace {

std::expected<LoadedConfig, std::string> load(const std::vector<std::string>& arguments,
                                              const Environment& environment = {}) {
  const auto line = parse_command_line(arguments);
  if (!line) return std::unexpected(line.error());
  return load_config(*line, environment);
}

std::string load_error_of(const std::vector<std::string>& arguments, const Environment& environment = {}) {
  const auto loaded = load(arguments, environment);
  return loaded ? "no error" : loaded.error();
}

std::string origin_of(const LoadedConfig& loaded, const char* key) {
  return loaded.origins[find_setting(key)];
}

/// Makes a world's folder as a start does.
std::expected<void, std::string> make_world(const LoadedConfig& loaded) {
  auto folder = WorldFolder::take(loaded);
  if (!folder) return std::unexpected(folder.error());
  if (auto prepared = folder->prepare(loaded); !prepared) return prepared;
  return folder->keep();
}

/// Are all settings equal, by what they would be written as?
bool same(const Config& a, const Config& b) {
  for (const Setting& setting : settings())
    if (setting.get(a) != setting.get(b)) return false;
  return true;
}

}  // namespace

TEST_CASE("a flag goes before the environment, that before the file, that before the default",
          "[server][config]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.toml", "port = 1\nmax_clients = 2\nmonsters = 3\n");
  const Environment environment{{"ASHLAR_PORT", "11"}, {"ASHLAR_MAX_CLIENTS", "12"}, {"PATH", "x"}};
  const auto loaded = load({"--config", file, "--port", "21"}, environment);
  REQUIRE(loaded.has_value());
  CHECK(loaded->config.port == 21);
  CHECK(loaded->config.clients_max == 12);
  CHECK(loaded->config.monsters == 3);
  CHECK(loaded->config.rules.tick_rate_hz == 60);
  CHECK(origin_of(*loaded, "port") == "--port");
  CHECK(origin_of(*loaded, "max_clients") == "ASHLAR_MAX_CLIENTS");
  CHECK(origin_of(*loaded, "monsters") == file + ":3");
  CHECK(origin_of(*loaded, "tick_rate").empty());
}

TEST_CASE("a list from a higher layer replaces the lower one's whole", "[server][config]") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.toml",
      "wad = [\"a.wad\", \"b.wad\"]\n[[map]]\nname = \"MAP01\"\n[[map]]\nname = \"MAP02\"\nx = 5\ny = -6\n");
  const auto from_file = load({"--config", file});
  REQUIRE(from_file.has_value());
  CHECK(from_file->config.wads == std::vector<std::string>{"a.wad", "b.wad"});
  CHECK(from_file->config.maps == std::vector<MapRequest>{{"MAP01", {}}, {"MAP02", IVec2{5, -6}}});

  const auto over = load({"--config", file, "--map", "E1M1"}, {{"ASHLAR_WAD", "c.wad:d.wad"}});
  REQUIRE(over.has_value());
  CHECK(over->config.wads == std::vector<std::string>{"c.wad", "d.wad"});
  CHECK(over->config.maps == std::vector<MapRequest>{{"E1M1", {}}});
}

TEST_CASE("a list in a variable stands between semicolons", "[server][config]") {
  const auto maps = [](const char* text) { return load({}, {{"ASHLAR_MAP", text}})->config.maps; };
  const std::vector<MapRequest> two{{"MAP01", IVec2{1, 2}}, {"MAP03", {}}};
  CHECK(maps("MAP01@1,2;MAP03") == two);
  CHECK(maps(" MAP01@1,2 ;\n MAP03;; ") == two);
  CHECK(maps("MAP01@1,2\nMAP03") == two);
  CHECK(maps("MAP01@1,2 MAP03") == two);  // as it was written before
  CHECK(maps("").empty());
  const auto wads = [](const char* text) { return load({}, {{"ASHLAR_WAD", text}})->config.wads; };
  CHECK(wads("a b.wad;c:d.wad") == std::vector<std::string>{"a b.wad", "c:d.wad"});
  CHECK(wads("a b.wad:c.wad") == std::vector<std::string>{"a b.wad", "c.wad"});
  const auto props = load({}, {{"ASHLAR_PROP", "a b.obj@1,2,3;c.obj@4,5"}});
  REQUIRE(props.has_value());
  CHECK(props->config.props.at(0).file == "a b.obj");
  CHECK(props->config.props.at(1).file == "c.obj");
  for (const char* commas : {"MAP01,MAP02", "MAP01@1,2,MAP02@3,4"})
    CHECK_THAT(load_error_of({}, {{"ASHLAR_MAP", commas}}),
               ContainsSubstring("ASHLAR_MAP: ") && ContainsSubstring("separated by ;"));
}

TEST_CASE("a wrong line of a file is named with its number, key and remedy", "[server][config]") {
  struct Case {
    std::string text, line, part;
  };
  const Case wrong = GENERATE(
      Case{"port = 1\nprot = 2\n", ":2: ", "unknown key \"prot\": did you mean \"port\"?"},
      Case{"\n\nqqqqqqq = 2\n", ":3: ", "--print-config"},
      Case{"port = \"7777\"\n", ":1: ", "port is a text"},
      Case{"port = 70000\n", ":1: ", "port 70000 is out of range: give 0 to 65535"},
      Case{"seed = 1\nport = -1\n", ":2: ", "0 to 65535"}, Case{"gravity_mps2 = true\n", ":1: ", "a number"},
      Case{"gravity_mps2 = nan\n", ":1: ", "gravity_mps2"}, Case{"live = 1\n", ":1: ", "true or false"},
      Case{"doors = \"ajar\"\n", ":1: ", "open or shut"}, Case{"a = 1\nport = \n", ":2: ", ""},
      Case{"port = 1\nport = 2\n", ":2: ", ""}, Case{"[[[map]]]\n", ":1: ", "not TOML"},
      Case{"[network]\nport = 1\n", ":1: ", "unknown key \"network\""},
      Case{"wad = [1]\n", ":1: ", "list of texts"}, Case{"[[map]]\nx = 1\ny = 2\n", ":1: ", "no name"},
      Case{"[[map]]\nname = \"MAP01\"\nx = 2\n", ":1: ", "both or neither"},
      Case{"[[map]]\nname = \"MAP01\"\nz = 2\n", ":3: ", "\"z\""},
      Case{"[[map]]\nname = 5\n", ":2: ", "text in quotes"},
      Case{"[[map]]\nname = \"MAP01\"\nx = 1.5\ny = 0\n", ":3: ", "whole number"},
      Case{"motd = \"a\\nb\"\n", ":1: ", "control character"}, Case{"port = 2020-01-01\n", ":1: ", "date"},
      Case{"for = \"soon\"\n", ":1: ", "30s"}, Case{"listen = \"example.org\"\n", ":1: ", "example.org"});
  CAPTURE(wrong.text);
  const TemporaryFolder folder;
  const std::string file = folder.write("s.toml", wrong.text);
  const std::string error = load_error_of({"--config", file});
  CHECK_THAT(error, ContainsSubstring(file + wrong.line));
  CHECK_THAT(error, ContainsSubstring(wrong.part));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("values of flags and variables are refused under their own names", "[server][config]") {
  CHECK(load_error_of({"--port", "99999"}) == "--port: 99999 is out of range: give 0 to 65535");
  CHECK(load_error_of({}, {{"ASHLAR_PORT", "tcp://10.0.0.1:7777"}}) ==
        "ASHLAR_PORT: \"tcp://10.0.0.1:7777\" is not a whole number: give 0 to 65535");
  CHECK_THAT(load_error_of({"--tick-rate", "9"}), ContainsSubstring("10 to 128"));
  CHECK_THAT(load_error_of({"--doors", "ajar"}), ContainsSubstring("open or shut"));
  CHECK_THAT(load_error_of({"--map", "none", "--map", "MAP01"}), ContainsSubstring("none"));
}

TEST_CASE("snapshots are a second apart at most, whatever the tick rate", "[server][config]") {
  CHECK(load_error_of({"--tick-rate", "20", "--snapshot-every", "20"}) == "no error");
  CHECK(load_error_of({"--snapshot-every", "60"}) == "no error");
  const std::string error = load_error_of({"--tick-rate", "20"}, {{"ASHLAR_SNAPSHOT_EVERY", "21"}});
  CHECK_THAT(error, ContainsSubstring("ASHLAR_SNAPSHOT_EVERY: 21 ticks"));
  CHECK_THAT(error, ContainsSubstring("1 to 20"));
}

TEST_CASE("access token needs an issuer, and issuers need a word about access", "[server][config]") {
  secure::Bytes32 bytes;
  bytes.fill(7);
  const std::string issuer = secure::issuer_public_text(secure::issuer_key_pair(secure::Secret(bytes)).open);
  const auto closed = load({"--access", "token", "--token-issuers", issuer});
  REQUIRE(closed.has_value());
  CHECK(closed->config.access == Access::token);
  CHECK(closed->config.token_issuers.size() == 1);
  CHECK(load({}, {{"ASHLAR_ACCESS", "token"}, {"ASHLAR_TOKEN_ISSUERS", issuer + ";" + issuer}}).has_value());
  CHECK_THAT(load_error_of({"--access", "token"}),
             ContainsSubstring("--access: with access token nobody could"));
  CHECK_THAT(load_error_of({}, {{"ASHLAR_TOKEN_ISSUERS", issuer}}),
             ContainsSubstring("ASHLAR_TOKEN_ISSUERS: names issuers of tokens, but anybody may come in"));
  CHECK(load({"--access", "open", "--token-issuers", issuer}).has_value());
  CHECK_THAT(load_error_of({"--access", "shut"}), ContainsSubstring("give open or token"));
  CHECK_THAT(load_error_of({"--token-issuers", "x"}), ContainsSubstring("is no key"));
  const std::string player = secure::public_key_text(secure::key_pair(secure::Secret(bytes)).open);
  CHECK(load({"--admins", player})->config.admins.size() == 1);
  CHECK_THAT(load_error_of({"--admins", issuer}), ContainsSubstring("--admins"));
  const std::string secret = secure::secret_key_text(secure::key_pair(secure::Secret(bytes)));
  CHECK_THAT(load_error_of({"--key-file", secret}),
             ContainsSubstring("is a key, but has to be the name of a file"));
  CHECK_FALSE(load_error_of({"--token-issuers", secret}).contains(secret.substr(14)));
  CHECK_THAT(load_error_of({"--away-grace-s", "3601"}), ContainsSubstring("0 to 3600"));
  CHECK(load({"--away-grace-s", "0"})->config.away_grace_s == 0);
}

TEST_CASE("characters beyond ASCII are welcome in quotes and comments and nowhere else", "[server][config]") {
  const auto motd_of = [](const std::string& text) {
    const auto values = parse_settings(text, "f", FileKind::settings);
    REQUIRE(values.has_value());
    return values->back().raw.front();
  };
  CHECK(motd_of("# \xc3\xa9\nmotd = \"\xcf\x99 \\\" \xc3\xa9\"\n") == "\xcf\x99 \" \xc3\xa9");
  CHECK(motd_of("motd = '\xcf\x99\\' # \xcf\x99\n") == "\xcf\x99\\");
  CHECK(motd_of("motd = \"\"\"\xcf\x99\\\"\"\"\"\"\n") == "\xcf\x99\"\"");
  CHECK(motd_of("motd = \"\"\"a\\\n \xce\xb1\"\"\"\n") == "a\xce\xb1");
  CHECK(motd_of("motd = '''\xcf\x99'''''\n") == "\xcf\x99''");
  CHECK(motd_of("motd = '~ ~41 ~~7E \xc3\xa9~'\n") == "~ ~41 ~~7E \xc3\xa9~");
  CHECK(motd_of("\xef\xbb\xbfport = 1\n") == "1");

  const auto error_in = [](const std::string& text) {
    const auto values = parse_settings(text, "f", FileKind::settings);
    REQUIRE(!values.has_value());
    return values.error();
  };
  for (const char* text :
       {"\nmotd = \xcf\x99\n", "port = 1\nm\xc3\xb6td = 'x'\n", "\nmotd = 'a'\xc2\xa0\n",
        "motd = \"\"\"a\n\"\"\"\xc3\xa9\n", "\nseed = 4f[\"\xcf\xab\"\n", "\nport = 1\xc2\x85"}) {
    CAPTURE(text);
    CHECK(error_in(text).starts_with("f:2: "));
    CHECK(error_in(text).ends_with("; characters beyond ASCII have their place in quotes and comments only"));
    CHECK(error_in(text).find('\n') == std::string::npos);
  }
  CHECK(error_in("'m\xc3\xb6td' = 'x'\n").starts_with("f:1: unknown key \"m\xc3\xb6td\": "));
  CHECK(error_in("# fine\n# \xff\n").starts_with("f:2: this is not UTF-8"));
}

TEST_CASE("a file that cannot be read is named with the reason", "[server][config]") {
  const TemporaryFolder folder;
  CHECK_THAT(load_error_of({"--config", folder.path("absent.toml")}), ContainsSubstring("No such file"));
  CHECK_THAT(load_error_of({"--config", folder.path("")}), ContainsSubstring("folder"));
  CHECK_THAT(load_error_of({}, {{"ASHLAR_CONFIG", folder.path("absent.toml")}}),
             ContainsSubstring("absent.toml"));
}

TEST_CASE("a variable that no setting reads is told and not fatal", "[server][config]") {
  const auto loaded = load({}, {{"ASHLAR_PROT", "1"}, {"ASHLAR_PORT", "5"}});
  REQUIRE(loaded.has_value());
  CHECK(loaded->unknown_variables == std::vector<std::string>{"ASHLAR_PROT"});
  CHECK(loaded->config.port == 5);
}

TEST_CASE("settings that do nothing beside the others are told", "[server][config]") {
  const auto told = [](const std::vector<std::string>& flags) {
    const auto loaded = load(flags);
    REQUIRE(loaded.has_value());
    std::string out;
    for (const WithoutEffect& one : without_effect(*loaded)) out += one.from + " " + one.needs + "; ";
    return out;
  };
  CHECK(told({}).empty());
  CHECK(told({"--backup-every", "1h"}) == "--backup-every it needs --world; ");
  CHECK(told({"--backup-every", "0s", "--edit-log-mib", "256"}).empty());  // as without them
  const TemporaryFolder folder;
  CHECK(told({"--world", folder.path("w"), "--backups-kept", "2"}) ==
        "--backups-kept it needs --backup-every; ");
  CHECK(told({"--world", folder.path("w"), "--backups-kept", "2", "--backup-every", "1h"}).empty());
  CHECK(told({"--spawn-x-m", "5"}) == "--spawn-x-m it needs --spawn-radius-m; ");
}

TEST_CASE("a variable is told its remedy", "[server][config]") {
  CHECK(variable_remedy("ASHLAR_PROT") == "did you mean ASHLAR_PORT?");
  CHECK_THAT(variable_remedy("ASHLAR_QWERTYUIOP"), ContainsSubstring("--help"));
}

TEST_CASE("a printed configuration reads back as the same", "[server][config]") {
  const TemporaryFolder folder;
  const auto loaded = load({"--port",
                            "1",
                            "--seed",
                            "18446744073709551615",
                            "--wad",
                            "a \"b\\c.wad",
                            "--wad",
                            "d",
                            "--map",
                            "MAP01@1,-2",
                            "--map",
                            "MAP02",
                            "--prop",
                            "a \"b@c.obj@1.5,-2,3.25,90,0.5,z",
                            "--prop",
                            "crate.obj@4,5",
                            "--motd",
                            "say \"hi\" \\ \xc3\xa9",
                            "--for",
                            "90s",
                            "--gravity-mps2",
                            "9.81",
                            "--walk-speed-mps",
                            "7",
                            "--live",
                            "--log-format",
                            "json",
                            "--player-solver",
                            "correct"});
  REQUIRE(loaded.has_value());
  const bool with_origins = GENERATE(false, true);
  WriteStyle style;
  if (with_origins) style.origins = loaded->origins;
  const std::string text = write_settings(loaded->config, style);
  CAPTURE(text);
  const auto again = load({"--config", folder.write("s.toml", text)});
  REQUIRE(again.has_value());
  CHECK(same(again->config, loaded->config));
  CHECK_FALSE(same(again->config, Config()));
  for (const Setting& setting : settings())
    if (!setting.is_table()) CHECK_THAT(text, ContainsSubstring("\n" + setting.key + " = "));
  CHECK((text.find("Here from --port") != std::string::npos) == with_origins);
}

TEST_CASE("a commented file changes nothing and can be uncommented line by line", "[server][config]") {
  const TemporaryFolder folder;
  WriteStyle style;
  style.commented_out = true;
  const std::string text = write_settings(Config(), style);
  const auto untouched = load({"--config", folder.write("s.toml", text)});
  REQUIRE(untouched.has_value());
  CHECK(same(untouched->config, Config()));
  std::string active;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    if (line.starts_with("# ") &&
        (line.find(" = ") != std::string::npos || line == "# [[map]]" || line == "# [[prop]]") &&
        line.find("max-clients") == std::string::npos)
      line = line.substr(2);
    active += line + "\n";
    at = end + 1;
  }
  const auto uncommented = load({"--config", folder.write("t.toml", active)});
  CAPTURE(active);
  REQUIRE(uncommented.has_value());
  CHECK(uncommented->config.maps.size() == 1);
  CHECK(uncommented->config.props.size() == 1);
  CHECK(uncommented->config.wads.empty());
}

TEST_CASE("a world is made once and keeps its seed, rules and maps", "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string dir = folder.path("deep/world");
  const auto first = load({"--world", dir, "--seed", "42", "--tick-rate", "30", "--map", "MAP07@8,9"});
  REQUIRE(first.has_value());
  CHECK_FALSE(first->world_exists);
  CHECK_FALSE(std::filesystem::exists(dir));  // loading writes nothing
  REQUIRE(make_world(*first).has_value());

  const auto second = load({"--world", dir});
  REQUIRE(second.has_value());
  CHECK(second->world_exists);
  CHECK(second->config.seed == 42);
  CHECK(second->config.rules.tick_rate_hz == 30);
  CHECK(second->config.maps == std::vector<MapRequest>{{"MAP07", IVec2{8, 9}}});
  CHECK_THAT(origin_of(*second, "seed"), ContainsSubstring("world.toml:"));
  CHECK(second->config_file == dir + "/server.toml");  // the written examples
  const std::string before = folder.read("deep/world/world.toml");
  REQUIRE(make_world(*second).has_value());
  CHECK(folder.read("deep/world/world.toml") == before);

  CHECK(second->config.terrain == TerrainKind::hills);
  CHECK(load({"--world", dir, "--terrain", "hills"}).has_value());
  CHECK_THAT(load_error_of({"--world", dir, "--terrain", "void"}),
             ContainsSubstring("has terrain hills, but --terrain says void"));
  CHECK(load({"--world", dir, "--seed", "42"}).has_value());
  CHECK(load({"--world", dir, "--tick-rate", "20"})->config.rules.tick_rate_hz == 20);
  const std::string error = load_error_of({"--world", dir, "--seed", "43"});
  CHECK_THAT(error, ContainsSubstring("has seed 42, but --seed says 43"));
  CHECK_THAT(error, ContainsSubstring(dir));
  CHECK_THAT(load_error_of({}, {{"ASHLAR_WORLD", dir}, {"ASHLAR_SEED", "1"}}),
             ContainsSubstring("ASHLAR_SEED says 1"));

  // A seed of any size comes back as it was.
  auto secret = *first;
  secret.config.world_dir = folder.path("secret");
  secret.config.secret_seed = 9'223'372'036'854'775'807;
  REQUIRE(make_world(secret).has_value());
  CHECK(load({"--world", folder.path("secret")})->config.secret_seed == secret.config.secret_seed);

  // Named again they are where they were; others would be laid over what was built.
  for (const char* name : {"MAP07", "map07", "MAP07@8,9"})
    CHECK(load({"--world", dir, "--map", name})->config.maps == second->config.maps);
  CHECK_THAT(load_error_of({"--world", dir, "--map", "MAP08"}),
             ContainsSubstring("has the maps MAP07, but --map says MAP08"));
  CHECK_THAT(load_error_of({"--world", dir, "--map", "MAP07", "--map", "MAP08"}),
             ContainsSubstring("--map says MAP07, MAP08"));
  CHECK_THAT(load_error_of({"--world", dir, "--map", "MAP07@8,10"}), ContainsSubstring("leave the maps out"));
  CHECK_THAT(load_error_of({}, {{"ASHLAR_WORLD", dir}, {"ASHLAR_MAP", "none"}}),
             ContainsSubstring("ASHLAR_MAP says none"));
}

TEST_CASE("settings in the world's folder are read unless another file is named",
          "[server][config][world_dir]") {
  const TemporaryFolder folder;
  folder.write("server.toml", "port = 1234\n");
  const std::string other = folder.write("other.toml", "monsters = 7\n");
  CHECK(load({"--world", folder.path("")})->config.port == 1234);
  CHECK(load({"--world", folder.path(""), "--config", other})->config.port == 7777);
  const auto named = load({"--config", folder.write("names.toml", "world = \"" + folder.path("w") + "\"\n")});
  REQUIRE(named.has_value());
  REQUIRE(make_world(*named).has_value());
  CHECK(std::filesystem::exists(folder.path("w/world.toml")));
}

TEST_CASE("a world's file that is damaged or foreign is refused by name", "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string text =
      GENERATE(as<std::string>{}, "", "seed = 1\n", "format = 3\n", "format = \"1\"\n",
               "format = 1\nport = 5\n", "format = 1\nseed = \n", "format = 1\nseed = -4\n");
  CAPTURE(text);
  folder.write("world.toml", text);
  const std::string error = load_error_of({"--world", folder.path("")});
  CHECK_THAT(error, ContainsSubstring("world.toml:"));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("a world's file that was cut or edited is refused, and taken when the operator says so",
          "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string dir = folder.path("world");
  REQUIRE(make_world(*load({"--world", dir, "--seed", "7", "--map", "MAP02@0,0", "--map", "MAP03@200,0"}))
              .has_value());
  const std::string whole = folder.read("world/world.toml");
  const auto put = [&](const std::string& text) { folder.write("world/world.toml", text); };
  for (std::size_t size = 0; size < whole.size(); size += ashlar::test::slowness) {
    put(whole.substr(0, size));
    CAPTURE(size);
    const std::string error = load_error_of({"--world", dir});
    REQUIRE_THAT(error, ContainsSubstring("world.toml: ") && ContainsSubstring("backup"));
    REQUIRE(error.find('\n') == std::string::npos);
  }
  for (std::size_t at = 0; at < whole.size(); at += 7 * ashlar::test::slowness) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    put(damaged);
    CAPTURE(at);
    REQUIRE_FALSE(load({"--world", dir}).has_value());
  }
  std::string edited = whole;
  edited.replace(edited.find("seed = 7"), 8, "seed = 9");
  put(edited);
  CHECK_THAT(load_error_of({"--world", dir}), ContainsSubstring("--accept-world"));
  const auto accepted = load({"--world", dir, "--accept-world"});
  REQUIRE(accepted.has_value());
  CHECK(accepted->config.seed == 9);
  CHECK(folder.read("world/world.toml") == edited);  // loading writes nothing
  REQUIRE(make_world(*accepted).has_value());
  const auto later = load({"--world", dir});
  REQUIRE(later.has_value());
  CHECK(later->config.seed == 9);
  CHECK(later->config.maps.size() == 2);
  put(whole.substr(0, whole.find("[[map]]")));  // not even then: it would be a world with another map
  CHECK_THAT(load_error_of({"--world", dir, "--accept-world"}),
             ContainsSubstring("maps") && ContainsSubstring("backup"));
  CHECK_THAT(load_error_of({"--accept-world"}), ContainsSubstring("--world"));
}

TEST_CASE("a world of the format without a check line opens, and gets one when the operator says so",
          "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string old = "# a world\nformat = 1\nseed = 5\n\n[[map]]\nname = \"MAP07\"\nx = 8\ny = 9\n";
  folder.write("world.toml", old);
  const auto loaded = load({"--world", folder.path("")});
  REQUIRE(loaded.has_value());
  CHECK(loaded->config.seed == 5);
  CHECK(loaded->config.terrain == TerrainKind::plains);  // there was no other
  CHECK_THAT(load_error_of({"--world", folder.path(""), "--terrain", "hills"}),
             ContainsSubstring("has terrain plains, but --terrain says hills"));
  CHECK(loaded->world_unchecked);
  REQUIRE(make_world(*loaded).has_value());
  CHECK(folder.read("world.toml") == old);
  REQUIRE(make_world(*load({"--world", folder.path(""), "--accept-world"})).has_value());
  const auto again = load({"--world", folder.path("")});
  REQUIRE(again.has_value());
  CHECK_FALSE(again->world_unchecked);
  CHECK(again->config.maps == std::vector<MapRequest>{{"MAP07", IVec2{8, 9}}});
  for (const std::size_t size : {12u, 23u, 33u}) {
    folder.write("world.toml", old.substr(0, size));
    CAPTURE(old.substr(0, size));
    CHECK_THAT(load_error_of({"--world", folder.path("")}), ContainsSubstring("backup"));
  }
}

TEST_CASE("a world that is not where it was is refused, not made anew", "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string dir = folder.path("world");
  REQUIRE(make_world(*load({"--world", dir, "--map", "none"})).has_value());
  std::filesystem::remove(dir + "/world.toml");
  CHECK_THAT(load_error_of({"--world", dir}), ContainsSubstring("has lost its world.toml"));
  folder.write("world/server.toml", "port = 1\n");  // an operator's, for a world to come
  CHECK(load({"--world", dir}).has_value());
  std::filesystem::create_directory(dir + "/cache");
  CHECK_THAT(load_error_of({"--world", dir}), ContainsSubstring("has lost its world.toml"));
  std::filesystem::create_symlink("/nowhere/world.toml", dir + "/world.toml");
  CHECK_THAT(load_error_of({"--world", dir}),
             ContainsSubstring("world.toml is a link to /nowhere/world.toml"));
  std::filesystem::create_symlink("/nowhere/volume", folder.path("volume"));
  CHECK_THAT(load_error_of({"--world", folder.path("volume")}),
             ContainsSubstring("is a link to /nowhere/volume"));
  std::filesystem::create_symlink(folder.path("round"), folder.path("round"));
  CHECK_THAT(load_error_of({"--world", folder.path("round")}), ContainsSubstring("cannot look at"));
  CHECK_THAT(load_error_of({"--world", folder.write("file", "x") + "/below"}),
             ContainsSubstring("cannot look at"));
}

TEST_CASE("a folder that is not kept is gone, with all that was made in it", "[server][world_folder]") {
  const TemporaryFolder folder;
  const std::string dir = folder.path("deep/er/world");
  const auto loaded = load({"--world", dir});
  REQUIRE(loaded.has_value());
  {
    auto world = WorldFolder::take(*loaded);
    REQUIRE(world.has_value());
    REQUIRE(world->prepare(*loaded).has_value());
    CHECK(std::filesystem::exists(dir + "/world.toml.new"));
  }
  CHECK(std::filesystem::is_empty(folder.path("")));
  REQUIRE(make_world(*loaded).has_value());
  CHECK(std::filesystem::exists(dir + "/world.toml"));
  CHECK_FALSE(std::filesystem::exists(dir + "/world.toml.new"));
}

TEST_CASE("a world that cannot be made is refused by name", "[server][config][world_dir]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "x");
  CHECK_THAT(load_error_of({"--world", file}), ContainsSubstring("not a folder"));
  // A folder stands where the file is written before it gets its name.
  const std::string dir = folder.path("world");
  std::filesystem::create_directories(dir + "/world.toml.new");
  const auto loaded = load({"--world", dir});
  REQUIRE(loaded.has_value());
  const auto made = make_world(*loaded);
  REQUIRE_FALSE(made.has_value());
  CHECK_THAT(made.error(), ContainsSubstring(dir + "/world.toml") && ContainsSubstring("--world"));
  CHECK_FALSE(std::filesystem::exists(dir + "/world.toml"));
}

}  // namespace ashlar::server
