#include "server/loop.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "server/edges.h"
#include "server/edit_history.h"
#include "server/every.h"
#include "server/host/early_sender.h"
#include "server/orders.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

/// The longest an arrived datagram waits in the kernel: a flood between two polls must fit its buffer.
constexpr microseconds poll_every{2000};
/// While nobody is there and nothing arrives: who comes waits a little longer.
constexpr microseconds poll_every_idle{10'000};
constexpr microseconds watch_every = std::chrono::milliseconds(100);
constexpr microseconds console_every = std::chrono::milliseconds(50);
constexpr microseconds goodbye_time_max = std::chrono::seconds(1);
/// From when on what a group of changes takes to be written is a disk that does not answer.
constexpr double disk_answers_ms = 2000;
constexpr microseconds goodbye_poll_every = std::chrono::milliseconds(5);

bool disk_in_trouble(const SaverStatus& saving) {
  return !saving.failure.empty() || saving.writing_ms > disk_answers_ms;
}

const char* signal_name(int number) {
  switch (number) {
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    default: return "signal";
  }
}

/// What a tick has made goes out before all of it is.
class SendsEarly : public EarlySender {
 public:
  explicit SendsEarly(Transports& transports) : transports_(transports) {}
  Micros send(DatagramBatch& datagrams) override {
    transports_.send_early(Loop::now(), datagrams);
    return Loop::now();
  }

 private:
  Transports& transports_;
};

/// Is something still to be done of what operators ordered?
bool orders_left(const Host& host, const LoopOptions& options) {
  return host.admin_waits() || (options.history != nullptr && options.history->rolls_back());
}

}  // namespace

struct Loop::Impl {
  asio::io_context io{1};
  asio::signal_set signals{io};
  asio::steady_timer timer{io};
  std::string stop_reason;  // empty: nobody wants it to stop
  bool reload_wanted = false;

  // Kept from turn to turn, so that a turn allocates nothing once they have their size.
  HostInput in;
  HostOutput out;
  LogAs log_as;

  struct Order {
    std::uint32_t connection = 0;
    std::string line;
  };
  std::vector<Order> orders;  // of admins who play, until they are obeyed

  void wait_for_signal() {
    signals.async_wait([this](const asio::error_code& error, int number) {
      if (error) return;
      if (number == SIGHUP) {
        reload_wanted = true;
      } else if (stop_reason.empty()) {
        stop_reason = signal_name(number);
      } else {
        std::_Exit(128 + number);  // asked twice: no more goodbyes
      }
      wait_for_signal();
    });
  }

  /// Sleeps until then, or until a signal came.
  void sleep_until(microseconds when) {
    timer.expires_at(Clock::time_point(when));
    timer.async_wait([](const asio::error_code&) {});
    io.restart();
    io.run_one();
    io.poll();
    timer.cancel();
  }

  /// From its wake to its last send. @return nanoseconds that it took
  std::uint64_t turn(Host& host, Transports& transports, GroundWorkers& ground, const LoopOptions& options,
                     Edges& edges) {
    WorldSaver* const saver = options.saver;
    const std::uint64_t woken = stopwatch_ns();
    const microseconds now = Loop::now();
    in.clear();
    out.clear();
    transports.poll(now, in.datagrams);
    ground.take(in.ground);
    ground.take(in.packed);
    in.unix_s = static_cast<std::int64_t>(std::time(nullptr));
    const std::uint64_t polled = stopwatch_ns();
    const std::uint32_t tick = host.status().tick;
    if (saver != nullptr) {
      const Durable durable = saver->durable();
      host.note_saving(durable.tick, durable.room, durable.operator_blocks);
    }
    SendsEarly early(transports);
    out.early = &early;
    host.advance(now, in, out);
    out.early = nullptr;
    const bool stepped = host.status().tick != tick;
    if (saver != nullptr && stepped) {
      log_as.unix_s = in.unix_s;
      saver->note(now, host.world(), host.changed_players(), log_as);
    }
    if (options.history != nullptr && stepped) options.history->feed(host);
    const std::uint64_t advanced = stopwatch_ns();
    transports.send(Loop::now(), out.datagrams);
    ground.request(out.ground_requests);
    ground.request(out.pack_requests);
    const std::uint64_t sent = stopwatch_ns();
    for (const HostEvent& event : out.events)
      if (event.kind == HostEventKind::order) orders.push_back({event.connection, event.detail});
    // Of what is sent beside the loop it is known how long the tick before took to its last send.
    const std::uint64_t beside_ns = stepped ? transports.take_longest_send_ns() : 0;
    host.note_adapter(polled - woken, std::max(sent - advanced, beside_ns));
    edges.observe(now, host.status(), transports.counters(), out.events, transports.tcp_closes());
    return sent - woken;
  }

  /// Does what was typed and what admins in play say. @return is the status wanted?
  bool obey_all(const LoopOptions& options, Host& host, Log& log) {
    const OrderReach reach{options.rotation, options.bans, options.history};
    OrderWishes wishes;
    const auto take = [&](std::string_view line, Reply reply) {
      const OrderWishes more = obey(line, reach, host, Loop::now(), in.unix_s, reply);
      wishes.status |= more.status, wishes.reload |= more.reload, wishes.stop |= more.stop;
    };
    if (options.console != nullptr)
      for (const std::string& line : options.console->poll()) take(line, Reply(log));
    for (const Order& order : std::exchange(orders, {})) take(order.line, Reply(log, host, order.connection));
    if (wishes.reload) reload_wanted = true;
    if (wishes.stop) stop_reason = "console";
    return wishes.status;
  }

