#include "server/bans/ban_keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "server/config/file.h"
#include "server/config/owner_remedy.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

/// One thing that the thread is to do with the file.
struct Job {
  std::optional<std::string> write;  ///< nothing: read it
  std::uint64_t number = 0;          ///< of a write
  bool again = false;                ///< it failed before
  UnwrittenBans unwritten = {};      ///< to be set or taken out in what is read
};

/// What became of one.
struct Done {
  BanKeeper::Ended ended;
  std::optional<BanList> bans = {};  ///< that were read
  std::uint64_t number = 0;          ///< of a write
  bool again = false;
};

std::string failed_write(const std::string& path, int error) {
  return "cannot write " + path + ": " + std::generic_category().message(error) +
         owner_remedy(fs::path(path).parent_path().string(), error) +
         "; the bans of this run hold until its end, and writing them is tried again";
}

/// What a link leads to, whether that is there or not: it is written beside its own place, and the link
/// stays.
std::string behind_links(std::string path) {
  constexpr int links_max = 40;  // as the system follows
  std::error_code error;
  for (int i = 0; i < links_max && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / to).string();  // an absolute one stands for itself
  }
  return path;
}

/// Under another name first, so that the file is never half written.
std::string replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  if (const int error = write_file(beside, text); error != 0) return failed_write(path, error);
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    return failed_write(path, error);
  }
  const fs::path folder = fs::path(path).parent_path();
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) ::fsync(opened), ::close(opened);
  return {};
}

/// The file, as the thread knows it.
struct KnownFile {
  std::string path;
  std::string text;           ///< when it was last read or written
  std::uint64_t written = 0;  ///< the last write that went well

  Done work(const Job& job);
  std::string write(const std::string& wanted);
  Done read(const UnwrittenBans& unwritten);
};

/// @return empty, or why not
std::string KnownFile::write(const std::string& wanted) {
  const std::string file = behind_links(path);
  std::error_code error;
  // All that a file said that is gone is in what is written.
  const auto now = fs::exists(fs::symlink_status(file, error))
                       ? read_file(file, ban_file_bytes_max)
                       : std::expected<std::string, std::string>(text);
  if (!now) return now.error();
  if (*now != text)
    return path +
           " was changed by hand since it was read, and is left as it is: type reload, which reads it "
           "and adds what was not written";
  std::string trouble = replace_file(file, wanted);
  if (trouble.empty()) text = wanted;
  return trouble;
}

Done KnownFile::read(const UnwrittenBans& unwritten) {
  std::error_code error;
  if (!text.empty() && !fs::exists(fs::symlink_status(behind_links(path), error)))
    return {{true, path + " is gone, so its bans hold as they were: the next ban or unban writes it anew"}};
  auto now = read_ban_file(path);
  if (!now) return {{true, std::move(now.error())}};
  for (const auto& [target, one] : unwritten) {
    if (one.write <= written) continue;  // it is in the file, unless a hand took it out
    if (!one.ban)
      now->bans.remove(target);
    else if (!now->bans.add(target, *one.ban))
      return {{true, path +
                         " leaves no room for the bans that were not written: take some out, there may be " +
                         std::to_string(BanList::bans_max)}};
  }
  text = std::move(now->text);
  return {{true, {}}, std::move(now->bans)};
}

Done KnownFile::work(const Job& job) {
  if (!job.write) return read(job.unwritten);
  std::string trouble = write(*job.write);
  if (trouble.empty()) written = job.number;
  return {{false, std::move(trouble)}, {}, job.number, job.again};
}

}  // namespace

struct BanKeeper::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;  // of two writes behind each other the later one alone is there
  std::deque<Done> done;
  bool busy = false, over = false;

  void run(KnownFile file);
  void give(Job job);
};

void BanKeeper::Shared::give(Job job) {
  const std::scoped_lock lock(mutex);
  if (job.write && !jobs.empty() && jobs.back().write)
    jobs.back() = std::move(job);
  else
    jobs.push_back(std::move(job));
  changed.notify_all();
}

