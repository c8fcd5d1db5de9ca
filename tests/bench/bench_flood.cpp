// What a flood of garbage does to a running server and its players: each row against a fresh server over the
// loopback. `bench_flood [--server PATH] [--seconds N] [NAME ...]`; a minute and a half in all.
//
// Ten honest players play from 127.0.0.1; the flood comes from 127.0.0.2 to .9, cut into datagrams by the
// kernel (UDP_SEGMENT, sendmmsg), on a thread of its own. Sender, server and players share this machine: with
// fewer than three cores a row also shows what the sender takes from the server. Columns:
//   sent      datagrams a second that the system took from the flood
//   read      datagrams a second that the server read, the players' among them
//   kernel    pieces a second that the kernel dropped, as the server's socket was full: of up to 64 datagrams
//   commands  of the ticks that the players played, those in which none of their commands was applied
//   lost      players who were there before the flood and were not at its end
//   memory    of the server, resident, before the flood and at its end
//   ticks     that ran, of those that were due; p99: their time, of the worst second
// What may be expected: at 250 000 a second at most 1 % of the commands, at 500 000 memory that stays.

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/flood_sender.h"
#include "tests/bench/honest_client.h"
#include "tests/bench/processes.h"

using namespace ashlar;
using namespace ashlar::bench;
using client_sim::Micros;

namespace {

constexpr Micros one_second{1'000'000};
constexpr Micros settle = 3 * one_second;
constexpr std::uint32_t honest_players = 10;
constexpr double tick_rate_hz = 60;

Micros read_clock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Micros{static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000};
}

struct Flood {
  const char* name;
  FloodKind kind = FloodKind::wrong_first_byte;
  std::uint64_t per_s = 0;  ///< 0: none
};

