#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/bans/ban_list.h"

namespace ashlar::server {

/// Somebody in the world, as an operator can name one.
struct PlayerHere {
  std::string name;
  std::uint32_t connection = 0;
  secure::PublicKey key;
  std::string token_id;  ///< empty on an open server
};

/// What `ban` means.
struct BanOrder {
  struct One {
    BanTarget target;
    std::string name;  ///< empty: of nobody who is here
  };
  std::vector<One> who;    ///< all who bear a name, or one
  std::int64_t for_s = 0;  ///< 0: for ever
  std::string reason;      ///< may be empty
};

/// Understands what stands behind `ban`: "WHO [for SPAN] [REASON]". WHO is "#CONNECTION", a public key,
/// "token:ID", an address or network, or the name of who is here; a word that is one of the others and a name
/// of somebody else as well is refused, as is a name that could be another one and a span. Who has a token's
/// id is banned by that, others by their key.
/// @return or one line that says what is wrong and what would do
std::expected<BanOrder, std::string> parse_ban_order(std::string_view text, std::span<const PlayerHere> here);

/// Understands what stands behind `unban`: a key, "token:ID", an address or network as it was banned, or the
/// name under which somebody was. @return the bans that are meant, at least one, or one line
std::expected<std::vector<BanTarget>, std::string> parse_unban_order(std::string_view text,
                                                                     const BanList& bans);

}  // namespace ashlar::server
