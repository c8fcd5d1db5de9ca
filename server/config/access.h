#pragma once
#include <cstdint>

namespace ashlar::server {

/// Who may come in.
enum class Access : std::uint8_t {
  open,   ///< anyone; who somebody is, is the key that its client proves
  token,  ///< who brings a connect token of a trusted issuer (protocol/secure/connect_token.h)
};

}  // namespace ashlar::server
