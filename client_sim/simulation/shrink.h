#pragma once
#include <functional>
#include <span>
#include <vector>

#include "client_sim/simulation/fault.h"

namespace ashlar::simulation {

/// What shrink() came to.
struct Shrunk {
  std::vector<Fault> faults;  ///< still breaks; no single one can be left out unless the budget ran out
  std::size_t runs = 0;       ///< how often `breaks` was asked
};

/// Makes a list of faults that breaks something as short as it can with at most `runs_max` trials: leaves out
/// halves, quarters, ... and keeps what still breaks. The first trial is the empty list, as many breaks need
/// no fault at all.
///
/// Precondition: breaks(faults) holds. Deterministic where `breaks` is. Cost: that of its trials.
/// Source: delta debugging (Zeller and Hildebrandt 2002), the complement half of ddmin.
Shrunk shrink(std::vector<Fault> faults, std::size_t runs_max,
              const std::function<bool(std::span<const Fault>)>& breaks);

}  // namespace ashlar::simulation