  void say_goodbye(Host& host, Transports& transports) {
    out.clear();
    host.shut_down("the server is shutting down", out.datagrams);
    microseconds now = Loop::now();
    const microseconds give_up = now + goodbye_time_max;
    transports.send(now, out.datagrams);
    while (now < give_up) {
      // A connection that we close with input unread would lose its goodbye to a reset.
      if (host.silent() && transports.flushed() && transports.tcp_connections() == 0) return;
      sleep_until(now + goodbye_poll_every);
      now = Loop::now();
      in.clear(), out.clear();
      transports.poll(now, in.datagrams);
      host.advance(now, in, out);  // says it again where it may have been lost
      transports.send(now, out.datagrams);
    }
  }

  /// Behind the last tick: what was typed is done, the world saved, and all are told.
  void end(Host& host, Transports& transports, GroundWorkers& ground, Log& log, const LoopOptions& options,
           Edges& edges) {
    const microseconds admin_until = Loop::now() + goodbye_time_max;
    while (orders_left(host, options) && Loop::now() < admin_until) {
      while (Loop::now() < host.next_tick_at()) sleep_until(host.next_tick_at());
      turn(host, transports, ground, options, edges);
    }
    if (orders_left(host, options)) log.warning("console", {{"error", "stopped before all of it was done"}});
    log.info("stopping", {{"reason", stop_reason}, {"clients", host.status().clients}});
    bool said = false;
    const auto goodbye = [&] {
      if (!std::exchange(said, true)) say_goodbye(host, transports);
    };
    if (options.save) options.save(goodbye);
    goodbye();
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) impl_->signals.add(number);
  // A reader of the log or of a connection that goes away must not end the server.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // nor must a recording that meets a limit on files (ulimit -f)
  impl_->wait_for_signal();
}

Loop::~Loop() = default;

microseconds Loop::now() { return std::chrono::duration_cast<microseconds>(Clock::now().time_since_epoch()); }

std::uint64_t stopwatch_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

std::uint64_t thread_cpu_ns() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

bool Loop::stop_requested() {
  impl_->io.restart();
  impl_->io.poll();
  return !impl_->stop_reason.empty();
}

const std::string& Loop::stop_reason() const { return impl_->stop_reason; }

void Loop::request_stop(const std::string& reason) {
  asio::post(impl_->io, [this, reason] {
    if (impl_->stop_reason.empty()) impl_->stop_reason = reason;
  });
}

void Loop::run(Host& host, Transports& transports, GroundWorkers& ground, Log& log,
               const LoopOptions& options) {
  const microseconds start = now();
  const microseconds stop_at = start + options.run_for;
  const auto status_every = std::chrono::seconds(std::max(1u, options.status_every_s));
  Every status_time(start + status_every, status_every);
  Every live_time(start, std::chrono::seconds(1));
  Every console_time(start, console_every), watch_time(start, watch_every);
  impl_->log_as.author_of = [&host](EntityId id, EditAuthor& out) { host.author_of(id, out); };
  Edges edges(log, start, options.title.tick_rate_hz);
  StatusMeter status_meter(start);
  StatusMeter live_meter(start);
  StatusMeter console_meter(start);  // each view has an interval of its own

  const auto report = [&](StatusMeter& meter, microseconds at) {
    StatusReport made = meter.report(at, host.status(), transports.counters());
    made.memory = host.client_memory();
    if (options.saver != nullptr) made.saving = options.saver->status();
    return made;
  };

  std::uint64_t ticks_before = 0;  // of the worlds before the present one
  while (impl_->stop_reason.empty()) {
    const std::uint32_t tick = host.status().tick;
    const std::uint64_t turn_ns = impl_->turn(host, transports, ground, options, edges);
    const microseconds at = now();
    for (StatusMeter* meter : {&status_meter, &live_meter, &console_meter})
      meter->observe(host.status(), turn_ns);
    if (options.rotation != nullptr && host.status().tick != tick) {
      options.rotation->note(host.world());
      const std::uint32_t played = host.status().tick;
      if (rotate(*options.rotation, host, ground, log)) {
        ticks_before += played;
        edges.begin_world(host.status().tick);
      }
    }
    if (options.status_every_s > 0 && status_time.due(at)) log_status(log, report(status_meter, at));
    if (options.live != nullptr && live_time.due(at))
      options.live->show(status_text(options.title, report(live_meter, at)));
    // While blocks wait that are more than a tick can take nothing is read, or what is typed would pile up
    // behind them. But not for a disk: with one that is full or does not answer the console still does.
    const bool waits =
        host.admin_waits() && (options.saver == nullptr || !disk_in_trouble(options.saver->status()));
    if (!waits && console_time.due(at) && impl_->obey_all(options, host, log))
      log_status(log, report(console_meter, at));
    if (options.watch && watch_time.due(at)) options.watch();
    if (impl_->reload_wanted && options.reload) options.reload();
    impl_->reload_wanted = false;
    if (options.run_for.count() > 0 && at >= stop_at) impl_->stop_reason = "time is up";
    if (host.status().tick >= options.ticks_max && impl_->stop_reason.empty())
      impl_->stop_reason = "the world's ticks are used up: start the server again";
    const bool idle = host.status().clients == 0 && impl_->in.datagrams.empty();
    if (impl_->stop_reason.empty())
      impl_->sleep_until(std::min(host.next_tick_at(), at + (idle ? poll_every_idle : poll_every)));
  }

  impl_->end(host, transports, ground, log, options, edges);
  const HostStatus& status = host.status();
  log.info("stopped", {{"up_s", static_cast<double>((now() - start).count() / 1000) / 1000.0},
                       {"ticks", ticks_before + status.tick},
                       {"ticks_late", status.ticks_late},
                       {"ticks_skipped", status.ticks_skipped},
                       {"log_lines_lost", log.lines_lost()}});
}

}  // namespace ashlar::server
