// What the wire costs: the server with simulated players against a null server (null_net.h) with as many at
// the scene's tick rate, in one run and in turns. The frame for every figure of the wire: in a network of its
// own where that is permitted, the server alone on one core, the clients on the other.
//
//   bench_net [--rounds N] [--seconds N] [--only NAME,NAME,...] [--largest-from N] [--largest-to N]
//
// The scenes are those of net_scenes.h: besides those that it plays by itself any spreadN, crowdN and
// slow_crowdN can be named, with N clients: a small one shows in a minute that everything comes about. The
// scene `largest` looks for the largest spread that holds: from 500 clients and as many monsters on, 250 or
// half as many more each time, until one does not. Large scenes have 16 full clients, which check what they
// are told, and for the rest light ones. A round takes up to 90 s of a scene of 1 000; all of it an hour.
//
// Prints for each scene: R, our processor time over the null server's, each per client and tick, with the
// cipher that both ends have (AES where processors know it) and, behind it, without the world's step and with
// ChaCha20; the time from a tick's wake to its last send; the rate that was reached; what a client is sent,
// as payload and with IP and UDP headers, and what of it is for what; and by how much the server grew for
// each client; and beside each of them what is asked of the scene. Figures are medians of the rounds, the
// tick's p99 with the worst beside it. At its end: how what a client costs grew from the smallest to the
// largest of the crowds and spreads.
//
// A scene does not hold, and its figures are no figures, where the server left anything out or lost it while
// it was measured (a rung of overload, snapshots spared, datagrams dropped by the kernel or for want of room,
// ticks skipped, fewer ticks than a hundredth below its rate), where clients were refused, dropped, starved
// or told something wrong, or where a crowd was none. Each of these is printed. Exit code 1 when a scene did
// not come about or did not hold.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/bench/net_scenes.h"
#include "tests/bench/null_net.h"
#include "tests/bench/processes.h"

using namespace ashlar::bench;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint16_t port = 7990;
constexpr double ip_udp_bytes = 28;
/// Beside a scene's own, once it was measured: who looks where the bytes go.
constexpr unsigned bytes_clients = 2;

/// One measurement of one server.
struct Taken {
  double us = 0;       ///< of the processor, per client and tick
  double step_us = 0;  ///< and of that the world's step
  double p99_ms = 0, p50_ms = 0, busy = 0, ticks_per_s = 0;
  double payload_per_s = 0, datagrams_per_s = 0;  ///< to one client
  double memory_bytes = 0;                        ///< by which the server grew, per client
  double client_kib = 0, client_kib_max = 0;      ///< what it keeps of one beside streams: the mean, the most
  double streams_kib = 0;                         ///< and streams
  std::uint64_t wait_ticks = 0, wait_ticks_p50 = 0, made = 0, cut = 0, overdue = 0;  ///< once all were there
  double seen_near = 0;  ///< whom those who look knew of within 64 m, the mean; 0: nobody looked
  std::string bytes;     ///< where they go, in one line
  std::string faults;    ///< why these are no figures; empty: they are
};

/// `"key":12.5` of a JSON line.
double number_of(const std::string& line, const std::string& key) {
  const auto at = line.find("\"" + key + "\":");
  return at == std::string::npos ? -1 : std::strtod(line.c_str() + at + key.size() + 3, nullptr);
}

/// `"key":"word"` of a JSON line.
std::string word_of(const std::string& line, const std::string& key) {
  const auto at = line.find("\"" + key + "\":\"");
  if (at == std::string::npos) return "?";
  const auto begin = at + key.size() + 4;
  return line.substr(begin, line.find('"', begin) - begin);
}

std::vector<std::string> server_command(const Scene& scene, const std::string& folder, int window_s,
                                        const char* cipher) {
  // On one core a send thread would have none of its own.
  std::vector<std::string> command{folder + "/ashlar-server",
                                   "--port",
                                   std::to_string(port),
                                   "--listen",
                                   "127.0.0.1",
                                   "--log-format",
                                   "json",
                                   "--send-thread",
                                   "off",
                                   "--cipher",
                                   cipher,
                                   "--status-every",
                                   std::to_string(window_s),
                                   "--max-clients",
                                   std::to_string(scene.clients + bytes_clients)};
  command.insert(command.end(), scene.server.begin(), scene.server.end());
  return command;
}

