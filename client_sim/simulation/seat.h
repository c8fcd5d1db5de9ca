#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client_sim/brains/brain.h"
#include "client_sim/brains/hostile.h"
#include "client_sim/client/client.h"
#include "client_sim/explore/party.h"
#include "client_sim/simulation/config.h"
#include "client_sim/simulation/forger.h"
#include "client_sim/simulation/guest.h"
#include "client_sim/simulation/line.h"
#include "client_sim/simulation/packet_set.h"

namespace ashlar::simulation {

using client_sim::Client;

static_assert(clients_limit <= ports_per_round);

/// A command as a client made it, for the server tick it was meant for.
struct SentCommand {
  std::uint32_t tick = 0;
  PlayerCommand command;
};

/// A hit that a client was told of, and the session in which it was.
struct HeardHit {
  std::uint32_t session = 0;
  CombatEvent hit;
};

/// A place at the simulated table: the client that sits there now (they come and go), its brain, its clock,
/// its line to the server, and what an observer beside it would know of what it said and heard.
class Seat final : private LineTap {
 public:
  /// @param config  must outlive the seat
  /// @param number  below clients_limit; it and the config's seed decide transport, brain, hostility and line
  /// @param party  what those who play to win know of the maps together
  Seat(const SimulationConfig& config, std::uint32_t number,
       const std::shared_ptr<client_sim::ExploreParty>& party);
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // --- who sits here ---
  std::uint32_t number() const { return number_; }        ///< Fault::subject
  bool hostile() const { return attacker_.has_value(); }  ///< whoever sits here attacks
  /// Null while nobody sits here.
  const Client* client() const { return client_.get(); }
  /// Does the present client come from there?
  bool at(const PeerAddress& address) const { return client_ != nullptr && line_.has(address); }
  /// How many clients have sat here; one whose session did not go on when it was welcomed anew is another.
  std::uint32_t lives() const { return lives_; }
  /// What the present client is called: no two of a run share a name.
  const std::string& name() const { return name_; }
  /// Was a client that sat here this player?
  bool is_or_was(const secure::PublicKey& player) const {
    return std::ranges::find(players_, player) != players_.end();
  }
  /// Since when nothing has gone wrong here that a client may notice; Micros::max() while something does.
  Micros calm_since() const { return active_.empty() && !frozen_ ? calm_since_ : Micros::max(); }
  /// The same as if it had never been frozen with all the others.
  Micros calm_but_for_freezes_since() const { return active_.empty() ? other_calm_since_ : Micros::max(); }

  // --- what goes wrong ---
  /// A fault of a client's kind takes effect. Each that begins must end, with the same value.
  void begin(const Fault& fault, Micros now);
  /// Calm begins where no other fault goes on.
  void end(const Fault& fault, Micros now);
  /// When its address last changed. Nothing is lost by it, but a moment is needed to prove the new path.
  Micros roamed_at() const { return roamed_at_; }
  /// The server is gone or back, or its processor was away: no fault of this seat, but no calm either.
  void disturb(Micros now) { calm_since_ = other_calm_since_ = now; }
  /// Its process hangs with all others', or goes on. What arrives waits.
  void set_frozen(bool frozen, Micros now) {
    frozen_ = frozen;
    calm_since_ = now;
  }
  /// Who comes along at times; null: nobody ever came.
  const Guest* guest() const { return guest_.get(); }

  // --- the way of a quantum of time ---
  /// Lets the client have its time: it reads what has arrived, thinks and sends.
  void run(Micros now);
  /// Appends what has come up to the server by now, and what was forged.
  void deliver_up(Micros now, DatagramBatch& in);
  /// The server sent this to an address of this seat, or of somebody in its name.
  void send_down(const PeerAddress& to, std::span<const std::uint8_t> bytes);
  Line& line() { return line_; }
  const Line& line() const { return line_; }

