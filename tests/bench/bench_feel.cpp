// How a match feels over round trips, losses and jitters: what is corrected, how long commands wait, how old
// the picture of the others is, and whether shots hit whom their players saw. usage: bench_feel [--seconds N]
// [--players N] [--rate HZ] [--svg FOLDER] Simulated time: the table is the same on every machine. The last
// line is measured: what predicting costs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "client_sim/simulation/cheats.h"
#include "client_sim/simulation/feel.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

struct Options {
  double seconds = 30;
  std::uint32_t players = 8;
  std::uint16_t rate_hz = 60;
  std::string svg;
};

struct Row {
  int round_trip_ms, jitter_ms;
  double loss;
  FeelReport report;
};

double cm(const Histogram& um, double share) { return static_cast<double>(um.quantile(share).count()) / 1e4; }
double ms(const Histogram& h, double share) { return static_cast<double>(h.quantile(share).count()) / 1e3; }
double per_minute(std::uint64_t n, const FeelReport& r) { return static_cast<double>(n) / r.player_minutes; }

double share(std::uint64_t part, std::uint64_t all) {
  return 100 * static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(1, all));
}

void print_head() {
  std::printf(
      "%5s %5s %5s | %9s %9s %8s %8s | %4s %4s %4s %8s | %6s %6s %6s %6s | %6s %6s %6s %6s %6s | %s\n", "rtt",
      "loss", "jitter", "wrong/min", "seen/min", "p50 cm", "p99 cm", "lead", "p50", "p99", "late/min",
      "others", "excess", "on", "off cm", "shots", "alike", "beyond", "pushed", "lost", "covered");
}

void print(const Row& row) {
  const FeelReport& r = row.report;
  const std::uint64_t seen = r.hits_seen();
  std::printf(
      "%5d %4.0f%% %5d | %9.2f %9.2f %8.2f %8.2f | %4d %4d %4d %8.2f | %3.0f ms %6.2f %5.2f%% %6.2f | %6llu "
      "%5.1f%% "
      "%5.1f%% %5.1f%% %5.1f%% | %.0f ms\n",
      row.round_trip_ms, 100 * row.loss, row.jitter_ms, per_minute(r.mispredicted, r),
      per_minute(r.network_visible + r.unknown_visible, r), cm(r.network_um, 0.5), cm(r.network_um, 0.99),
      r.lead(0.01), r.lead(0.5), r.lead(0.99), per_minute(r.late, r), ms(r.others_age, 0.5), r.excess_max(),
      share(r.extrapolated, r.shown), cm(r.frame_off_um, 0.99), static_cast<unsigned long long>(seen),
      100 * r.hit_share(), share(r.hits_beyond, seen), share(r.hits_displaced, seen),
      share(r.hits_lost, seen), ms(r.behind_cover, 0.99));
  std::fflush(stdout);
}

/// One curve for each loss and jitter over the round trip.
template <typename Value>
void plot(const std::string& file, const char* title, const std::vector<Row>& rows, Value&& value) {
  constexpr double width = 640, height = 360, left = 60, bottom = 40, top = 40, right = 150;
  double most = 1e-9;
  for (const Row& row : rows) most = std::max(most, value(row.report));
  const auto x = [&](double round_trip_ms) { return left + (width - left - right) * round_trip_ms / 160; };
  const auto y = [&](double v) { return height - bottom - (height - bottom - top) * v / most; };
  std::ofstream out(file);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
      << "' font-family='sans-serif' font-size='12'><rect width='100%' height='100%' fill='white'/><text x='"
      << left << "' y='20' font-size='14'>" << title << "</text>";
  for (int i = 0; i <= 4; ++i)
    out << "<line x1='" << left << "' x2='" << width - right << "' y1='" << y(most * i / 4) << "' y2='"
        << y(most * i / 4) << "' stroke='#ddd'/><text x='4' y='" << y(most * i / 4) + 4 << "'>"
        << std::round(most * i / 4 * 100) / 100 << "</text>";
  static constexpr const char* colours[]{"#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e",
                                         "#e6ab02", "#a6761d", "#666666", "#1f78b4"};
  int curve = 0;
  for (const double loss : {0.0, 0.01, 0.05})
    for (const int jitter : {0, 10, 30}) {
      out << "<polyline fill='none' stroke-width='2' stroke='" << colours[curve] << "' points='";
      for (const Row& row : rows)
        if (row.loss == loss && row.jitter_ms == jitter)
          out << x(row.round_trip_ms) << ',' << y(value(row.report)) << ' ';
      out << "'/><text x='" << width - right + 8 << "' y='" << top + 16 * curve << "' fill='"
          << colours[curve] << "'>loss " << 100 * loss << " %, jitter " << jitter << "</text>";
      ++curve;
    }
  for (const int round_trip : {20, 80, 150})
    out << "<text x='" << x(round_trip) - 16 << "' y='" << height - bottom + 18 << "'>" << round_trip
        << " ms</text>";
  out << "</svg>\n";
}