/// What the server left out or lost between two lines of its status.
std::string faults_between(const Scene& scene, const std::string& before, const std::string& after) {
  std::string out;
  for (const char* counter : {"overload_climbs", "snapshots_spared", "dropped_kernel", "dropped_sending",
                              "ticks_skipped", "rejected", "stuck"}) {
    const double more = number_of(after, counter) - number_of(before, counter);
    const bool known = number_of(after, counter) >= 0;
    if (!known || more > 0)
      out += std::string(counter) + (known ? " +" + std::to_string(std::lround(more)) : " unknown") + ", ";
  }
  if (const std::string rung = word_of(after, "overload"); rung != "none") out += "overload " + rung + ", ";
  if (const double rate = number_of(after, "ticks_per_s"); rate < 0.99 * scene.rate_hz)
    out += std::to_string(rate).substr(0, 5) + " ticks/s of " + std::to_string(scene.rate_hz) + ", ";
  return out;
}

/// Ends the clients' run and reads what they found.
void read_verdict(const Scene& scene, Child& clients, Taken& out) {
  ::kill(clients.pid(), SIGTERM);
  std::string verdict;
  while (const auto line = clients.line(seconds(20))) {
    if (line->starts_with("result ")) verdict = *line;
    if (const auto at = line->find("and knew of "); at != std::string::npos)
      out.seen_near = std::strtod(line->c_str() + at + 12, nullptr);
  }
  if (verdict.empty())
    out.faults += "the clients gave no verdict, ";
  else if (!verdict.ends_with(" passed"))
    out.faults += "the clients' " + verdict + ", ";
  const double others = scene.clients - 1;
  if (scene.crowd && scene.clients > full_of(scene) && out.seen_near < crowd_share_least * others)
    out.faults +=
        "no crowd: who looked knew of " + std::to_string(std::lround(out.seen_near)) + " within 64 m, ";
}

/// Of a server in which everybody was through the whole interval that `line` tells of.
Taken figures_of(const Scene& scene, const std::string& line) {
  Taken out;
  out.step_us = 1000 * number_of(line, "step_ms_p50") / scene.clients;
  out.p50_ms = number_of(line, "tick_ms_p50");
  out.p99_ms = number_of(line, "tick_ms_p99");
  out.busy = number_of(line, "busy_percent");
  out.ticks_per_s = number_of(line, "ticks_per_s");
  out.payload_per_s = number_of(line, "out_bytes_per_s") / scene.clients;
  out.datagrams_per_s = number_of(line, "out_datagrams_per_s") / scene.clients;
  out.client_kib = number_of(line, "clients_kib") / scene.clients;
  out.client_kib_max = number_of(line, "client_kib_max");
  out.streams_kib = number_of(line, "streams_kib") / scene.clients;
  out.wait_ticks = static_cast<std::uint64_t>(number_of(line, "snapshot_wait_ticks"));
  out.wait_ticks_p50 = static_cast<std::uint64_t>(number_of(line, "snapshot_wait_ticks_p50"));
  return out;
}

std::optional<Taken> take_ours(const Scene& scene, const std::string& folder, int window_s,
                               const char* cipher = "auto") {
  Child server(server_command(scene, folder, window_s, cipher), 0);
  for (;;) {
    const auto line = server.line(seconds(120));
    if (!line) return std::nullopt;
    if (line->find("\"event\":\"ready\"") != std::string::npos) break;
  }
  const double empty_bytes = server.resident_bytes();
  const unsigned full_count = full_of(scene);
  Child clients(
      {folder + "/ashlar-sim", "load", "--server", "127.0.0.1:" + std::to_string(port), "--clients",
       std::to_string(full_count), "--light", std::to_string(scene.clients - full_count), "--duration", "10m",
       "--brain", scene.brain, "--progress", "0s", "--joins-per-second", "200"},
      1);
  // From one line of status to the next, both with everybody there. The first such intervals settle: two, or
  // until all is told again that was left out while they came, but no more than settle_most of them.
  constexpr int settle_least = 2, settle_most = 6;
  std::uint64_t cpu_before = 0;
  std::string line_before;
  int full = 0;
  const auto give_up = std::chrono::steady_clock::now() + seconds(90);
  while (std::chrono::steady_clock::now() < give_up) {
    const auto line = server.line(seconds(60));
    if (!line) return std::nullopt;
    if (line->find("\"event\":\"status\"") == std::string::npos) continue;
    const std::uint64_t cpu = server.cpu_ns();
    full = number_of(*line, "clients") == scene.clients ? full + 1 : 0;
    const bool calm = word_of(line_before, "overload") == "none";
    if (full > (calm ? settle_least : settle_most)) {
      Taken out = figures_of(scene, *line);
      const double ticks = number_of(*line, "tick") - number_of(line_before, "tick");
      out.us = static_cast<double>(cpu - cpu_before) / 1000 / ticks / scene.clients;
      out.memory_bytes = (server.resident_bytes() - empty_bytes) / scene.clients;
      const auto grew = [&](const char* what) {
        return static_cast<std::uint64_t>(number_of(*line, what) - number_of(line_before, what));
      };
      out.made = grew("snapshots_made"), out.cut = grew("snapshots_cut");
      out.overdue = grew("snapshots_overdue");
      out.faults = faults_between(scene, line_before, *line);
      Child bytes({folder + "/ashlar-sim", "bytes", "--server", "127.0.0.1:" + std::to_string(port),
                   "--clients", std::to_string(bytes_clients), "--duration", "4s", "--sum"},
                  1);
      out.bytes = bytes.line(seconds(30)).value_or("nobody looked where the bytes go");
      read_verdict(scene, clients, out);
      return out;
    }
    cpu_before = cpu;
    line_before = *line;
  }
  return std::nullopt;
}

