#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "server/host/cue_board.h"
#include "server/host/defects.h"
#include "server/host/overload.h"
#include "server/host/packed_snapshot.h"
#include "server/host/replicator.h"
#include "server/host/session.h"
#include "server/host/sight_culler.h"

namespace ashlar {
class DatagramBatch;
class Observer;
class World;
}  // namespace ashlar

namespace ashlar::server {

class EarlySender;

/// What a Publisher is made with: of HostConfig what concerns it.
struct PublishConfig {
  std::uint16_t snapshot_every_ticks = 1;
  double interest_radius_m = 64;
  std::uint32_t snapshot_bytes_max =
      16 * datagram_bytes_max;                   ///< on the wire, from snapshot_parts_least datagrams up
  std::uint32_t client_bytes_per_s = 1'250'000;  ///< of a client's snapshots, whatever its path takes
  bool sight_culling = false;                    ///< who is behind rock is not told of (sight_culler.h)
  Defects defects;
};

/// What a Publisher has done. All but wait_ticks only grow.
struct PublishCounters {
  std::uint64_t snapshots_made = 0;
  std::uint64_t snapshots_cut = 0;                       ///< of these: had no room for all in reach
  std::uint64_t snapshots_overdue = 0;                   ///< PackedSnapshot::overdue()
  std::uint64_t snapshots_congested = 0;                 ///< shorter, or left out, as the path took no more
  std::uint64_t snapshots_spared = 0;                    ///< left out in overload
  std::uint64_t sights_computed = 0, sights_beyond = 0;  ///< SightCounters
  std::uint32_t wait_ticks = 0;      ///< that anyone in reach of a client now waits to be told of, at most
  std::uint32_t wait_ticks_max = 0;  ///< since the start
};

/// Tells those who play of a tick: what the replicator has of it, for each client what is in its interest, in
/// turns where its snapshot has no room for all.
/// The Host's thread. No allocation once the tables have their size.
class Publisher {
 public:
  explicit Publisher(const PublishConfig& config) : config_(config), cues_(config.snapshot_every_ticks) {}

  /// Appends the snapshots of the world's present tick for the sessions that play. Call once per published
  /// tick, after the step; it does nothing while nobody plays.
  /// @param seated  rows of `sessions` that are looked at, in order; another one is served first each time
  /// @param early   takes what is there before all of it is; null: nobody does
  /// @return when the last one was sent, by the clock of `early`; without one, now
  Micros publish(const World& world, std::span<Session> sessions, std::span<const std::uint32_t> seated,
                 Micros now, DatagramBatch& out, EarlySender* early = nullptr);

  /// What is left out from the next tick on, as the server does not keep up.
  void set_overload(OverloadRung rung) { overload_ = rung; }

  /// Call after each step, whether it is published or not.
  void stepped(const World& world);

  /// Another world: nothing of the last one is left but the counters, and what is left out.
  void begin_world() {
    replicator_ = Replicator{};
    private_fields_ = PrivateFields{};
    packed_.reset();
    culler_.reset();
    cues_.clear();
  }

  /// Has a client been told of somebody, as of the newest published tick, and not that he is gone? Cost: some
  /// 20 ns.
  bool knows(const Session& session, EntityId who) const;

  /// Is shown what each client is sent; null: nobody.
  void set_observer(Observer* observer) { observer_ = observer; }

  /// What was published last, block by block; null: nothing was. Valid until the next publish().
  const BlockFrames* frames() const { return packed_ ? &std::as_const(*packed_).frames() : nullptr; }

  /// Since the start.
  const PublishCounters& counters() const { return counters_; }

 private:
  /// Its snapshot was shorter than it should be, or did not go.
  void note_congested(Session& session, bool by_window);
  /// One client's snapshot: own player, and whom it may see within its interest radius.
  /// @param due  when the tick began, by which budgets go: they would else swing with everybody's turn
  void publish_to(const World& world, Session& session, Micros due, Micros now, DatagramBatch& out);
  /// From where a client looks.
  struct Viewer {
    DVec3 eye;
    double margin_m = 0;
    std::optional<SightReach> reach;  // where sight is culled
  };
  Viewer viewer_of(const World& world, const Session& session, const Body& body) const;
  /// What only shows and is new to a client, as far as it may know of it.
  std::span<const Cue> cues_for(const World& world, const Session& session, const Viewer& viewer,
                                double radius_m);
  /// What goes into its snapshot. Valid until that of the next client.
  PackedRequest request_for(const World& world, const Session& session, const Viewer& viewer);
  /// Lays out the snapshot and sends it, as far as the path takes it.
  void send(Session& session, PackedRequest& request, std::size_t allowed, Micros now, DatagramBatch& out);
  /// Quantises what those who play may be told of.
  void gather(const World& world);
  /// Shows the observer what was laid out, of which so many parts went.
  void show(const Session& session, std::uint32_t tick, std::size_t parts_sent);

  /// On an overloaded server clients' snapshots go out in turns: is it this one's?
  bool has_turn(std::uint32_t session, const World& world) const;

  PublishConfig config_;
  OverloadRung overload_ = OverloadRung::none;
  PublishCounters counters_;
  Replicator replicator_;
  std::optional<PackedWorld> packed_;
  mutable std::optional<SightCuller> culler_;  // asking teaches it
  PackedSnapshot packed_snapshot_;
  PrivateFields private_fields_;
  CueBoard cues_;
  Observer* observer_ = nullptr;
  std::vector<EntityId> shown_;  // scratch: for the observer
  DVec3 eye_before_;             // for Defects::wrong_eyes
};

}  // namespace ashlar::server
