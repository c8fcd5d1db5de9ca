#include "client_sim/simulation/fault.h"

#include <algorithm>

#include "protocol/text.h"
#include "world/math/random.h"

namespace ashlar::simulation {
namespace {

/// What the table below says of one kind: its name, how often it begins, how long it lasts and how bad it is.
struct KindInfo {
  std::string_view name;
  double per_minute;
  double seconds_min, seconds_max;
  std::uint32_t amount_min, amount_max;
};

constexpr std::array<KindInfo, fault_kind_count> fault_kinds{{
    {"loss", 1.0, 1, 8, 2, 40},
    {"delay", 0.8, 1, 10, 20, 300},
    {"jitter", 0.8, 1, 10, 5, 120},
    {"reorder", 0.6, 1, 8, 2, 30},
    {"duplicate", 0.6, 1, 8, 2, 50},
    {"corrupt", 0.15, 0.5, 3, 1, 20},
    {"rate-limit", 0.3, 1, 6, 4'000, 60'000},
    {"partition", 0.3, 0.3, 14, 1, 3},
    {"stall", 0.3, 0.1, 6, 0, 0},
    {"death", 0.2, 0.5, 15, 0, 1},
    {"leave", 0.2, 0.2, 8, 0, 0},
    {"client-jump", 0.1, 0, 0, 10, 5'000},
    {"roam", 0.3, 0, 0, 1, 2},
    {"resume", 0.2, 2, 14, 1, 2},
    {"forge", 0.3, 1, 8, 20, 300},
    {"server-jump", 0.2, 0, 0, 10, 2'000},
    {"overload", 1.0, 0.02, 0.4, 0, 0},
    {"restart", 0.2, 0.2, 3, 0, 1},
    {"slow-ground", 0.5, 1, 10, 50, 3'000},
    {"freeze", 0.3, 0.3, 2, 0, 0},
    {"deaf", 0.05, 4, 20, 0, 0},
    {"liar", 0.05, 4, 20, 0, 0},
    {"power-cut", 0.2, 0.2, 3, 0, 200},
    {"disk-full", 0.2, 2, 20, 0, 0},
    {"disk-errors", 0.2, 1, 10, 5, 60},
}};

const KindInfo& info(FaultKind kind) { return fault_kinds[static_cast<std::size_t>(kind)]; }

bool comes_first(const Fault& a, const Fault& b) {
  if (a.tick != b.tick) return a.tick < b.tick;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.subject != b.subject) return a.subject < b.subject;
  if (a.ticks != b.ticks) return a.ticks < b.ticks;
  return a.amount < b.amount;
}

void plan_second(Rng rng, FaultKind kind, std::uint16_t subject, std::uint32_t second, double per_minute,
                 std::uint32_t tick_rate_hz, std::vector<Fault>& out) {
  const KindInfo& of = info(kind);
  const double draw = rng.unit();
  if (draw >= per_minute / 60) return;
  Fault fault;
  fault.kind = kind;
  fault.subject = subject;
  fault.tick = second * tick_rate_hz + rng.below(tick_rate_hz);
  const double seconds = rng.between(of.seconds_min, of.seconds_max);
  fault.ticks = static_cast<std::uint32_t>(seconds * tick_rate_hz);
  fault.amount = of.amount_min + rng.below(of.amount_max - of.amount_min + 1);
  out.push_back(fault);
}

/// The next word of a line; the line is shortened by it.
std::string_view take_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

bool to_number(std::string_view word, std::uint32_t& out) {
  if (word.empty() || word.size() > 9) return false;
  out = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return true;
}

/// A plain decimal like 12 or 0.25; no signs, no exponents, no locale.
bool to_rate(std::string_view word, double& out) {
  const std::size_t dot = std::min(word.find('.'), word.size());
  std::uint32_t whole = 0, part = 0;
  if (!to_number(word.substr(0, dot), whole)) return false;
  out = whole;
  if (dot == word.size()) return true;
  const std::string_view digits = word.substr(dot + 1);
  if (!to_number(digits, part)) return false;
  double scale = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
  out += part / scale;
  return true;
}

bool to_kind(std::string_view word, FaultKind& out) {
  const auto it = std::ranges::find(fault_kinds, word, &KindInfo::name);
  if (it == fault_kinds.end()) return false;
  out = static_cast<FaultKind>(it - fault_kinds.begin());
  return true;
}

std::string known_kinds() {
  std::string all;
  for (const KindInfo& kind : fault_kinds) (all += all.empty() ? "" : ", ") += kind.name;
  return all;
}

}  // namespace

std::string_view name(FaultKind kind) { return info(kind).name; }

std::array<double, fault_kind_count> FaultRates::defaults() {
  std::array<double, fault_kind_count> rates{};
  for (std::size_t i = 0; i < fault_kind_count; ++i) rates[i] = fault_kinds[i].per_minute;
  return rates;
}

FaultRates FaultRates::none() {
  FaultRates rates;
  rates.per_minute.fill(0);
  return rates;
}

std::vector<Fault> plan_faults(std::uint64_t seed, const FaultRates& rates, std::uint32_t clients,
                               std::uint32_t run_ticks, std::uint32_t tick_rate_hz) {
  std::vector<Fault> out;
  const std::uint32_t seconds = run_ticks / tick_rate_hz;
  for (std::size_t k = 0; k < fault_kind_count; ++k) {
    const auto kind = static_cast<FaultKind>(k);
    if (rates[kind] <= 0) continue;
    const std::uint32_t subjects = concerns_server(kind) ? 1 : clients;
    for (std::uint32_t s = 0; s < subjects; ++s) {
      const std::uint16_t subject = concerns_server(kind) ? server_subject : static_cast<std::uint16_t>(s);
      for (std::uint32_t second = 0; second < seconds; ++second) {
        const std::uint64_t row = static_cast<std::uint64_t>(second) << 32 | s;
        plan_second(rng_for(seed, 0xfa0 + k, row), kind, subject, second, rates[kind], tick_rate_hz, out);
      }
    }
  }
  std::ranges::sort(out, comes_first);
  return out;
}

std::string to_text(std::span<const Fault> faults) {
  std::string out;
  for (const Fault& f : faults) {
    out += std::to_string(f.tick) + ' ' + std::to_string(f.ticks) + ' ' + std::string(name(f.kind)) + ' ';
    out += f.subject == server_subject ? "server" : std::to_string(f.subject);
    out += ' ' + std::to_string(f.amount) + '\n';
  }
  return out;
}

std::expected<std::vector<Fault>, std::string> faults_from_text(std::string_view text) {
  std::vector<Fault> out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto wrong = [number](const std::string& what) {
      return std::unexpected{"line " + std::to_string(number) + ": " + make_printable(what, 300)};
    };

    const std::string_view first = take_word(line);
    if (first.empty() || first.front() == '#') continue;
    Fault fault;
    if (!to_number(first, fault.tick)) return wrong("'" + std::string(first) + "' is no tick");
    const std::string_view lasts = take_word(line);
    if (!to_number(lasts, fault.ticks)) return wrong("'" + std::string(lasts) + "' is no number of ticks");
    const std::string_view kind = take_word(line);
    if (!to_kind(kind, fault.kind))
      return wrong("there is no fault '" + std::string(kind) + "'; there are " + known_kinds());
    const std::string_view subject = take_word(line);
    std::uint32_t client = server_subject;
    if (subject != "server" && (!to_number(subject, client) || client >= server_subject))
      return wrong("'" + std::string(subject) + "' is neither a client's number nor 'server'");
    if (concerns_server(fault.kind) != (client == server_subject))
      return wrong("'" + std::string(kind) + "' concerns " +
                   (concerns_server(fault.kind) ? "the server" : "one client, by its number"));
    fault.subject = static_cast<std::uint16_t>(client);
    const std::string_view amount = take_word(line);
    if (!to_number(amount, fault.amount) || !take_word(line).empty())
      return wrong("wants 'tick ticks kind subject amount'");
    out.push_back(fault);
  }
  std::ranges::sort(out, comes_first);
  return out;
}

std::expected<FaultRates, std::string> rates_from_text(std::string_view text, FaultRates rates,
                                                       std::string_view meant) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    double rate = 0;
    if (equals == std::string_view::npos || !to_rate(item.substr(equals + 1), rate) || rate > fault_rate_max)
      return std::unexpected{"'" + std::string(item) + "' is not " + std::string(meant)};
    FaultKind kind{};
    if (item.substr(0, equals) == "all")
      rates.per_minute.fill(rate);
    else if (to_kind(item.substr(0, equals), kind))
      rates[kind] = rate;
    else
      return std::unexpected{"there is no fault '" + std::string(item.substr(0, equals)) +
                             "'; there are all, " + known_kinds()};
  }
  return rates;
}

}  // namespace ashlar::simulation
