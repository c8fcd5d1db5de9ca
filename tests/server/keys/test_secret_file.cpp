#include "server/keys/secret_file.h"

#include <sys/stat.h>

#include <filesystem>

#include "server/config/key_value.h"
#include "server/keys/server_key.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

/// Counts upwards: another secret each time.
class CountingEntropy final : public secure::Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (auto& b : out) b = next_++;
  }

 private:
  std::uint8_t next_ = 1;
};

unsigned mode_of(const std::string& path) {
  struct stat what{};
  return ::stat(path.c_str(), &what) == 0 ? what.st_mode & 07777u : 0;
}

std::size_t files_in(const testing::TemporaryFolder& folder) {
  const fs::path path = fs::path(folder.path("x")).parent_path();
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

std::string some_secret() {
  CountingEntropy entropy;
  return secure::secret_key_text(secure::key_pair(entropy.secret()));
}

}  // namespace

TEST_CASE("a new secret file is its owner's alone and never written over", "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("a.key");
  {
    auto file = NewSecretFile::create(path, "one\n");
    REQUIRE(file.has_value());
    CHECK_FALSE(fs::exists(path));
    REQUIRE(file->keep().has_value());
    CHECK(file->keep().has_value());  // once is enough
  }
  CHECK(folder.read("a.key") == "one\n");
  CHECK(mode_of(path) == 0600);
  CHECK(files_in(folder) == 1);

  const auto again = NewSecretFile::create(path, "two\n");
  REQUIRE_FALSE(again.has_value());
  CHECK_THAT(again.error(), ContainsSubstring("a.key: it is there already"));
  CHECK(folder.read("a.key") == "one\n");
}

TEST_CASE("a secret file whose name was taken meanwhile stays as it is", "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  {
    auto file = NewSecretFile::create(folder.path("a.key"), "one\n");
    REQUIRE(file.has_value());
    folder.write("a.key", "precious");
    const auto kept = file->keep();
    REQUIRE_FALSE(kept.has_value());
    CHECK_THAT(kept.error(), ContainsSubstring("it is there already"));
  }
  CHECK(folder.read("a.key") == "precious");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a start takes away the keys that killed ones left in its world's folder",
          "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  LoadedConfig loaded;
  loaded.config.world_dir = fs::path(folder.path("x")).parent_path().string();
  CountingEntropy entropy;
  folder.write("server.key.new-aB3dEf", "left");
  folder.write("server.key.new-notes", "mine");
  {
    auto refused = take_server_key(loaded, entropy);
    REQUIRE(refused.has_value());
  }
  CHECK(files_in(folder) == 2);  // what fails later changes nothing
  auto key = take_server_key(loaded, entropy);
  REQUIRE(key.has_value());
  REQUIRE(key->keep().has_value());
  CHECK(files_in(folder) == 2);
  CHECK(folder.read("server.key.new-notes") == "mine");
  // A key that is there changes nothing of it.
  folder.write("server.key.new-aB3dEf", "left");
  auto again = take_server_key(loaded, entropy);
  REQUIRE(again.has_value());
  REQUIRE(again->keep().has_value());
  CHECK(again->pair.open == key->pair.open);
  CHECK(files_in(folder) == 2);
}

TEST_CASE("a secret file that was not kept leaves no trace", "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  {
    CHECK(NewSecretFile::create(folder.path("a.key"), "one\n").has_value());
  }
  CHECK(files_in(folder) == 0);
  CHECK_FALSE(NewSecretFile::create(folder.path("no/a.key"), "one\n").has_value());
}

TEST_CASE("who may read a secret file is judged by owner and rights", "[server][secret_file]") {
  CHECK(exposure_of("f", 0600, 7, 7).empty());
  CHECK(exposure_of("f", 0400, 7, 7).empty());
  CHECK(exposure_of("f", 0440, 0, 7).empty());  // as containers mount it
  CHECK(exposure_of("f", 0600, 7, 0).empty());  // root reads everything
  CHECK_THAT(exposure_of("f", 0644, 7, 7), ContainsSubstring("others can read: chmod 600 f"));
  CHECK_THAT(exposure_of("f", 0640, 7, 7), ContainsSubstring("others can read: chmod 600 f"));
  CHECK_THAT(exposure_of("f", 0620, 7, 7), ContainsSubstring("chmod 600 f"));
  CHECK_THAT(exposure_of("f", 0444, 0, 7), ContainsSubstring("others can read: have its owner, user 0"));
  CHECK_THAT(exposure_of("f", 0460, 0, 7), ContainsSubstring("chmod 640 f"));
}