void BanKeeper::Shared::run(KnownFile file) {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return over || !jobs.empty(); });
    if (jobs.empty()) return;
    const Job job = std::move(jobs.front());
    jobs.pop_front();
    busy = true;
    lock.unlock();
    Done what = file.work(job);
    lock.lock();
    busy = false;
    done.push_back(std::move(what));
    changed.notify_all();
  }
}

BanKeeper::BanKeeper(std::string file, BanFile read)
    : file_(std::move(file)), list_(std::make_shared<const BanList>(std::move(read.bans))) {
  if (file_.empty()) return;
  shared_ = std::make_shared<Shared>();
  std::thread([shared = shared_, file = KnownFile{file_, std::move(read.text)}]() mutable {
    shared->run(std::move(file));
  }).detach();
}

BanKeeper::~BanKeeper() { finish(); }

void BanKeeper::finish() {
  if (shared_ == nullptr) return;
  if (!std::exchange(finished_, true) && write_failed()) write(false);
  std::unique_lock lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::seconds(wait_s_max),
                            [this] { return shared_->jobs.empty() && !shared_->busy; });
}

void BanKeeper::write(bool again) {
  if (shared_ != nullptr) shared_->give({bans_text(*list_), ++given_, again});
}

void BanKeeper::write_again(std::int64_t now_s) {
  if (finished_ || reading_ || !write_failed()) return;
  if (now_s >= tried_s_ && now_s - tried_s_ < rewrite_s)
    return;  // a clock that was set back holds up nothing
  tried_s_ = now_s;
  write(true);
}

void BanKeeper::change(BanList bans, std::int64_t now_s) {
  bans.drop_over(now_s);
  list_ = std::make_shared<const BanList>(std::move(bans));
  tried_s_ = now_s;
  write(false);
}

std::expected<void, std::string> BanKeeper::add(std::span<const NewBan> added, std::int64_t now_s) {
  if (reading_) return std::unexpected(file_ + " is being read: say it once more in a moment");
  BanList bans = *list_;
  bans.drop_over(now_s);
  const std::size_t before = bans.entries().size();
  for (const NewBan& one : added)
    if (!bans.add(one.target, one.ban))
      return std::unexpected("there are " + std::to_string(before) + " bans already, of at most " +
                             std::to_string(BanList::bans_max) +
                             ", so nobody was banned: unban some, or ban networks");
  if (shared_ != nullptr)
    for (const NewBan& one : added) unwritten_[one.target] = {one.ban, given_ + 1};
  change(std::move(bans), now_s);
  return {};
}

std::expected<void, std::string> BanKeeper::add(const BanTarget& target, const Ban& ban, std::int64_t now_s) {
  const NewBan one{target, ban};
  return add(std::span(&one, 1), now_s);
}

std::expected<void, std::string> BanKeeper::remove(std::span<const BanTarget> targets, std::int64_t now_s) {
  if (reading_) return std::unexpected(file_ + " is being read: say it once more in a moment");
  BanList bans = *list_;
  for (const BanTarget& target : targets) {
    const bool there = bans.remove(target);
    ASHLAR_ASSERT(there);
    if (shared_ != nullptr) unwritten_[target] = {std::nullopt, given_ + 1};
  }
  change(std::move(bans), now_s);
  return {};
}

void BanKeeper::reload() {
  if (shared_ == nullptr || reading_) return;
  reading_ = true;
  shared_->give({.write = {}, .unwritten = unwritten_});
}

std::optional<BanKeeper::Ended> BanKeeper::take_ended() {
  if (shared_ == nullptr) return std::nullopt;
  Done done;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->done.empty()) return std::nullopt;
    done = std::move(shared_->done.front());
    shared_->done.pop_front();
  }
  if (done.ended.reread) {
    reading_ = false;
    if (done.bans) list_ = std::make_shared<const BanList>(std::move(*done.bans));
    if (!finished_ && write_failed()) write(false);
    return std::move(done.ended);
  }
  const std::string before = std::exchange(told_, done.ended.error);
  if (done.ended.error.empty())
    std::erase_if(unwritten_, [&](const auto& one) { return one.second.write <= done.number; });
  else
    failed_ = done.number;
  if (done.again && !told_.empty() && told_ == before) return take_ended();
  return std::move(done.ended);
}

}  // namespace ashlar::server
