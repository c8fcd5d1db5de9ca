#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "world/math/random.h"

struct sqlite3_vfs;

namespace ashlar::server {

/// A disk in memory under SQLite, as unreliable as real ones: what was written since the last sync may be
/// lost at a power cut, in any order and by halves of sectors; writes can fail, and the disk can be full.
/// Databases are on it that are opened with its name (StoreOptions::disk). One thread.
class MemoryDisk {
 public:
  explicit MemoryDisk(std::uint64_t seed);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  /// After so many more writes and syncs nothing is written any more: every call fails until power_cut().
  void die_after(std::uint32_t calls) { calls_left_ = calls; }
  bool dead() const { return dead_; }
  /// No file grows any more, or all may again.
  void set_full(bool full) { full_ = full; }
  /// Of a hundred writes so many fail, for a moment.
  void set_failing(std::uint32_t of_100) { failing_ = of_100; }

  /// The machine is off and on again. Connections from before are dead for good: close them first or after.
  void power_cut();
  /// The process that had it open is gone, the machine goes on: what was written is there, in its order.
  /// Connections are dead likewise.
  void process_killed();
  /// It says that it has synced, and has not: a broken one, which no store can be safe on.
  void set_lying(bool lying) { lying_ = lying; }
  /// That its files take.
  std::size_t bytes() const;
  /// For Database::open(); no other disk has it.
  const char* name() const { return name_.c_str(); }

  struct Pending {
    std::int64_t offset = 0;  // -1: the file was cut to bytes.size() given in `size`
    std::int64_t size = 0;
    std::vector<std::uint8_t> bytes;
  };
  struct Shared {
    std::vector<std::unique_ptr<std::uint8_t[]>> regions;
    std::array<int, 8> readers{};
    std::array<bool, 8> writer{};
    int users = 0;
  };
  struct File {
    std::vector<std::uint8_t> now, durable;
    std::vector<Pending> pending;
    std::shared_ptr<Shared> shared = std::make_shared<Shared>();
    int locks_shared = 0;
    bool reserved = false, exclusive = false;
  };

  // What the library's calls come to.
  std::shared_ptr<File> find(const std::string& name, bool make);
  bool exists(const std::string& name) const { return files_.contains(name); }
  void remove(const std::string& name) { files_.erase(name); }
  /// May this call of a connection of that generation reach the disk?
  bool allows(std::uint32_t generation);
  bool write_fails(bool grows, bool& full);
  bool lying() const { return lying_; }
  std::uint32_t generation() const { return generation_; }
  Rng& rng() { return rng_; }

 private:
  Rng rng_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::uint32_t generation_ = 1, calls_left_ = UINT32_MAX, failing_ = 0;
  bool full_ = false, dead_ = false, lying_ = false;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace ashlar::server
