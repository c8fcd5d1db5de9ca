#include "client_sim/simulation/line.h"

#include <algorithm>
#include <utility>

namespace ashlar::simulation {
namespace {

void add_stats(client_sim::LinkStats& sum, const client_sim::LinkStats& more) {
  sum.taken += more.taken, sum.delivered += more.delivered, sum.lost += more.lost, sum.cut += more.cut;
  sum.overflowed += more.overflowed, sum.duplicated += more.duplicated;
  sum.reordered += more.reordered, sum.corrupted += more.corrupted;
  sum.resent += more.resent;
}

}  // namespace

Line::Line(std::uint32_t number, std::array<std::uint8_t, 2> host, Rng& rng)
    : number_(number),
      // In braces, so that the seeds are drawn in this order.
      lanes_{Lane{Link{{}, rng.next_u64()}, Link{{}, rng.next_u64()}, {}, {}},
             Lane{Link{{}, rng.next_u64()}, Link{{}, rng.next_u64()}, {}, {}}} {
  here_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, host[0], host[1]};
  take_port();
}

void Line::take_port() {
  here_.port = static_cast<std::uint16_t>(ports_per_round * (1 + ports_++ % 60) + number_);
}

Line::Way& Line::way_to(const PeerAddress& server) {
  if (const auto it = std::ranges::find(ways_, server, &Way::theirs); it != ways_.end()) return *it;
  Way way{server, here_};
  if (server.transport == Transport::tcp) {
    way.ours.transport = Transport::tcp;
    way.ours.link = ++links_ * ports_per_round + number_;
    way.dead = dead_ > 0;
    if (way.dead) unreachable_.push_back(server);
  } else {
    way.dead = dead_ + datagrams_dead_ > 0;
  }
  had_.insert(way.ours);
  return ways_.emplace_back(way);
}

void Line::send(Micros now, const DatagramBatch& batch) {
  for (const DatagramBatch::Entry& entry : batch.entries()) {
    const Way& way = way_to(entry.peer);
    if (!way.dead) lane(way.ours).to_server.add(way.ours, batch.bytes(entry));
  }
  for (const PeerAddress& closed : batch.closed()) {
    const auto it = std::ranges::find(ways_, closed, &Way::theirs);
    if (it == ways_.end() || closed.transport != Transport::tcp) continue;
    if (!it->dead) lane(closed).to_server.add_closed(it->ours);
    ways_.erase(it);
  }
  for (Lane& l : lanes_) {
    // A stream's send buffer is full some time, as when a hostile peer floods a line that is cut.
    const bool full = &l == &lanes_[1] && l.up.under_way() >= send_queue_max && l.to_server.closed().empty();
    for (const DatagramBatch::Entry& entry : l.to_server.entries())
      if (tap_ != nullptr) tap_->up(entry.peer, l.to_server.bytes(entry));
    if (!full) l.up.send(now, l.to_server);
    l.to_server.clear();
  }
}

void Line::receive(Micros now, DatagramBatch& out) {
  for (Lane& l : lanes_) {
    arrived_.clear();
    l.down.deliver(now, arrived_);
    for (const DatagramBatch::Entry& entry : arrived_.entries()) {
      const auto it = std::ranges::find(ways_, entry.peer, &Way::ours);
      if (it == ways_.end() || it->dead) continue;
      out.add(it->theirs, arrived_.bytes(entry));
      if (!std::exchange(it->heard, true)) heard_.insert(it->ours);
    }
    for (const PeerAddress& closed : arrived_.closed()) {
      const auto it = std::ranges::find(ways_, closed, &Way::ours);
      if (it == ways_.end() || it->dead) continue;
      out.add_closed(it->theirs);
      ways_.erase(it);
    }
  }
  for (const PeerAddress& server : unreachable_) {
    out.add_closed(server);
    std::erase_if(ways_, [&server](const Way& way) { return way.theirs == server; });
  }
  unreachable_.clear();
}

