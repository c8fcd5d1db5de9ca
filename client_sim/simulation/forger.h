#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client_sim/simulation/config.h"
#include "client_sim/simulation/line.h"
#include "protocol/message_writer.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/seeded_entropy.h"

namespace ashlar::simulation {

/// Somebody on the way between a client and the server who reads along and can speak in either's name over
/// UDP, but has no key: copies packets and is faster than the originals where they are held up (never faster
/// than the path itself), says them again later, cut off, changed, or to the one who said them; makes up
/// packets, resets and refusals; hands on the resets that the server answers to his own address; and shakes
/// hands in a name of his own to be given the client's body. Seeded.
class Forger final : public LineTap {
 public:
  Forger(const SimulationConfig& config, std::uint32_t number);

  /// How long anything takes on the path, at least: what he forges from now on, too.
  void set_latency(Micros latency);

  /// Where he is himself: its port is of the seat's, its host nobody else's.
  const PeerAddress& address() const { return here_; }

  void up(const PeerAddress& from, std::span<const std::uint8_t> bytes) override;
  void down(const PeerAddress& to, std::span<const std::uint8_t> bytes) override;
  /// The server sent this to his own address.
  void hear(std::span<const std::uint8_t> bytes);

  /// Forges what is due.
  /// @param client  where the client's datagrams come from
  void act(Micros now, std::uint32_t packets_per_s, const PeerAddress& client);
  /// What he sent and is there by now: to the server, and to the client in the server's name.
  void take_up(Micros now, DatagramBatch& in) { up_link_.deliver(now, in); }
  void take_down(Micros now, DatagramBatch& in) { down_link_.deliver(now, in); }
  /// Of his links.
  std::size_t memory_bytes() const { return up_link_.memory_bytes() + down_link_.memory_bytes(); }

 private:
  /// Packets to play with: some of those that passed.
  struct Kept {
    std::array<std::vector<std::uint8_t>, 48> packets;
    std::size_t count = 0;
    std::size_t newest = 0;

    void add(Rng& rng, std::span<const std::uint8_t> bytes);
    std::span<const std::uint8_t> any(Rng& rng) const;
  };

  void forge(const PeerAddress& client);
  void made_up(const PeerAddress& client);
  void steal(Micros now);
  std::span<const std::uint8_t> spoiled(std::span<const std::uint8_t> bytes);

  Rng rng_;
  secure::SeededEntropy entropy_;
  secure::KeyPair identity_;
  PeerAddress here_, server_;
  Kept up_, down_;
  std::uint32_t number_ = 0;       // of the client's session, as everybody on the line sees it
  std::uint64_t hello_nonce_ = 0;  // of its last handshake
  Micros next_{0}, next_theft_{0};
  std::optional<secure::ClientHandshake> theft_;
  std::vector<std::vector<std::uint8_t>> heard_;
  MessageWriter writer_;
  std::vector<std::uint8_t> scratch_;
  DatagramBatch to_server_, to_client_;
  Link up_link_, down_link_;
};

}  // namespace ashlar::simulation
