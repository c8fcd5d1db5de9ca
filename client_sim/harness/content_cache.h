#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>

#include "protocol/content/content.h"

namespace ashlar::client_sim {

/// Content that was fetched before, a file for each hash in one folder. What is not what its name says is as
/// if it were not there, and is written over. Together the files stay within a bound: those unused for
/// longest go. Several processes may share a folder. Deleting it is always safe. One thread.
class ContentCache {
 public:
  static constexpr std::uint64_t bytes_max_usual = std::uint64_t{256} << 20;

  /// @param folder  made when something is kept; empty: nothing is found or kept
  explicit ContentCache(std::string folder, std::uint64_t bytes_max = bytes_max_usual)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  /// Decoded and proven by its hash, and used now. Tens of milliseconds for a map.
  std::optional<Content> find(std::uint64_t hash) const;
  /// Writes it whole or not at all, then removes what is too much, but never this. @return or one line that
  /// names the file and why
  std::expected<void, std::string> keep(std::uint64_t hash, std::span<const std::uint8_t> bytes) const;

  std::string file_of(std::uint64_t hash) const;

 private:
  void trim(const std::string& kept) const;
  std::string folder_;
  std::uint64_t bytes_max_;
};

}  // namespace ashlar::client_sim
