#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "client_sim/client/client.h"
#include "client_sim/load/spy.h"

namespace ashlar::client_sim {

/// How a simulated client plays by other rules than an honest one's, over real sockets.
enum class LoadCheat : std::uint8_t {
  fast_clock,  ///< speed: its clock runs half as fast again
  doubled,     ///< speed: says everything twice
  bursts,      ///< speed: keeps its packets back and says them at once, eight times a second
  stalls,      ///< teleport: is silent for half a second, then says all that it would have done
  reach,       ///< digs what is farther away than its arms
  taps,        ///< rapid fire: works the trigger in every second tick, and says everything twice
  lies,        ///< claims to have seen the world as it was 0.6 s earlier, and between states of its choice
  spy,         ///< wall hack: plays fairly, and looks at whom it is told of behind walls (spy.h)
};
inline constexpr std::size_t load_cheat_count = 8;
/// Spelled as on the command line; and back, nullopt: no such cheat.
std::string_view name(LoadCheat cheat);
std::optional<LoadCheat> load_cheat(std::string_view name);

/// What a client that cheats does to its clock and to what it says.
class Cheater {
 public:
  explicit Cheater(LoadCheat cheat) : cheat_(cheat) {}

  /// What it takes for the time: ahead from when it plays. Never goes back.
  Micros clock(Micros now, const Client& client);
  /// Behind Client::advance(): of what the client says, what goes out now. Valid until the next call.
  const DatagramBatch& say(Micros now, const DatagramBatch& out);
  /// Once a tick or so: acts that no honest client does.
  void act(Micros now, Client& client);
  /// The command that it gives in place of an honest one.
  PlayerCommand falsified(PlayerCommand command, const Client& client) const;

 private:
  LoadCheat cheat_;
  Micros since_{0};  // when it began to play; 0: not yet
  Micros next_act_{0};
  int acts_ = 0;
  DatagramBatch kept_, said_;
};

/// How often a client's own player shoots, as the server tells it.
class ShotCount {
 public:
  /// In each turn. Takes the cues that wait.
  void note(Client& client);
  /// One shot, as of a tick of a world: numbered from 1 by how many the client was in.
  /// @param second  in ticks
  void add(std::uint64_t world, std::uint32_t tick, std::uint32_t second);
  std::uint64_t shots() const { return shots_; }
  /// The most of any second.
  std::uint32_t second() const { return most_; }

 private:
  std::uint64_t shots_ = 0;
  std::uint64_t world_ = 0;
  std::deque<std::uint32_t> ticks_;  // of the shots of a second, all of one world
  std::uint32_t most_ = 0;
};

/// How far a client's own player gets, as the server tells it.
class Gait {
 public:
  /// In each turn. Where it is put elsewhere alive nobody can tell from running.
  void note(const Client& client);
  double second_m() const { return second_m_; }          ///< the farthest of a second, over ground
  double step_m() const { return step_m_; }              ///< the farthest of a tick
  double may_second_m() const { return may_second_m_; }  ///< at a run, as the rules have it
  double may_step_m() const { return may_step_m_; }

 private:
  static constexpr std::size_t ticks_max = 128;  // of a second: no server steps more often
  std::uint64_t world_ = 0;
  std::uint32_t tick_ = 0, from_tick_ = 0;
  DVec3 at_m_;
  std::array<double, ticks_max> steps_m_{};  // by tick modulo
  double second_m_ = 0, step_m_ = 0;
  double may_second_m_ = 0, may_step_m_ = 0;
};

/// What cheats gained, of many clients together.
struct CheatReport {
  std::optional<LoadCheat> cheat;  ///< nullopt: nobody cheated
  std::uint32_t honest = 0, cheating = 0;
  double honest_second_m = 0, second_m = 0;  ///< the farthest of anybody
  double honest_step_m = 0, step_m = 0;
  double may_second_m = 0, may_step_m = 0;                  ///< at a run, as the rules have it
  std::uint64_t far_dug = 0;                                ///< blocks dug that were out of reach
  std::uint32_t honest_shots_second = 0, shots_second = 0;  ///< the most of anybody in a second
  std::uint64_t honest_shots = 0, shots = 0;                ///< of all
  std::uint64_t honest_hits = 0, hits = 0;                  ///< of those, as the server told them
  SpyReport spied;                                          ///< LoadCheat::spy
  /// Two honest clients differ by so much: jumps, and others who push.
  static constexpr double slack = 0.2;

  void add(const Gait& gait, const ShotCount& shots, std::uint64_t hits, bool cheats);
  double gained_second_m() const { return gain(std::max(honest_second_m, may_second_m), second_m); }
  double gained_step_m() const { return gain(std::max(honest_step_m, may_step_m), step_m); }
  /// Shots in a second, more than honest ones; where those do not shoot none are gained.
  double gained_shots() const { return honest_shots == 0 ? 0 : gain(honest_shots_second, shots_second); }
  /// Of shots, the share more that hit; 0 as long as there are too few to tell.
  double gained_hits() const {
    constexpr std::uint64_t few = 50;
    if (honest_shots < few || shots < few) return 0;
    const auto share = [](std::uint64_t of, std::uint64_t all) {
      return static_cast<double>(of) / static_cast<double>(all);
    };
    return gain(share(honest_hits, honest_shots), share(hits, shots));
  }

 private:
  static double gain(double honest, double cheating) {
    return cheating > honest * (1 + slack) ? cheating - honest : 0;
  }
};

}  // namespace ashlar::client_sim
