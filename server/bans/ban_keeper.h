#pragma once
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "server/bans/ban_file.h"

namespace ashlar::server {

/// A ban that is to be set.
struct NewBan {
  BanTarget target;
  Ban ban;
};

/// The bans of a running server: the list that its Host looks at, and the file that keeps it. The file is
/// written whole or not at all, and read, by a thread of its own, so that a slow disk holds up no tick. One
/// thread calls.
class BanKeeper {
 public:
  /// @param file  empty: the bans hold for this run alone. Else made with the first ban
  /// @param read  what read_ban_file() found there
  BanKeeper(std::string file, BanFile read);
  ~BanKeeper();  ///< finish()es
  BanKeeper(const BanKeeper&) = delete;
  BanKeeper& operator=(const BanKeeper&) = delete;

  const std::string& file() const { return file_; }  ///< empty: none
  /// Never changes once it was given out: another one takes its place.
  const std::shared_ptr<const BanList>& list() const { return list_; }

  /// Sets all of them or none, each in place of one that means the same; those that are over go. O(n).
  /// @return or one line: there are too many, or the file is being read
  std::expected<void, std::string> add(std::span<const NewBan> added, std::int64_t now_s);
  std::expected<void, std::string> add(const BanTarget& target, const Ban& ban, std::int64_t now_s);
  /// Takes them out, and those that are over. @return or one line: the file is being read. Precondition: they
  /// are in list(), asserted
  std::expected<void, std::string> remove(std::span<const BanTarget> targets, std::int64_t now_s);

  /// Reads the file again, as it may have been edited.
  void reload();

  /// What ended since the last call.
  struct Ended {
    bool reread = false;  ///< the file was read; else it was written
    std::string error;    ///< empty: it went well; else one line. The list is the old one then
  };
  /// Never waits; a list that was read again is list() from then on.
  std::optional<Ended> take_ended();

  /// Waits for what is still to be written, at most wait_s_max. Nothing is written or read after it.
  void finish();
  static constexpr int wait_s_max = 5;

 private:
  struct Shared;
  void change(BanList bans, std::int64_t now_s);

  std::string file_;
  std::shared_ptr<const BanList> list_;
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this where a disk hangs
  bool reading_ = false;
};

}  // namespace ashlar::server
