#pragma once
#include <expected>
#include <variant>

#include "protocol/secure/door_secrets.h"
#include "protocol/secure/finish_memory.h"
#include "protocol/secure/handshake_state.h"

namespace ashlar::secure {

/// Ciphers to offer, or to agree to, on this machine.
std::uint8_t ciphers_here();

/// What a server lets strangers in with.
struct ServerDoorSetup {
  std::uint8_t version = 0;
  KeyPair identity;  ///< the server's, that clients pin
  /// That it agrees to; AES where the client has it, too. What this machine has not is left out.
  std::uint8_t ciphers = ciphers_here();
};

/// Write so many bytes of the given buffer back to where the packet came from.
struct Answer {
  std::size_t bytes = 0;
};

/// Somebody proved an identity and an address. Make a session of it: choose a random connection number that
/// nobody has, take its keys, and send the first sealed packet, from which the client learns the number. Or
/// refuse: seal the reason with the keys of such a number, forget() the handshake, and drop the keys.
struct Accepted {
  HandshakeId id{};
  std::uint32_t slot = 0;  ///< of the door's time, when it gave the ticket: of two handshakes tells the older
  PublicKey client;
  SessionSecret session;
  Bytes32 binding{};  ///< what a resume proof is made over
  ByteSpan payload;   ///< the client's, unchecked, 8-byte aligned; in the door's memory until receive()
};

/// A finish that was accepted before, so its answer was lost or it was repeated by somebody else. Nothing is
/// to be done: what its session said and nobody acknowledged it says again by itself.
struct Repeated {};

using Arrival = std::variant<Answer, Accepted, Repeated, DropReason>;

/// Costs of a packet, known before they are paid. To know them takes two hashes and a ticket's seal at most.
enum class DoorCost : std::uint8_t {
  nothing,  ///< refused by its looks
  hash,     ///< answered from a hash or two: under 2 us
  accept,   ///< a hello with a good cookie: three multiplications on the curve, about 100 us
  finish,   ///< a finish with a good ticket: one, about 50 us
};

/// Whoever shares out what a tick may pay, between addresses.
class DoorPurse {
 public:
  virtual ~DoorPurse() = default;
  /// May this be paid, which is not DoorCost::nothing? Asked once a packet at most; who says yes has paid.
  virtual bool pays(DoorCost cost) = 0;
};

/// What came to the door. Counters only grow.
struct DoorCounters {
  std::uint64_t retries = 0, accepts = 0, finishes = 0, repeats = 0;
  std::uint64_t full = 0;  ///< finishes turned away as FinishMemory was full
};

/// The server's side of all handshakes: keeps nothing of a client before its finish. The memory is fixed.
///
/// How many of each cost a tick may pay, and how they are shared out between addresses, is not the door's to
/// decide: it asks a purse. What comes over TCP has proven its address and needs no cookie.
/// One thread. No allocation.
class ServerDoor {
 public:
  ServerDoor(ServerDoorSetup setup, Entropy& entropy, Micros now);

  /// Once a tick, before anything is received: turns secrets over.
  void advance(Micros now);

  /// Takes a hello, a finish, or anything of another version; whatever else there is is not the door's
  /// (wrong_state). An answer is at most half of the packet.
  /// Reasons: wrong_version (no hello, so it is not told so), too_short, too_long, bad_header, malformed (no
  /// hello or finish of ours), out_of_range (no cipher in common), too_old (a ticket whose time is over),
  /// corrupt (a ticket of another address or server, or changed on the way), rate_limited (FinishMemory is
  /// full, or the purse does not pay: then nothing was done).
  /// @param out    room for datagram_bytes_max
  /// @param purse  null: everything is paid
  Arrival receive(ByteSpan packet, const PeerAddress& from, std::span<std::uint8_t> out,
                  DoorPurse* purse = nullptr);

  /// This accepted handshake became no session: its finish is to be judged again when it comes again.
  void forget(const HandshakeId& id) { finished_.forget(id); }

  /// Since the start.
  const DoorCounters& counters() const { return counters_; }
  /// The key that clients pin.
  const PublicKey& identity() const { return setup_.identity.open; }
  /// All that a door ever holds.
  static constexpr std::size_t bytes() { return sizeof(ServerDoor) + FinishMemory::bytes(); }

 private:
  using Slot = DoorSecrets::Slot;
  struct Ticket;

  Arrival hello(ByteSpan packet, const PeerAddress& from, std::span<std::uint8_t> out, DoorPurse* purse);
  Arrival accept(ByteSpan hello, const Slot& slot, const PeerAddress& from, std::span<std::uint8_t> out);
  Arrival finish(ByteSpan packet, const PeerAddress& from, DoorPurse* purse);
  Arrival finish(ByteSpan packet, Ticket& ticket);
  void write_ticket(const HandshakeState& state, Cipher cipher, const Slot& slot, const Bytes32& id,
                    const PeerAddress& from, std::span<std::uint8_t, ticket_bytes> out) const;
  std::expected<Ticket, DropReason> read_ticket(ByteSpan ticket, const PeerAddress& from) const;

  ServerDoorSetup setup_;
  DoorSecrets secrets_;
  FinishMemory finished_;
  DoorCounters counters_;
  alignas(8) std::array<std::uint8_t, finish_payload_bytes_max> payload_{};  // for who decodes it
};

}  // namespace ashlar::secure
