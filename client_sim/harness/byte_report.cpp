#include "client_sim/harness/byte_report.h"

#include <algorithm>
#include <array>
#include <functional>

#include "client_sim/harness/format.h"
#include "world/sim/kinds.h"
#include "world/sim/pickups.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<const char*, block_field_count> field_names{
    "id", "place", "velocity", "yaw", "pitch", "health", "state", "flags", "kind"};
constexpr std::array<const char*, block_field_count> colours{
    "#8c564b", "#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#d62728", "#7f7f7f", "#bcbd22", "#17becf"};
constexpr std::size_t cells_shown = 8, clients_shown = 8;

std::string kind_name(EntityKind kind) {
  const auto number = static_cast<unsigned>(kind);
  if (kind == EntityKind::player) return "player";
  if (kind == EntityKind::item) return "items of blocks";
  if (kind >= item_entity_kind(0)) {
    const unsigned item = number - static_cast<unsigned>(item_entity_kind(0));
    if (item >= item_kind_count) return format("kind %u", number);
    return format("item %u", static_cast<unsigned>(item_things[item]));
  }
  if (kind >= projectile_entity_kind(0)) return format("projectile %u", number - 128);
  return format("monster %u", number - 16);
}

/// All clients in one, and the seconds that they played together.
struct Sum {
  ByteMeter meter;
  double seconds = 0;
};

Sum sum_of(const std::vector<ClientBytes>& clients) {
  Sum sum;
  for (const ClientBytes& client : clients) sum.meter.merge(client.meter), sum.seconds += client.seconds;
  sum.seconds = std::max(sum.seconds, 1e-3);
  return sum;
}

std::string uses_text(const Sum& sum) {
  std::string out = "what                  bytes/s   share\n";
  const auto row = [&](const char* what, std::uint64_t bytes, std::uint64_t whole) {
    out += format("  %-17s %9.1f  %5.1f %%\n", what, static_cast<double>(bytes) / sum.seconds,
                  whole == 0 ? 0.0 : 100 * static_cast<double>(bytes) / static_cast<double>(whole));
  };
  row("down", sum.meter.bytes_down(), sum.meter.bytes_down());
  for (std::size_t i = 0; i < byte_use_count; ++i) {
    const auto use = static_cast<ByteUse>(i);
    if (use == ByteUse::inputs) row("up", sum.meter.bytes_up(), sum.meter.bytes_up());
    const bool up = use >= ByteUse::inputs;
    if (sum.meter.bytes(use) > 0)
      row(("  " + std::string(name(use))).c_str(), sum.meter.bytes(use),
          up ? sum.meter.bytes_up() : sum.meter.bytes_down());
  }
  return out;
}

