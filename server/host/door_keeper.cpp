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

/// The gate's budgets, for a packet from one address.
class DoorKeeper::Purse final : public secure::DoorPurse {
 public:
  Purse(Gate& gate, Micros now, const PeerAddress& from) : gate_(gate), now_(now), from_(from) {}
  bool pays(secure::DoorCost cost) override {
    switch (cost) {
      case secure::DoorCost::nothing: return true;
      case secure::DoorCost::hash: return gate_.answers(now_, from_);
      case secure::DoorCost::accept:
      case secure::DoorCost::finish: return gate_.handshakes(now_, from_);
    }
    return false;
  }

 private:
  Gate& gate_;
  Micros now_;
  const PeerAddress& from_;
};

void DoorKeeper::receive(Micros now, std::int64_t unix_s, const PeerAddress& from,
                         std::span<const std::uint8_t> packet, HostOutput& out) {
  // Of another version only a hello is answered, and all of them are as long as ours.
  if (!packet.empty() && packet[0] != protocol_version) {
    status_->drop(DropReason::wrong_version);
    if (packet.size() != secure::hello_bytes) return;
  }
  Purse purse(*gate_, now, from);
  const secure::Arrival arrival = door_.receive(packet, from, answer_, &purse);
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
