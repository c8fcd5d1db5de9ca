#include "client_sim/simulation/match.h"
#include "world/math/random.h"

// Of a match: how its faults begin and end.

namespace ashlar::simulation {

/// The clients' fault, all of them, and none of the server's.
void Match::freeze(int more) {
  freezes_ += more;
  thawed_since_ = now_;
  for (const auto& seat : seats_) seat->set_frozen(freezes_ > 0, now_);
}

/// Nobody's trouble but the store's: play goes on.
bool Match::begin_disk_fault(const Fault& fault) {
  if (fault.kind == FaultKind::disk_full && disk_full_++ == 0) kept_->set_full(true);
  if (fault.kind == FaultKind::disk_errors) kept_->set_failing(fault.amount);
  return fault.kind == FaultKind::disk_full || fault.kind == FaultKind::disk_errors;
}

bool Match::end_disk_fault(const Fault& fault) {
  if (fault.kind == FaultKind::disk_full && --disk_full_ == 0) kept_->set_full(false);
  if (fault.kind == FaultKind::disk_errors) kept_->set_failing(0);
  return fault.kind == FaultKind::disk_full || fault.kind == FaultKind::disk_errors;
}

void Match::begin(const Fault& fault) {
  ++outcome_.faults[static_cast<std::size_t>(fault.kind)];
  if (!concerns_server(fault.kind)) {
    if (fault.subject < seats_.size()) seats_[fault.subject]->begin(fault, now_);
    return;
  }
  if (fault.kind == FaultKind::freeze) return freeze(1);
  if (begin_disk_fault(fault)) return;
  ++server_faults_;
  for (const auto& seat : seats_) seat->disturb(now_);
  switch (fault.kind) {
    case FaultKind::server_jump:
      server_offset_ += Micros{1000 * static_cast<std::int64_t>(fault.amount)};
      break;
    case FaultKind::overload: ++overloads_; break;
    case FaultKind::slow_ground:
      ++ground_faults_;
      ground_delay_ms_ = fault.amount;
      break;
    case FaultKind::restart:
      // A process that is killed at writing is so at any of its calls.
      if (server_away_++ == 0)
        stop_server(fault.amount == 1 ? End::killed : End::peace,
                    rng_for(config_.seed, 0x517, fault.tick).below(200));
      break;
    case FaultKind::power_cut:
      if (server_away_++ == 0) stop_server(End::power_cut, fault.amount);
      break;
    default: break;
  }
}

void Match::end(const Fault& fault) {
  if (!concerns_server(fault.kind)) {
    if (fault.subject < seats_.size()) seats_[fault.subject]->end(fault, now_);
    return;
  }
  if (fault.kind == FaultKind::freeze) return freeze(-1);
  if (end_disk_fault(fault)) return;
  --server_faults_;
  server_calm_since_ = now_;
  for (const auto& seat : seats_) seat->disturb(now_);
  if (fault.kind == FaultKind::overload) --overloads_;
  if (fault.kind == FaultKind::slow_ground && --ground_faults_ == 0) ground_delay_ms_ = 0;
  const bool away = fault.kind == FaultKind::restart || fault.kind == FaultKind::power_cut;
  if (away && --server_away_ == 0) start_server();
}

void Match::begin_and_end_faults() {
  const std::uint32_t tick_now = tick();
  for (std::size_t i = 0; i < going_on_.size();) {
    const Fault fault = going_on_[i];
    if (tick_now < fault.tick + fault.ticks) {
      ++i;
      continue;
    }
    going_on_.erase(going_on_.begin() + static_cast<std::ptrdiff_t>(i));
    end(fault);
  }
  for (; next_fault_ < faults_.size() && faults_[next_fault_].tick <= tick_now; ++next_fault_) {
    begin(faults_[next_fault_]);
    going_on_.push_back(faults_[next_fault_]);
  }
}

}  // namespace ashlar::simulation