void Line::hang_up(bool keep_port) {
  for (const Way& way : ways_)
    if (way.ours.transport == Transport::tcp && !way.dead) lane(way.ours).to_server.add_closed(way.ours);
  ways_.clear();
  unreachable_.clear();
  if (!keep_port) take_port();
}

void Line::deliver_up(Micros now, DatagramBatch& in) {
  for (Lane& l : lanes_) l.up.deliver(now, in);
}

void Line::send_down(const PeerAddress& to, std::span<const std::uint8_t> bytes) {
  if (has(to)) lane(to).from_server.add(to, bytes);
}

void Line::close_down(const PeerAddress& way) {
  if (way.transport == Transport::tcp && has(way)) lane(way).from_server.add_closed(way);
}

void Line::close_all_down() {
  for (const Way& way : ways_) close_down(way.ours);
}

void Line::carry(Micros now) {
  for (Lane& l : lanes_) {
    const bool full = &l == &lanes_[0] && l.down.under_way() >= receive_queue_max;
    for (const DatagramBatch::Entry& entry : l.from_server.entries())
      if (tap_ != nullptr) tap_->down(entry.peer, l.from_server.bytes(entry));
    if (!full) l.down.send(now, l.from_server);
    l.from_server.clear();
  }
}

bool Line::has(const PeerAddress& address) const {
  return std::ranges::find(ways_, address, &Way::ours) != ways_.end();
}

bool Line::carries(const PeerAddress& address) const { return lane(address).up.carries(address); }

void Line::set_conditions(LinkConditions conditions) {
  for (Lane& l : lanes_) {
    conditions.ordered = &l == &lanes_[1];
    l.up.set_conditions(conditions);
    l.down.set_conditions(conditions);
  }
}

void Line::partition_up(Micros until) {
  for (Lane& l : lanes_) l.up.partition(until);
}

void Line::partition_down(Micros until) {
  for (Lane& l : lanes_) l.down.partition(until);
}

void Line::move_datagrams() {
  for (Way& way : ways_) {
    if (way.ours.transport != Transport::udp) continue;
    way.ours = here_;
    way.heard = false;
    had_.insert(here_);
  }
}

void Line::roam(bool other_host) {
  take_port();
  if (other_host) here_.ip[15] = static_cast<std::uint8_t>(2 + (here_.ip[15] - 1) % 200);
  move_datagrams();
  for (Way& way : ways_) {
    if (way.ours.transport == Transport::udp || way.dead) continue;
    way.dead = true;
    unreachable_.push_back(way.theirs);
  }
}

void Line::die(bool datagrams_only) {
  ++(datagrams_only ? datagrams_dead_ : dead_);
  for (Way& way : ways_)
    if (!datagrams_only || way.ours.transport == Transport::udp) way.dead = true;
}

void Line::revive(bool datagrams_only) {
  --(datagrams_only ? datagrams_dead_ : dead_);
  if (dead_ + datagrams_dead_ > 0) return;
  take_port();
  move_datagrams();
  for (Way& way : ways_)
    if (way.ours.transport == Transport::udp) way.dead = false;
}

client_sim::LinkStats Line::stats() const {
  client_sim::LinkStats sum;
  for (const Lane& l : lanes_) add_stats(sum, l.up.stats()), add_stats(sum, l.down.stats());
  return sum;
}

std::uint64_t Line::delivered_down() const {
  return lanes_[0].down.stats().delivered + lanes_[1].down.stats().delivered;
}

std::size_t Line::memory_bytes() const {
  constexpr std::size_t node_bytes = sizeof(PeerAddress) + 4 * sizeof(void*);
  std::size_t sum = (had_.size() + heard_.size()) * node_bytes;
  for (const Lane& l : lanes_) sum += l.up.memory_bytes() + l.down.memory_bytes();
  return sum;
}

}  // namespace ashlar::simulation
