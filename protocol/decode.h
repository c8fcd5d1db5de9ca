#pragma once
#include <cstdint>
#include <expected>
#include <span>

#include "protocol/drop_reason.h"
#include "protocol/messages.h"

namespace ashlar {

/// Received bytes to a checked message, or why not: malformed, unknown_message, out_of_range, bad_text,
/// too_short (a hello that is not padded). The shape is verified first, with limits on depth and tables, then
/// every number, enumerator, list length and text is held against its bounds: what comes out may be used.
///
/// The bytes are a packet's payload, 8-byte aligned (asserted; DatagramBatch and StreamDeframer align them).
/// Input and Leave allocate nothing.
std::expected<ClientMessage, DropReason> decode_client_message(std::span<const std::uint8_t> payload);

/// As above, for the other direction. A snapshot's spans point into the payload; snapshots allocate nothing.
std::expected<ServerMessage, DropReason> decode_server_message(std::span<const std::uint8_t> payload);

}  // namespace ashlar