TEST_CASE("a file with a secret key that others can read is refused, one with a public key is not",
          "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  const std::string secret = folder.write("secret", " \n" + some_secret() + "\n");
  const std::string open = folder.write("open", "ashlar-public-whatever");
  ::chmod(secret.c_str(), 0644);
  ::chmod(open.c_str(), 0644);
  CHECK(read_key_file(open).has_value());
  const auto refused = read_key_file(secret);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error(), ContainsSubstring("chmod 600 " + secret));
  ::chmod(secret.c_str(), 0600);
  REQUIRE(read_key_file(secret).has_value());
  CHECK(read_key_file(secret)->view() == " \n" + some_secret() + "\n");
}

TEST_CASE("what is no key file is refused by name", "[server][secret_file]") {
  const testing::TemporaryFolder folder;
  CHECK_THAT(read_key_file(folder.path("absent")).error(), ContainsSubstring("absent: No such file"));
  CHECK_THAT(read_key_file(fs::path(folder.path("x")).parent_path()).error(),
             ContainsSubstring("it is a folder"));
  CHECK_THAT(read_key_file("/dev/zero").error(), ContainsSubstring("it is no regular file"));
  const std::string longest = folder.write("longest", std::string(key_file_bytes_max, 'x'));
  CHECK(read_key_file(longest).has_value());
  const std::string longer = folder.write("longer", std::string(key_file_bytes_max + 1, 'x'));
  CHECK_THAT(read_key_file(longer).error(), ContainsSubstring("it is longer"));
}

TEST_CASE("a world keeps its server's key", "[server][server_key]") {
  const testing::TemporaryFolder folder;
  CountingEntropy entropy;
  LoadedConfig loaded;
  loaded.config.world_dir = fs::path(folder.path("x")).parent_path();
  {
    REQUIRE(take_server_key(loaded, entropy).has_value());
  }  // a start that fails later
  CHECK(files_in(folder) == 0);

  auto made = take_server_key(loaded, entropy);
  REQUIRE(made.has_value());
  REQUIRE(made->keep().has_value());
  CHECK(made->file == folder.path("server.key"));
  CHECK(mode_of(made->file) == 0600);
  const auto again = take_server_key(loaded, entropy);
  REQUIRE(again.has_value());
  CHECK(again->pair.open == made->pair.open);

  LoadedConfig without;
  const auto one = take_server_key(without, entropy), other = take_server_key(without, entropy);
  REQUIRE((one.has_value() && other.has_value()));
  CHECK(one->file.empty());
  CHECK(one->pair.open != other->pair.open);
}

TEST_CASE("a damaged, exposed or absent server's key ends the start", "[server][server_key]") {
  const testing::TemporaryFolder folder;
  CountingEntropy entropy;
  LoadedConfig loaded;
  loaded.config.world_dir = fs::path(folder.path("x")).parent_path();
  const std::string file = folder.write("server.key", some_secret());
  ::chmod(file.c_str(), 0644);
  CHECK_THAT(take_server_key(loaded, entropy).error(), ContainsSubstring("chmod 600"));
  ::chmod(file.c_str(), 0600);
  CHECK(take_server_key(loaded, entropy).has_value());
  folder.write("server.key", some_secret().substr(0, 40));
  CHECK_THAT(take_server_key(loaded, entropy).error(), ContainsSubstring("was cut"));
  loaded.config.key_file = folder.path("absent.key");
  CHECK_THAT(take_server_key(loaded, entropy).error(), ContainsSubstring("--key-file: cannot read"));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("secrets in texts are hidden, public keys stay", "[server][key_value]") {
  const std::string secret = some_secret();
  CHECK(hide_secrets("\"" + secret + "\" is one, " + secret) ==
        "\"ashlar-secret-...\" is one, ashlar-secret-...");
  CHECK(hide_secrets("ashlar-issuer-secret-abc") == "ashlar-issuer-secret-...");
  CHECK(hide_secrets("ashlar-public-abc") == "ashlar-public-abc");
  CHECK(hide_secrets("begins with ashlar-secret-") == "begins with ashlar-secret-");
}

TEST_CASE("the kind of a key shows in how it begins", "[server][key_value]") {
  CHECK(kind_of_key(" ashlar-secret-x") == KeyKind::secret);
  CHECK(kind_of_key("ashlar-issuer-public-") == KeyKind::issuer_open);
  CHECK(kind_of_key("ashlar-issuer-secret-") == KeyKind::issuer_secret);
  CHECK(kind_of_key("ashlar-public-") == KeyKind::open);
  CHECK(kind_of_key("server.key") == KeyKind::none);
  CHECK(kind_of_key("") == KeyKind::none);
  CHECK_THAT(
      parse_issuer(some_secret()).error(),
      ContainsSubstring("is a secret key of a server or player, but has to be the public key of an issuer"));
  CHECK_THAT(parse_issuer("hello").error(), ContainsSubstring("is no key"));
}

}  // namespace ashlar::server
