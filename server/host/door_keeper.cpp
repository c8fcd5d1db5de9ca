#include "server/host/door_keeper.h"

#include <variant>

#include "protocol/version.h"

namespace ashlar::server {

DoorKeeper::DoorKeeper(const HostConfig& config, secure::Entropy& entropy, Gate& gate, Lobby& lobby,
                       HostStatus& status)
    // The door's time begins with the first turn.
    : door_({protocol_version, config.identity, config.ciphers}, entropy, Micros{0}),
      gate_(&gate),
      lobby_(&lobby),
      status_(&status) {}

void DoorKeeper::advance(Micros now) { door_.advance(now); }

/// False: it is dropped, and the reason is counted.
bool DoorKeeper::pays(Micros now, const PeerAddress& from, std::span<const std::uint8_t> packet) {
  switch (door_.cost(packet, from)) {
    case secure::DoorCost::nothing: return true;  // to be refused by its looks, with the reason
    case secure::DoorCost::hash: return gate_->answers(now, from);
    case secure::DoorCost::accept:
    case secure::DoorCost::finish: return gate_->handshakes(now, from);
  }
  return false;
}

void DoorKeeper::receive(Micros now, std::int64_t unix_s, const PeerAddress& from,
                         std::span<const std::uint8_t> packet, HostOutput& out) {
  // Of another version only a hello is answered, and all of them are as long as ours.
  if (!packet.empty() && packet[0] != protocol_version) {
    status_->drop(DropReason::wrong_version);
    if (packet.size() != secure::hello_bytes) return;
  }
  if (!pays(now, from, packet)) return status_->drop(DropReason::rate_limited);
  const secure::Arrival arrival = door_.receive(packet, from, answer_);
  if (const auto* answer = std::get_if<secure::Answer>(&arrival)) {
    out.datagrams.add(from, std::span(answer_).first(answer->bytes));
  } else if (const auto* accepted = std::get_if<secure::Accepted>(&arrival)) {
    if (!lobby_->arrive(now, unix_s, from, *accepted, out)) door_.forget(accepted->id);
  } else if (const auto* reason = std::get_if<DropReason>(&arrival)) {
    status_->drop(*reason);
  }
  // A finish that comes again: its session repeats the welcome by itself.
  status_->door = door_.counters();
}

}  // namespace ashlar::server
