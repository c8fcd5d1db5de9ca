#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "protocol/datagram.h"
#include "protocol/drop_reason.h"
#include "protocol/secure/session_keys.h"
#include "world/math/prefetch.h"

namespace ashlar::secure {

using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// A sealed packet, WIRE.md: version, type with key phase, connection, masked sequence; ciphertext;
/// tag.
inline constexpr std::uint8_t sealed_type = 5;
inline constexpr std::uint8_t key_phase_bit = 0x10;
inline constexpr std::size_t sealed_header_bytes = 10;
inline constexpr std::size_t seal_tag_bytes = 16;
inline constexpr std::size_t seal_overhead_bytes = sealed_header_bytes + seal_tag_bytes;
inline constexpr std::size_t sealed_plaintext_bytes_max = datagram_bytes_max - seal_overhead_bytes;

/// Limits of one key. AES-GCM stays safe for 2^23 packets sealed (RFC 9001, section 6.6); ChaCha20-Poly1305
/// would for 2^62, and has the same limit, so that there is one. New keys are due at half of it.
inline constexpr std::uint64_t key_packets_max = std::uint64_t{1} << 23;
inline constexpr std::uint64_t rekey_packets = key_packets_max / 2;
/// Forgeries tried against one key: 2^36 for ChaCha20-Poly1305 (the same section; 2^52 for AES-GCM).
inline constexpr std::uint64_t key_forgeries_max = std::uint64_t{1} << 36;
inline constexpr Micros key_age_max = std::chrono::hours(2);
/// For so long after the peer's change of keys late packets of the old ones still open.
inline constexpr Micros previous_key_kept = std::chrono::seconds(10);

/// The front of a sealed packet, unmasked. Nothing in it is proven before the packet opens.
struct SealedHeader {
  std::uint64_t sequence = 0;
  bool key_phase = false;
};

/// The connection that a sealed packet names, or why it is none: too_short, too_long, wrong_version,
/// bad_header. For finding the session; needs no key.
std::expected<std::uint32_t, DropReason> sealed_connection(ByteSpan packet, std::uint8_t version);

/// Seals and opens the packets of one session at one end, and changes its keys.
///
/// On arrival the order is fixed: peek(), the caller's replay window, open(), then the caller marks the
/// window. What does not open changes nothing but a counter of forgeries.
///
/// Each direction has keys of its own and changes them on its own: the sender turns the key phase bit, the
/// receiver follows once a packet opens with the next key. All of it is O(1) and allocates nothing; a change
/// of keys costs about ten hashes. About 2.5 KiB. One thread.
class PacketProtection {
 public:
  /// @param key_age  when new keys are due, at most key_age_max
  PacketProtection(const SessionKeys& keys, End end, Micros now, Micros key_age = key_age_max);
  ~PacketProtection();
  PacketProtection(const PacketProtection&) = delete;
  PacketProtection& operator=(const PacketProtection&) = delete;
  PacketProtection(PacketProtection&& other) noexcept;  ///< the other is wiped; it may only be destroyed
  PacketProtection& operator=(PacketProtection&& other) noexcept;

  /// Wipes the peer's previous key when its time is over. Once a tick, before anything else; time never goes
  /// back.
  void advance(Micros now);

  // --- Sending

  /// Writes header, ciphertext and tag. The plaintext may lie in the packet already, sealed_header_bytes from
  /// its start; otherwise the two do not overlap. Preconditions: sequence above that of every packet sealed
  /// before (a repeated one would give the plaintexts away); at most sealed_plaintext_bytes_max; room for
  /// seal_overhead_bytes more.
  /// @return the packet's size; 0, and nothing written, when the key has sealed key_packets_max packets, as
  /// the peer did not confirm the one before: the session has to end.
  std::size_t seal(std::uint64_t sequence, ByteSpan plaintext, std::span<std::uint8_t> packet);

  /// The peer acknowledged a packet of ours (in a packet that opened).
  void confirmed(std::uint64_t sequence);

