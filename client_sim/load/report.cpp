#include "client_sim/load/report.h"

#include <algorithm>
#include <map>

#include "client_sim/harness/format.h"
#include "client_sim/harness/version.h"

namespace ashlar::client_sim {
namespace {

constexpr std::size_t reasons_max = 8;
// A client that played shorter says nothing about rates.
constexpr Micros rate_after{2'000'000};

double seconds(Micros t) { return static_cast<double>(t.count()) / 1e6; }
double millis(Micros t) { return static_cast<double>(t.count()) / 1e3; }

/// Text as a JSON string.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// A JSON object, written key by key.
class Object {
 public:
  void add(const char* key, const std::string& json) {
    text_ += text_.empty() ? "{" : ", ";
    text_ += json_string(key) + ": " + json;
  }
  void number(const char* key, double value) { add(key, format("%.3f", value)); }
  void count(const char* key, std::uint64_t value) { add(key, std::to_string(value)); }
  void text(const char* key, std::string_view value) { add(key, json_string(value)); }
  void truth(const char* key, bool value) { add(key, value ? "true" : "false"); }
  std::string done() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace

std::uint64_t LoadReport::decode_errors() const {
  // Doubles and late packets are the network's doing, not errors.
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (reason != DropReason::duplicate && reason != DropReason::too_old) sum += drops[i];
  }
  return sum;
}

LoadReport sum_up(const std::vector<ClientOutcome>& outcomes, Micros duration) {
  LoadReport r;
  r.duration = duration;
  std::map<std::string, std::uint32_t> reasons;
  bool any_rate = false;
  for (const ClientOutcome& o : outcomes) {
    const ClientStats& s = o.stats;
    ++r.clients;
    r.joined += o.joined ? 1 : 0;
    const bool refused = o.state == ClientState::refused;
    // Whoever is still connecting or joining at the end was not let in.
    const bool dropped = !refused && (o.state == ClientState::lost || !o.joined);
    r.refused += refused ? 1 : 0;
    r.dropped += dropped ? 1 : 0;
    if (!o.own_clock) {
      r.starved += s.starved > 0 ? 1 : 0;
      r.rtt.merge(s.rtt);
      r.longest_gap = std::max(r.longest_gap, s.longest_gap);
    }
    const char* unfinished =
        s.packets_in == 0 ? "nobody answered before the run ended" : "no snapshot came before the run ended";
    if (refused || dropped) ++reasons[o.reason.empty() ? unfinished : o.reason];
    r.client_seconds += seconds(o.playing_for);
    r.joined_after_max = std::max(r.joined_after_max, s.joined_after);
    r.snapshots += s.snapshots;
    r.snapshots_complete += s.snapshots_complete;
    r.snapshots_overtaken += s.snapshots_overtaken;
    if (o.playing_for >= rate_after) {
      const double rate = static_cast<double>(s.snapshots) / seconds(o.playing_for);
      r.snapshots_per_s_min = any_rate ? std::min(r.snapshots_per_s_min, rate) : rate;
      any_rate = true;
    }
    r.packets_in += s.packets_in;
    r.packets_out += s.packets_out;
    r.bytes_in += s.bytes_in;
    r.bytes_out += s.bytes_out;
    r.rejoins += s.rejoins;
    r.resumes += s.resumes;
    r.fetched += s.fetched;
    r.fetched_bytes += s.fetched_bytes;
    r.acts_done += s.acts_done;
    r.blocks_changed += s.blocks_changed;
    r.acts_refused += s.acts_refused;
    r.commands += s.commands;
    r.commands_skipped += s.commands_skipped;
    for (std::size_t i = 0; i < r.cues_of.size(); ++i) r.cues_of[i] += s.cues_of[i];
    for (std::size_t i = 0; i < r.drops.size(); ++i) r.drops[i] += s.drops[i];
  }
  for (const auto& [reason, count] : reasons) {
    if (r.reasons.size() == reasons_max) break;
    r.reasons.push_back(std::to_string(count) + (count == 1 ? " client: " : " clients: ") + reason);
  }
  // Nobody played for long enough to be the slowest of all.
  if (!any_rate) r.snapshots_per_s_min = r.snapshots_per_s();
  return r;
}

namespace {

/// Precondition: snapshots told of leads. @return the lead that a share of them does not exceed; -1: late
int lead(const PredictionReport& p, double share) {
  std::uint64_t all = 0, sum = 0;
  for (const std::uint64_t n : p.leads) all += n;
  for (std::size_t i = 0; i < p.leads.size(); ++i)
    if (static_cast<double>(sum += p.leads[i]) >= share * static_cast<double>(all))
      return static_cast<int>(i) - 1;
  return -1;
}

bool any_lead(const PredictionReport& p) {
  return std::ranges::any_of(p.leads, [](std::uint64_t n) { return n > 0; });
}

double cm(const Histogram& um, double share) { return static_cast<double>(um.quantile(share).count()) / 1e4; }

constexpr std::array<const char*, cue_kind_count> cue_names{
    "shot",   "launch", "attack", "hurt",         "died",        "burst",  "step",
    "splash", "pickup", "use",    "plane_starts", "plane_stops", "digging"};
static_assert(cue_names.back() != nullptr, "each kind has its name");

/// What only shows, a second and client.
std::string cue_text(const LoadReport& r) {
  std::string out;
  for (std::size_t i = 0; i < r.cues_of.size(); ++i)
    if (r.cues_of[i] > 0 && r.client_seconds > 0)
      out += format("%s%s %.2f", out.empty() ? "" : ", ", cue_names[i],
                    static_cast<double>(r.cues_of[i]) / r.client_seconds);
  return out.empty() ? out : "cues           " + out + " /s a client\n";
}

std::string prediction_text(const PredictionReport& p) {
  if (p.clients == 0) return "";
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::string out = format(
      "prediction     %u clients, %llu of %llu ticks otherwise than foreseen, %.2f late a minute, %llu put "
      "elsewhere\n",
      p.clients, count(p.mispredicted), count(p.confirmed), p.late_per_minute(), count(p.put));
  out += format(
      "               corrections p50 %.2f cm, p99 %.2f cm, %.2f a minute above 2 cm; by bodies p50 %.2f cm, "
      "p99 %.2f cm, %.2f a minute above 2 cm\n",
      cm(p.corrections_um, 0.5), cm(p.corrections_um, 0.99), p.per_minute(p.visible), cm(p.crowd_um, 0.5),
      cm(p.crowd_um, 0.99), p.per_minute(p.crowd_visible));
  if (any_lead(p))
    out +=
        format("               commands waited %d, %d, %d ticks (p1, p50, p99), others shown %.0f ms back\n",
               lead(p, 0.01), lead(p, 0.5), lead(p, 0.99), millis(p.others_lag.quantile(0.5)));
  const std::uint64_t hits = p.hits.agreed + p.hits.denied;
  out += hits > 0 ? format("               hits as seen %.1f %% of %llu", 100 * p.hits.share(), count(hits))
                  : std::string("               hits as seen: none to judge");
  out += format("; beyond the limit %llu, pushed %llu, not known %llu\n", count(p.hits.beyond),
                count(p.hits.displaced), count(p.hits.untold));
  out += format(
      "               a tick took %.1f us: %.1f to read and write messages, %.1f to foresee, %.1f to show\n",
      p.us_per_tick(p.read_ns + p.predict_ns + p.show_ns), p.us_per_tick(p.read_ns),
      p.us_per_tick(p.predict_ns), p.us_per_tick(p.show_ns));
  return out;
}

std::string spy_text(const SpyReport& s) {
  if (s.spies == 0) return "";
  return format(
      "spying         %u clients were told of others for %.0f s in all, and for %.2f %% of that did not see "
      "them "
      "within the next 200 ms\n",
      s.spies, s.told_s, 100 * s.share());
}

std::string cheat_text(const CheatReport& c) {
  if (!c.cheat) return "";
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  return format(
             "cheats         %u clients by %s, %u honest: fastest second %.2f m (honest %.2f), gained %.2f; "
             "longest "
             "step of a tick %.3f m (honest %.3f), gained %.3f; blocks dug out of reach %llu\n"
             "               most shots of a second %u (honest %u), gained %.0f; hits %llu of %llu shots "
             "(honest "
             "%llu of "
             "%llu), gained %.2f\n",
             c.cheating, std::string(name(*c.cheat)).c_str(), c.honest, c.second_m, c.honest_second_m,
             c.gained_second_m(), c.step_m, c.honest_step_m, c.gained_step_m(), count(c.far_dug),
             c.shots_second, c.honest_shots_second, c.gained_shots(), count(c.hits), count(c.shots),
             count(c.honest_hits), count(c.honest_shots), c.gained_hits()) +
         spy_text(c.spied);
}

std::string cheat_json(const CheatReport& c) {
  Object o;
  o.text("cheat", c.cheat ? std::string(name(*c.cheat)) : "none");
  o.count("cheating", c.cheating);
  o.count("honest", c.honest);
  o.number("second_m", c.second_m);
  o.number("honest_second_m", c.honest_second_m);
  o.number("gained_second_m", c.gained_second_m());
  o.number("step_m", c.step_m);
  o.number("honest_step_m", c.honest_step_m);
  o.number("gained_step_m", c.gained_step_m());
  o.count("blocks_dug_out_of_reach", c.far_dug);
  o.count("shots_second", c.shots_second);
  o.count("honest_shots_second", c.honest_shots_second);
  o.number("gained_shots", c.gained_shots());
  o.count("hits", c.hits);
  o.count("shots", c.shots);
  o.count("honest_hits", c.honest_hits);
  o.count("honest_shots", c.honest_shots);
  o.number("gained_hits", c.gained_hits());
  o.number("spied_s", c.spied.told_s);
  o.number("spied_unseen_share", c.spied.share());
  return o.done();
}

std::string prediction_json(const PredictionReport& p) {
  Object o;
  o.count("clients", p.clients);
  o.count("ticks", p.ticks);
  o.count("confirmed", p.confirmed);
  o.count("mispredicted", p.mispredicted);
  o.count("late", p.late);
  o.count("corrections_above_2_cm", p.visible);
  o.count("corrections_above_2_cm_by_bodies", p.crowd_visible);
  o.count("put_elsewhere", p.put);
  o.number("late_per_minute", p.late_per_minute());
  o.number("corrections_above_2_cm_per_minute", p.per_minute(p.visible));
  o.number("corrections_above_2_cm_by_bodies_per_minute", p.per_minute(p.crowd_visible));
  // What nothing was measured of is left out.
  if (p.hits.agreed + p.hits.denied > 0) o.number("hits_as_seen_share", p.hits.share());
  o.count("hits_as_seen", p.hits.agreed);
  o.count("hits_not_as_seen", p.hits.denied);
  o.count("hits_beyond_limit", p.hits.beyond);
  o.count("hits_pushed", p.hits.displaced);
  o.count("hits_untold", p.hits.untold);
  o.number("correction_cm_p50", cm(p.corrections_um, 0.5));
  o.number("correction_cm_p99", cm(p.corrections_um, 0.99));
  o.number("correction_by_bodies_cm_p50", cm(p.crowd_um, 0.5));
  o.number("correction_by_bodies_cm_p99", cm(p.crowd_um, 0.99));
  if (any_lead(p)) {
    o.number("lead_ticks_p1", lead(p, 0.01));
    o.number("lead_ticks_p50", lead(p, 0.5));
    o.number("lead_ticks_p99", lead(p, 0.99));
  }
  o.number("others_lag_ms", millis(p.others_lag.quantile(0.5)));
  o.number("read_us_per_tick", p.us_per_tick(p.read_ns));
  o.number("predict_us_per_tick", p.us_per_tick(p.predict_ns));
  o.number("show_us_per_tick", p.us_per_tick(p.show_ns));
  return o.done();
}

void add_how_it_felt(Object& o, const LoadReport& r) {
  o.add("prediction", prediction_json(r.prediction));
  o.add("cheats", cheat_json(r.cheats));
}

/// What light clients' companions were told of each other, and how they came through silences.
std::string crowd_text(const LoadReport& r) {
  std::string out;
  if (r.light > 0)
    out += format(
        "light          %u of the clients; the others were told %llu places of each other, %llu wrong, and "
        "knew "
        "of %.1f within 64 m\n",
        r.light, static_cast<unsigned long long>(r.places_compared),
        static_cast<unsigned long long>(r.places_wrong), r.seen_near);
  if (r.gaps > 0)
    out += format(
        "silences       %llu, and within %u ticks after each all around were known again; not yet %u\n",
        static_cast<unsigned long long>(r.gaps), r.agreed_after_ticks, r.disagreeing);
  return out;
}

/// Of a run that failed.
std::string why_failed(const LoadReport& r) {
  std::string why;
  const auto count = [&why](std::uint64_t number, const char* what) {
    if (number > 0) why += (why.empty() ? "" : ", ") + std::to_string(number) + " " + what;
  };
  count(r.refused, "refused");
  count(r.dropped, "dropped");
  count(r.starved, "starved");
  count(r.never_started(), "never started");
  count(r.places_wrong, "wrong places");
  if (r.nothing_attacked()) why += std::string(why.empty() ? "" : ", ") + "no attack was sent";
  return why;
}

std::string match_text(const LoadScore& s) {
  if (s.match == 0 || s.phase == MatchPhase::open) return "";
  return format("match          number %u, %s, %u%s players, best %s with %d\n", s.match,
                std::string(name(s.phase)).c_str(), s.players, s.players >= score_rows_max ? " or more" : "",
                s.best.c_str(), s.best_score);
}

void add_crowd(Object& o, const LoadReport& r) {
  o.count("light", r.light);
  o.count("places_compared", r.places_compared);
  o.count("places_wrong", r.places_wrong);
  o.number("seen_near", r.seen_near);
  o.count("gaps", r.gaps);
  o.count("agreed_after_ticks", r.agreed_after_ticks);
  o.count("disagreeing", r.disagreeing);
}

std::string score_json(const LoadScore& score) {
  Object o;
  o.count("match", score.match);
  o.text("phase", name(score.phase));
  o.count("players", score.players);
  o.text("best", score.best);
  o.number("best_score", score.best_score);
  return o.done();
}

void add_explored(Object& o, const LoadReport& r) {
  std::string explored = "[";
  for (const Explored& e : r.explored) {
    Object map;
    map.text("map", e.map);
    map.count("entered", e.entered);
    map.count("sectors", e.sectors);
    explored += (explored.size() > 1 ? ", " : "") + map.done();
  }
  o.add("explored", explored + "]");
}

}  // namespace

std::string to_text(const LoadReport& r) {
  const double span = std::max(seconds(r.duration), 1e-3);
  std::string out;
  out += format("clients        %u joined of %u, %u refused, %u dropped, %u starved; slowest join %.2f s\n",
                r.joined, r.clients, r.refused, r.dropped, r.starved, seconds(r.joined_after_max));
  for (const std::string& reason : r.reasons) out += "               " + reason + "\n";
  if (r.rejoins > 0)
    out += format("               joined again %llu times after the server was lost\n",
                  static_cast<unsigned long long>(r.rejoins));
  if (r.resumes > 0)
    out += format("               %llu sessions went on over another connection\n",
                  static_cast<unsigned long long>(r.resumes));
  if (r.fetched > 0)
    out += format("fetched        %llu maps and props from the server, %.1f kB\n",
                  static_cast<unsigned long long>(r.fetched), static_cast<double>(r.fetched_bytes) / 1e3);
  out += format("round trip     p50 %.1f ms, p95 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                millis(r.rtt.quantile(0.5)), millis(r.rtt.quantile(0.95)), millis(r.rtt.quantile(0.99)),
                millis(r.rtt.max()));
  const double complete =
      r.snapshots == 0 ? 0
                       : 100 * static_cast<double>(r.snapshots_complete) / static_cast<double>(r.snapshots);
  out += format("snapshots      %.1f /s a client (least %.1f), %.2f %% complete, longest gap %.0f ms\n",
                r.snapshots_per_s(), r.snapshots_per_s_min, complete, millis(r.longest_gap));
  if (r.snapshots_overtaken > 0 && r.client_seconds > 0)
    out += format("               %.1f /s more were overtaken by newer ones\n",
                  static_cast<double>(r.snapshots_overtaken) / r.client_seconds);
  out += match_text(r.score);
  if (r.acts_done + r.acts_refused > 0)
    out += format("blocks         %llu dug or placed, %llu acts refused\n",
                  static_cast<unsigned long long>(r.blocks_changed),
                  static_cast<unsigned long long>(r.acts_refused));
  out += format("received       %.1f kB/s a client, %.2f MB/s and %.0f packets/s in all\n",
                r.client_seconds > 0 ? static_cast<double>(r.bytes_in) / r.client_seconds / 1e3 : 0.0,
                static_cast<double>(r.bytes_in) / span / 1e6, static_cast<double>(r.packets_in) / span);
  out += format("sent           %.1f kB/s a client, %.2f MB/s and %.0f packets/s in all\n",
                r.client_seconds > 0 ? static_cast<double>(r.bytes_out) / r.client_seconds / 1e3 : 0.0,
                static_cast<double>(r.bytes_out) / span / 1e6, static_cast<double>(r.packets_out) / span);
  out +=
      format("commands       %llu, %llu tick numbers skipped\n", static_cast<unsigned long long>(r.commands),
             static_cast<unsigned long long>(r.commands_skipped));
  out += cue_text(r);
  std::string drops;
  for (std::size_t i = 0; i < r.drops.size(); ++i)
    if (r.drops[i] > 0)
      drops += " " + std::string(name(static_cast<DropReason>(i))) + "=" + std::to_string(r.drops[i]);
  out += "errors         " + std::to_string(r.decode_errors()) + (drops.empty() ? "" : "; dropped" + drops) +
         "\n";
  if (r.send_full > 0 || r.late_polls > 0)
    out +=
        format("this machine   %llu packets found no room in our own sockets, %llu turns came late\n",
               static_cast<unsigned long long>(r.send_full), static_cast<unsigned long long>(r.late_polls));
  if (r.hostile > 0 || r.attacks_sent > 0)
    out += format("attacks        %llu sent\n", static_cast<unsigned long long>(r.attacks_sent));
  out += crowd_text(r);
  for (const Explored& e : r.explored)
    out += format("explored       %s: %u of %u sectors entered\n", e.map.c_str(), e.entered, e.sectors);
  out += prediction_text(r.prediction);
  out += cheat_text(r.cheats);
  return out + "result         " + (r.passed() ? "passed" : "FAILED: " + why_failed(r)) + "\n";
}

std::string to_json(const LoadReport& r, const LoadOptions& options) {
  const double span = std::max(seconds(r.duration), 1e-3);
  Object o;
  o.text("version", version());
  o.text("server", options.server);
  o.text("transport", options.transport == Transport::tcp ? "tcp" : "udp");
  o.count("seed", options.seed);
  o.number("duration_s", seconds(r.duration));
  o.truth("passed", r.passed());
  o.count("wanted", r.wanted);
  o.truth("interrupted", r.interrupted);
  o.count("clients", r.clients);
  o.count("joined", r.joined);
  o.count("refused", r.refused);
  o.count("dropped", r.dropped);
  o.count("starved", r.starved);
  o.count("rejoins", r.rejoins);
  o.count("resumes", r.resumes);
  o.count("fetched", r.fetched);
  o.count("fetched_bytes", r.fetched_bytes);
  o.count("acts_done", r.acts_done);
  o.count("blocks_changed", r.blocks_changed);
  o.count("acts_refused", r.acts_refused);
  if (r.score.match > 0) o.add("score", score_json(r.score));
  o.number("joined_after_max_s", seconds(r.joined_after_max));
  Object rtt;
  rtt.count("samples", r.rtt.count());
  rtt.number("p50", millis(r.rtt.quantile(0.5)));
  rtt.number("p95", millis(r.rtt.quantile(0.95)));
  rtt.number("p99", millis(r.rtt.quantile(0.99)));
  rtt.number("max", millis(r.rtt.max()));
  o.add("rtt_ms", rtt.done());
  o.count("snapshots", r.snapshots);
  o.count("snapshots_complete", r.snapshots_complete);
  o.count("snapshots_overtaken", r.snapshots_overtaken);
  o.number("snapshots_per_s_client", r.snapshots_per_s());
  o.number("snapshots_per_s_client_min", r.snapshots_per_s_min);
  o.number("longest_gap_ms", millis(r.longest_gap));
  o.count("packets_in", r.packets_in);
  o.count("packets_out", r.packets_out);
  o.count("bytes_in", r.bytes_in);
  o.count("bytes_out", r.bytes_out);
  o.number("bytes_in_per_s", static_cast<double>(r.bytes_in) / span);
  o.number("bytes_out_per_s", static_cast<double>(r.bytes_out) / span);
  o.count("commands", r.commands);
  o.count("commands_skipped", r.commands_skipped);
  o.count("decode_errors", r.decode_errors());
  Object drops;
  for (std::size_t i = 0; i < r.drops.size(); ++i)
    drops.count(std::string(name(static_cast<DropReason>(i))).c_str(), r.drops[i]);
  o.add("drops", drops.done());
  Object cues;
  for (std::size_t i = 0; i < r.cues_of.size(); ++i) cues.count(cue_names[i], r.cues_of[i]);
  o.add("cues", cues.done());
  o.count("send_full", r.send_full);
  o.count("late_polls", r.late_polls);
  o.count("hostile", r.hostile);
  o.count("attacks_sent", r.attacks_sent);
  add_crowd(o, r);
  add_how_it_felt(o, r);
  add_explored(o, r);
  std::string reasons = "[";
  for (const std::string& reason : r.reasons)
    reasons += (reasons.size() > 1 ? ", " : "") + json_string(reason);
  o.add("reasons", reasons + "]");
  return o.done() + "\n";
}

}  // namespace ashlar::client_sim
