#include "client_sim/link.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar::client_sim {

Micros Link::drawn(Micros up_to) {
  if (up_to <= Micros{0}) return Micros{0};
  return Micros{static_cast<std::int64_t>(rng_.unit() * static_cast<double>(up_to.count()))};
}

void Link::flip(std::vector<std::uint8_t>& bytes) {
  if (bytes.empty()) return;
  if (rng_.below(8) == 0) {
    bytes.resize(rng_.below(static_cast<std::uint32_t>(bytes.size())));
    return;
  }
  const std::uint32_t flips = 1 + rng_.below(8);
  for (std::uint32_t i = 0; i < flips; ++i) {
    const std::uint32_t bit = rng_.below(static_cast<std::uint32_t>(8 * bytes.size()));
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
  }
}

void Link::put(Micros at, const PeerAddress& peer, std::span<const std::uint8_t> bytes, bool corrupt) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back().bytes.reserve(datagram_bytes_max);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].peer = peer;
  slots_[slot].bytes.assign(bytes.begin(), bytes.end());
  if (corrupt) flip(slots_[slot].bytes);
  heap_.push_back({at, number_++, slot});
  std::ranges::push_heap(heap_, later);
}

void Link::send_in_stream(Micros at, const PeerAddress& peer, std::span<const std::uint8_t> bytes) {
  if (conditions_.cut || happens(conditions_.loss_share)) {
    at += conditions_.resend_after;
    ++counters_.resent;
  }
  stream_last_ = std::max(stream_last_, at);
  put(stream_last_, peer, bytes, false);
}

void Link::send(Micros now, const PeerAddress& peer, std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(bytes.size() <= datagram_bytes_max);
  ++counters_.sent;
  if (conditions_.cut && !conditions_.stream) {
    ++counters_.cut_off;
    return;
  }
  Micros at = now + conditions_.delay + drawn(conditions_.jitter);
  if (conditions_.bytes_per_second_max != 0) {
    const Micros wait = std::max(busy_until_ - now, Micros{0});
    if (wait > conditions_.queue_wait_max && !conditions_.stream) {
      ++counters_.over_rate;
      return;
    }
    const auto size = static_cast<std::int64_t>(bytes.size());
    const Micros on_the_line{size * 1'000'000 / conditions_.bytes_per_second_max};
    // A stream's sender stops when its window is full; what waits is bounded there, here by time.
    busy_until_ = std::min(now + wait + on_the_line, now + 4 * conditions_.queue_wait_max);
    at += busy_until_ - now;
  }
  if (conditions_.stream) return send_in_stream(at, peer, bytes);

  if (happens(conditions_.loss_share)) {
    ++counters_.lost;
    return;
  }
  if (happens(conditions_.reorder_share)) {
    ++counters_.held_back;
    at += conditions_.hold_back;
  }
  const bool corrupt = happens(conditions_.corrupt_share);
  if (corrupt) ++counters_.corrupted;
  put(at, peer, bytes, corrupt);
  if (happens(conditions_.duplicate_share)) {
    const std::uint32_t copies = 1 + rng_.below(3);
    for (std::uint32_t i = 0; i < copies; ++i) {
      ++counters_.duplicated;
      const Micros behind = drawn(Micros{100'000});
      put(at + behind, peer, bytes, false);
    }
  }
}

void Link::receive(Micros now, DatagramBatch& out) {
  while (!heap_.empty() && heap_.front().at <= now) {
    std::ranges::pop_heap(heap_, later);
    const std::uint32_t slot = heap_.back().slot;
    heap_.pop_back();
    out.add(slots_[slot].peer, slots_[slot].bytes);
    free_.push_back(slot);
    ++counters_.delivered;
  }
}

Micros Link::next_arrival() const { return heap_.empty() ? Micros::max() : heap_.front().at; }

void Link::clear() {
  for (const Waiting& waiting : heap_) free_.push_back(waiting.slot);
  heap_.clear();
  busy_until_ = stream_last_ = Micros{0};
}

}  // namespace ashlar::client_sim
