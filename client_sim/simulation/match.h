#pragma once
#include <memory>
#include <string>
#include <vector>

#include "client_sim/simulation/config.h"
#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/kept_world.h"
#include "client_sim/simulation/seat.h"
#include "client_sim/simulation/truth.h"
#include "protocol/recording.h"
#include "server/host/content_shelf.h"
#include "server/host/host.h"
#include "world/math/hash.h"

namespace ashlar::simulation {

/// A simulated match under way: one server at a time, the seats around it, and the faults that are going on.
/// Time moves in quanta of quantum_us; in each the faults begin and end, the server has its time, then every
/// seat, then the checks look. Same config, same bits. One thread.
class Match final : private server::TickSink {
 public:
  static constexpr std::int64_t quantum_us = 2'000;  ///< as often as a real server drains its sockets

  explicit Match(const SimulationConfig& config);
  ~Match() override;

  /// Plays one quantum. @return false when the time is over or something broke.
  bool advance();
  /// Plays to the end, then what is checked at the end.
  Outcome finish();

  // --- for the checks ---
  const SimulationConfig& config() const { return config_; }  ///< as given, its ground never null
  Micros now() const { return now_; }                         ///< simulated time since the start
  std::uint32_t tick() const;                                 ///< of simulated time
  std::span<const std::unique_ptr<Seat>> seats() const { return seats_; }
  /// Null while no server runs. One that says goodbye runs no more.
  const server::Host* host() const { return host_.get(); }
  /// The maps and props that servers give away.
  const server::ContentShelf& shelf() const { return *shelf_; }
  /// The server's sessions as of its last tick.
  const server::HostAudit& audit() const { return audit_; }
  /// What outlives the servers.
  const KeptWorld& kept() const { return *kept_; }
  const Truth& truth() const { return truth_; }
  /// Since when nothing has gone wrong at the server; Micros::max() while something does.
  Micros server_calm_since() const { return server_faults_ == 0 ? server_calm_since_ : Micros::max(); }
  /// The server's clock: it leaps at times.
  Micros server_clock() const { return now_ + server_offset_; }
  /// Since when no freeze goes on; Micros::max() while one does.
  Micros thawed_since() const { return freezes_ == 0 ? thawed_since_ : Micros::max(); }
  /// Does ground take long at present?
  bool ground_slow() const { return ground_faults_ != 0; }
  /// From one snapshot to the next.
  Micros snapshot_interval() const {
    return Micros{std::int64_t{1'000'000} * config_.snapshot_every_ticks / config_.tick_rate_hz};
  }
  /// The seat whose client plays an entity on this server; null when that client is gone or not yet welcomed.
  const Seat* seat_of_player(EntityId id) const;
  /// Its session, when the seat's client was welcomed in it by the server that runs now; else null. Null,
  /// too, while it seeks another one.
  const server::SessionAudit* session_of(const Seat& seat) const;
  /// A command of the tick that is being shown, as its client made it: without what the server added to its
  /// yaw.
  PlayerCommand as_made(const PlayerInput& input) const;
  /// The seat whose present client's session has that number.
  const Seat* seat_of_session(std::uint32_t connection) const;
  /// What the match itself keeps: for the replay at the end, for servers to come, of what was, and of
  /// packets, those on their way among them.
  std::size_t kept_bytes() const;

 private:
  /// Ground that the server asked for, and when it will be there.
  struct AskedGround {
    Micros due{0};
    std::uint32_t number = 0;
    IVec2 column;
  };

  /// A chunk that the server asked to have packed.
  struct AskedPack {
    Micros due{0};
    server::PackRequest request;
  };

  void on_tick(const TickRecord& record) override;
  void begin_and_end_faults();
  void begin(const Fault& fault);
  void end(const Fault& fault);
  void freeze(int more);
  void start_server();
  /// How a server ends.
  enum class End : std::uint8_t { peace, killed, power_cut };
  void stop_server(End how, std::uint32_t writes_left);
  bool begin_disk_fault(const Fault& fault);
  bool end_disk_fault(const Fault& fault);
  void note_told();
  void say_goodbye();
  void end_goodbye();
  void deliver_up();
  void run_server();
  void deliver_ground();
  void deliver_packs();
  void send_down();
  void ask_for_ground();
  void run_seats();
  void hand_out_gifts();
  void bury_treasures();
  void check_clients();
  void check_recording();
  void note_match();
  void report(const Invariant& invariant, const Finding& finding);

  SimulationConfig config_;
  std::vector<Fault> faults_;
  std::vector<Fault> going_on_;  // those that have an end to come
  std::size_t next_fault_ = 0;
  Micros now_{0}, end_;

  std::shared_ptr<client_sim::ExploreParty> party_;  // of those who play to win
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::unique_ptr<Invariant>> invariants_;
  std::shared_ptr<const server::ContentShelf> shelf_;
  std::unique_ptr<KeptWorld> kept_;  // before the servers, whose ground comes from it to their end
  std::unique_ptr<server::Host> host_;
  std::unique_ptr<server::Host> leaving_;  // it is stopped, and says so until that was heard
  Micros leaves_until_{0};
  Micros server_offset_{0};
  Micros server_calm_since_{0};
  std::vector<std::uint32_t> orphans_;  // by seat: the session that it had with a server before this one
  int server_faults_ = 0;               // going on
  int server_away_ = 0;                 // restarts going on
  int overloads_ = 0;                   // going on
  int freezes_ = 0;                     // likewise
  Micros thawed_since_{0};
  bool ticked_ = false;
  MatchPhase phase_{};              // of the world's match, as of the last tick
  std::uint32_t played_ticks_ = 0;  // of that match
  int disk_full_ = 0;               // going on
  server::HostAudit audit_;
  Truth truth_;
  std::unique_ptr<RecordingWriter> writer_;
  std::vector<std::uint8_t> recording_;
  server::HostInput in_;
  server::HostOutput out_;
  std::vector<AskedGround> asked_;  // on its way, in no order
  std::vector<AskedPack> packs_;    // likewise
  std::uint32_t packs_asked_ = 0;
  server::GroundPacker packer_;
  std::uint32_t ground_delay_ms_ = 0;  // of the faults that are going on, the last one's
  int ground_faults_ = 0;              // going on
  Hasher hasher_;
  Outcome outcome_;
};

}  // namespace ashlar::simulation
