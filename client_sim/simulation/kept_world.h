#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client_sim/simulation/config.h"
#include "server/store/memory_disk.h"
#include "server/store/saver.h"
#include "server/store/sqlite_store.h"
#include "server/store/stored_ground.h"

namespace ashlar::simulation {

/// Chunks of a world that are not as they were generated, by chunk_place().
using ChangedChunks = std::map<std::int64_t, std::shared_ptr<const Chunk>>;

/// The store of a run's servers on a disk of its own that fails as it is told to, and beside it a book of
/// what they played: which of it has to be there when the next one starts. One thread; all of it happens at
/// simulated times.
class KeptWorld {
 public:
  /// Of a group at most, and so many wait behind it: few, so that a full disk is noticed within a fault.
  static constexpr std::uint32_t chunks_max = 3;

  explicit KeptWorld(const SimulationConfig& config);
  ~KeptWorld();

  // --- a server's life ---
  /// Opens the store, as at a start, and compares all of it with the books. @return what is wrong with it
  std::optional<std::string> open(WorldSetup& setup);
  /// What a new server is told before anybody comes.
  /// @return what of it is not as it was kept
  std::optional<std::string> tell(server::Host& host);
  /// What a recording of the new server begins with of the changed ground; nothing where the store did not
  /// open.
  std::vector<ChangedChunk> take_home() {
    return ground_ == nullptr ? std::vector<ChangedChunk>{} : ground_->take_kept();
  }
  /// Ground that was made with WorldSetup::make_chunk.
  void finish(server::GroundColumn& column) { ground_->finish(column); }
  /// Before each advance.
  void before(server::Host& host);
  /// After each one that stepped. @param now  of the server's clock
  void after(Micros now, const server::Host& host, std::int64_t unix_s);
  /// Writes the group that is due. @param now  of simulated time
  void work(Micros now);
  /// The server's end in peace.
  void close(Micros now, const server::Host& host);
  /// Its end at any moment. A group that is being written gets so many more writes and syncs of it done.
  /// @param power  of the whole machine: else only the process is gone
  void kill(std::uint32_t calls, bool power);
  /// Clients heard that all up to this tick of the server's is saved.
  void note_told(std::uint32_t tick);

  /// No byte more fits on the disk, until it is said otherwise.
  void set_full(bool full);
  /// So many of a hundred writes fail.
  void set_failing(std::uint32_t of_100);
  void set_lying() { disk_.set_lying(true); }

  // --- for the checks ---
  /// Of the server's first step, counted over all; what the last start found.
  std::uint64_t first_tick() const { return first_tick_; }
  std::uint64_t saved_tick() const { return saved_tick_; }
  /// Did the last advance() let players change more?
  bool room() const { return room_; }
  /// Changes since then are not on the disk; nullopt: all are. Of simulated time.
  std::optional<Micros> behind_since() const;
  bool disk_good() const { return !full_ && failing_ == 0; }
  Micros disk_good_since() const { return good_since_; }
  /// Of the disk and the books.
  std::size_t bytes() const;
  std::uint64_t groups() const { return groups_; }
  std::uint64_t failed() const { return failed_; }  ///< writes of groups

 private:
  /// What a tick changed.
  struct Played {
    std::uint64_t tick = 0;
    Micros at{0};
    std::vector<AppliedEdit> edits;
    std::vector<PlacedData> contents;
    std::optional<std::vector<LyingItem>> items;
    std::vector<server::KeptPlayer> players;
    std::shared_ptr<const KeptState> state;  // as it was taken with a group; else null
  };
  struct BlockLess {
    bool operator()(IVec3 a, IVec3 b) const;
  };

  void apply(const Played& played);
  std::optional<std::string> compare();
  std::optional<std::string> compare_chunks();
  void note_saved();

  const SimulationConfig& config_;
  server::MemoryDisk disk_;
  std::shared_ptr<server::SqliteStore> store_;
  std::shared_ptr<server::StoredGround> ground_;
  std::unique_ptr<server::WorldSaver> saver_;
  std::optional<Terrain> terrain_;  // as chunks were asked for
  std::uint32_t drawn_ = 0;
  Micros writes_at_{0};  // the group that waits; 0: none does
  Micros now_{0}, good_since_{0};
  bool full_ = false, room_ = true;
  std::uint32_t failing_ = 0;

  // The books: as of `kept_tick_`, and what was played since.
  ChangedChunks chunks_;
  std::map<IVec3, BlockData, BlockLess> contents_;
  std::vector<LyingItem> items_;
  std::map<server::PlayerIdentity, server::KeptPlayer> players_;
  std::deque<Played> played_;
  std::uint64_t kept_tick_ = 0, promised_ = 0, saved_tick_ = 0, first_tick_ = 0, items_revision_ = 0;

  std::vector<LyingItem> began_items_;
  std::vector<PlacedData> began_contents_;
  std::shared_ptr<const KeptState> state_, began_state_;  // null: nothing was kept yet
  std::uint64_t groups_ = 0, failed_ = 0;
};

}  // namespace ashlar::simulation
