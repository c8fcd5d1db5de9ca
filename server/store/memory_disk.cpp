#include "server/store/memory_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace ashlar::server {
namespace {

constexpr std::size_t sector_bytes = 512;

/// The library's own part first, then ours.
struct OpenFile {
  sqlite3_file base;
  MemoryDisk* disk;
  std::shared_ptr<MemoryDisk::File>* file;
  std::string* name;
  std::uint32_t generation;
  int lock;
  std::uint32_t shm_shared, shm_exclusive;
  bool maps, delete_on_close;
};

OpenFile& open_of(sqlite3_file* f) { return *reinterpret_cast<OpenFile*>(f); }
MemoryDisk::File& data_of(sqlite3_file* f) { return **open_of(f).file; }
bool reachable(sqlite3_file* f) {
  return open_of(f).generation == open_of(f).disk->generation() && !open_of(f).disk->dead();
}

int file_close(sqlite3_file* f) {
  OpenFile& o = open_of(f);
  if (o.delete_on_close) o.disk->remove(*o.name);
  delete o.file;
  delete o.name;
  return SQLITE_OK;
}

int file_read(sqlite3_file* f, void* out, int amount, sqlite3_int64 offset) {
  if (!reachable(f)) return SQLITE_IOERR_READ;
  const auto& bytes = data_of(f).now;
  const auto begin = std::min(static_cast<std::size_t>(offset), bytes.size());
  const auto wanted = static_cast<std::size_t>(std::max(amount, 0));
  const std::size_t there = std::min(wanted, bytes.size() - begin);
  auto* to = static_cast<std::uint8_t*>(out);
  std::copy_n(bytes.data() + begin, there, to);
  if (there == wanted) return SQLITE_OK;
  std::fill_n(to + there, wanted - there, std::uint8_t{0});
  return SQLITE_IOERR_SHORT_READ;
}

int file_write(sqlite3_file* f, const void* in, int amount, sqlite3_int64 offset) {
  if (!open_of(f).disk->allows(open_of(f).generation)) return SQLITE_IOERR_WRITE;
  auto& file = data_of(f);
  const auto size = static_cast<std::size_t>(std::max(amount, 0));
  const auto end = static_cast<std::size_t>(offset) + size;
  bool full = false;
  if (open_of(f).disk->write_fails(end > file.now.size(), full))
    return full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  if (end > file.now.size()) file.now.resize(end);
  const auto* from = static_cast<const std::uint8_t*>(in);
  std::copy_n(from, size, file.now.data() + offset);
  file.pending.push_back({offset, 0, {from, from + size}});
  return SQLITE_OK;
}

int file_truncate(sqlite3_file* f, sqlite3_int64 size) {
  if (!open_of(f).disk->allows(open_of(f).generation)) return SQLITE_IOERR_TRUNCATE;
  data_of(f).now.resize(static_cast<std::size_t>(size));
  data_of(f).pending.push_back({-1, size, {}});
  return SQLITE_OK;
}

int file_sync(sqlite3_file* f, int) {
  if (!open_of(f).disk->allows(open_of(f).generation)) return SQLITE_IOERR_FSYNC;
  if (open_of(f).disk->lying()) return SQLITE_OK;
  data_of(f).durable = data_of(f).now;
  data_of(f).pending.clear();
  return SQLITE_OK;
}

int file_size(sqlite3_file* f, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(data_of(f).now.size());
  return SQLITE_OK;
}

int file_lock(sqlite3_file* f, int wanted) {
  OpenFile& o = open_of(f);
  auto& file = data_of(f);
  if (o.lock >= wanted) return SQLITE_OK;
  if (file.exclusive) return SQLITE_BUSY;
  if (wanted == SQLITE_LOCK_SHARED) {
    ++file.locks_shared;
  } else if (wanted == SQLITE_LOCK_RESERVED) {
    if (file.reserved) return SQLITE_BUSY;
    file.reserved = true;
  } else {
    if (file.reserved && o.lock < SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
    if (file.locks_shared > 1) return SQLITE_BUSY;
    file.reserved = file.exclusive = true;
  }
  o.lock = wanted;
  return SQLITE_OK;
}

int file_unlock(sqlite3_file* f, int wanted) {
  OpenFile& o = open_of(f);
  auto& file = data_of(f);
  if (o.lock <= wanted) return SQLITE_OK;
  if (o.lock >= SQLITE_LOCK_RESERVED) file.reserved = file.exclusive = false;
  if (wanted == SQLITE_LOCK_NONE) --file.locks_shared;
  o.lock = wanted;
  return SQLITE_OK;
}

int file_check_reserved(sqlite3_file* f, int* out) {
  *out = data_of(f).reserved ? 1 : 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int file_sector(sqlite3_file*) { return sector_bytes; }
int file_characteristics(sqlite3_file*) { return 0; }

int shm_map(sqlite3_file* f, int region, int size, int extend, void volatile** out) {
  auto& shared = *data_of(f).shared;
  *out = nullptr;
  if (!open_of(f).maps) open_of(f).maps = true, ++shared.users;
  while (static_cast<int>(shared.regions.size()) <= region) {
    if (extend == 0) return SQLITE_OK;
    shared.regions.push_back(std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(size)));
  }
  *out = shared.regions[static_cast<std::size_t>(region)].get();
  return SQLITE_OK;
}

int shm_lock(sqlite3_file* f, int offset, int count, int flags) {
  OpenFile& o = open_of(f);
  auto& shared = *data_of(f).shared;
  for (int i = offset; i < offset + count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const std::uint32_t bit = 1u << i;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      if ((o.shm_exclusive & bit) != 0) shared.writer[slot] = false;
      if ((o.shm_shared & bit) != 0) --shared.readers[slot];
      o.shm_exclusive &= ~bit, o.shm_shared &= ~bit;
    } else if ((flags & SQLITE_SHM_SHARED) != 0) {
      if (shared.writer[slot]) return SQLITE_BUSY;
      if ((o.shm_shared & bit) == 0) ++shared.readers[slot];
      o.shm_shared |= bit;
    } else {
      const int mine = (o.shm_shared & bit) != 0 ? 1 : 0;
      if (shared.writer[slot] || shared.readers[slot] > mine) {
        for (int back = offset; back < i; ++back) {
          shared.writer[static_cast<std::size_t>(back)] = false;
          o.shm_exclusive &= ~(1u << back);
        }
        return SQLITE_BUSY;
      }
      shared.writer[slot] = true;
      o.shm_exclusive |= bit;
    }
  }
  return SQLITE_OK;
}

void shm_barrier(sqlite3_file*) {}

int shm_unmap(sqlite3_file* f, int) {
  auto& shared = *data_of(f).shared;
  if (std::exchange(open_of(f).maps, false) && --shared.users == 0) shared.regions.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods memory_methods{2,
                                        file_close,
                                        file_read,
                                        file_write,
                                        file_truncate,
                                        file_sync,
                                        file_size,
                                        file_lock,
                                        file_unlock,
                                        file_check_reserved,
                                        file_control,
                                        file_sector,
                                        file_characteristics,
                                        shm_map,
                                        shm_lock,
                                        shm_barrier,
                                        shm_unmap,
                                        nullptr,
                                        nullptr};

MemoryDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<MemoryDisk*>(vfs->pAppData); }

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* out_flags) {
  static int nameless = 0;
  MemoryDisk& disk = disk_of(vfs);
  f->pMethods = nullptr;
  const std::string path = name != nullptr ? name : "temporary-" + std::to_string(nameless++);
  auto file = disk.find(path, (flags & SQLITE_OPEN_CREATE) != 0 || name == nullptr);
  if (file == nullptr) return SQLITE_CANTOPEN;
  new (f) OpenFile{{&memory_methods},
                   &disk,
                   new std::shared_ptr<MemoryDisk::File>(std::move(file)),
                   new std::string(path),
                   disk.generation(),
                   SQLITE_LOCK_NONE,
                   0,
                   0,
                   false,
                   (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int vfs_delete(sqlite3_vfs* vfs, const char* name, int) {
  if (!disk_of(vfs).allows(disk_of(vfs).generation())) return SQLITE_IOERR_DELETE;
  disk_of(vfs).remove(name);
  return SQLITE_OK;
}

int vfs_access(sqlite3_vfs* vfs, const char* name, int, int* out) {
  *out = disk_of(vfs).exists(name) ? 1 : 0;
  return SQLITE_OK;
}

int vfs_full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

}  // namespace

MemoryDisk::MemoryDisk(std::uint64_t seed) : rng_(rng_for(seed, 77)), vfs_(std::make_unique<sqlite3_vfs>()) {
  static std::atomic<std::uint64_t> made{0};
  name_ = "ashlar-memory-disk-" + std::to_string(++made);
  *vfs_ = *sqlite3_vfs_find(nullptr);  // time and randomness are the system's
  vfs_->szOsFile = sizeof(OpenFile);
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->pNext = nullptr;
  vfs_->xOpen = vfs_open;
  vfs_->xDelete = vfs_delete;
  vfs_->xAccess = vfs_access;
  vfs_->xFullPathname = vfs_full_path;
  sqlite3_vfs_register(vfs_.get(), 0);
}

MemoryDisk::~MemoryDisk() { sqlite3_vfs_unregister(vfs_.get()); }

std::shared_ptr<MemoryDisk::File> MemoryDisk::find(const std::string& name, bool make) {
  const auto at = files_.find(name);
  if (at != files_.end()) return at->second;
  return make ? files_[name] = std::make_shared<File>() : nullptr;
}

bool MemoryDisk::allows(std::uint32_t generation) {
  if (generation != generation_ || dead_) return false;
  if (calls_left_ == UINT32_MAX) return true;
  if (calls_left_ == 0) return dead_ = true, false;
  --calls_left_;
  return true;
}

bool MemoryDisk::write_fails(bool grows, bool& full) {
  full = full_ && grows;
  return full || (failing_ > 0 && rng_.below(100) < failing_);
}

std::size_t MemoryDisk::bytes() const {
  std::size_t sum = 0;
  for (const auto& [name, file] : files_) {
    sum += file->now.capacity() + file->durable.capacity();
    for (const Pending& write : file->pending) sum += write.bytes.capacity();
  }
  return sum;
}

void MemoryDisk::process_killed() {
  ++generation_;
  calls_left_ = UINT32_MAX;
  dead_ = false;
  for (auto& [name, file] : files_) {
    auto after = std::make_shared<File>();  // nobody holds a lock on it
    after->now = file->now;
    after->durable = file->durable;
    after->pending = file->pending;
    file = std::move(after);
  }
}

void MemoryDisk::power_cut() {
  ++generation_;
  calls_left_ = UINT32_MAX;
  dead_ = full_ = false;
  failing_ = 0;
  for (auto& [name, file] : files_) {
    auto after = std::make_shared<File>();
    after->now = file->durable;
    for (const Pending& write : file->pending) {
      if (write.offset < 0) {
        if (rng_.below(2) == 0) after->now.resize(static_cast<std::size_t>(write.size));
        continue;
      }
      // Each sector by itself: there, lost, or its first half there.
      for (std::size_t at = 0; at < write.bytes.size();) {
        const auto offset = static_cast<std::size_t>(write.offset) + at;
        std::size_t size = std::min(sector_bytes - offset % sector_bytes, write.bytes.size() - at);
        const std::size_t whole = size;
        switch (rng_.below(4)) {
          case 0: size = 0; break;
          case 1: size /= 2; break;
          default: break;
        }
        if (size > 0) {
          if (after->now.size() < offset + size) after->now.resize(offset + size);
          std::memcpy(after->now.data() + offset, write.bytes.data() + at, size);
        }
        at += whole;
      }
    }
    after->durable = after->now;
    file = std::move(after);
  }
}

}  // namespace ashlar::server
