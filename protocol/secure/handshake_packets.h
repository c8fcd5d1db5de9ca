#pragma once
#include "protocol/secure/open_packets.h"

// Where things lie in the four packets of a handshake; WIRE.md draws them.

namespace ashlar::secure {

inline constexpr std::size_t handshake_tag_bytes = 16;
inline constexpr std::size_t cookie_bytes = 20;
inline constexpr std::size_t ticket_bytes = 150;  ///< slot, id, sealed handshake state and cipher, tag

// hello: padded with zeros to full size, so that any answer is short beside it.
inline constexpr std::size_t hello_bytes = datagram_bytes_max;
inline constexpr std::size_t hello_offer_at = 2;
inline constexpr std::size_t hello_ephemeral_at = open_prefix_bytes;
inline constexpr std::size_t hello_cookie_at = hello_ephemeral_at + 32;
inline constexpr std::size_t hello_fields_bytes = hello_cookie_at + cookie_bytes;

inline constexpr std::size_t retry_bytes = open_prefix_bytes + cookie_bytes;

// accept
inline constexpr std::size_t accept_ephemeral_at = open_prefix_bytes;
inline constexpr std::size_t accept_static_at = accept_ephemeral_at + 32;
inline constexpr std::size_t accept_cipher_at = accept_static_at + 32 + handshake_tag_bytes;
inline constexpr std::size_t accept_ticket_at = accept_cipher_at + 1 + handshake_tag_bytes;
inline constexpr std::size_t accept_bytes = accept_ticket_at + ticket_bytes + handshake_tag_bytes;

// finish: what an application says with it comes last.
inline constexpr std::size_t finish_ticket_at = open_prefix_bytes;
inline constexpr std::size_t finish_static_at = finish_ticket_at + ticket_bytes;
inline constexpr std::size_t finish_payload_at = finish_static_at + 32 + handshake_tag_bytes;
inline constexpr std::size_t finish_bytes_min = finish_payload_at + handshake_tag_bytes;
inline constexpr std::size_t finish_payload_bytes_max = datagram_bytes_max - finish_bytes_min;

static_assert(retry_bytes <= answer_bytes_max(hello_bytes));
static_assert(accept_bytes <= answer_bytes_max(hello_bytes));
static_assert(finish_payload_bytes_max >= 512 + 256, "a connect token, a name and a few hashes fit");

/// Which ciphers a hello offers, as bits.
inline constexpr std::uint8_t offer_chacha20 = 1;
inline constexpr std::uint8_t offer_aes256 = 2;

}  // namespace ashlar::secure
