#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/background.h"
#include "server/config/config.h"
#include "server/ground_workers.h"
#include "server/host/content_shelf.h"
#include "server/host/host.h"
#include "server/log/log.h"
#include "server/setup.h"
#include "world/sim/game.h"
#include "world/sim/kinds.h"

namespace ashlar::server {

/// The maps that a rotation names, in their order; "wad" alone means all of the WADs.
/// @param origin  where it was set: a flag, a variable, a file's line
/// @return or one line that names the map that is not there, and the remedy
std::expected<std::vector<std::string>, std::string> rotation_maps(const Config& config,
                                                                   const OpenedWads& wads,
                                                                   const std::string& origin);

/// A world that is ready to take another one's place.
struct NextWorld {
  std::string map;
  std::unique_ptr<World> world;
  std::shared_ptr<const ContentShelf> content;  ///< null: what was given away before still is
};

/// The kinds of the worlds to come: those that were read well last, whatever the file holds by now. Any
/// thread.
class KindsToCome {
 public:
  explicit KindsToCome(std::shared_ptr<const KindSet> kinds) : kinds_(std::move(kinds)) {}
  void set(std::shared_ptr<const KindSet> kinds) {
    const std::scoped_lock lock(mutex_);
    kinds_ = std::move(kinds);
  }
  std::shared_ptr<const KindSet> get() const {  ///< null: ours
    const std::scoped_lock lock(mutex_);
    return kinds_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KindSet> kinds_;
};

/// Maps played one after the other, each in a world of its own under the same sessions: by the end of a match
/// and its intermission, or because the operator says so. The next world is made on a thread beside the loop,
/// from the beginning of the intermission on. The loop's thread.
class MapRotation {
 public:
  using Made = std::expected<NextWorld, std::string>;
  /// Makes the world of a map; called on another thread. @return or one line
  using Maker = std::function<Made(const std::string& map)>;

  /// @param maps  in their order; the first is being played. At least one, asserted
  /// @param whole_wad  of a WAD's maps those that only secret exits lead to are left out of the round
  MapRotation(std::vector<std::string> maps, bool whole_wad, Maker make);

  /// What a tick did to the match, and who went through which exit. After each.
  void note(const World& world);
  /// The next map at once, or as soon as its world is made.
  void go_on();
  /// Likewise this one, of the list or not.
  void go_to(const std::string& map);

  /// What worlds are made of has changed: the next one, where it is made already, is made again.
  void make_again();

  /// The world that is due and ready. Nothing: play goes on in this one.
  std::optional<NextWorld> take();
  /// One line, once, where a world could not be made: the one that there is stays.
  std::string take_error() { return std::exchange(error_, {}); }

  const std::string& playing() const { return playing_; }

 private:
  std::string next_map() const;
  void prepare(const std::string& map);
  void collect();
  void stand_at(const std::string& map);

  std::vector<std::string> maps_;
  bool whole_wad_;
  Maker make_;
  std::string playing_;
  std::size_t at_ = 0;   // in the list: the last of it that was played
  bool secret_ = false;  // the last exit was one to a secret map
  bool intermission_ = false, due_ = false;
  std::string preparing_;  // empty: nothing is being made
  std::string wanted_;     // that the operator named; empty: none
  std::uint64_t order_ = 0;
  struct Work {
    std::string map;
    std::uint64_t order;
    Made made;
  };
  Background<std::shared_ptr<Work>> making_;
  std::optional<NextWorld> ready_;
  std::string error_;
};

/// Makes worlds of one map each as a configuration has them; what is read is read anew, but for blocks and
/// kinds.
/// @param blocks  of all of them, which the kinds were checked against; never null
/// @param game  WorldSetup::game of each; called where the maker is; empty: the mode's
MapRotation::Maker world_maker(const Config& config, std::optional<std::uint64_t> secret_seed,
                               std::shared_ptr<const BlockRegistry> blocks,
                               std::shared_ptr<const KindsToCome> kinds, MakeGame game = {});

/// Puts the next world in place where one is due, and tells the log. After each tick.
/// @return is there another world now?
bool rotate(MapRotation& rotation, Host& host, GroundWorkers& ground, Log& log);

}  // namespace ashlar::server