  /// It is time for new keys (rekey_packets, or their age), and the last ones were confirmed: whoever
  /// changes them twice before could lose a peer that missed it.
  bool rekey_due() const;
  /// From the next packet on new keys seal. @return false, and nothing done, before the last ones were
  /// confirmed.
  bool rekey();

  // --- Receiving

  /// Header of a packet of this session: the sequence is the one with these low 32 bits that is nearest to
  /// the highest that opened. Reasons: as sealed_connection(), unknown_connection.
  std::expected<SealedHeader, DropReason> peek(ByteSpan packet) const;

  /// Opens a packet that peek() read the header of. The output may begin where the ciphertext does, at
  /// sealed_header_bytes of the packet, or does not overlap it.
  /// Precondition: room for packet.size() - seal_overhead_bytes.
  /// @return the plaintext's size, or too_old (its key is gone), corrupt (changed on the way, or forged). The
  /// output's content means nothing then.
  std::expected<std::size_t, DropReason> open(ByteSpan packet, const SealedHeader& header,
                                              std::span<std::uint8_t> out);

  /// Tried too often with forgeries (key_forgeries_max on one key): the session has to end. A key lives two
  /// hours, so that takes ten million packets a second.
  bool worn_out() const { return forgeries_ >= key_forgeries_max; }

  /// The one that the handshake agreed on.
  Cipher cipher() const { return cipher_; }
  /// The session's number, in clear in every packet.
  std::uint32_t connection() const { return connection_; }
  std::uint64_t forgeries() const { return forgeries_; }    ///< that did not open with the present key
  std::uint32_t send_epoch() const { return send_epoch_; }  ///< changes of our keys so far
  std::uint32_t receive_epoch() const { return receive_epoch_; }

  /// Asks the processor for what the next packet needs; changes nothing.
  void prefetch(bool sending) const {
    constexpr std::size_t prepared_bytes = 320;  // the round keys and what multiplies, of AES-GCM
    ashlar::prefetch(sending ? &send_key_ : &receive_key_, prepared_bytes);
    ashlar::prefetch(sending ? send_key_.iv.data() : receive_key_.iv.data(), 12);
    prefetch_until(&send_header_key_, this + 1);
  }

 private:
  /// One key in one direction: for AES-GCM its prepared form, else the plain key in front.
  struct Key {
    alignas(16) std::array<std::uint8_t, 512> prepared{};
    std::array<std::uint8_t, 12> iv{};
  };
  using Nonce = std::array<std::uint8_t, 12>;

  static Nonce nonce_of(const Key& key, std::uint64_t sequence);
  void make_key(const Secret& secret, Key& key) const;
  std::uint64_t mask(const Bytes16& header_key, const std::uint8_t* tag) const;
  const Key* key_for(const SealedHeader& header) const;
  void follow(std::uint64_t sequence);
  void wipe_all();

  Key send_key_, receive_previous_, receive_key_, receive_next_;
  Secret send_secret_, receive_next_secret_;
  Bytes16 send_header_key_{}, receive_header_key_{};

  Micros now_;
  Micros key_age_;
  Micros send_key_since_;
  Micros previous_until_{0};
  std::uint64_t send_sequence_ = 0;     // highest sealed + 1
  std::uint64_t send_epoch_first_ = 0;  // first sequence of the present send key; a bound until one is sealed
  std::uint64_t send_epoch_packets_ = 0;
  std::uint64_t receive_highest_ = 0;       // that opened
  std::uint64_t receive_epoch_within_ = 0;  // first sequence that opened with the present key
  std::uint64_t forgeries_ = 0;
  std::uint32_t send_epoch_ = 0, receive_epoch_ = 0;
  std::uint32_t connection_;
  std::uint8_t version_;
  Cipher cipher_;
  bool send_key_confirmed_ = true;
  bool has_previous_ = false;
};

}  // namespace ashlar::secure
