#include "server/host/host_keys.h"

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"

namespace ashlar::server {

SecretKey hash_key(const secure::Secret& seed, std::string_view purpose, std::uint8_t room) {
  const secure::Secret key = secure::expand(seed, purpose, {&room, 1});
  return {get_little<std::uint64_t>(&key.bytes()[0]), get_little<std::uint64_t>(&key.bytes()[8])};
}

}  // namespace ashlar::server
