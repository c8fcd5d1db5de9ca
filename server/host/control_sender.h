#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "protocol/message_writer.h"
#include "server/host/session.h"

namespace ashlar::server {

/// Writes and counts all packets that are no snapshots. The Host's thread.
class ControlSender {
 public:
  /// @param status  where datagrams and bytes are counted; must outlive this
  explicit ControlSender(HostStatus& status) : status_(&status) {}

  /// Appends to `out` and counts; what is longer than a datagram is dropped.
  void send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out);
  /// To a peer without a session.
  template <class Message>
  void send(const PeerAddress& to, const PacketHeader& header, const Message& message, DatagramBatch& out) {
    send(to, writer_.write(header, message), out);
  }
  /// In the session's order.
  template <class Message>
  void send(Session& to, const Message& message, Micros now, DatagramBatch& out) {
    send(to.address, writer_.write(to.next_header(now), message), out);
  }
  /// Sends the goodbye, its text made printable and cut; over TCP the connection closes behind it. The
  /// session itself stays.
  void goodbye(Session& to, GoodbyeReason reason, const std::string& text, Micros now, DatagramBatch& out);
  /// A kicked client's goodbye again, once it has sent as many bytes since it was last told as that has.
  void goodbye_again(Session& to, Micros now, DatagramBatch& out);

 private:
  MessageWriter writer_;
  HostStatus* status_;
};

}  // namespace ashlar::server
