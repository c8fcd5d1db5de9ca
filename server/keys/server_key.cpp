#include "server/keys/server_key.h"

#include <sys/stat.h>

#include <filesystem>

#include "protocol/secure/key_text.h"
#include "server/keys/key_argument.h"

namespace ashlar::server {

std::expected<void, std::string> ServerKey::keep() {
  std::expected<void, std::string> kept;
  if (made) kept = made->keep();
  made.reset();
  if (kept && of_world) remove_unfinished(file);
  return kept;
}

std::expected<ServerKey, std::string> take_server_key(const LoadedConfig& loaded, secure::Entropy& entropy) {
  const Config& config = loaded.config;
  const bool named = !config.key_file.empty();
  ServerKey key;
  if (named || !config.world_dir.empty())
    key.file = named ? config.key_file : (std::filesystem::path(config.world_dir) / server_key_name).string();
  key.of_world = !named && !key.file.empty();
  struct stat there{};
  const bool is_there = !key.file.empty() && ::lstat(key.file.c_str(), &there) == 0;
  if (named || is_there) {
    auto pair = read_key_pair(key.file);
    if (!pair)
      return std::unexpected((named ? "--key-file: " : "") + pair.error() +
                             (named && !is_there ? "; ashlar-server key new --out FILE makes a key" : ""));
    key.pair = *pair;
    return key;
  }
  key.pair = secure::key_pair(entropy.secret());
  if (key.file.empty()) return key;
  const SecretText text(secure::secret_key_text(key.pair) + "\n");
  auto made = NewSecretFile::create(key.file, text.view());
  if (made) {
    key.made.emplace(std::move(*made));
    return key;
  }
  if (!loaded.world_exists) return std::unexpected(made.error() + "; see --world");
  key.trouble = made.error();
  key.file.clear();
  key.of_world = false;
  return key;
}

AccessSettings access_settings(const Config& config, const ServerKey& key) {
  AccessSettings out;
  out.key = key.pair;
  out.tokens_needed = config.access == Access::token;
  out.issuers = config.token_issuers;
  out.away_grace = std::chrono::microseconds{static_cast<std::int64_t>(config.away_grace_s * 1e6)};
  return out;
}

}  // namespace ashlar::server
