#pragma once
#include <cstdint>
#include <string_view>

#include "protocol/secure/secret.h"
#include "server/host/secret_key.h"

namespace ashlar::server {

/// What follows from a Host's seed: a key for keyed hashes of one purpose.
SecretKey hash_key(const secure::Secret& seed, std::string_view purpose, std::uint8_t room = 0);
/// That of the connections' numbers: one for all rooms on a port.
inline SecretKey connection_key(const secure::Secret& seed) { return hash_key(seed, "connections"); }

}  // namespace ashlar::server
