#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/admin/console.h"
#include "server/admin/output_writer.h"
#include "server/admin/status.h"
#include "server/bans/ban_keeper.h"
#include "server/ground_workers.h"
#include "server/host/host.h"
#include "server/log/log.h"
#include "server/net/transports.h"
#include "server/rotation.h"
#include "server/store/saver.h"
#include "world/sim/tick_limits.h"

namespace ashlar::server {

class EditHistory;

/// How Loop::run() goes. What it points to must outlive the run; callbacks run on the loop's thread, between
/// ticks, and hold it up for as long as they take.
struct LoopOptions {
  std::chrono::milliseconds run_for{0};       ///< 0: until a signal
  std::uint32_t ticks_max = world_ticks_max;  ///< of one world; after so many run() stops, as by a signal
  std::uint32_t status_every_s = 0;           ///< 0: never
  OutputWriter* live = nullptr;               ///< the status is shown there once a second; may be null
  StatusTitle title;
  Console* console = nullptr;       ///< may be null
  MapRotation* rotation = nullptr;  ///< changes worlds; null: there is one
  BanKeeper* bans = nullptr;        ///< for the console; null: it has none of their commands
  std::function<void()> reload;     ///< on HUP
  std::function<void()> watch;      ///< ten times a second, for what goes on beside the loop; may be empty
  EditHistory* history = nullptr;   ///< who changed what, for the console; may be null
  WorldSaver* saver = nullptr;      ///< is shown every tick; may be null
  /// Once, after the last tick; may be empty. What takes long calls its argument meanwhile, which says
  /// goodbye to the players, who else would wait for a disk.
  std::function<void(const std::function<void()>& goodbye)> save;
};

/// The one thread that owns the Host: sockets in, ticks that are due, sockets out, every 1 to 2 ms by a
/// timer; and the process's signals, from construction on.
///
/// TERM and INT end run() after every client was told; a second one ends the process at once.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Was a signal to stop seen? For the long steps before run().
  bool stop_requested();
  /// What run() was stopped by, or will be: a signal's name; empty: nothing.
  const std::string& stop_reason() const;
  /// As a signal does; the reason goes into the log. Any thread.
  void request_stop(const std::string& reason);

  /// Until stopped. Then says goodbye and waits, for at most a second, until the last bytes are out.
  void run(Host& host, Transports& transports, GroundWorkers& ground, Log& log, const LoopOptions& options);

  /// Monotonic; what run() gives the host as time.
  static std::chrono::microseconds now();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// For HostConfig::stopwatch_ns.
std::uint64_t stopwatch_ns();

/// For HostConfig::cpu_ns: processor time of the calling thread; 0 where the machine does not tell.
std::uint64_t thread_cpu_ns();

}  // namespace ashlar::server
