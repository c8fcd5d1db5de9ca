#include <flatbuffers/flatbuffers.h>

#include <cstdint>

#include "protocol/decode.h"
#include "protocol/packet.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/text.h"
#include "protocol/wire_check.h"

namespace ashlar {
namespace {

using ClientResult = std::expected<ClientMessage, DropReason>;

ClientResult decode(const wire::Hello& in, std::size_t payload_bytes) {
  if (payload_bytes != payload_bytes_max) return std::unexpected{DropReason::too_short};
  Hello out;
  out.protocol = in.protocol();
  out.nonce = in.nonce();
  const std::string_view player_name = view(in.name());
  const std::string_view build = view(in.build());
  if (!valid_player_name(player_name)) return std::unexpected{DropReason::bad_text};
  if (!valid_text(build, 0, build_bytes_max)) return std::unexpected{DropReason::bad_text};
  out.name = player_name;
  out.build = build;
  return out;
}

ClientResult decode(const wire::Join& in) {
  Join out;
  if (in.content() == nullptr) return out;
  // The Verifier proves a list's length to be aligned, not its elements, where these are larger.
  if (reinterpret_cast<std::uintptr_t>(in.content()->Data()) % alignof(std::uint64_t) != 0)
    return std::unexpected{DropReason::malformed};
  if (in.content()->size() > join_content_max) return std::unexpected{DropReason::out_of_range};
  for (const std::uint64_t hash : *in.content()) out.content[out.content_count++] = hash;
  return out;
}

ClientResult decode(const wire::Input& in) {
  if (in.commands() == nullptr) return std::unexpected{DropReason::malformed};
  const std::size_t count = in.commands()->size();
  if (count < 1 || count > input_commands_max) return std::unexpected{DropReason::out_of_range};
  Input out;
  out.newest_tick = in.newest_tick();
  out.snapshot_tick = in.snapshot_tick();
  out.chat_seen = in.chat_seen();
  out.command_count = static_cast<std::uint8_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const wire::Command& c = *in.commands()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (c.forward() < -127 || c.left() < -127) return std::unexpected{DropReason::out_of_range};
    if (c.pitch() < -16384 || c.pitch() > 16384) return std::unexpected{DropReason::out_of_range};
    if ((c.buttons() & ~button::known) != 0) return std::unexpected{DropReason::out_of_range};
    PlayerCommand& command = out.commands[i];
    command.forward = static_cast<double>(c.forward()) / 127;
    command.left = static_cast<double>(c.left()) / 127;
    command.yaw = Turn16{c.yaw()};
    command.pitch = Turn16{static_cast<std::uint16_t>(c.pitch())};
    command.buttons = c.buttons();
    const std::uint32_t tick = out.newest_tick - static_cast<std::uint32_t>(i);
    if (c.seen() >= tick && c.seen() != 0) return std::unexpected{DropReason::out_of_range};
    command.seen = seen_tick(c.seen(), tick);
  }
  return out;
}

ClientResult decode(const wire::Chat& in) {
  if (in.number() == 0) return std::unexpected{DropReason::out_of_range};
  const std::string_view text = view(in.text());
  if (!valid_text(text, 1, chat_bytes_max)) return std::unexpected{DropReason::bad_text};
  return Chat{in.number(), std::string(text)};
}

ClientResult decode(const wire::Leave& in) {
  if (in.reason() > wire::LeaveReason::MAX) return std::unexpected{DropReason::out_of_range};
  return Leave{static_cast<LeaveReason>(in.reason())};
}

ClientResult decode(const wire::Ping& in, std::size_t payload_bytes) {
  if (payload_bytes != ping_bytes - packet_header_bytes) return std::unexpected{DropReason::too_short};
  return Ping{in.nonce()};
}

}  // namespace

std::expected<ClientMessage, DropReason> decode_client_message(std::span<const std::uint8_t> payload) {
  const auto root = verified_root<wire::ClientMessage>(payload, wire::ClientMessageIdentifier());
  if (!root) return std::unexpected{root.error()};
  const wire::ClientMessage& message = **root;
  if (message.body() == nullptr) return std::unexpected{DropReason::malformed};
  switch (message.body_type()) {
    case wire::ClientBody::Hello: return decode(*message.body_as_Hello(), payload.size());
    case wire::ClientBody::Join: return decode(*message.body_as_Join());
    case wire::ClientBody::Input: return decode(*message.body_as_Input());
    case wire::ClientBody::Chat: return decode(*message.body_as_Chat());
    case wire::ClientBody::Leave: return decode(*message.body_as_Leave());
    case wire::ClientBody::Ping: return decode(*message.body_as_Ping(), payload.size());
    case wire::ClientBody::NONE: break;
  }
  return std::unexpected{DropReason::unknown_message};
}

}  // namespace ashlar
