#pragma once
#include <cstdint>
#include <ctime>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/recording_name.h"

// The files of recordings, and how much of them is kept. Their names: server/config/recording_name.h.

namespace ashlar::server {

/// A new file for a recording, locked (flock) for as long as it may be written to. It goes again with the
/// object unless keep() was called.
class RecordingFile {
 public:
  /// Creates it; never touches one that is there.
  /// @return or one line that names the file, the reason and the remedy
  static std::expected<RecordingFile, std::string> create(const std::string& pattern, std::time_t now,
                                                          ExistingRecording existing);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  ~RecordingFile();

  void keep() { kept_ = true; }                      ///< the file stays
  int descriptor() const { return descriptor_; }     ///< to write to; closed with the object
  const std::string& path() const { return path_; }  ///< as the pattern gave it, number included

 private:
  RecordingFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;  // -1: moved from
  std::string path_;
  bool kept_ = false;
};

/// How much of older recordings stays; 0: all.
struct RecordingLimits {
  std::uint64_t bytes_max = 0;  ///< of all files of the pattern together
  std::time_t age_s_max = 0;    ///< since they were last written
};

/// Removes recordings of the pattern, the oldest first, until the rest is within the limits. Only files that
/// begin as recordings do go, never the present one, and none that another server writes to. @return the
/// paths that are gone
std::vector<std::string> remove_old_recordings(const std::string& pattern, const std::string& present,
                                               const RecordingLimits& limits, std::time_t now);

inline constexpr unsigned recording_numbers_max = 10'000;

}  // namespace ashlar::server
