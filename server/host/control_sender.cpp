#include "server/host/control_sender.h"

#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar::server {

void ControlSender::send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
  if (!out.add(to, bytes)) return;
  ++status_->datagrams_out;
  status_->bytes_out += bytes.size();
}

void ControlSender::goodbye(Session& to, GoodbyeReason reason, const std::string& text, Micros now,
                            DatagramBatch& out) {
  Goodbye message;
  message.reason = reason;
  message.text = make_printable(text, reason_bytes_max);
  send(to, message, now, out);
  if (to.address.transport == Transport::tcp) out.add_closed(to.address);
}

void ControlSender::goodbye_again(Session& to, Micros now, DatagramBatch& out) {
  ASHLAR_ASSERT(to.state == SessionState::dismissed);
  Goodbye message;
  message.reason = GoodbyeReason::kicked;
  message.text = make_printable(to.kicked_for, reason_bytes_max);
  const auto packet = writer_.write(to.next_header(now), message);
  if (packet.size() > to.bytes_unanswered) return;  // once more has come
  to.bytes_unanswered -= packet.size();
  send(to.address, packet, out);
}

}  // namespace ashlar::server