constexpr Flood floods[] = {{"none"},
                            {"wrong-first-byte 250k", FloodKind::wrong_first_byte, 250'000},
                            {"wrong-first-byte 500k", FloodKind::wrong_first_byte, 500'000},
                            {"unknown-connection 250k", FloodKind::unknown_connection, 250'000},
                            {"unknown-connection 500k", FloodKind::unknown_connection, 500'000},
                            {"hello 250k", FloodKind::hello, 250'000},
                            {"hello 500k", FloodKind::hello, 500'000}};

/// " KEY=NUMBER" in a line of the log; nullopt: it is not there.
std::optional<double> number_in(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(" " + key + "=");
  if (at == std::string::npos) return std::nullopt;
  return std::atof(line.c_str() + at + key.size() + 2);
}

double resident_mib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

/// What a row tells.
struct Damage {
  double sent_per_s = 0, read_per_s = 0, kernel_per_s = 0;
  std::uint64_t played = 0, missing = 0, lost = 0;
  double before_mib = 0, after_mib = 0;
  double ticks = 0, ticks_due = 0, worst_p99_ms = 0;
};

/// Reads the server's status, a line a second.
class StatusReader {
 public:
  /// @param measured  does what the line tells belong to the flood?
  void read(Child& server, bool measured) {
    while (const auto line = server.line(std::chrono::milliseconds(0))) {
      const auto tick = number_in(*line, "tick"), up_s = number_in(*line, "up_s");
      if (line->find("event=status") == std::string::npos || !tick || !up_s) continue;
      const double kernel = number_in(*line, "dropped_kernel").value_or(0);
      if (measured && lines_ > 0) {
        ++counted_;
        ticks_ += *tick - tick_;
        read_per_s_ += number_in(*line, "in_datagrams_per_s").value_or(0);
        dropped_ += kernel - kernel_;
        worst_p99_ms_ = std::max(worst_p99_ms_, number_in(*line, "tick_ms_p99").value_or(0));
        seconds_ += line_at_s() - at_s_;
      }
      ++lines_;
      tick_ = *tick, kernel_ = kernel, at_s_ = line_at_s();
    }
  }
  void tell(Damage& damage) const {
    if (counted_ == 0) return;
    damage.ticks = ticks_;
    damage.ticks_due = seconds_ * tick_rate_hz;
    damage.read_per_s = read_per_s_ / counted_;
    damage.kernel_per_s = dropped_ / std::max(seconds_, 1e-3);
    damage.worst_p99_ms = worst_p99_ms_;
  }

 private:
  static double line_at_s() { return static_cast<double>(read_clock().count()) / 1e6; }
  int lines_ = 0, counted_ = 0;
  double tick_ = 0, kernel_ = 0, at_s_ = 0, ticks_ = 0, read_per_s_ = 0, dropped_ = 0, worst_p99_ms_ = 0;
  double seconds_ = 0;
};

/// The port of the ready line; 0: the server did not start.
std::uint16_t wait_until_ready(Child& server) {
  while (const auto line = server.line(std::chrono::seconds(30)))
    if (line->find("event=ready") != std::string::npos)
      return static_cast<std::uint16_t>(number_in(*line, "port").value_or(0));
  return 0;
}

std::optional<Damage> run(const std::string& binary, const Flood& flood, Micros length) {
  Child server({binary, "--listen", "127.0.0.1", "--port", "0", "--map", "none", "--monsters", "20",
                "--max-clients", "256", "--status-every", "1", "--for", "5m"},
               -1);
  const std::uint16_t port = wait_until_ready(server);
  if (port == 0) {
    std::fprintf(stderr, "bench_flood: %s did not start\n", binary.c_str());
    return std::nullopt;
  }
  const PeerAddress address =
      *client_sim::resolve_server("127.0.0.1:" + std::to_string(port), Transport::udp);
  std::vector<std::unique_ptr<HonestClient>> players;
  for (std::uint32_t i = 0; i < honest_players; ++i)
    players.push_back(std::make_unique<HonestClient>(address, "player " + std::to_string(i), mix64(i + 1)));

  Damage damage;
  StatusReader status;
  std::atomic<std::uint64_t> sent{0};
  std::optional<std::jthread> flooder;
  const Micros start = read_clock(), begin = start + settle, end = begin + length;
  for (Micros now = start; now < end; now = read_clock()) {
    // Half a second to unfold.
    const bool measured = now >= begin + one_second / 2;
    if (now >= begin && damage.before_mib == 0) {
      damage.before_mib = resident_mib(server.pid());
      if (flood.per_s > 0)
        flooder.emplace([&](std::stop_token stop) {
          FloodSender sender(port, flood.kind, flood.per_s);
          for (; !stop.stop_requested(); ::usleep(500)) {
            sender.turn(std::chrono::steady_clock::now());
            sent = sender.sent();
          }
        });
    }
    for (const auto& player : players) player->turn(now, measured);
    status.read(server, now >= begin + one_second);
    ::usleep(1500);
  }
  damage.after_mib = resident_mib(server.pid());
  damage.sent_per_s = static_cast<double>(sent) / (static_cast<double>(length.count()) / 1e6);
  flooder.reset();
  status.tell(damage);
  for (const auto& player : players) {
    damage.played += player->ticks(), damage.missing += player->missing();
    damage.lost += player->playing() ? 0 : 1;
  }
  return damage;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

int main(int argc, char** argv) {
  std::string binary = (std::filesystem::path(argv[0]).parent_path() / "ashlar-server").string();
  int seconds = 8;
  std::set<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--server") == 0 && i + 1 < argc)
      binary = argv[++i];
    else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = std::max(4, std::atoi(argv[++i]));
    else
      wanted.insert(argv[i]);
  }
  std::printf("a flood beside %u honest players, %d s each, %u cores, server %s\n", honest_players, seconds,
              std::thread::hardware_concurrency(), binary.c_str());
  std::printf("%-24s %9s %9s %9s %9s %5s %17s %8s %9s\n", "flood", "sent/s", "read/s", "kernel/s", "commands",
              "lost", "memory, MiB", "ticks", "p99");
  for (const Flood& flood : floods) {
    const std::string name = flood.name;
    if (!wanted.empty() && !wanted.contains(name) && !wanted.contains(name.substr(0, name.find(' '))))
      continue;
    const auto damage = run(binary, flood, seconds * one_second);
    if (!damage) return 1;
    std::printf("%-24s %9.0f %9.0f %9.0f %7.2f %% %5llu %7.1f -> %6.1f %6.1f %% %6.2f ms\n", flood.name,
                damage->sent_per_s, damage->read_per_s, damage->kernel_per_s,
                percent(static_cast<double>(damage->missing), static_cast<double>(damage->played)),
                static_cast<unsigned long long>(damage->lost), damage->before_mib, damage->after_mib,
                percent(damage->ticks, damage->ticks_due), damage->worst_p99_ms);
    std::fflush(stdout);
  }
}
