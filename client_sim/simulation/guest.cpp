#include "client_sim/simulation/guest.h"

namespace ashlar::simulation {
namespace {

/// An address of his own, beside those of honest and hostile seats.
std::array<std::uint8_t, 2> guest_host(std::uint32_t number) {
  return {static_cast<std::uint8_t>(16 + number / 200), static_cast<std::uint8_t>(1 + number % 200)};
}

}  // namespace

Guest::Guest(const SimulationConfig& config, std::uint32_t number, const PeerAddress& server)
    : rng_(rng_for(config.seed, 0x90e5, number)), server_(server), line_(number, guest_host(number), rng_) {
  server_.transport = Transport::udp;
}

void Guest::set_latency(Micros latency) {
  LinkConditions conditions;
  conditions.latency = latency;
  conditions.jitter = latency / 4;
  conditions.loss = 0.02;
  line_.set_conditions(conditions);
}

void Guest::come(const Fault& fault) {
  if (fault_) return;
  fault_ = fault;
  player_.emplace(
      rng_.next_u64(), server_,
      fault.kind == FaultKind::deaf ? client_sim::FalseAcks::none : client_sim::FalseAcks::random);
}

void Guest::go(const Fault& fault) {
  if (fault_ != fault) return;
  fault_.reset();
  player_.reset();
  line_.hang_up(false);
}

void Guest::run(Micros now) {
  line_.carry(now);
  inbox_.clear();
  outbox_.clear();
  line_.receive(now, inbox_);
  if (player_) player_->advance(now, inbox_, outbox_);
  line_.send(now, outbox_);
}

}  // namespace ashlar::simulation
