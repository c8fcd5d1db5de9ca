#pragma once
#include <expected>

#include "protocol/drop_reason.h"
#include "protocol/messages.h"

namespace ashlar {
namespace wire {
struct Snapshot;
}

/// A part of a plain snapshot, of a message that was verified; for decode_server_message().
std::expected<PlainPart, DropReason> decode_snapshot(const wire::Snapshot& in);

}  // namespace ashlar
