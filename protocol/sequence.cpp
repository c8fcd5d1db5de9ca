#include "protocol/sequence.h"

#include <algorithm>

namespace ashlar {

namespace {
constexpr std::uint64_t word_count = SequenceWindow::width / 64 + 1;
constexpr std::size_t word_of(std::uint64_t sequence) {
  return static_cast<std::size_t>((sequence / 64) % word_count);
}
constexpr std::uint64_t bit_of(std::uint64_t sequence) { return std::uint64_t{1} << (sequence % 64); }
}  // namespace

bool SequenceWindow::seen(std::uint64_t sequence) const {
  return (bits_[word_of(sequence)] & bit_of(sequence)) != 0;
}

void SequenceWindow::set(std::uint64_t sequence) { bits_[word_of(sequence)] |= bit_of(sequence); }

std::expected<void, DropReason> SequenceWindow::accept(std::uint64_t sequence) {
  if (sequence > highest_) {
    // Whole words are cleared as the window enters them; the spare word keeps the one that is being cleared
    // apart from the oldest one that still counts.
    const std::uint64_t first = highest_ / 64 + 1;
    const std::uint64_t last = sequence / 64;
    const std::uint64_t cleared = last >= first ? std::min(last - first + 1, word_count) : 0;
    for (std::uint64_t i = 0; i < cleared; ++i) bits_[static_cast<std::size_t>((last - i) % word_count)] = 0;
    highest_ = sequence;
    set(sequence);
    return {};
  }
  if (highest_ - sequence >= width) return std::unexpected{DropReason::too_old};
  if (seen(sequence)) return std::unexpected{DropReason::duplicate};
  set(sequence);
  return {};
}

void SequenceWindow::fill(PacketHeader& header) const {
  header.ack = static_cast<std::uint32_t>(highest_);
  header.ack_bits = 0;
  for (std::uint64_t i = 0; i < 32 && highest_ > i + 1; ++i)
    if (seen(highest_ - 1 - i)) header.ack_bits |= std::uint32_t{1} << i;
}

namespace {

constexpr std::size_t slot_of_sequence(std::uint64_t sequence) {
  return static_cast<std::size_t>(sequence % AckTracker::width);
}

/// Sets a packet's bit. @return true: it was not set before
template <class Bits>
bool mark(Bits& bits, std::size_t slot) {
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  const bool first = (bits[slot / 64] & bit) == 0;
  bits[slot / 64] |= bit;
  return first;
}

template <class Bits>
void unmark(Bits& bits, std::size_t slot) {
  bits[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
}

}  // namespace

std::uint64_t AckTracker::next_sequence(Micros now) {
  ++newest_;
  const std::size_t slot = slot_of_sequence(newest_);
  sent_us_[slot] = static_cast<std::uint32_t>(now.count());
  unmark(told_, slot);
  unmark(acked_, slot);
  return newest_;
}

std::expected<AckTracker::Result, DropReason> AckTracker::acknowledge(const PacketHeader& header,
                                                                      Micros now) {
  Result result;
  if (header.ack == 0 && header.ack_bits == 0) return result;
  // The 32 bits on the wire stand for the number nearest to, and not above, what was sent.
  const std::uint32_t behind = static_cast<std::uint32_t>(newest_) - header.ack;
  if (behind >= newest_ || behind > 0x7fffffffu) return std::unexpected{DropReason::bad_ack};
  const std::uint64_t newest_acked = newest_ - behind;
  // A bit for sequence 0 or below claims what was never sent.
  if (newest_acked <= 32 && (header.ack_bits >> (newest_acked - 1)) != 0)
    return std::unexpected{DropReason::bad_ack};
  for (std::uint64_t i = 0; i <= 32; ++i) {
    if (newest_acked <= i || behind + i >= width) break;
    const std::size_t slot = slot_of_sequence(newest_acked - i);
    if (mark(told_, slot)) ++result.newly_told;
    if (i > 0 && (header.ack_bits >> (i - 1) & 1) == 0) continue;
    if (!mark(acked_, slot)) continue;
    ++result.newly_acked;
    if (i > 0) continue;
    result.has_rtt = true;
    result.rtt = Micros{static_cast<std::uint32_t>(now.count()) - sent_us_[slot]};
  }
  return result;
}

}  // namespace ashlar