/// The largest first.
std::string messages_text(const Sum& sum) {
  if (sum.meter.messages().empty()) return "";
  std::vector<std::pair<std::string_view, MessageBytes>> messages(sum.meter.messages().begin(),
                                                                  sum.meter.messages().end());
  std::ranges::sort(messages, [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  std::string out = "\nstreams               bytes/s  messages/s  bytes each\n";
  for (const auto& [what, all] : messages)
    out += format("  %-17s %9.1f %11.2f %11.1f\n", std::string(what).c_str(),
                  static_cast<double>(all.bytes) / sum.seconds, static_cast<double>(all.count) / sum.seconds,
                  static_cast<double>(all.bytes) / static_cast<double>(all.count));
  return out;
}

std::string kinds_text(const Sum& sum) {
  if (sum.meter.kinds().empty()) return "";
  std::string out = "\nblocks, bytes/s     ";
  for (const char* field : field_names) out += format(" %8s", field);
  out += "      all  changes/s  bits each  whole/s\n";
  for (const auto& [kind, bytes] : sum.meter.kinds()) {
    out += format("  %-17s ", kind_name(kind).c_str());
    for (const std::uint64_t bits : bytes.bits)
      out += format(" %8.1f", static_cast<double>(bits) / 8 / sum.seconds);
    const auto told = static_cast<double>(std::max<std::uint64_t>(bytes.changes + bytes.wholes, 1));
    out +=
        format(" %8.1f %10.1f %10.1f %8.2f\n", static_cast<double>(bytes.all_bits()) / 8 / sum.seconds,
               static_cast<double>(bytes.changes) / sum.seconds, static_cast<double>(bytes.all_bits()) / told,
               static_cast<double>(bytes.wholes) / sum.seconds);
  }
  out +=
      format("  counts and runs   %82.1f\n", static_cast<double>(sum.meter.frame_bits()) / 8 / sum.seconds);
  return out;
}

std::string cells_text(const Sum& sum) {
  std::vector<std::pair<std::uint64_t, CellCoord>> cells;
  for (const auto& [cell, bytes] : sum.meter.cells()) cells.emplace_back(bytes, cell);
  std::ranges::sort(cells, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string out;
  if (!cells.empty()) out += format("\ncells of 64 m, %zu in all; bytes/s of blocks\n", cells.size());
  for (std::size_t i = 0; i < std::min(cells.size(), cells_shown); ++i)
    out += format("  %4d %4d %4d    %9.1f\n", cells[i].second.x, cells[i].second.y, cells[i].second.z,
                  static_cast<double>(cells[i].first) / sum.seconds);
  return out;
}

double rate(std::uint64_t bytes, double seconds) {
  return static_cast<double>(bytes) / std::max(seconds, 1e-3);
}

std::string clients_text(const std::vector<ClientBytes>& all) {
  std::vector<const ClientBytes*> clients;
  clients.reserve(all.size());
  for (const ClientBytes& client : all) clients.push_back(&client);
  // Those of one rate in the order in which they came: they lie in one vector.
  std::ranges::sort(clients, [](const ClientBytes* a, const ClientBytes* b) {
    const double of_a = rate(a->meter.bytes_down(), a->seconds);
    const double of_b = rate(b->meter.bytes_down(), b->seconds);
    return of_a > of_b || (of_a == of_b && std::less{}(a, b));
  });
  std::string out = "\nclients                 down       up  bytes/s\n";
  for (std::size_t i = 0; i < clients.size(); ++i) {
    // The hungriest and, where not all are shown, the one that gets least.
    if (i + 1 >= clients_shown && i + 1 < clients.size()) continue;
    const ClientBytes& c = *clients[i];
    out += format("  %-17s %9.1f %8.1f\n", c.name.c_str(), rate(c.meter.bytes_down(), c.seconds),
                  rate(c.meter.bytes_up(), c.seconds));
  }
  return out;
}

}  // namespace

std::string ByteReport::sum_line() const {
  const Sum sum = sum_of(clients);
  std::vector<std::pair<std::uint64_t, ByteUse>> uses;
  uses.reserve(static_cast<std::size_t>(ByteUse::inputs));
  for (std::size_t i = 0; i < static_cast<std::size_t>(ByteUse::inputs); ++i)
    uses.emplace_back(sum.meter.bytes(static_cast<ByteUse>(i)), static_cast<ByteUse>(i));
  std::ranges::sort(uses, std::ranges::greater{});
  std::string out = format("%.2f kB/s down, %.2f kB/s up;", rate(sum.meter.bytes_down(), sum.seconds) / 1e3,
                           rate(sum.meter.bytes_up(), sum.seconds) / 1e3);
  for (std::size_t i = 0; i < 4; ++i)
    out += format("%s %s %.1f %%", i == 0 ? "" : ",", std::string(name(uses[i].second)).c_str(),
                  100 * static_cast<double>(uses[i].first) /
                      static_cast<double>(std::max<std::uint64_t>(sum.meter.bytes_down(), 1)));
  return out + "\n";
}

std::string ByteReport::text() const {
  const Sum sum = sum_of(clients);
  return format("%zu clients, %.1f s of play in all\n", clients.size(), sum.seconds) + uses_text(sum) +
         messages_text(sum) + kinds_text(sum) + cells_text(sum) + clients_text(clients);
}

std::string ByteReport::svg() const {
  const Sum sum = sum_of(clients);
  constexpr int left = 150, row_height = 22, width = 900;
  double longest = 1;
  for (std::size_t i = 0; i < byte_use_count; ++i)
    longest = std::max(longest, rate(sum.meter.bytes(static_cast<ByteUse>(i)), sum.seconds));
  const double scale = (width - left - 90) / longest;
  std::string body;
  int y = 40;
  const auto bar = [&](double x, double bytes, const char* colour, const char* what) {
    body +=
        format("<rect x='%.1f' y='%d' width='%.1f' height='16' fill='%s'><title>%s %.1f B/s</title></rect>\n",
               left + x * scale, y, bytes * scale, colour, what, bytes);
  };
  const auto label = [&](const std::string& what, double bytes) {
    body += format("<text x='%d' y='%d' text-anchor='end'>%s</text>\n", left - 8, y + 13, what.c_str());
    body += format("<text x='%.1f' y='%d'>%.1f</text>\n", left + bytes * scale + 6, y + 13, bytes);
    y += row_height;
  };
  for (std::size_t i = 0; i < byte_use_count; ++i) {
    const auto use = static_cast<ByteUse>(i);
    const double bytes = rate(sum.meter.bytes(use), sum.seconds);
    if (bytes == 0) continue;
    bar(0, bytes, use >= ByteUse::inputs ? "#c7c7c7" : "#aec7e8", std::string(name(use)).c_str());
    label(std::string(name(use)), bytes);
  }
  y += row_height;
  for (std::size_t f = 0; f < block_field_count; ++f)
    body += format("<text x='%d' y='%d' fill='%s'>%s</text>\n", left + static_cast<int>(f) * 75, y,
                   colours[f], field_names[f]);
  y += 8;
  for (const auto& [kind, bytes] : sum.meter.kinds()) {
    double x = 0;
    for (std::size_t f = 0; f < block_field_count; ++f) {
      const double part = static_cast<double>(bytes.bits[f]) / 8 / sum.seconds;
      if (part > 0) bar(x, part, colours[f], field_names[f]);
      x += part;
    }
    label(kind_name(kind), x);
  }
  return format(
             "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
             "font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
             width, y + 10) +
         format(
             "<text x='10' y='20' font-size='14'>bytes a second of one client: %.1f down, %.1f up</text>\n",
             rate(sum.meter.bytes_down(), sum.seconds), rate(sum.meter.bytes_up(), sum.seconds)) +
         body + "</svg>\n";
}

}  // namespace ashlar::client_sim
