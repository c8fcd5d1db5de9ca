#pragma once
#include <cstdint>
#include <optional>

#include "protocol/connection/loss_detection.h"
#include "protocol/datagram.h"
#include "protocol/secure/secret.h"

namespace ashlar {

/// Where the peer is, and where it may have gone.
///
/// The first packet that opens, is the newest and comes from another address makes that one the candidate,
/// and a challenge goes there; the session moves with the answer. Until then everything goes on to the old
/// address, and the candidate gets challenges alone, never more bytes than came from it. So who copies an
/// honest packet from an address of his own, faster than the original, gets a challenge and nothing else, and
/// the session stays; who cannot be reached at an address cannot have bytes sent there. A peer that did move
/// misses one round trip of unreliable messages.
/// Source: RFC 9000, section 9; it moves first and returns when the challenge fails (9.3.2), which would hold
/// a session at the copier's address as long as he goes on.
class Path {
 public:
  /// Challenges to one candidate, a probe timeout apart, before it is given up.
  static constexpr std::uint32_t challenges_max = 4;

  /// @param secret  what challenges are drawn from: this connection's alone, as whoever can foretell one can
  ///                prove an address that is not his
  Path(const PeerAddress& proven, const secure::Secret& secret) : proven_(proven), secret_(secret) {}

  /// Where packets go: the last address that was proven.
  const PeerAddress& address() const { return proven_; }
  /// Is another address being tried?
  bool moving() const { return candidate_.has_value(); }
  /// The address being tried. Precondition: moving().
  const PeerAddress& candidate() const { return candidate_->address; }

  /// Bytes that opened, from an address. @param newest  their sequence is above all others
  void received(Micros now, const PeerAddress& from, std::size_t bytes, bool newest);
  /// The challenge to send now, if one is due that the candidate has paid for; it counts as sent.
  std::optional<std::uint64_t> challenge(Micros now, std::size_t packet_bytes, Micros probe_timeout);
  /// When challenge() of so many bytes has something to do; max: never, or when the candidate has paid for it
  /// by sending more.
  Micros challenge_at(std::size_t packet_bytes) const;
  /// @return true: the session has moved to the candidate
  bool answered(std::uint64_t data);
  std::uint64_t challenges_failed() const { return failed_; }

 private:
  struct Candidate {
    PeerAddress address;
    std::uint64_t data = 0;
    std::uint64_t received_bytes = 0, sent_bytes = 0;
    std::uint32_t challenges = 0;
    Micros next_at{0};
    bool pays(std::size_t packet_bytes) const { return sent_bytes + packet_bytes <= received_bytes; }
  };
  PeerAddress proven_;
  std::optional<Candidate> candidate_;
  secure::Secret secret_;
  std::uint64_t drawn_ = 0, failed_ = 0;
};

}  // namespace ashlar
