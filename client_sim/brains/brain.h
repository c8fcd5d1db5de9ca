#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "client_sim/client/client.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

class Builder;
class ExploreParty;
class Fighter;
class PartyExplorer;

/// How a simulated player behaves.
enum class BrainKind : std::uint8_t {
  wander,  ///< walks on, turns at random and where it does not get ahead, jumps now and then
  crowd,   ///< walks to where the most others are
  idle,    ///< stands and looks around
  jumper,  ///< jumps about in all directions, turning wildly
  follow,  ///< runs after the nearest other player
  hunt,  ///< runs at the nearest monster (in matches at players, too) and at items on the way; attacks, opens
         ///< doors
  explore,  ///< enters every sector of the server's maps on foot, with its party (explore/party.h)
  build,    ///< a tower under its feet, a bridge off its edge, a tunnel down a stair (builder.h)
  fight,    ///< plays the match to win it, whatever the mode (fighter.h)
  watch,    ///< a spectator (ClientConfig::watches): flies after others and looks at them
};
inline constexpr std::size_t brain_kind_count = 10;
/// Spelled as on the command line, which is as the enumerator is; and back, nullopt: no such kind.
std::string_view name(BrainKind kind);
std::optional<BrainKind> brain_kind(std::string_view name);

/// Decides the commands of one client. Seeded; reads nothing but the client: same views, same commands.
class Brain {
 public:
  /// @param party  of those who explore and fight; the other kinds do not look at it
  explicit Brain(BrainKind kind, std::uint64_t seed, std::shared_ptr<ExploreParty> party = nullptr);
  Brain(Brain&&) noexcept;
  Brain& operator=(Brain&&) noexcept;
  ~Brain();

  /// The command for now. Call it before Client::advance, at most once per tick and at least every few.
  PlayerCommand think(Micros now, const Client& client);

  /// What it does to blocks; nothing, but of those who build. Behind each think().
  void act(Client& client);

  BrainKind kind() const { return kind_; }  ///< for good

 private:
  void steer(Micros now, const Client& client);
  std::optional<DVec2> goal(const Client& client);
  bool stands_still(Micros now, const Client& client);

  BrainKind kind_;
  Rng rng_;
  PlayerCommand command_;
  Turn16 delta_yaw_{0};  // of the client, as of the last call
  Micros next_turn_{0};
  Micros next_look_{0};
  DVec3 looked_from_m_;
  std::vector<ViewEntity> seen_;  // used again from call to call
  std::unique_ptr<PartyExplorer> explorer_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Fighter> fighter_;
};

}  // namespace ashlar::client_sim
