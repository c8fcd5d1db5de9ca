#include "protocol/connection/path.h"

#include <array>

#include "protocol/secure/key_derivation.h"

namespace ashlar {

void Path::received(Micros now, const PeerAddress& from, std::size_t bytes, bool newest) {
  if (from == proven_) {
    // It is still there, or again: who was the candidate meanwhile only sent copies, or was it on its way.
    if (newest && candidate_ && candidate_->challenges > 0) ++failed_;
    if (newest) candidate_.reset();
    return;
  }
  if (candidate_ && candidate_->address == from) {
    candidate_->received_bytes += bytes;
    return;
  }
  if (!newest) return;
  if (candidate_) ++failed_;
  candidate_ = Candidate{.address = from, .received_bytes = bytes, .next_at = now};
  std::array<std::uint8_t, 8> number{};
  ++drawn_;
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::uint8_t>(drawn_ >> (8 * i));
  const secure::Bytes32 drawn = secure::hmac(secret_.bytes(), {secure::bytes_of("path challenge"), number});
  for (std::size_t i = 0; i < 8; ++i) candidate_->data = candidate_->data << 8 | drawn[i];
}

std::optional<std::uint64_t> Path::challenge(Micros now, std::size_t packet_bytes, Micros probe_timeout) {
  if (!candidate_ || now < candidate_->next_at) return std::nullopt;
  Candidate& to = *candidate_;
  if (to.challenges >= challenges_max) {
    ++failed_;
    candidate_.reset();
    return std::nullopt;
  }
  if (!to.pays(packet_bytes)) return std::nullopt;
  to.sent_bytes += packet_bytes;
  ++to.challenges;
  to.next_at = now + probe_timeout;
  return to.data;
}

Micros Path::challenge_at(std::size_t packet_bytes) const {
  if (!candidate_) return Micros::max();
  const bool given_up = candidate_->challenges >= challenges_max;  // that costs no bytes
  return given_up || candidate_->pays(packet_bytes) ? candidate_->next_at : Micros::max();
}

bool Path::answered(std::uint64_t data) {
  if (!candidate_ || candidate_->challenges == 0 || data != candidate_->data) return false;
  proven_ = candidate_->address;
  candidate_.reset();
  return true;
}

}  // namespace ashlar
