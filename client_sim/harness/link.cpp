#include "client_sim/harness/link.h"

#include <algorithm>

namespace ashlar::client_sim {

bool Link::later(const Parcel& a, const Parcel& b) {
  return a.due != b.due ? a.due > b.due : a.order > b.order;
}

Micros Link::draw_wait() {
  const double jitter_us = rng_.unit() * static_cast<double>(conditions_.jitter.count());
  return conditions_.latency + Micros{static_cast<std::int64_t>(jitter_us)};
}

Link::Fate Link::draw() {
  Fate fate{};
  fate.lose = rng_.unit() < conditions_.loss;
  fate.twice = rng_.unit() < conditions_.duplication;
  fate.overtaken = rng_.unit() < conditions_.reordering;
  fate.spoil = rng_.unit() < conditions_.corruption;
  fate.wait = draw_wait();
  fate.copy_wait = draw_wait();
  return fate;
}

void Link::spoil_bytes(std::vector<std::uint8_t>& bytes) {
  if (bytes.empty()) return;
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (rng_.below(8) == 0) {
    bytes.resize(rng_.below(size));
    return;
  }
  const std::uint32_t flips = 1 + rng_.below(8);
  for (std::uint32_t i = 0; i < flips; ++i) {
    const std::uint32_t bit = rng_.below(8 * size);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
  }
}

void Link::add(Micros due, const PeerAddress& peer, std::span<const std::uint8_t> bytes, bool spoil,
               bool closed) {
  Parcel parcel;
  parcel.due = due;
  parcel.order = order_++;
  parcel.peer = peer;
  parcel.closed = closed;
  if (!spare_.empty()) {
    parcel.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  parcel.bytes.assign(bytes.begin(), bytes.end());
  if (spoil) spoil_bytes(parcel.bytes);
  queue_.push_back(std::move(parcel));
  std::push_heap(queue_.begin(), queue_.end(), later);
}

void Link::send_ordered(Micros start, const Fate& fate, const PeerAddress& peer,
                        std::span<const std::uint8_t> bytes) {
  Micros due = start + fate.wait;
  if (fate.lose) {
    due += conditions_.resend_after;
    ++stats_.resent;
  }
  last_due_ = std::max(last_due_, due);
  add(last_due_, peer, bytes, false, false);
}

void Link::send(Micros now, const DatagramBatch& batch) {
  const LinkConditions& c = conditions_;
  for (const DatagramBatch::Entry& entry : batch.entries()) {
    const auto bytes = batch.bytes(entry);
    const Fate fate = draw();
    const bool ordered = c.ordered || entry.peer.transport == Transport::tcp;
    ++stats_.taken;
    if (now < partition_until_ && !ordered) {
      ++stats_.cut;
      continue;
    }
    Micros start = std::max(now, partition_until_);
    if (c.bytes_per_s > 0) {
      line_free_ = std::max(line_free_, start);
      const auto waiting =
          static_cast<std::uint64_t>((line_free_ - start).count()) * c.bytes_per_s / 1'000'000;
      if (waiting + bytes.size() > c.queue_bytes_max && !ordered) {
        ++stats_.overflowed;
        continue;
      }
      line_free_ += Micros{static_cast<std::int64_t>(bytes.size() * 1'000'000 / c.bytes_per_s)};
      // A stream's sender would be held back when this much waits; here its line gets faster instead.
      const auto full = static_cast<std::int64_t>(c.queue_bytes_max * 1'000'000 / c.bytes_per_s);
      line_free_ = std::min(line_free_, start + Micros{full});
      start = line_free_;
    }
    if (ordered) {
      send_ordered(start, fate, entry.peer, bytes);
      continue;
    }
    if (fate.lose) {
      ++stats_.lost;
      continue;
    }
    stats_.reordered += fate.overtaken ? 1 : 0;
    stats_.corrupted += fate.spoil ? 1 : 0;
    add(start + fate.wait + (fate.overtaken ? c.reorder_delay : Micros{0}), entry.peer, bytes, fate.spoil,
        false);
    if (!fate.twice) continue;
    ++stats_.duplicated;
    add(start + fate.copy_wait, entry.peer, bytes, false, false);
  }
  for (const PeerAddress& peer : batch.closed()) {
    Micros due = now + c.latency;
    for (const Parcel& parcel : queue_) due = std::max(due, parcel.due);
    last_due_ = std::max(last_due_, due);
    add(due, peer, {}, false, true);
  }
}

void Link::deliver(Micros now, DatagramBatch& out) {
  while (!queue_.empty() && queue_.front().due <= now) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    Parcel& parcel = queue_.back();
    if (parcel.closed) {
      out.add_closed(parcel.peer);
    } else {
      out.add(parcel.peer, parcel.bytes);
      ++stats_.delivered;
    }
    spare_.push_back(std::move(parcel.bytes));
    queue_.pop_back();
  }
}

bool Link::carries(const PeerAddress& peer) const {
  return std::ranges::find(queue_, peer, &Parcel::peer) != queue_.end();
}

std::size_t Link::memory_bytes() const {
  std::size_t sum =
      queue_.capacity() * sizeof(Parcel) + spare_.capacity() * sizeof(std::vector<std::uint8_t>);
  for (const Parcel& parcel : queue_) sum += parcel.bytes.capacity();
  for (const std::vector<std::uint8_t>& spare : spare_) sum += spare.capacity();
  return sum;
}

void Link::clear() {
  for (Parcel& parcel : queue_) spare_.push_back(std::move(parcel.bytes));
  queue_.clear();
  line_free_ = last_due_ = Micros{0};
}

}  // namespace ashlar::client_sim
