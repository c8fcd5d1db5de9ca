#pragma once
#include <expected>
#include <memory>
#include <string>

#include "server/edit_history.h"
#include "server/loop.h"
#include "server/startup.h"

namespace ashlar::server {

/// The saving of a kept world as serve() runs it: the saver, and what the log is told of it, and
/// who changed what in it, for the console. Without a world's folder nothing is saved. The loop's thread.
class Saving {
 public:
  /// Says what was found at the start. Precondition: startup.keep() has succeeded.
  Saving(const Startup& startup, Log& log);

  /// Is shown the world's ticks. @param host  outlives this
  void attach(const Host& host, LoopOptions& options);
  /// Lines at the edges: damage that was found, a group that cannot be written, and that it can again.
  void watch();
  /// Where the loop ended by an exception: what its whole ticks changed is saved. The last one may be half
  /// done.
  void save_noted(const Host& host);
  /// Groups of changes that were saved so far.
  std::uint64_t groups() const;
  /// @return or one line, after the end: what was not saved
  std::expected<void, std::string> outcome() const;

 private:
  /// At the end. @param goodbye  is called once where the disk takes longer than a second
  void save_all(const Host& host, const std::function<void()>& goodbye);

  Log& log_;
  EditHistory history_;
  std::shared_ptr<StoredGround> stored_;
  std::unique_ptr<WorldSaver> saver_;
  bool failing_ = false, beyond_ = false, unlogged_ = false, log_damaged_ = false;
};

}  // namespace ashlar::server
