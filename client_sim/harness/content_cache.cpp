#include "client_sim/harness/content_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "client_sim/harness/out_file.h"
#include "client_sim/harness/read_file.h"

namespace ashlar::client_sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view cache_file_prefix = "content-", cache_file_suffix = ".bin";

/// Ours, and those that a process left when it died while it wrote.
bool is_cache_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(cache_file_prefix) && name.find(cache_file_suffix) == cache_file_prefix.size() + 16;
}

}  // namespace

std::string ContentCache::file_of(std::uint64_t hash) const {
  char name[40];
  std::snprintf(name, sizeof name, "content-%016llx.bin", static_cast<unsigned long long>(hash));
  return (fs::path(folder_) / name).string();
}

std::optional<Content> ContentCache::find(std::uint64_t hash) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = file_of(hash);
  const auto bytes = read_file(path, content_bytes_max);
  if (!bytes) return std::nullopt;
  auto content = decode_content(*bytes, hash);
  if (!content) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::move(*content);
}

std::expected<void, std::string> ContentCache::keep(std::uint64_t hash,
                                                    std::span<const std::uint8_t> bytes) const {
  if (folder_.empty()) return {};
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return std::unexpected("cannot make " + folder_ + ": " + error.message());
  const std::string path = file_of(hash), fresh = path + "." + std::to_string(::getpid());
  const auto fail = [&](const std::string& why) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    return std::unexpected(why);
  };
  {
    auto file = OutFile::open(fresh);
    if (!file) return std::unexpected(file.error());
    if (auto written = file->write(bytes); !written) return fail(written.error());
  }
  // Not synced: after a power cut the hash tells.
  fs::rename(fresh, path, error);
  if (error) return fail("cannot write " + path + ": " + error.message());
  trim(path);
  return {};
}

void ContentCache::trim(const std::string& kept) const {
  struct File {
    fs::file_time_type used;
    std::string path;
    std::uint64_t bytes = 0;
  };
  std::vector<File> files;
  std::uint64_t all = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!is_cache_file(at->path()) || !at->is_regular_file(ignored)) continue;
    const std::uint64_t bytes = at->file_size(ignored);
    const auto used = at->last_write_time(ignored);
    if (ignored) continue;  // another process was faster
    all += bytes;
    if (at->path() != kept) files.push_back({used, at->path().string(), bytes});
  }
  std::ranges::sort(files, [](const File& a, const File& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const File& file : files) {
    if (all <= bytes_max_) return;
    std::error_code ignored;
    if (fs::remove(file.path, ignored)) all -= file.bytes;
  }
}

}  // namespace ashlar::client_sim
