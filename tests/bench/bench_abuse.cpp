// What honest players lose while a server is attacked: each attack against a fresh server over the loopback,
// one row each. `bench_abuse [--server PATH] [--seconds N] [ATTACK ...]`; a minute and a half in all.
//
// Ten honest players (every other over TCP) play from 127.0.0.1 and say a line a second, the operator says
// one a second on the console, somebody new comes every quarter of a second and stays for one, and a health
// check is made twice a second. The attack comes from other addresses (127.0.0.2 and on). Columns:
//   commands  of the ticks that the players played, those in which none of their commands was applied
//   lost      players who were there before the attack and were not at its end
//   chat      lines of players that another player did not hear; say: lines of the operator
//   joins     newcomers who were not playing within three seconds, or did not for their second
//   health    checks that were not answered
// Other servers (of an earlier version) can be measured: --server names the binary.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client_sim/brains/brain.h"
#include "client_sim/client/client.h"
#include "client_sim/load/raid.h"
#include "client_sim/net/socket.h"
#include "world/math/random.h"

extern char** environ;

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

constexpr Micros second{1'000'000};
constexpr std::uint32_t players = 10;
constexpr Micros warm_up = 3 * second;
constexpr Micros newcomer_every{250'000}, newcomer_patience = 3 * second, newcomer_stay = second;
constexpr Micros health_every{500'000};

Micros read_clock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Micros{static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000};
}

/// A program of ours with its console and its log.
class Program {
 public:
  Program(const std::string& path, const std::vector<std::string>& arguments) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_adddup2(&actions, from[1], 2);
    std::vector<char*> argv{const_cast<char*>(path.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (::posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]), ::close(from[1]);
    in_ = to[1], out_ = from[0];
    ::fcntl(out_, F_SETFL, O_NONBLOCK);
    ::fcntl(in_, F_SETFL, O_NONBLOCK);
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(in_), ::close(out_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Reads what it said; keeps it until `keep` bytes, so that it never waits for us.
  const std::string& read(std::size_t keep = 65536) {
    char bytes[65536];
    for (ssize_t size; (size = ::read(out_, bytes, sizeof bytes)) > 0;)
      if (said_.size() < keep) said_.append(bytes, static_cast<std::size_t>(size));
    return said_;
  }
  void write(const std::string& line) { (void)!::write(in_, line.data(), line.size()); }
  /// Its exit code once it has ended, else -1.
  int ended() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return -1;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string said_;
};

struct Attack {
  const char* name;
  std::optional<RaidOptions> raid;
};

std::vector<Attack> attacks() {
  const auto raid = [](RaidKind kind, std::uint32_t peers, std::uint32_t per_s, std::uint32_t addresses) {
    RaidOptions o;
    o.kind = kind, o.peers = peers, o.per_s = per_s, o.addresses = addresses;
    return o;
  };
  return {{"none", std::nullopt},
          {"tiny-frames 20 MB/s", raid(RaidKind::tiny_frames, 3, 6700, 1)},
          {"idle 480 of 2", raid(RaidKind::idle, 480, 1000, 2)},
          {"garbage 9400/s", raid(RaidKind::garbage, 1, 9400, 1)},
          {"garbage 39000/s", raid(RaidKind::garbage, 1, 39000, 1)},
          {"churn 91/s", raid(RaidKind::churn, 7, 13, 1)},
          {"churn 910/s", raid(RaidKind::churn, 140, 13, 1)},
          {"hellos 9400/s", raid(RaidKind::hellos, 1, 9400, 1)},
          {"half-handshakes 910/s", raid(RaidKind::half_handshakes, 70, 13, 1)},
          {"inside 910/s", raid(RaidKind::inside, 70, 13, 1)},
          {"spoofed 10000/s", raid(RaidKind::spoofed, 1, 10'000, 1)}};
}

/// One honest client and what it lost.
struct Honest {
  Honest(const PeerAddress& server, std::string name, std::uint64_t nonce)
      : socket(ClientSocket::open(server)),
        client(config(server, std::move(name), nonce)),
        brain(BrainKind::wander, nonce) {}

  static ClientConfig config(const PeerAddress& server, std::string name, std::uint64_t nonce) {
    ClientConfig c;
    c.server = server;
    c.name = std::move(name);
    c.build = "bench_abuse";
    c.seed = secure::SeededEntropy(nonce).secret();
    return c;
  }

  void turn(Micros now, bool counts) {
    if (!socket || client.ended()) return;
    in.clear(), out.clear();
    socket->receive(in);
    if (client.state() == ClientState::playing && now >= next_thought) {
      next_thought = now + Micros{15'000};
      client.set_command(brain.think(now, client));
    }
    client.advance(now, in, out);
    socket->send(out);
    for (ChatLine& line : client.take_chat()) heard.insert(line.from + "|" + line.text);
    const std::uint32_t tick = client.own_tick();
    const std::uint64_t snapshots = client.stats().snapshots;
    if (counts && tick_seen != 0 && tick > tick_seen) {
      const std::uint64_t passed = tick - tick_seen;
      ticks += passed;
      // What the newest says holds for those that came with it; of ticks that no snapshot told of nobody
      // knows, and a lost one or two are as the next.
      const std::uint64_t untold = passed - std::min(passed, snapshots - snapshots_seen);
      if (client.applied_tick() < tick)
        missing += passed;
      else if (untold > 3)
        missing += untold;
    }
    snapshots_seen = snapshots;
    tick_seen = tick;
  }

  std::expected<ClientSocket, std::string> socket;
  Client client;
  Brain brain;
  DatagramBatch in, out;
  Micros next_thought{0}, since{0}, playing_since{0};
  std::uint32_t tick_seen = 0;
  std::uint64_t ticks = 0, missing = 0, snapshots_seen = 0;
  std::uint32_t number = 0;
  std::set<std::string> heard;
};

struct Losses {
  std::uint64_t ticks = 0, missing = 0, lost = 0;
  std::uint64_t chat = 0, chat_missing = 0, say = 0, say_missing = 0;
  std::uint64_t joins = 0, joins_failed = 0, checks = 0, checks_failed = 0;
  std::uint64_t sent = 0;
};

class Trial {
 public:
  Trial(const std::string& binary, const Attack& attack, Micros length)
      : binary_(binary), attack_(attack), length_(length) {}

  std::optional<Losses> run();

 private:
  bool start();
  void raid(std::stop_token stop);
  void newcomers(Micros now, bool attacked);
  void talk(Micros now);
  void health(Micros now, bool attacked);
  void sum_up();

  std::string binary_;
  const Attack& attack_;
  Micros length_;
  std::unique_ptr<Program> server_, check_;
  PeerAddress address_, address_tcp_;
  std::deque<std::unique_ptr<Honest>> players_;
  std::deque<std::unique_ptr<Honest>> newcomers_;
  std::uint32_t newcomer_number_ = 0;
  Micros next_newcomer_{0}, next_talk_{0}, next_check_{0};
  std::uint32_t lines_ = 0;
  std::mutex victims_lock_;
  std::vector<RaidVictim> victims_;
  std::atomic<std::uint64_t> sent_{0};
  Losses losses_;
};

bool Trial::start() {
  server_ = std::make_unique<Program>(
      binary_, std::vector<std::string>{"--listen", "127.0.0.1", "--port", "0", "--map", "none", "--monsters",
                                        "20", "--max-clients", "256", "--for", "2m"});
  const Micros give_up = read_clock() + 30 * second;
  while (read_clock() < give_up) {
    const std::string& said = server_->read();
    const std::size_t ready = said.find("event=ready");
    const std::size_t port = ready == std::string::npos ? ready : said.find(" port=", ready);
    if (port != std::string::npos && said.find('\n', port) != std::string::npos) {
      const std::string where = "127.0.0.1:" + std::to_string(std::atoi(said.c_str() + port + 6));
      address_ = *resolve_server(where, Transport::udp);
      address_tcp_ = *resolve_server(where, Transport::tcp);
      return true;
    }
    if (server_->ended() >= 0) break;
    ::usleep(10'000);
  }
  std::fprintf(stderr, "bench_abuse: %s did not start:\n%s\n", binary_.c_str(), server_->read().c_str());
  return false;
}

void Trial::raid(std::stop_token stop) {
  RaidOptions options = *attack_.raid;
  options.server = address_;
  auto raid = Raid::open(options);
  if (!raid) return;
  while (!stop.stop_requested()) {
    {
      const std::scoped_lock lock(victims_lock_);
      raid->set_victims(victims_);
    }
    raid->turn(read_clock());
    sent_ = raid->sent();
    ::usleep(1000);
  }
}

void Trial::newcomers(Micros now, bool attacked) {
  if (attacked && now >= next_newcomer_) {
    next_newcomer_ = now + newcomer_every;
    const bool tcp = ++newcomer_number_ % 2 == 0;
    newcomers_.push_back(std::make_unique<Honest>(tcp ? address_tcp_ : address_,
                                                  "new " + std::to_string(newcomer_number_),
                                                  mix64(static_cast<std::uint64_t>(now.count()))));
    newcomers_.back()->since = now;
    const std::scoped_lock lock(victims_lock_);
    victims_.clear();
    for (const auto& player : players_)
      if (player->socket && player->client.transport() == Transport::udp)
        victims_.push_back({player->socket->local_port(), player->client.session()});
  }
  std::erase_if(newcomers_, [&](const auto& one) {
    one->turn(now, false);
    const ClientState state = one->client.state();
    if (state == ClientState::playing && one->playing_since == Micros{0}) one->playing_since = now;
    const bool stayed = one->playing_since > Micros{0} && now - one->playing_since > newcomer_stay;
    if (stayed && state == ClientState::playing) one->client.leave();
    const bool never = one->playing_since == Micros{0} && now - one->since > newcomer_patience;
    if (!never && !one->client.ended() && one->socket) return false;
    ++losses_.joins;
    losses_.joins_failed += state == ClientState::left ? 0 : 1;
    return true;
  });
}

void Trial::talk(Micros now) {
  if (now < next_talk_) return;
  next_talk_ = now + second;
  ++lines_;
  for (const auto& player : players_) player->client.say("line " + std::to_string(lines_));
  server_->write("say line " + std::to_string(lines_) + "\n");
}

void Trial::health(Micros now, bool attacked) {
  if (check_ != nullptr) {
    const int code = check_->ended();
    if (code < 0) return;
    check_.reset();
    ++losses_.checks;
    losses_.checks_failed += code == 0 ? 0 : 1;
  }
  if (!attacked || now < next_check_) return;
  next_check_ = now + health_every;
  check_ = std::make_unique<Program>(
      binary_, std::vector<std::string>{"--health", "127.0.0.1:" + std::to_string(address_.port)});
}

void Trial::sum_up() {
  for (const auto& hearer : players_) {
    losses_.ticks += hearer->ticks;
    losses_.missing += hearer->missing;
    losses_.lost += hearer->client.state() == ClientState::playing ? 0 : 1;
    for (std::uint32_t line = 1; line <= lines_; ++line) {
      const std::string text = "|line " + std::to_string(line);
      ++losses_.say;
      losses_.say_missing += hearer->heard.contains(text) ? 0 : 1;
      for (const auto& speaker : players_) {
        if (speaker == hearer) continue;
        ++losses_.chat;
        losses_.chat_missing +=
            hearer->heard.contains("player " + std::to_string(speaker->number) + text) ? 0 : 1;
      }
    }
  }
  losses_.sent = sent_;
}

std::optional<Losses> Trial::run() {
  if (!start()) return std::nullopt;
  const Micros start = read_clock();
  for (std::uint32_t i = 0; i < players; ++i)
    players_.push_back(std::make_unique<Honest>(i % 2 == 0 ? address_ : address_tcp_,
                                                "player " + std::to_string(i), mix64(i + 1)));
  for (std::uint32_t i = 0; i < players; ++i) players_[i]->number = i;
  const Micros begin = start + warm_up, end = begin + length_, over = end + 3 * second / 2;
  std::optional<std::jthread> raider;
  for (Micros now = start; now < over; now = read_clock()) {
    const bool attacked = now >= begin && now < end;
    if (attacked && !raider && attack_.raid) raider.emplace([this](std::stop_token stop) { raid(stop); });
    for (const auto& player : players_) player->turn(now, attacked);
    // The attack has half a second to unfold.
    const bool measured = attacked && now >= begin + second / 2;
    newcomers(now, measured);
    if (measured && now < end - second / 2) talk(now);
    health(now, measured);
    server_->read();
    ::usleep(1500);
  }
  raider.reset();
  sum_up();
  return losses_;
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  std::string binary = (std::filesystem::path(argv[0]).parent_path() / "ashlar-server").string();
  int seconds = 6;
  std::set<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--server") == 0 && i + 1 < argc)
      binary = argv[++i];
    else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = std::max(2, std::atoi(argv[++i]));
    else
      wanted.insert(argv[i]);
  }
  std::printf("what %u honest players lose, %d s each, server %s\n", players, seconds, binary.c_str());
  std::printf("%-20s %10s %9s %6s %9s %9s %9s %9s\n", "attack", "sent", "commands", "lost", "chat", "say",
              "joins", "health");
  for (const Attack& attack : attacks()) {
    const std::string name = attack.name;
    if (!wanted.empty() && !wanted.contains(name.substr(0, name.find(' ')))) continue;
    const auto losses = Trial(binary, attack, seconds * second).run();
    if (!losses) return 1;
    std::printf(
        "%-20s %10llu %9s %6llu %9s %9s %9s %9s\n", attack.name,
        static_cast<unsigned long long>(losses->sent), share(losses->missing, losses->ticks).c_str(),
        static_cast<unsigned long long>(losses->lost), share(losses->chat_missing, losses->chat).c_str(),
        share(losses->say_missing, losses->say).c_str(), share(losses->joins_failed, losses->joins).c_str(),
        share(losses->checks_failed, losses->checks).c_str());
    std::fflush(stdout);
  }
}
