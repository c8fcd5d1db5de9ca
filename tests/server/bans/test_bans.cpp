// The list of bans, as a value, as a text and as a file.
#include <filesystem>
#include <thread>

#include "protocol/connection/close_reason.h"
#include "protocol/secure/key_text.h"
#include "protocol/text.h"
#include "server/bans/ban_keeper.h"
#include "server/config/file.h"
#include "server/net/address.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;

secure::PublicKey banned_key(std::uint8_t number) {
  secure::PublicKey key;
  key.bytes[0] = number;
  return key;
}
PeerAddress banned_peer(const char* address) { return *parse_peer(address, 1); }
const std::string no_token_id;

const Ban* find_ban(const BanList& bans, const secure::PublicKey& key, const PeerAddress& at,
                    const std::string& id = no_token_id, std::int64_t now_s = 1000) {
  return bans.find({key, id, at}, now_s);
}

BanList four_bans() {
  BanList bans;
  CHECK(bans.add(banned_key(1),
                 {"Ann \"the\" \\ back", "dug the bridge away", "console", 1'000'000, 2'000'000}));
  CHECK(bans.add(TokenId{"account-7"}, {"B\xC3\xA4r", "", "console", 1'000'000, 0}));
  CHECK(bans.add(*parse_network("192.0.2.0/24"), {"", "~41 flood", "", 0, 0}));
  CHECK(bans.add(*parse_network("2001:db8::/32"), {}));
  return bans;
}

std::vector<BanTarget> just(const BanTarget& target) { return {target}; }

/// What the keeper's thread ended next.
BanKeeper::Ended keeper_ended(BanKeeper& keeper) {
  for (int i = 0; i < 5000; ++i) {
    if (auto ended = keeper.take_ended()) return *ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("the keeper ended nothing");
  return {};
}

}  // namespace

TEST_CASE("who is banned is found by key, by token and by address", "[server][bans]") {
  const BanList bans = four_bans();
  const PeerAddress free = banned_peer("198.51.100.1"), wrong = banned_peer("192.0.2.200");
  CHECK(find_ban(bans, banned_key(1), free)->reason == "dug the bridge away");
  CHECK(find_ban(bans, banned_key(2), free) == nullptr);
  CHECK(find_ban(bans, banned_key(2), free, "account-7") != nullptr);
  CHECK(find_ban(bans, banned_key(2), free, "account-8") == nullptr);
  CHECK(find_ban(bans, banned_key(2), wrong)->reason == "~41 flood");
  CHECK(find_ban(bans, banned_key(2), banned_peer("[2001:db8:1::1]")) != nullptr);
  CHECK(find_ban(bans, banned_key(2), banned_peer("[2001:db9::1]")) == nullptr);
  CHECK(find_ban(BanList{}, banned_key(1), wrong) == nullptr);
}

TEST_CASE("a ban ends in its second, and is taken out by itself or by hand", "[server][bans]") {
  BanList bans = four_bans();
  const PeerAddress free = banned_peer("198.51.100.1");
  CHECK(find_ban(bans, banned_key(1), free, "", 1'999'999) != nullptr);
  CHECK(find_ban(bans, banned_key(1), free, "", 2'000'000) == nullptr);
  bans.drop_over(2'000'000);
  CHECK(bans.entries().size() == 3);
  CHECK(bans.remove(*parse_network("192.0.2.0/24")));
  CHECK_FALSE(bans.remove(*parse_network("192.0.2.0/24")));
  CHECK(find_ban(bans, banned_key(2), banned_peer("192.0.2.200")) == nullptr);
  CHECK(bans.add(*parse_network("2001:db8::/32"), {"", "anew", "", 0, 0}));  // the same one
  CHECK(bans.entries().size() == 2);
  CHECK(find_ban(bans, banned_key(2), banned_peer("[2001:db8:1::1]"))->reason == "anew");
}

