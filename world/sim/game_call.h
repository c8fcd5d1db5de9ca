#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "world/sim/kinds.h"

namespace ashlar {

/// Of one call: more than a line of chat, and little enough that a tick of them is.
inline constexpr std::size_t game_call_bytes_max = 256;

/// What a player says to the game: a command of chat ("/vote map01"), or a message of a kind that the game
/// declared for clients (ReplicationRegistry::add_client_message()). A value without memory of its own.
struct GameCall {
  static constexpr std::uint8_t chat_command = 255;  ///< no kind of message: a line that began with a slash

  EntityId player{};
  std::uint8_t message = chat_command;
  std::uint16_t size = 0;
  std::array<std::uint8_t, game_call_bytes_max> data{};

  std::span<const std::uint8_t> bytes() const { return std::span(data).first(size); }
  /// Of a command of chat: without the slash.
  std::string_view text() const { return {reinterpret_cast<const char*>(data.data()), size}; }

  /// @param bytes  at most game_call_bytes_max; what is more is cut off
  static GameCall of(EntityId player, std::uint8_t message, std::span<const std::uint8_t> bytes) {
    GameCall call;
    call.player = player;
    call.message = message;
    call.size = static_cast<std::uint16_t>(std::min(bytes.size(), call.data.size()));
    std::copy_n(bytes.begin(), call.size, call.data.begin());
    return call;
  }
  static GameCall command(EntityId player, std::string_view text) {
    return of(player, chat_command, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
};

}  // namespace ashlar
