#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstdint>

#include "protocol/decode.h"
#include "protocol/packed_input.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/text.h"
#include "protocol/wire_check.h"

namespace ashlar {
namespace {

using ClientResult = std::expected<ClientMessage, DropReason>;

template <class List>
std::size_t length(const List* list) {
  return list == nullptr ? 0 : list->size();
}

/// The Verifier proves a list's length to be aligned, not its elements, where these are larger. An empty one
/// is not aligned, and needs not be.
template <class List>
bool aligned(const List* list) {
  return length(list) == 0 || reinterpret_cast<std::uintptr_t>(list->Data()) % alignof(std::uint64_t) == 0;
}

ClientResult decode(const wire::Hello& in) {
  Hello out;
  const std::string_view player_name = view(in.name());
  const std::string_view build = view(in.build());
  if (!valid_player_name(player_name)) return std::unexpected{DropReason::bad_text};
  // Not bad_text, which would say that the name is bad.
  if (!valid_text(build, 0, build_bytes_max)) return std::unexpected{DropReason::out_of_range};
  if (length(in.token()) > hello_token_bytes_max) return std::unexpected{DropReason::out_of_range};
  const std::size_t proof_bytes = in.resume() == 0 ? 0 : out.resume_proof.size();
  if (length(in.resume_proof()) != proof_bytes) return std::unexpected{DropReason::out_of_range};
  out.name = player_name;
  out.build = build;
  out.resume = in.resume();
  out.takes_packed = in.takes_packed();
  if (length(in.token()) > 0) out.token.assign(in.token()->begin(), in.token()->end());
  if (proof_bytes > 0) std::copy_n(in.resume_proof()->begin(), proof_bytes, out.resume_proof.begin());
  return out;
}

ClientResult decode(const wire::Join& in) {
  Join out;
  out.world = in.world();
  out.ground = in.ground();
  out.watches = in.watches();
  if (!aligned(in.content()) || !aligned(in.kept())) return std::unexpected{DropReason::malformed};
  if (length(in.content()) > join_content_max || length(in.kept()) > kept_chunks_max)
    return std::unexpected{DropReason::out_of_range};
  if (length(in.content()) > 0) out.content.assign(in.content()->begin(), in.content()->end());
  for (std::size_t i = 0; i < length(in.kept()); ++i) {
    const wire::KeptChunk& kept = *in.kept()->Get(static_cast<flatbuffers::uoffset_t>(i));
    out.kept.push_back({{kept.x(), kept.y(), kept.z()}, kept.hash()});
    if (!out.ground || !chunk_in_world(out.kept.back().at)) return std::unexpected{DropReason::out_of_range};
  }
  return out;
}

ClientResult decode(const wire::Input& in) {
  if (in.commands() == nullptr) return std::unexpected{DropReason::malformed};
  const std::size_t count = in.commands()->size();
  if (count < 1 || count > input_commands_max) return std::unexpected{DropReason::out_of_range};
  Input out;
  out.newest_tick = in.newest_tick();
  out.snapshot_tick = in.snapshot_tick();
  out.world = in.world();
  out.lost_epoch = in.lost_epoch();
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
  auto text = shown_text(view(in.text()), 1, chat_bytes_max);
  if (!text) return std::unexpected{DropReason::bad_text};
  return Chat{std::move(*text)};
}

ClientResult decode(const wire::ContentRequest& in) {
  if (in.offset() >= content_bytes_max) return std::unexpected{DropReason::out_of_range};
  return ContentRequest{in.hash(), in.offset()};
}

ClientResult decode(const wire::Acts& in) {
  if (in.acts() == nullptr) return std::unexpected{DropReason::malformed};
  const std::size_t count = in.acts()->size();
  if (count < 1 || count > acts_max) return std::unexpected{DropReason::out_of_range};
  Acts out;
  out.tick = in.tick();
  out.world = in.world();
  out.act_count = static_cast<std::uint8_t>(count);
  const auto text = shown_text(view(in.text()), 0, sign_text_bytes_max);
  if (!text) return std::unexpected{DropReason::bad_text};
  bool writes = false;
  for (std::size_t i = 0; i < count; ++i) {
    const wire::Act& act = *in.acts()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const auto kind = static_cast<BlockActKind>(act.kind());
    const bool moves = moves_items(kind);
    const bool face_good =
        moves ? act.face() >= 1 && act.face() <= stack_items_max : act.face() < block_face_count;
    const bool twice = kind == BlockActKind::write && writes;
    if (act.kind() >= block_act_kind_count || !face_good || twice)
      return std::unexpected{DropReason::out_of_range};
    // Blocks and ids may be anything: the world judges them, and says what is wrong.
    out.acts[i] = {{},
                   act.number(),
                   kind,
                   moves ? BlockFace{} : static_cast<BlockFace>(act.face()),
                   {act.x(), act.y(), act.z()},
                   static_cast<BlockId>(act.block()),
                   moves ? act.face() : std::uint8_t{0}};
    if (kind != BlockActKind::write) continue;
    writes = true;
    out.acts[i].text = SignText::of(*text);
  }
  if (!writes && length(in.text()) > 0) return std::unexpected{DropReason::out_of_range};
  return out;
}

ClientResult decode(const wire::GameCall& in) {
  if (in.number() >= game_messages_max || length(in.bytes()) > game_call_bytes_max)
    return std::unexpected{DropReason::out_of_range};
  GameCallMessage out{in.world(), in.number(), {}};
  if (length(in.bytes()) > 0) out.bytes.assign(in.bytes()->begin(), in.bytes()->end());
  return out;
}

}  // namespace

std::expected<ClientMessage, DropReason> decode_client_message(std::span<const std::uint8_t> payload) {
  if (is_packed_input(payload)) {
    const auto input = decode_packed_input(payload);
    if (!input) return std::unexpected{input.error()};
    return *input;
  }
  const auto root = verified_root<wire::ClientMessage>(payload, wire::ClientMessageIdentifier());
  if (!root) return std::unexpected{root.error()};
  const wire::ClientMessage& message = **root;
  if (message.body() == nullptr) return std::unexpected{DropReason::malformed};
  switch (message.body_type()) {
    case wire::ClientBody::Hello: return decode(*message.body_as_Hello());
    case wire::ClientBody::Join: return decode(*message.body_as_Join());
    case wire::ClientBody::Input: return decode(*message.body_as_Input());
    case wire::ClientBody::Chat: return decode(*message.body_as_Chat());
    case wire::ClientBody::ContentRequest: return decode(*message.body_as_ContentRequest());
    case wire::ClientBody::Acts: return decode(*message.body_as_Acts());
    case wire::ClientBody::GameCall: return decode(*message.body_as_GameCall());
    case wire::ClientBody::NONE: break;
  }
  return std::unexpected{DropReason::unknown_message};
}

}  // namespace ashlar