  // --- what an observer knows ---
  /// A packet reached the server, from wherever; it may be one of a session of this seat's.
  void note_delivered(Micros now, std::span<const std::uint8_t> bytes);
  /// Different packets that the present client sealed in its present session and that have reached the
  /// server.
  std::uint64_t originals_delivered() const { return originals_.delivered(); }
  /// When the server last got a packet for the first time that a client here had sealed in a session that it
  /// is not in any more: whoever is on the way may hold one back. 0: never, or long ago.
  Micros late_original_at(std::uint32_t session) const;
  /// Of packets and the links here.
  std::size_t kept_bytes() const;
  /// The command that the present client made for a tick; null when it made none or it is long ago.
  const PlayerCommand* sent_command(std::uint32_t tick) const;
  /// Lines the present client has said; they carry its name and their number.
  std::uint32_t lines_said() const { return lines_said_; }
  /// How long its client has had no snapshot, by its own clock.
  Micros silent() const { return client_ == nullptr ? Micros{0} : client_->silent_for(client_now_); }
  /// Lines that the present client has heard since forget_heard(), in order.
  std::span<const ChatLine> heard() const { return heard_; }
  void forget_heard() { heard_.clear(), fetched_.clear(), hits_.clear(); }
  /// Hits that it was told of since then, in order.
  std::span<const HeardHit> hits() const { return hits_; }
  /// The sessions in which the present client was told what its fight() and score() are.
  std::uint32_t fight_session() const { return fight_session_; }
  std::uint32_t score_session() const { return score_session_; }
  /// Clients here have no files: what they lack they fetch, and a player keeps it for the next time.
  bool fetches() const { return fetches_; }
  /// A map or prop as it came; empty: whoever sits here does not have it.
  std::span<const std::uint8_t> content(std::uint64_t hash) const {
    const auto at = held_.find(hash);
    return at == held_.end() ? std::span<const std::uint8_t>{} : at->second;
  }
  /// What came since forget_heard(), by its hashes.
  std::span<const std::uint64_t> fetched() const { return fetched_; }
  std::uint64_t attacks() const { return attacker_ ? attacker_->sent() : 0; }

 private:
  /// What was said in a session that is over for the client.
  struct Earlier {
    std::uint32_t session = 0;
    PacketSet originals;
    Micros over_at{0}, late_at{0};  // late_at: 0: no packet came afterwards
  };

  void up(const PeerAddress& from, std::span<const std::uint8_t> bytes) override;
  void down(const PeerAddress& to, std::span<const std::uint8_t> bytes) override;
  void sit_down(Micros now);
  client_sim::ClientConfig client_setup();
  void set_content(client_sim::ClientConfig& setup);
  void note_sessions(Micros now);
  void end_session(Micros now);
  void note_fights();
  void note_commands();
  void stand_up(Micros now, Micros away_for);
  void set_conditions();
  void say_something(Micros now);
  bool rejoins() const;
  Micros clock(Micros now) const;

  const SimulationConfig* config_;
  std::uint32_t number_;
  Rng rng_;
  bool stream_;  // TCP
  bool hostile_;
  bool fights_, fetches_;
  PeerAddress server_;
  Line line_;
  std::unique_ptr<Client> client_;
  secure::KeyPair identity_;
  std::vector<secure::PublicKey> players_;
  Forger forger_;
  std::uint32_t forged_per_s_ = 0;
  std::shared_ptr<client_sim::ExploreParty> party_;
  std::unique_ptr<Guest> guest_;
  client_sim::Brain brain_;
  std::optional<client_sim::Attacker> attacker_;
  LinkConditions base_;
  Micros up_cut_until_{-1}, down_cut_until_{-1};
  std::vector<Fault> active_;
  Micros calm_since_{0}, other_calm_since_{0}, roamed_at_{0};
  bool frozen_ = false;
  int drift_ppm_;
  Micros clock_offset_;
  Micros client_now_{0};
  Micros back_at_{0};  // nobody sits here: the next one comes then
  bool same_port_ = false;
  std::uint32_t lives_ = 0;
  std::string name_;
  std::uint32_t session_ = 0;  // of the present client
  std::uint64_t rejoins_ = 0;  // and how often it was welcomed anew

  // Longer than a clock leaps, so that a leap does not overwrite what is still on its way.
  std::array<SentCommand, 1024> sent_{};
  std::uint32_t noted_tick_ = 0;  // newest that sent_ holds
  PacketSet originals_;           // of session_
  std::vector<Earlier> earlier_;  // the oldest first
  Micros next_line_{0};
  Micros goes_at_{0};  // rejoiners: when the present client has had enough
  std::uint32_t lines_said_ = 0;
  std::vector<ChatLine> heard_;
  std::vector<HeardHit> hits_;
  std::uint32_t fight_session_ = 0, score_session_ = 0;      // 0: not told yet in the present one
  std::uint32_t fight_tick_ = 0, score_tick_ = 0;            // of what was told last
  std::map<std::uint64_t, std::vector<std::uint8_t>> held_;  // content that was fetched, by hash
  std::vector<std::uint64_t> fetched_;
  DatagramBatch inbox_, outbox_;
};

}  // namespace ashlar::simulation
