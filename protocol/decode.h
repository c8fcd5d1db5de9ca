#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "protocol/drop_reason.h"
#include "protocol/messages.h"

namespace ashlar {

/// Received bytes to a checked message, or why not: malformed, unknown_message, out_of_range, bad_text,
/// too_long (above message_bytes_max). The shape is verified first, with limits on depth and tables, then
/// every number, enumerator, list length and text is held against its bounds: what comes out may be used.
///
/// The bytes are one message, 8-byte aligned (asserted; Connection aligns what it hands out). Whether it may
/// travel where it came from is the caller's to say (WIRE.md): a hello only in a handshake, an input only as
/// an unreliable message. Inputs allocate nothing.
std::expected<ClientMessage, DropReason> decode_client_message(std::span<const std::uint8_t> payload);

/// As above, for the other direction. The spans of snapshots and of content point into the message; neither
/// allocates anything.
std::expected<ServerMessage, DropReason> decode_server_message(std::span<const std::uint8_t> payload);

/// What such a message is, by its name in the schema: for those who count them. Lives for ever. Precondition:
/// decode_server_message() took it.
std::string_view server_message_name(std::span<const std::uint8_t> payload);

}  // namespace ashlar
