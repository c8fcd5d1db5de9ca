#pragma once
#include <cstdint>

#include "protocol/secure/secret.h"

namespace ashlar::server {

/// What a player who comes back proves to be by: a connection that it had, and that session's secret.
struct ResumeKey {
  std::uint32_t number = 0;  ///< 0: none
  secure::Secret secret;
};

/// All that a session's client may hold to come back with.
///
/// A client learns of the session that it is given in place of its last one by the first packet that reaches
/// it. Until one of its own opens here, nobody can tell which of the two it knows, so both count.
struct ResumeKeys {
  ResumeKey own;      ///< this session's
  ResumeKey earlier;  ///< of the one that this goes on from, while its client is unheard

  /// The key of that number; null: neither is. Precondition: not 0.
  const ResumeKey* find(std::uint32_t number) const {
    if (own.number == number) return &own;
    return earlier.number == number ? &earlier : nullptr;
  }
  /// A packet of the session opened: its client knows it.
  void heard() {
    if (earlier.number != 0) earlier = {};
  }
};

}  // namespace ashlar::server