std::optional<Taken> take_null(const Scene& scene, const std::string& self, int window_s) {
  const std::string rate = std::to_string(scene.rate_hz);
  Child server({self, "--null-server", rate}, 0);
  const Child clients({self, "--null-clients", std::to_string(scene.clients), rate}, 1);
  std::uint64_t cpu_before = 0;
  for (int second = 0; second < window_s + 10; ++second) {
    const auto line = server.line(seconds(20));
    if (!line) return std::nullopt;
    if (!line->ends_with("peers " + std::to_string(scene.clients))) continue;
    const std::uint64_t cpu = server.cpu_ns();
    if (cpu_before == 0) {
      cpu_before = cpu, second = 10;
    } else if (second == window_s + 9) {
      Taken out;
      out.us = static_cast<double>(cpu - cpu_before) / 1000 /
               (static_cast<double>(window_s - 1) * scene.rate_hz) / scene.clients;
      return out;
    }
  }
  return std::nullopt;
}

template <class Value>
double median(const std::vector<Taken>& all, Value Taken::* value) {
  std::vector<double> sorted;
  sorted.reserve(all.size());
  for (const Taken& one : all) sorted.push_back(static_cast<double>(one.*value));
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

/// What a scene came to, for the sums at the end.
struct Played {
  Scene scene;
  double us = 0, p99_ms = 0, kbit_per_s = 0;
  bool holds = false;
};

/// "; 2.2 asked: missed" behind a figure.
std::string asked_text(double figure, double most) {
  if (most <= 0) return "";
  char text[64];
  std::snprintf(text, sizeof text, " [%g asked: %s]", most, figure <= most ? "kept" : "MISSED");
  return text;
}

struct Rounds {
  std::vector<Taken> ours, null, chacha;
};

std::optional<Rounds> take_rounds(const Scene& scene, const std::string& self, int rounds, int window_s) {
  const std::string folder = self.substr(0, self.rfind('/'));
  Rounds all;
  for (int round = 0; round < rounds; ++round) {
    const auto one = take_ours(scene, folder, window_s);
    const auto other = take_null(scene, self, window_s);
    const auto third = take_ours(scene, folder, window_s, "chacha20");
    if (!one || !other || !third) {
      std::printf("%-10s did not come about: the %s server was not ready or not all clients came\n",
                  scene.name.c_str(), one && third ? "null" : "real");
      return std::nullopt;
    }
    all.ours.push_back(*one), all.null.push_back(*other), all.chacha.push_back(*third);
  }
  return all;
}

void print_r(const Scene& scene, const Rounds& all) {
  const auto& [ours, null, chacha] = all;
  double low = 1e9, high = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    low = std::min(low, ours[i].us / null[i].us), high = std::max(high, ours[i].us / null[i].us);
  const double us = median(ours, &Taken::us), null_us = median(null, &Taken::us);
  const double bare = (us - median(ours, &Taken::step_us)) / null_us;
  const double other = (median(chacha, &Taken::us) - median(chacha, &Taken::step_us)) / null_us;
  std::printf("  R %.2f%s (%.2f to %.2f): %.2f us per client and tick, null server %.2f us\n", us / null_us,
              asked_text(us / null_us, scene.asked.r).c_str(), low, high, us, null_us);
  std::printf("  R %.2f%s without the step, with ChaCha20 %.2f%s and %.2f with the step\n", bare,
              asked_text(bare, scene.asked.r_without_step).c_str(), other,
              asked_text(other, scene.asked.r_chacha).c_str(), median(chacha, &Taken::us) / null_us);
}

/// @return false: these are no figures
bool print_faults(const Rounds& all) {
  bool good = true;
  for (const auto* half : {&all.ours, &all.chacha})
    for (const Taken& one : *half) {
      if (one.faults.empty()) continue;
      std::printf("  DOES NOT HOLD%s: %s\n", half == &all.ours ? "" : " with ChaCha20",
                  one.faults.substr(0, one.faults.size() - 2).c_str());
      good = false;
    }
  return good;
}

std::optional<Played> play(const Scene& scene, const std::string& self, int rounds, int window_s) {
  const auto all = take_rounds(scene, self, rounds, window_s);
  if (!all) return std::nullopt;
  const std::vector<Taken>& ours = all->ours;
  double worst = 0;
  for (const Taken& one : ours) worst = std::max(worst, one.p99_ms);
  const double payload = median(ours, &Taken::payload_per_s);
  const double datagrams = median(ours, &Taken::datagrams_per_s);
  const double kbit = 8 * (payload + ip_udp_bytes * datagrams) / 1000, p99 = median(ours, &Taken::p99_ms);
  std::printf("%s: %s\n", scene.name.c_str(), scene.what.c_str());
  print_r(scene, *all);
  std::printf(
      "  wake to last send: p50 %.2f ms, p99 %.2f ms%s, worst p99 %.2f ms, step %.2f ms; busy %.1f %%, %.1f "
      "ticks/s\n",
      median(ours, &Taken::p50_ms), p99, asked_text(p99, scene.asked.p99_ms).c_str(), worst,
      median(ours, &Taken::step_us) * scene.clients / 1000, median(ours, &Taken::busy),
      median(ours, &Taken::ticks_per_s));
  std::printf(
      "  to each client: %.1f kB/s payload%s, %.1f kB/s (%.0f kbit/s%s) with IP and UDP, %.0f datagrams/s\n",
      payload / 1000, asked_text(payload, scene.asked.payload_per_s).c_str(), kbit / 8, kbit,
      asked_text(kbit, scene.asked.kbit_per_s).c_str(), datagrams);
  std::printf("  where they go: %s\n", ours.back().bytes.c_str());
  const double grew_kib = median(ours, &Taken::memory_bytes) / 1024,
               kept_kib = median(ours, &Taken::client_kib), streams_kib = median(ours, &Taken::streams_kib),
               most_kib = median(ours, &Taken::client_kib_max);
  std::printf(
      "  the server grew by %.0f KiB for each client: %.0f KiB (most %.0f%s) are kept of it beside its "
      "streams, %.0f "
      "KiB are streams, %.0f KiB ground that they walked to and what all share\n",
      grew_kib, kept_kib, most_kib, asked_text(most_kib, 64).c_str(), streams_kib,
      grew_kib - kept_kib - streams_kib);
  if (ours.back().seen_near > 0)
    std::printf("  within 64 m of those who look: %.0f others that they know of\n",
                median(ours, &Taken::seen_near));
  const double wait_ticks = median(ours, &Taken::wait_ticks),
               usual_wait = median(ours, &Taken::wait_ticks_p50);
  const double due = median(ours, &Taken::ticks_per_s) * window_s * scene.clients / scene.snapshot_every;
  const double made = std::max(1.0, median(ours, &Taken::made));
  std::printf(
      "  snapshots: %.0f of %.0f went, %.0f without room for all; %.2f %% of them kept everybody within "
      "100 ms; of all clients in a tick the longest wait was %.0f ticks in the median, %.0f in the worst: "
      "never less than %.0f times a second\n",
      made, due, median(ours, &Taken::cut), 100 - 100 * median(ours, &Taken::overdue) / made, usual_wait,
      wait_ticks, scene.rate_hz / (wait_ticks + 1));
  const bool holds = print_faults(*all);
  std::fflush(stdout);
  return Played{scene, median(ours, &Taken::us), p99, kbit, holds};
}

/// From the least to the most of those who play the same.
void print_growth(std::vector<Played> all, const std::string& kind) {
  std::erase_if(all, [&](const Played& one) { return !one.scene.name.starts_with(kind); });
  if (all.size() < 2) return;
  std::ranges::sort(all, {}, [](const Played& one) { return one.scene.clients; });
  const Played &few = all.front(), &many = all.back();
  std::printf(
      "growth: %s: %.1f times the clients, each costs %.2f times as much (%.2f us after %.2f us), p99 %.2f "
      "ms after %.2f ms, %.0f kbit/s each after %.0f\n",
      kind.c_str(), static_cast<double>(many.scene.clients) / few.scene.clients, many.us / few.us, many.us,
      few.us, many.p99_ms, few.p99_ms, many.kbit_per_s, few.kbit_per_s);
}

/// Ever more until it does not hold. @return false: not even the first came about
bool find_largest(const std::string& self, int window_s, unsigned first, unsigned most) {
  const std::string folder = self.substr(0, self.rfind('/'));
  const unsigned more = std::max(1u, std::min(250u, first / 2));
  unsigned held = 0;
  for (unsigned count = first; count <= most; count += more) {
    const Scene scene = spread(count);
    const auto taken = take_ours(scene, folder, window_s);
    if (!taken) break;
    const bool holds = taken->p99_ms < 1000.0 / scene.rate_hz && taken->faults.empty();
    std::printf("  %u + %u: p99 %.2f ms, %.1f ticks/s, busy %.1f %%: %s %s\n", count, count, taken->p99_ms,
                taken->ticks_per_s, taken->busy, holds ? "holds" : "does not hold", taken->faults.c_str());
    std::fflush(stdout);
    if (!holds) break;
    held = count;
  }
  std::printf("largest: %u clients + %u monsters spread over 800 m hold\n", held, held);
  return held > 0;
}

/// "a,b,c"
std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> out(1);
  for (const char c : list) {
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// The scenes that are wanted; a line and nothing where one is not known.
std::optional<std::vector<Scene>> chosen(const std::vector<std::string>& only) {
  if (only.empty()) return usual_scenes();
  std::vector<Scene> out;
  for (const std::string& name : only) {
    if (name == "largest") continue;
    auto scene = scene_named(name);
    if (!scene) {
      std::printf("there is no scene %s: largest, spreadN, crowdN, slow_crowdN", name.c_str());
      for (const Scene& usual : usual_scenes()) std::printf(", %s", usual.name.c_str());
      std::printf("\n");
      return std::nullopt;
    }
    out.push_back(std::move(*scene));
  }
  return out;
}

struct Options {
  int rounds = 3, window_s = 5;
  unsigned largest_from = 500, largest_to = 2000;
  std::vector<std::string> only;
};

/// @return nothing: one is not known, or has no value
std::optional<Options> options_of(const std::vector<std::string>& given) {
  Options out;
  if (given.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < given.size(); i += 2) {
    const std::string& name = given[i];
    const int number = std::atoi(given[i + 1].c_str());
    if (name == "--rounds")
      out.rounds = std::max(1, number);
    else if (name == "--seconds")
      out.window_s = std::max(2, number);
    else if (name == "--only")
      out.only = words_of(given[i + 1]);
    else if (name == "--largest-from")
      out.largest_from = static_cast<unsigned>(std::clamp(number, 2, 4000));
    else if (name == "--largest-to")
      out.largest_to = static_cast<unsigned>(std::clamp(number, 2, 4000));
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() == 2 && given[0] == "--null-server")
    return run_null_server(port, std::atoi(given[1].c_str()));
  if (given.size() == 3 && given[0] == "--null-clients")
    return run_null_clients(port, static_cast<std::size_t>(std::atoi(given[1].c_str())),
                            std::atoi(given[2].c_str()));
  const auto asked = options_of(given);
  if (!asked) {
    std::printf(
        "usage: bench_net [--rounds N] [--seconds N] [--only NAME,NAME,...] [--largest-from N] [--largest-to "
        "N]\n");
    return given == std::vector<std::string>{"--help"} ? 0 : 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  if (!enter_own_network())
    std::printf(
        "note: no network of its own is permitted here: on the machine's loopback, firewall included\n");
  if (std::thread::hardware_concurrency() < 2)
    std::printf("note: one core: server and clients share it, and figures mean little\n");
  const auto scenes = chosen(asked->only);
  if (!scenes) return 2;
  bool good = true;
  std::vector<Played> played;
  for (const Scene& scene : *scenes) {
    auto one = play(scene, self, asked->rounds, asked->window_s);
    good = good && one && one->holds;
    if (one) played.push_back(std::move(*one));
  }
  print_growth(played, "spread");
  print_growth(played, "crowd");
  print_growth(played, "slow_crowd");
  const bool largest = asked->only.empty() || std::ranges::find(asked->only, "largest") != asked->only.end();
  if (largest) good = find_largest(self, asked->window_s, asked->largest_from, asked->largest_to) && good;
  return good ? 0 : 1;
}