void plots(const std::string& folder, const std::vector<Row>& rows) {
  plot(folder + "/corrections.svg", "corrections above 2 cm a player and minute, of the network's making",
       rows, [](const FeelReport& r) { return per_minute(r.network_visible + r.unknown_visible, r); });
  plot(folder + "/others_age.svg", "age of the others' picture behind the newest command, ms", rows,
       [](const FeelReport& r) { return ms(r.others_age, 0.5); });
  plot(folder + "/hits.svg", "shots judged as their players saw them, per cent", rows,
       [](const FeelReport& r) { return 100 * r.hit_share(); });
  plot(folder + "/behind_cover.svg", "how long those who were hit had been behind cover, p99, ms", rows,
       [](const FeelReport& r) { return ms(r.behind_cover, 0.99); });
  std::printf("plots: %s/{corrections,others_age,hits,behind_cover}.svg\n", folder.c_str());
}

void print_cheats(double seconds) {
  std::printf("\nwhat cheating gains in %.0f s\n", seconds);
  for (const CheatFigure& f : cheat_figures(seconds))
    std::printf("%-50s %-26s honest %8.2f  cheating %8.2f  gained %.2f\n", f.cheat.c_str(), f.measure.c_str(),
                f.honest, f.cheating, f.gained());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--seconds") options.seconds = std::atof(argv[i + 1]);
    if (flag == "--players") options.players = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    if (flag == "--rate") options.rate_hz = static_cast<std::uint16_t>(std::atoi(argv[i + 1]));
    if (flag == "--svg") options.svg = argv[i + 1];
  }
  if (options.players < 1 || options.players > 64 || options.seconds <= 0 || options.rate_hz < 10 ||
      options.rate_hz > 128)
    return std::fprintf(stderr,
                        "bench_feel: --players takes 1 to 64, --rate 10 to 128, --seconds more than 0\n"),
           2;
  std::printf(
      "%u players at %u Hz, %.0f s each; rtt and jitter in ms; wrong: ticks predicted otherwise, whatever "
      "the "
      "cause;\nseen: corrections above 2 cm of the network's making; lead: ticks that commands waited, "
      "p1\nothers: "
      "how old their picture is, which is what who peeks gains on who holds; excess: of it, snapshots "
      "beyond\nwhat way, waiting and jitter ask for, of the player with most; on: shown by going on\nshots: "
      "whose player saw them hit; alike: judged so, of those seen within the limit and shot from there;\n"
      "of all seen: beyond the limit, from elsewhere as bodies pushed, lost with their commands\ncovered: "
      "for "
      "how long those who were hit had been out of sight, p99\n",
      options.players, unsigned{options.rate_hz}, options.seconds);
  print_head();
  std::vector<Row> rows;
  for (const int round_trip : {20, 80, 150})
    for (const double loss : {0.0, 0.01, 0.05})
      for (const int jitter : {0, 10, 30}) {
        FeelConfig config;
        config.players = options.players;
        config.seconds = options.seconds;
        config.tick_rate_hz = options.rate_hz;
        config.cover = true;
        config.round_trip = Micros{1000 * round_trip};
        config.jitter = Micros{1000 * jitter};
        config.loss = loss;
        rows.push_back({round_trip, jitter, loss, run_feel(config)});
        print(rows.back());
      }
  print_cheats(std::max(5.0, options.seconds));
  if (!options.svg.empty()) plots(options.svg, rows);
}
