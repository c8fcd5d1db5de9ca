#include "client_sim/simulation/shrink.h"

#include <algorithm>

namespace ashlar::simulation {

Shrunk shrink(std::vector<Fault> faults, std::size_t runs_max,
              const std::function<bool(std::span<const Fault>)>& breaks) {
  Shrunk out{std::move(faults), 0};
  if (out.faults.empty() || runs_max == 0) return out;
  ++out.runs;
  if (breaks({})) {
    out.faults.clear();
    return out;
  }

  std::size_t parts = 2;
  std::vector<Fault> rest;
  while (out.faults.size() > 1) {
    parts = std::min(parts, out.faults.size());
    bool shorter = false;
    for (std::size_t part = 0; part < parts; ++part) {
      if (out.runs == runs_max) return out;
      const std::size_t count = out.faults.size();
      const std::size_t begin = part * count / parts, end = (part + 1) * count / parts;
      rest.assign(out.faults.begin(), out.faults.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), out.faults.begin() + static_cast<std::ptrdiff_t>(end), out.faults.end());
      ++out.runs;
      if (!breaks(rest)) continue;
      out.faults.swap(rest);
      parts = std::max<std::size_t>(2, parts - 1);
      shorter = true;
      break;
    }
    if (shorter) continue;
    if (parts == out.faults.size()) return out;
    parts *= 2;
  }
  return out;
}

}  // namespace ashlar::simulation
