#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "server/host/secret_key.h"

namespace ashlar::server {

/// What each address may use of something, by token buckets: so many a second, and a burst. A table of fixed
/// size; where more addresses use it than it has places, the one that has most left is forgotten, which gives
/// that one a full bucket again. So it shares fairly between addresses and is no bound on their sum: that
/// takes a budget for all beside it. Places come from a secret, so nobody can aim at another's. One thread.
class AddressBudget {
 public:
  using Address = std::array<std::uint8_t, 16>;  ///< limit_key() of a peer
  using Micros = std::chrono::duration<std::int64_t, std::micro>;

  /// @param per_minute  tokens that come back in a minute, below 10^6
  /// @param burst       tokens of a full bucket, below 10^6
  AddressBudget(const SecretKey& secret, std::uint32_t per_minute, std::uint32_t burst);

  /// Takes a token. @return false: there is none left
  bool take(Micros now, const Address& address);
  /// Is there a token? Takes none.
  bool has(Micros now, const Address& address);

  static constexpr std::size_t places = 1024;

 private:
  struct Place {
    std::uint64_t tag = 0;    // 0: nobody's
    std::int64_t tokens = 0;  // in millionths
    Micros at{0};
  };
  static constexpr std::size_t ways = 4;  // places that an address may have
  Place& place_of(Micros now, const Address& address);
  std::int64_t tokens_of(const Place& place, Micros now) const;

  SecretKey secret_;
  std::int64_t per_minute_, full_;
  std::vector<Place> places_;
};

}  // namespace ashlar::server
