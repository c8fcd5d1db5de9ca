#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
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

/// What a running server's list has and its file has not yet, by target: set, or (nothing) taken out.
struct UnwrittenBan {
  std::optional<Ban> ban;
  std::uint64_t write = 0;  ///< the number of the first write that holds it
};
using UnwrittenBans = std::map<BanTarget, UnwrittenBan>;

/// The bans of a running server: the list that its Host looks at, and the file that keeps it. The file is
/// written whole or not at all, and read, by a thread of its own, so that a slow disk holds up no tick. What
/// could not be written holds all the same, also over a file that is read again, and is written later. One
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

  /// Reads the file again, as it may have been edited. What was not written is set or taken out in what is
  /// read, and written with it.
  void reload();
  /// Where a write failed: tries it again, each rewrite_s. To be called now and then.
  void write_again(std::int64_t now_s);
  static constexpr std::int64_t rewrite_s = 60;

  /// What ended since the last call.
  struct Ended {
    bool reread = false;  ///< the file was read; else it was written
    std::string error;    ///< empty: it went well; else one line. The list is the old one then
  };
  /// Never waits; a list that was read again is list() from then on. Of write_again() a trouble that was told
  /// before is not told again.
  std::optional<Ended> take_ended();

  /// Waits for what is still to be written, at most wait_s_max; what failed is tried once more. Nothing is
  /// written or read after it.
  void finish();
  static constexpr int wait_s_max = 5;

 private:
  struct Shared;
  void change(BanList bans, std::int64_t now_s);
  void write(bool again);
  bool write_failed() const { return !unwritten_.empty() && failed_ == given_; }

  std::string file_;
  std::shared_ptr<const BanList> list_;
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this where a disk hangs
  UnwrittenBans unwritten_;
  std::uint64_t given_ = 0, failed_ = 0;  // writes, by number: the last one, the last one that failed
  std::int64_t tried_s_ = 0;              // when write_again() or an order had it written
  std::string told_;                      // why the last write failed
  bool reading_ = false, finished_ = false;
};

}  // namespace ashlar::server
