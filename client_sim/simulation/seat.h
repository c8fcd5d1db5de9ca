#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/brains/brain.h"
#include "client_sim/brains/hostile.h"
#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "client_sim/simulation/config.h"

namespace ashlar::simulation {

using client_sim::Client;
using client_sim::Link;
using client_sim::LinkConditions;

/// A command as a client sent it, for the server tick it was meant for.
struct SentCommand {
  std::uint32_t tick = 0;
  PlayerCommand command;
};

/// A place at the simulated table: the client that sits there now (they come and go), its brain, its clock,
/// its path to the server, and what an observer beside it would know of what it said and heard.
class Seat {
 public:
  /// @param config  must outlive the seat
  /// @param number  below clients_limit; it and the config's seed decide transport, brain, hostility and link
  Seat(const SimulationConfig& config, std::uint32_t number);

  // --- who sits here ---
  std::uint32_t number() const { return number_; }         ///< Fault::subject
  bool hostile() const { return attacker_.has_value(); }   ///< whoever sits here attacks
  const PeerAddress& address() const { return address_; }  ///< of the present client, or of the last one
  /// Null while nobody sits here.
  const Client* client() const { return client_.get(); }
  /// How many clients have sat here; one that was welcomed anew is another.
  std::uint32_t lives() const { return lives_; }
  /// What the present client is called: no two of a run share a name.
  std::string name() const;
  /// Its connection has carried corrupted bytes: what it says and believes proves nothing about the server.
  bool tainted() const { return tainted_; }
  /// Since when nothing has gone wrong here; Micros::max() while something does.
  Micros calm_since() const { return active_.empty() ? calm_since_ : Micros::max(); }

  // --- what goes wrong ---
  /// A fault of a client's kind takes effect. Each that begins must end, with the same value.
  void begin(const Fault& fault, Micros now);
  /// Calm begins where no other fault goes on. After corruption the client leaves its place to a new one.
  void end(const Fault& fault, Micros now);
  /// The server is gone or back, or its processor was away: no fault of this seat, but no calm either.
  void disturb(Micros now) { calm_since_ = now; }

  // --- the way of a quantum of time ---
  /// Lets the client have its time: it reads what has arrived, thinks and sends.
  void run(Micros now);
  /// Hands the server what has come up by now.
  void deliver_up(Micros now, DatagramBatch& in) { up_.deliver(now, in); }
  /// The server sent this; what nobody picks up is lost beyond receive_queue_max datagrams.
  static constexpr std::size_t receive_queue_max = 256;
  void send_down(std::span<const std::uint8_t> bytes) { from_server_.add(server_, bytes); }
  /// The server's side closed this connection, or is gone with everything it had; over UDP nobody can tell.
  void close_down() {
    if (stream_) from_server_.add_closed(server_);
  }

  // --- what an observer knows ---
  /// A datagram of this address reached the server, by whatever way.
  void note_delivered(std::span<const std::uint8_t> bytes);
  /// Different datagrams of the present connection that have reached the server.
  std::uint64_t originals_delivered() const { return originals_; }
  /// The command that the present client sent for a tick; null when it sent none or it is long ago.
  const PlayerCommand* sent_command(std::uint32_t tick) const;
  /// Lines the present client has said; they carry its name and their number.
  std::uint32_t lines_said() const { return lines_said_; }
  /// How long its client has had no snapshot, by its own clock.
  Micros silent() const { return client_ == nullptr ? Micros{0} : client_->silent_for(client_now_); }
  /// Lines that the present client has heard since forget_heard(), in order.
  std::span<const ChatLine> heard() const { return heard_; }
  void forget_heard() { heard_.clear(); }
  const Link& up() const { return up_; }
  const Link& down() const { return down_; }
  std::uint64_t attacks() const { return attacker_ ? attacker_->sent() : 0; }

 private:
  void sit_down(Micros now);
  void note_rejoin();
  void stand_up(Micros now, Micros away_for);
  void set_conditions();
  void note_sent(std::span<const std::uint8_t> bytes);
  void say_something(Micros now);
  bool rejoins() const;
  void post(Micros now);
  Micros clock(Micros now) const;

  const SimulationConfig* config_;
  std::uint32_t number_;
  Rng rng_;
  bool stream_;  // TCP
  PeerAddress address_, server_;
  std::unique_ptr<Client> client_;
  client_sim::Brain brain_;
  std::optional<client_sim::Attacker> attacker_;
  LinkConditions base_;
  Link up_, down_;
  Micros up_cut_until_{-1}, down_cut_until_{-1};
  std::vector<Fault> active_;
  Micros calm_since_{0};
  int drift_ppm_;
  Micros clock_offset_;
  Micros client_now_{0};
  Micros back_at_{0};  // nobody sits here: the next one comes then
  bool same_port_ = false;
  bool tainted_ = false;
  std::uint32_t lives_ = 0;
  std::uint32_t connection_ = 0;  // of the present client, once it is welcomed

  // Longer than a clock leaps, so that a leap does not overwrite what is still on its way.
  std::array<SentCommand, 1024> sent_{};
  std::vector<bool> delivered_;  // by sequence, of the present connection
  std::uint64_t originals_ = 0;
  Micros next_line_{0};
  Micros goes_at_{0};  // rejoiners: when the present client has had enough
  std::uint32_t lines_said_ = 0;
  std::vector<ChatLine> heard_;
  DatagramBatch from_server_, inbox_, outbox_, to_server_;
};

/// The seat that an address belongs to: ports are dealt out so that it can be told from one.
inline constexpr std::uint32_t ports_per_round = 1024;
static_assert(clients_limit <= ports_per_round);
inline std::uint32_t seat_of(const PeerAddress& address) { return address.port % ports_per_round; }

}  // namespace ashlar::simulation
