#pragma once
#include <chrono>

#include "protocol/datagram.h"
#include "protocol/secure/handshake_packets.h"

namespace ashlar::secure {

using Micros = std::chrono::duration<std::int64_t, std::micro>;
using Cookie = std::array<std::uint8_t, cookie_bytes>;

/// Cookies and tickets live for the rest of the slot that they were made in, and for the next one: 5 to 10 s.
inline constexpr Micros door_slot = std::chrono::seconds(5);

/// The secrets by which a server knows again what it handed out and forgot. Each slot's is made of the one
/// before by a one-way step and that one is wiped two slots later: who takes the memory then cannot read the
/// handshakes of before.
class DoorSecrets {
 public:
  struct Slot {
    std::uint32_t number = 0;
    Secret secret;
    Bytes16 cookie_key{};
  };

  /// @param now  0 or later, by any clock that never goes back
  DoorSecrets(const Secret& seed, Micros now);
  ~DoorSecrets();
  DoorSecrets(const DoorSecrets&) = delete;
  DoorSecrets& operator=(const DoorSecrets&) = delete;

  /// Time that goes back is taken to stand still. @return slots that began
  std::uint32_t advance(Micros now);

  /// The slot of time that answers are made in now.
  const Slot& present() const { return present_; }
  /// Nothing when its time is over, or was never.
  const Slot* find(std::uint32_t number) const;

  /// Who asks from there with such a hello: 16 bytes of SipHash-2-4 over all of it. About 0.1 us.
  Cookie cookie(const Slot& slot, ByteSpan hello, const PeerAddress& from) const;
  /// The slot of the hello's cookie, when it is ours, of this address, and lives.
  const Slot* proven(ByteSpan hello, const PeerAddress& from) const;

 private:
  void begin(std::uint32_t number, const Secret& secret);
  Slot present_, previous_;
  bool has_previous_ = false;
};

/// An address as bytes that a secret is computed over.
inline constexpr std::size_t address_bytes = 27;
std::array<std::uint8_t, address_bytes> bytes_of(const PeerAddress& address);

}  // namespace ashlar::secure
