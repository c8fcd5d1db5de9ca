#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "world/math/hash.h"
#include "world/math/shapes.h"
#include "world/math/turn.h"
#include "world/math/vec.h"
#include "world/sim/replication.h"

namespace ashlar {

/// Things of a game's own that are in a world at once.
inline constexpr std::size_t own_things_max = 256;
/// What clients may see of one, as far as walls hide it.
inline constexpr Cylinder own_thing_shape{0.25, 0.5};

/// Something of a kind that a game declared. It is only shown: it meets nothing and moves by the game alone.
struct OwnThing {
  EntityId id{};  ///< 0: the row is free
  EntityKind kind{};
  DVec3 position_m;
  DVec3 velocity_mps;  ///< foretells its motion to clients; it moves nothing
  Turn16 yaw{0};
  std::uint8_t state = 0;  ///< for animation
  EntityId owner{};        ///< a player, who is told its fields for owners; 0: nobody
  std::uint8_t team = 0;   ///< which is told its fields for teams; 0: none
};

/// Whom a message of a game goes to.
enum class MessageTo : std::uint8_t { all, team, one };

/// A message that a game sent in a tick.
struct GameMessageOut {
  static constexpr std::uint8_t chat_line = 255;  ///< of no kind: a line of chat, from the server
  std::uint8_t number = 0;                        ///< of the registry
  MessageTo to = MessageTo::all;
  std::uint32_t target = 0;           ///< team, or id of a player
  std::uint32_t first = 0, size = 0;  ///< in GameReplication::message_bytes()
};

/// What a game has told of beside what every world tells: its things, the values of its fields, and the
/// messages of the last tick. Part of the world's state and hash where it has declared anything. All memory
/// is taken at the start; without a declaration there is little. The simulation's thread.
class GameReplication {
 public:
  /// Of a world whose game declares nothing.
  GameReplication() = default;
  /// @param movers      slots of players and monsters, which are the first
  /// @param first_slot  of the things' ids
  GameReplication(std::shared_ptr<const ReplicationRegistry> registry, std::size_t movers,
                  std::uint32_t first_slot);

  /// Never null.
  const std::shared_ptr<const ReplicationRegistry>& registry() const { return registry_; }

  /// @return 0: it is of no kind that was added, or all rows are taken
  EntityId add(OwnThing thing);
  bool remove(EntityId id);
  /// Null: it is not there (any more).
  OwnThing* find(EntityId id);
  const OwnThing* find(EntityId id) const;
  std::span<const OwnThing> things() const { return things_; }  ///< rows in a fixed order

  /// Sets a field of a player, monster or thing. @return false: it is none, or has no such field
  bool set(EntityId id, EntityKind kind, std::size_t field, std::uint32_t steps);
  /// All of them; zeros where nothing was set.
  const FieldValues& values(EntityId id) const;

  /// @return false: no such message, it is too long, or messages_per_tick_max or the bytes are used up
  static constexpr std::size_t messages_per_tick_max = 128, message_bytes_per_tick_max = 32 * 1024;
  bool send(GameMessageOut message, std::span<const std::uint8_t> bytes);
  /// A line of chat beside the messages: within the same bounds, and of at most game_call_bytes_max.
  bool tell(GameMessageOut to, std::string_view line);
  void begin_tick();  ///< forgets the messages of the last one
  std::span<const GameMessageOut> messages() const { return messages_; }
  std::span<const std::uint8_t> message_bytes(const GameMessageOut& message) const {
    return std::span(bytes_).subspan(message.first, message.size);
  }

  /// Adds nothing where nothing was declared.
  void add_to_hash(StripeHasher& hash) const;

 private:
  bool keep(GameMessageOut message, std::span<const std::uint8_t> bytes);

  struct Values {
    EntityId id{};  // whose they are
    FieldValues values{};
  };
  static constexpr std::size_t no_row = ~std::size_t{0};
  std::size_t row_of(EntityId id) const;

  std::shared_ptr<const ReplicationRegistry> registry_ = ReplicationRegistry::builtin_ptr();
  std::size_t movers_ = 0;
  std::uint32_t first_slot_ = 0;
  std::vector<OwnThing> things_;
  std::vector<std::uint32_t> generation_;  // by row of things_
  std::vector<Values> values_;             // of movers by slot, then of things
  std::vector<GameMessageOut> messages_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace ashlar
