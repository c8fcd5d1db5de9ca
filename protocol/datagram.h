#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar {

/// Payload of one datagram; TCP packets obey it too, so that messages are the same over both.
inline constexpr std::size_t datagram_bytes_max = 1200;

/// The longest unreliable message of a session: what a sealed packet of datagram_bytes_max has room for
/// (WIRE.md, Frames).
inline constexpr std::size_t unreliable_bytes_max = 1152;

enum class Transport : std::uint8_t { udp = 0, tcp = 1 };

/// Where a peer is. IPv4 addresses are stored mapped (::ffff:a.b.c.d), so one peer has one spelling.
struct PeerAddress {
  std::array<std::uint8_t, 16> ip{};
  std::uint32_t scope =
      0;  ///< the network device of a link-local IPv6 address, by the system's number; else 0
  std::uint16_t port = 0;
  Transport transport = Transport::udp;
  std::uint32_t link = 0;  ///< TCP: number of the connection, never reused in a process; UDP: 0
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
  friend auto operator<=>(const PeerAddress&, const PeerAddress&) = default;
};

/// Datagrams on their way between the sans-I/O values (server::Host, client_sim::Client) and an adapter.
/// Bytes lie in one arena, each datagram at a multiple of 8, so FlatBuffers inside are aligned.
/// clear() keeps the memory: a batch in use allocates nothing once it has grown to its working size.
class DatagramBatch {
 public:
  struct Entry {
    PeerAddress peer;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
  };

  /// Copies the bytes in. @return false, and nothing added, when longer than datagram_bytes_max.
  bool add(const PeerAddress& peer, std::span<const std::uint8_t> bytes);

  /// Room for a datagram that the caller writes, all of it: what is in there before is of no meaning. Valid
  /// until the next add(), append() or clear(). Precondition: at most datagram_bytes_max (asserted).
  std::span<std::uint8_t> append(const PeerAddress& peer, std::size_t size);

  /// In: TCP connections that ended. Out: connections to close once their bytes are sent.
  void add_closed(const PeerAddress& peer) { closed_.push_back(peer); }

  /// Out: TCP connections that are players' from now on, and strangers no more.
  void add_admitted(const PeerAddress& peer) { admitted_.push_back(peer); }

  /// Empty again. Spans handed out before are no longer valid.
  void clear() { entries_.clear(), words_used_ = 0, closed_.clear(), admitted_.clear(); }
  /// Each list is in the order of adding and valid until the next add or clear().
  std::span<const Entry> entries() const { return entries_; }
  std::span<const PeerAddress> closed() const { return closed_; }      ///< see add_closed()
  std::span<const PeerAddress> admitted() const { return admitted_; }  ///< see add_admitted()
  /// Neither datagrams nor closings; admissions alone do not count.
  bool empty() const { return entries_.empty() && closed_.empty(); }
  /// Precondition: an entry of this batch since its last clear() (not checked). 8-byte aligned; valid until
  /// the next add() or clear().
  std::span<const std::uint8_t> bytes(const Entry& entry) const;

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> words_;  // 8-byte words, so that every datagram starts aligned
  std::size_t words_used_ = 0;
  std::vector<PeerAddress> closed_, admitted_;
};

}  // namespace ashlar
