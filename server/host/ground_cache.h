#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "server/host/change_log.h"
#include "server/host/ground_packer.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Chunks as clients are sent them, packed once for all. What changes in one afterwards is kept beside its
/// bytes, so that a chunk in which people dig is not packed in every tick. Which ones go when it is full is
/// decided by who was asked for lately. The Host's thread.
class GroundCache {
 public:
  static constexpr std::size_t bytes_max = std::size_t{32} << 20;
  /// Changes of a chunk since it was packed; with more it is packed again.
  static constexpr std::size_t changes_max = 1024;

  /// A chunk: what was packed, and what changed since.
  struct Entry {
    bool ready = false;  ///< it was packed; what it holds is of no use before
    std::uint32_t ticket = 0;
    std::uint64_t hash = 0;
    std::vector<std::uint8_t> bytes;
    std::vector<BlockChange> changes;  ///< by index, each once
    bool used = false;                 ///< since the cache last looked for one to drop
  };

  /// Another world: nothing is known of it, and what is being packed is of none.
  void begin_world();
  /// What was packed; what nobody waits for is dropped.
  void take(std::span<PackedGround> packed);
  /// What changed in a tick, also in chunks that are not in it.
  void note(std::span<const ChangeLog::ChunkChanges> changes);

  /// A chunk that is ready; null: it is not. Valid until the next call of something else.
  const Entry* find(ChunkCoord at);
  /// Has it packed, where it is loaded, not known and no more than pack_requests_max are under way.
  void request(const World& world, const ChangeLog& log, ChunkCoord at, std::vector<PackRequest>& requests);
  /// It is to be packed anew.
  void forget(ChunkCoord at);

  std::size_t bytes() const { return bytes_; }
  std::size_t chunks() const { return entries_.size(); }
  std::uint64_t packed() const { return packed_; }  ///< since the start

 private:
  struct Less {
    bool operator()(const ChunkCoord& a, const ChunkCoord& b) const {
      return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
    }
  };
  using Entries = std::map<ChunkCoord, Entry, Less>;
  struct UnderWay {
    std::uint32_t ticket = 0;
    ChunkCoord at;
  };
  static std::size_t size_of(const Entry& entry);
  Entries::iterator erase(Entries::iterator entry);
  void make_room();

  Entries entries_;
  std::vector<UnderWay> under_way_;
  std::uint32_t tickets_ = 0;
  std::size_t bytes_ = 0;
  ChunkCoord hand_{};  // where it last looked for one to drop
  std::uint64_t packed_ = 0;
};

/// The request that a loaded chunk is packed by. @param log  what clients were told of
PackRequest pack_request(const World& world, const ChangeLog& log, ChunkCoord at, std::uint32_t ticket);

}  // namespace ashlar::server
