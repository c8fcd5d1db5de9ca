#pragma once
#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "protocol/secure/connect_token.h"
#include "protocol/secure/identity.h"
#include "server/config/load.h"
#include "server/keys/secret_file.h"

namespace ashlar::server {

inline constexpr const char* server_key_name = "server.key";  ///< in the world's folder

/// The key by which clients know a server.
struct ServerKey {
  secure::KeyPair pair;
  std::string file;  ///< that keeps it, or will after keep(); empty: it is of this start alone
  std::string
      trouble;  ///< why it could not be kept though there is a world's folder; empty: nothing is wrong
  std::optional<NewSecretFile> made;  ///< in this start; gone again with it unless keep() was called
  bool of_world = false;              ///< the file is in the world's folder, which this start holds

  /// Gives a file that was made its name. Then goes what starts that were killed before it left beside it.
  /// @return or one line with the file and the reason
  std::expected<void, std::string> keep();
};

/// The key of the file that is named, else of the world's folder, where one is made when it has none, else a
/// new one. A folder that was a world before and cannot be written costs the key alone, see `trouble`.
/// Precondition: the world's folder is there and locked (WorldFolder::take).
/// @return or one line that names the file and the remedy
std::expected<ServerKey, std::string> take_server_key(const LoadedConfig& loaded, secure::Entropy& entropy);

/// Who may come in and how long they may be gone, ready to be handed to the Host.
struct AccessSettings {
  secure::KeyPair key;
  bool tokens_needed = false;
  std::vector<secure::IssuerKey> issuers;  ///< not empty where tokens are needed
  std::chrono::microseconds away_grace{0};
};
AccessSettings access_settings(const Config& config, const ServerKey& key);

}  // namespace ashlar::server
