#include "server/store/visibility_cache.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "protocol/visibility_file.h"

namespace ashlar::server {

namespace fs = std::filesystem;

VisibilityCache::VisibilityCache(std::string world_dir) {
  if (!world_dir.empty()) folder_ = (fs::path(std::move(world_dir)) / "cache").string();
}

std::string VisibilityCache::file_of(std::uint64_t key) const {
  char name[48];
  std::snprintf(name, sizeof name, "visibility-%016llx.bin", static_cast<unsigned long long>(key));
  return (fs::path(folder_) / name).string();
}

std::shared_ptr<const SectorVisibility> VisibilityCache::from_file(std::uint64_t key, std::uint32_t sectors) {
  const std::string path = file_of(key);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return nullptr;
  const auto refuse = [&](std::string why) {
    refused_.push_back({path, std::move(why)});
    return nullptr;
  };
  // Opening a pipe would wait for its other end.
  if (status.type() == fs::file_type::none) return refuse(error.message());
  if (!fs::is_regular_file(status)) return refuse("it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(std::generic_category().message(errno));
  // One byte more than it should have tells a file that goes on, however long it is.
  std::vector<std::uint8_t> bytes(visibility_file_bytes(sectors) + 1);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  auto set = decode_visibility(bytes, key, sectors);
  if (!set) return refuse(reason(set.error()));
  return std::make_shared<const SectorVisibility>(std::move(*set));
}

std::shared_ptr<const SectorVisibility> VisibilityCache::set_for(const SectorMap& compiled,
                                                                 const BspTree& tree) {
  const std::uint64_t key = content_hash(compiled);
  const auto sectors = static_cast<std::uint32_t>(compiled.sectors.size());
  for (const Entry& entry : entries_)
    if (entry.key == key && entry.set->sectors == sectors) return entry.set;
  Entry entry{key, folder_.empty() ? nullptr : from_file(key, sectors), true};
  if (entry.set != nullptr) {
    ++read_;
  } else {
    entry.set = std::make_shared<const SectorVisibility>(compute_visibility(compiled, tree));
    entry.kept = false;
    ++computed_;
  }
  entries_.push_back(entry);
  return entry.set;
}

void VisibilityCache::keep() {
  if (folder_.empty()) return;
  for (Entry& entry : entries_) {
    if (entry.kept) continue;
    std::error_code error;
    fs::create_directory(folder_, error);
    if (error) {
      unwritten_.push_back({folder_, error.message()});
      return;
    }
    // Renamed when it is whole, for a reader beside us. Not synced: after a power cut the hash tells.
    const std::string path = file_of(entry.key), fresh = path + ".new";
    const std::vector<std::uint8_t> bytes = encode_visibility(*entry.set, entry.key);
    errno = 0;
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      error.assign(errno != 0 ? errno : EIO, std::generic_category());
    } else {
      fs::rename(fresh, path, error);
    }
    if (error) {
      unwritten_.push_back({path, error.message()});
      std::error_code ignored;
      fs::remove(fresh, ignored);
      continue;
    }
    entry.kept = true;
  }
}

}  // namespace ashlar::server
