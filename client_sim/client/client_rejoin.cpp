// A server that was started again knows none of its clients: how they find out, and join it again.

#include "client_sim/client/client.h"
#include "protocol/version.h"
#include "world/math/assert.h"
#include "world/math/random.h"

namespace ashlar::client_sim {
namespace {

/// Packets of ours that a server which knows us no more may still answer: four seconds' at 60 ticks.
constexpr std::uint64_t lately = 256;

}  // namespace

/// As hard to guess as the one before, for who does not know that.
std::uint64_t Client::next_nonce() const {
  const std::uint64_t nonce = mix64(config_.nonce ^ 0x6a09e667f3bcc909u);
  return nonce != 0 ? nonce : 1;
}

/// Anybody can make this up who knows our connection, so it only raises a question.
void Client::hear_unknown(const PacketHeader& header) {
  const std::uint64_t newest = sent_.newest();
  const bool ours = header.sequence <= newest && newest - header.sequence < lately;
  if (!ours || leaving_) {
    ++stats_.drops[static_cast<std::size_t>(DropReason::unknown_connection)];
    return;
  }
  doubted_ = true;
}

void Client::send_probe(DatagramBatch& out) {
  if (now_ < next_probe_) return;
  next_probe_ = now_ + config_.hello_retry;
  if (probe_nonce_ == 0) probe_nonce_ = next_nonce();
  PacketHeader header;
  header.sequence = probe_sent_.next_sequence(now_);
  put_nonce(header, probe_nonce_);
  send(out, writer_.write(header, Hello{protocol_version, probe_nonce_, config_.name, config_.build}));
}

/// What comes under another connection while ours is in doubt.
/// @return false: it is no answer to our question
bool Client::hear_probe(const PacketHeader& header, ServerMessage& message) {
  if (probe_nonce_ == 0) return false;
  if (const auto* refuse = std::get_if<Refuse>(&message)) return refuse->nonce == probe_nonce_;
  const auto* welcome = std::get_if<Welcome>(&message);
  if (welcome == nullptr || welcome->nonce != probe_nonce_ || welcome->connection != header.connection)
    return false;
  begin_anew(probe_nonce_, probe_sent_);
  ++stats_.rejoins;
  static_cast<void>(received_.accept(header.sequence));
  if (const auto acked = sent_.acknowledge(header, now_); acked && acked->has_rtt) rtt_ = acked->rtt;
  last_heard_ = now_;
  return true;
}

/// Forgets the server that was; the welcome of the new one says all that is to be known.
void Client::begin_anew(std::uint64_t nonce, const AckTracker& sent) {
  config_.nonce = nonce;
  received_ = {};
  sent_ = sent;
  welcome_ = {};
  join_ = {};
  missing_maps_.clear();
  commands_ = {};
  filled_tick_ = applied_tick_ = snapshot_tick_ = parts_tick_ = parts_have_ = complete_tick_ = 0;
  own_.reset();
  own_tick_ = 0;
  rtt_ = Micros{0};
  rtt_from_ = started_at_ = now_;
  in_long_gap_ = false;
  chat_number_ = 0;  // the line at the front is said again: nobody can tell whether it was heard
  chat_seen_ = 0;
  chat_early_ = {};
  doubted_ = false;
  probe_nonce_ = 0;
  probe_sent_ = {};
}

void Client::join_again(Micros now) {
  ASHLAR_ASSERT(broken_off());
  now_ = now;
  begin_anew(next_nonce(), {});
  ++stats_.rejoins;
  broken_off_ = false;
  reason_.clear();
  state_ = ClientState::connecting;
  last_heard_ = next_send_ = now;
}

}  // namespace ashlar::client_sim