TEST_CASE("the list is bounded", "[server][bans]") {
  BanList bans;
  for (std::uint32_t i = 0; i < BanList::bans_max; ++i) {
    secure::PublicKey key;
    for (int byte = 0; byte < 4; ++byte)
      key.bytes[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(i >> (8 * byte));
    REQUIRE(bans.add(key, {}));
  }
  CHECK_FALSE(bans.add(TokenId{"one-more"}, {}));
  CHECK(bans.add(banned_key(3), {"", "changed", "", 0, 0}));
  CHECK(bans_text(bans).size() < ban_file_bytes_max);
}

TEST_CASE("look-ups by address agree with a search through all networks", "[server][bans]") {
  const std::uint32_t seed = GENERATE(range(1u, 9u));
  CAPTURE(seed);
  Rng rng(seed);
  BanList bans;
  std::vector<Network> all;
  const auto draw = [&rng] {
    PeerAddress at;
    for (std::size_t i = 0; i < 16; ++i) at.ip[i] = static_cast<std::uint8_t>(rng.below(2) * 0x81);
    if (rng.below(2) == 0) {
      at.ip.fill(0);
      at.ip[10] = at.ip[11] = 0xff;
      for (std::size_t i = 12; i < 16; ++i) at.ip[i] = static_cast<std::uint8_t>(rng.below(2) * 0x81);
    }
    return at;
  };
  for (int i = 0; i < 20; ++i) {
    all.push_back(network_of(draw(), static_cast<std::uint8_t>(97 + rng.below(32))));
    REQUIRE(bans.add(all.back(), {}));
  }
  for (int i = 0; i < 200; ++i) {
    const PeerAddress at = draw();
    const bool inside = std::ranges::any_of(all, [&at](const Network& n) {
      for (int bit = 0; bit < n.bits; ++bit) {
        const auto byte = static_cast<std::size_t>(bit / 8);
        if (((n.ip[byte] ^ at.ip[byte]) >> (7 - bit % 8) & 1) != 0) return false;
      }
      return true;
    });
    CHECK((find_ban(bans, banned_key(9), at) != nullptr) == inside);
  }
}

TEST_CASE("what a banned player is told fits, and says how long and why", "[server][bans]") {
  const std::string reason(ban_reason_bytes_max, 'x');
  const std::int64_t longest_s = 3660ll * 86'400 - 1;
  const std::string text = ban_text({"", reason, "", 0, longest_s}, 1);
  CHECK(text.size() <= close_text_bytes_max);
  CHECK(valid_text(text, 1, close_text_bytes_max));
  CHECK(ban_text({"", "spam", "", 0, 0}, 1) == "you are banned from this server: spam");
  CHECK(ban_text({"", "", "", 0, 7301}, 1) == "you are banned from this server for another 2h 1m");
}

TEST_CASE("a list comes back from its text as it was", "[server][bans]") {
  const BanList bans = GENERATE(four_bans(), BanList{});
  const auto again = parse_bans(bans_text(bans), "bans.toml");
  REQUIRE(again);
  CHECK(*again == bans);
}

TEST_CASE("what is wrong in a file of bans is told with its line and the remedy", "[server][bans]") {
  const std::string key = "key = \"" + secure::public_key_text(banned_key(1)) + "\"\n";
  const auto [text, part] = GENERATE_COPY(table<std::string, std::string>({
      {"[[ban]]\nreason = \"x\"\n", ":1: a [[ban]] names nobody"},
      {"[[ban]]\n\nkey = \"ashlar-public-x\"\n", ":3: key "},
      {"[[ban]]\nkey = \"\"\n", ":2: key "},
      {"[[ban]]\naddress = \"192.0.2.7/24\"\n", ":2: address \"192.0.2.7/24\" goes on behind its prefix"},
      {"[[ban]]\ntoken = \"two words\"\n", ":2: token has to be"},
      {"[[ban]]\ntoken = 7\n", ":2: token of a ban has to be a text in quotes"},
      {"[[ban]]\n" + key + "address = \"192.0.2.7\"\n", "has two of key, token and address"},
      {"[[ban]]\n" + key + "[[ban]]\n" + key, ":3: ashlar-public-"},
      {"[[ban]]\n" + key + "until = \"2h\"\n", ":3: until has to be a UTC time"},
      {"[[ban]]\n" + key + "until = 2030-01-31T12:00:00Z\n", ":3: until of a ban has to be a text"},
      {"[[ban]]\n" + key + "until = \"2030-02-30T12:00:00Z\"\n", ":3: until has to be a UTC time"},
      {"[[ban]]\n" + key + "reasons = \"x\"\n", ":3: unknown key \"reasons\""},
      {"[[ban]]\n" + key + "name = \" x\"\n", ":3: name has to be"},
      {"[[ban]]\n" + key + "reason = \"" + std::string(121, 'x') + "\"\n", ":3: reason has to be"},
      {"[[ban]]\n" + key + "by = \"a\\nb\"\n", ":3: by has to be"},
      {"[[bans]]\n" + key, ":1: \"bans\" is no [[ban]]"},
      {"ban = 7\n", ":1: \"ban\" is no [[ban]]"},
      {"ban = [7]\n", ":1: a ban has to be a [[ban]] table"},
      {"[[ban\n", ":1: "},
      {"\n\"\xFF\"\n", ":2: this is not UTF-8"},
  }));
  CAPTURE(text);
  const auto bans = parse_bans(text, "bans.toml");
  REQUIRE_FALSE(bans);
  CHECK(bans.error().starts_with("bans.toml:"));
  CHECK_THAT(bans.error(), ContainsSubstring(part));
  CHECK(bans.error().find('\n') == std::string::npos);
}

TEST_CASE("bans are kept in a file that another run reads", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bans.toml");
  {
    BanKeeper keeper(path, *read_ban_file(path));
    CHECK(keeper.list()->entries().empty());
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(keeper.add(banned_key(1), {"ann", "spam", "console", 500, 0}, 1000));
    REQUIRE(keeper.add(banned_key(2), {"", "", "console", 500, 900}, 1000));  // over already
    REQUIRE(keeper.add(banned_key(3), {"", "", "console", 500, 2000}, 1000));
    REQUIRE(keeper.remove(just(banned_key(3)), 1000));
  }
  const auto kept = read_ban_file(path);
  REQUIRE(kept);
  CHECK(kept->bans.entries().size() == 1);
  CHECK(kept->bans.entries().at(banned_key(1)).name == "ann");
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("a file that was edited is read again, and one that is wrong leaves the list", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bans.toml");
  BanKeeper keeper(path, {});
  REQUIRE(keeper.add(banned_key(1), {}, 1000));
  CHECK(keeper_ended(keeper).error.empty());

  REQUIRE(write_file(path, "[[ban]]\naddress = \"192.0.2.1/2\"\n") == 0);
  keeper.reload();
  CHECK_THAT(keeper.add(banned_key(2), {}, 1000).error(), ContainsSubstring("is being read"));
  const auto wrong = keeper_ended(keeper);
  CHECK(wrong.reread);
  CHECK(wrong.error.starts_with(path + ":2: "));
  CHECK(keeper.list()->entries().size() == 1);

  // What a hand is still at is not written over.
  REQUIRE(keeper.add(banned_key(2), {}, 1000));
  CHECK_THAT(keeper_ended(keeper).error, ContainsSubstring("was changed by hand"));
  CHECK(keeper.list()->entries().size() == 2);
  CHECK_FALSE(read_ban_file(path));

  REQUIRE(write_file(path, "[[ban]]\naddress = \"192.0.2.1\"\n") == 0);
  keeper.reload();
  CHECK(keeper_ended(keeper).error.empty());
  // The hand took the first one out. The second was in no file yet, and holds.
  CHECK(keeper.list()->entries().size() == 2);
  CHECK(keeper.list()->entries().contains(*parse_network("192.0.2.1")));
  CHECK(keeper.list()->entries().contains(banned_key(2)));
  const auto written = keeper_ended(keeper);
  CHECK_FALSE(written.reread);
  CHECK(written.error.empty());
  CHECK(read_ban_file(path)->bans == *keeper.list());
}

TEST_CASE("bans whose file vanished hold, and are written anew", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bans.toml");
  BanKeeper keeper(path, {});
  REQUIRE(keeper.add(banned_key(1), {}, 1000));
  CHECK(keeper_ended(keeper).error.empty());
  REQUIRE(std::filesystem::remove(path));
  keeper.reload();
  CHECK_THAT(keeper_ended(keeper).error, ContainsSubstring("is gone"));
  CHECK(keeper.list()->entries().size() == 1);
  REQUIRE(keeper.add(banned_key(2), {}, 1000));
  CHECK(keeper_ended(keeper).error.empty());
  CHECK(read_ban_file(path)->bans.entries().size() == 2);
}

TEST_CASE("bans go together, one that is over among them", "[server][bans]") {
  BanList bans;
  REQUIRE(bans.add(banned_key(1), {"ann", "", "", 0, 0}));
  REQUIRE(bans.add(banned_key(2), {"ann", "", "", 0, 500}));
  BanKeeper keeper("", {bans, ""});
  const std::vector<BanTarget> both{banned_key(1), banned_key(2)};
  REQUIRE(keeper.remove(both, 1000));
  CHECK(keeper.list()->entries().empty());
}

TEST_CASE("of bans that find no room none is set", "[server][bans]") {
  BanList bans;
  for (std::size_t i = 1; i < BanList::bans_max; ++i) REQUIRE(bans.add(TokenId{std::to_string(i)}, {}));
  BanKeeper keeper("", {bans, ""});
  const std::vector<NewBan> two{{banned_key(1), {}}, {banned_key(2), {}}};
  CHECK_THAT(keeper.add(two, 1000).error(), ContainsSubstring("9999 bans already"));
  CHECK(*keeper.list() == bans);
  CHECK(keeper.add(std::span(two).first(1), 1000));
  CHECK(keeper.list()->entries().size() == BanList::bans_max);
}

TEST_CASE("a file of bans that cannot be written is told, and they hold all the same", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("absent/bans.toml");
  BanKeeper keeper(path, {});
  REQUIRE(keeper.add(banned_key(1), {}, 1000));
  const auto ended = keeper_ended(keeper);
  CHECK_FALSE(ended.reread);
  CHECK_THAT(ended.error, ContainsSubstring("absent/bans.toml: No such file"));
  CHECK(keeper.list()->entries().size() == 1);

  keeper.reload();
  const auto reread = keeper_ended(keeper);
  CHECK((reread.reread && reread.error.empty()));
  CHECK(keeper.list()->entries().contains(banned_key(1)));
  CHECK_FALSE(keeper_ended(keeper).error.empty());  // tried again at once, and told

  REQUIRE(std::filesystem::create_directory(folder.path("absent")));
  keeper.write_again(1000 + BanKeeper::rewrite_s - 1);
  CHECK_FALSE(std::filesystem::exists(path));
  keeper.write_again(1000 + BanKeeper::rewrite_s);
  const auto written = keeper_ended(keeper);
  CHECK_FALSE(written.reread);
  CHECK(written.error.empty());
  CHECK(read_ban_file(path)->bans == *keeper.list());
  BanKeeper unkept("", {});
  REQUIRE(unkept.add(banned_key(1), {}, 1000));
  unkept.reload();
  CHECK_FALSE(unkept.take_ended());
  CHECK(unkept.list()->entries().size() == 1);
}

TEST_CASE("what could not be written is tried again at the end, and told once between", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("absent/bans.toml");
  {
    BanKeeper keeper(path, {});
    REQUIRE(keeper.add(banned_key(1), {}, 1000));
    CHECK_FALSE(keeper_ended(keeper).error.empty());
    for (int i = 0; i < 200; ++i) {
      keeper.write_again(2000 + i);
      CHECK_FALSE(keeper.take_ended());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(std::filesystem::create_directory(folder.path("absent")));
  }
  CHECK(read_ban_file(path)->bans.entries().size() == 1);
}

TEST_CASE("a ban taken out while nothing can be written stays out", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bans.toml");
  BanKeeper keeper(path, {});
  REQUIRE(keeper.add(banned_key(1), {}, 1000));
  REQUIRE(keeper.add(banned_key(2), {}, 1000));
  while (!read_ban_file(path)->bans.entries().contains(banned_key(2)))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(std::filesystem::create_directory(path + ".new"));  // where it is written first
  REQUIRE(keeper.remove(just(banned_key(1)), 1000));
  while (keeper_ended(keeper).error.empty()) {
  }
  keeper.reload();
  CHECK(keeper_ended(keeper).reread);
  CHECK_FALSE(keeper.list()->entries().contains(banned_key(1)));
  CHECK(keeper.list()->entries().contains(banned_key(2)));
}

TEST_CASE("a link to the file of bans stays a link, and what it leads to is written", "[server][bans]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bans.toml");
  REQUIRE(std::filesystem::create_directory(folder.path("etc")));
  std::filesystem::create_symlink("etc/link.toml", path);
  std::filesystem::create_symlink(folder.path("etc/kept.toml"), folder.path("etc/link.toml"));
  CHECK_THAT(read_ban_file(path).error(),
             ContainsSubstring("it is a link to etc/link.toml, which is not there"));
  for (std::uint8_t number = 1; number <= 2; ++number) {
    auto read = number == 1 ? BanFile{} : *read_ban_file(path);
    BanKeeper keeper(path, std::move(read));
    REQUIRE(keeper.add(banned_key(number), {}, 1000));
    CHECK(keeper_ended(keeper).error.empty());
    CHECK(std::filesystem::is_symlink(path));
    CHECK(std::filesystem::is_symlink(folder.path("etc/link.toml")));
    CHECK(read_ban_file(folder.path("etc/kept.toml"))->bans == *keeper.list());
    keeper.reload();
    CHECK(keeper_ended(keeper).error.empty());
    CHECK(keeper.list()->entries().size() == number);
  }
}

}  // namespace ashlar::server
