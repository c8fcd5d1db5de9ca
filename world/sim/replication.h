#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/sim/game_call.h"
#include "world/sim/kinds.h"

// What of a world is told to clients, as its kinds declare it: those that every world has, and what a game
// adds (game.h, Game::declare). Protocol's codecs follow from it.

namespace ashlar {

inline constexpr std::size_t own_fields_max = 8;          ///< that a game adds to a kind
inline constexpr std::size_t replicated_name_bytes = 32;  ///< of kinds, fields and messages at most
/// Bits of a kind's added fields that go to everybody, at most: a block of entities has to fit a datagram.
inline constexpr unsigned shared_field_bits_max = 64;
inline constexpr std::size_t game_messages_max = 64;           ///< kinds of messages of a game
inline constexpr std::uint16_t game_message_bytes_max = 1024;  ///< of one message
/// Kinds of a game's own things have the numbers from this one on.
inline constexpr std::uint8_t own_kind_first = 80, own_kind_last = 127;

/// Whom a field is told to. The others are not sent it at all.
enum class FieldAudience : std::uint8_t {
  all,    ///< who has the entity in its interest
  owner,  ///< the player itself, or whose thing it is, however far away
  team,   ///< those of the entity's team, however far away
};
inline constexpr std::uint8_t field_audience_count = 3;

/// A field that a game adds to a kind: a number in steps.
struct FieldTraits {
  std::string name;       ///< 1 to replicated_name_bytes printable ASCII characters, no space
  std::uint8_t bits = 8;  ///< 1 to 32: it has 2^bits values
  FieldAudience to = FieldAudience::all;
  bool interpolated = false;  ///< between two snapshots it is shown between their values
  double low = 0, step = 1;   ///< its value is low + step * steps; step is above 0
  friend bool operator==(const FieldTraits&, const FieldTraits&) = default;

  double value_of(std::uint32_t steps) const { return low + step * steps; }
  /// To the nearest step, clamped to what it can hold; NaN is 0 steps.
  std::uint32_t steps_of(double value) const;
};

/// The added fields of an entity in steps, by their order in its kind; 0 where nothing was set.
using FieldValues = std::array<std::uint32_t, own_fields_max>;

/// A kind, or a range of kinds that are told alike.
struct ReplicatedKind {
  EntityKind first{}, last{};
  std::string name;              ///< as a field's
  bool motion_predicted = true;  ///< its velocity travels, and foretells where it will be
  std::vector<FieldTraits> fields;
  friend bool operator==(const ReplicatedKind&, const ReplicatedKind&) = default;

  bool has(FieldAudience to) const;
};

/// A kind of messages of a game: bytes that only it and its clients understand.
struct MessageTraits {
  std::string name;
  std::uint16_t bytes_max = 0;  ///< at most game_message_bytes_max
  friend bool operator==(const MessageTraits&, const MessageTraits&) = default;
};

/// What clients are told of, by kind, and the messages of a game. Filled by Game::declare(), constant after.
class ReplicationRegistry {
 public:
  /// What every world has: players, monsters, projectiles, pickups and items, without added fields.
  ReplicationRegistry();
  /// One such, shared by all worlds whose game adds nothing. Never null.
  static const std::shared_ptr<const ReplicationRegistry>& builtin_ptr();
  /// From anywhere: nothing unless kinds ascend without overlap and all is within the bounds above.
  static std::optional<ReplicationRegistry> checked(std::vector<ReplicatedKind> kinds,
                                                    std::vector<MessageTraits> messages,
                                                    std::vector<MessageTraits> client_messages = {});

  /// A kind of the game's own things. @return nothing: the name is none or taken, or there are too many
  std::optional<EntityKind> add_kind(std::string name, bool motion_predicted);
  /// A field of players, of all monsters (named by any of their kinds), or of an added kind; monsters have
  /// neither owner nor team.
  /// @return its number for GameApi::set_field(); nothing: it makes no sense, or there is no room for it
  std::optional<std::uint8_t> add_field(EntityKind kind, FieldTraits field);
  /// @return its number for GameApi::send_to_all() and others; nothing: likewise
  std::optional<std::uint8_t> add_message(std::string name, std::uint16_t bytes_max);

  /// A kind of messages that clients send to the game, of up to game_call_bytes_max bytes.
  /// @return its number for Game::message(); nothing: likewise
  std::optional<std::uint8_t> add_client_message(std::string name, std::uint16_t bytes_max);

  std::span<const ReplicatedKind> kinds() const { return kinds_; }
  std::span<const MessageTraits> messages() const { return messages_; }
  std::span<const MessageTraits> client_messages() const { return client_messages_; }
  /// Null: of no kind that is declared.
  const ReplicatedKind* find(EntityKind kind) const {
    const std::uint8_t at = row_[static_cast<std::uint8_t>(kind)];
    return at == 0 ? nullptr : &kinds_[at - 1];
  }
  /// Is there any field for everybody? Where not, blocks of entities are as those of every world.
  bool shares_fields() const { return shares_; }
  /// Is there any for owners or teams?
  bool has_private_fields() const { return privates_; }
  /// Has a game added anything?
  bool extended() const { return *this != *builtin_ptr(); }

  friend bool operator==(const ReplicationRegistry& a, const ReplicationRegistry& b) {
    return a.kinds_ == b.kinds_ && a.messages_ == b.messages_ && a.client_messages_ == b.client_messages_;
  }

 private:
  void index();

  std::vector<ReplicatedKind> kinds_;  // by first
  std::vector<MessageTraits> messages_, client_messages_;
  std::array<std::uint8_t, 256> row_{};  // one more than the place in kinds_; 0: none
  bool shares_ = false, privates_ = false;
};

}  // namespace ashlar
