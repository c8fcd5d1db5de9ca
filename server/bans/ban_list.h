#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "protocol/secure/identity.h"
#include "server/net/network.h"

namespace ashlar::server {

/// A player's id in its connect token: who it is on a closed server, whatever its keys.
struct TokenId {
  std::string text;  ///< 1 to secure::token_id_bytes_max printable ASCII characters without a blank
  friend bool operator==(const TokenId&, const TokenId&) = default;
  friend auto operator<=>(const TokenId&, const TokenId&) = default;
};

/// Whom a ban means: a player by its key or by its token's id, or everybody at some addresses.
using BanTarget = std::variant<secure::PublicKey, TokenId, Network>;

/// "ashlar-public-...", "token:ID" or "192.0.2.0/24".
std::string to_text(const BanTarget& target);

/// Bytes of UTF-8: all of it has to fit into what a client is told.
inline constexpr std::size_t ban_reason_bytes_max = 120;

/// What is known of a ban beside whom it means. All texts are printable.
struct Ban {
  std::string name;          ///< that the player bore; may be empty
  std::string reason;        ///< at most ban_reason_bytes_max; may be empty
  std::string by;            ///< who set it
  std::int64_t since_s = 0;  ///< Unix time
  std::int64_t until_s = 0;  ///< from when on it counts no more; 0: it always does
  friend bool operator==(const Ban&, const Ban&) = default;

  bool over(std::int64_t now_s) const { return until_s != 0 && until_s <= now_s; }
};

/// What a banned player is told: for how long, and why. At most close_text_bytes_max.
std::string ban_text(const Ban& ban, std::int64_t now_s);

/// Who somebody is, as far as bans go.
struct BanSuspect {
  const secure::PublicKey& key;
  const std::string& token_id;  ///< empty on an open server
  const PeerAddress& address;
};

/// Who may not come in. A value; one thread at a time. Memory is bounded by bans_max.
class BanList {
 public:
  static constexpr std::size_t bans_max = 10'000;
  using Entries = std::map<BanTarget, Ban>;

  /// Sets a ban, in place of one that means the same. O(log n).
  /// @return false: there are bans_max already
  bool add(const BanTarget& target, Ban ban);
  /// @return false: there is no such ban
  bool remove(const BanTarget& target);
  /// Takes out what counts no more. O(n).
  void drop_over(std::int64_t now_s);

  /// The ban that keeps somebody out; null: none does. At most 131 look-ups of O(log n), some 5 us.
  const Ban* find(const BanSuspect& who, std::int64_t now_s) const;
  const Entries& entries() const { return entries_; }  ///< by target: keys, ids, addresses
  friend bool operator==(const BanList& a, const BanList& b) { return a.entries_ == b.entries_; }

 private:
  Entries entries_;
  std::array<std::uint32_t, 129> networks_{};  // bans of so many bits each
};

}  // namespace ashlar::server
