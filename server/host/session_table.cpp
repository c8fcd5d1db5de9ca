#include "server/host/session_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "server/net/address.h"
#include "world/math/assert.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

/// What is counted as one host: neither port nor transport, and of IPv6 no more than the /64.
PeerAddress host_of(const PeerAddress& peer) {
  PeerAddress a;
  a.ip = limit_key(peer);
  return a;
}

/// Sessions that were welcomed and have not joined.
std::size_t greeted_max(std::uint32_t sessions_max) { return 64 + sessions_max / 4; }

}  // namespace

std::size_t AddressHash::operator()(const PeerAddress& a) const {
  std::array<std::uint64_t, 2> ip{};
  static_assert(sizeof ip == sizeof a.ip);
  std::memcpy(ip.data(), a.ip.data(), sizeof ip);
  const std::uint64_t rest =
      static_cast<std::uint64_t>(a.port) << 40 | static_cast<std::uint64_t>(a.transport) << 32 | a.link;
  return static_cast<std::size_t>(mix64(mix64(mix64(rest) ^ ip[0]) ^ ip[1]) ^ a.scope);
}

SessionTable::SessionTable(std::uint32_t sessions_max)
    : rows_(sessions_max), greeted_(greeted_max(sessions_max)) {
  ASHLAR_ASSERT(sessions_max >= 1 && sessions_max < 65536);
  seated_.reserve(sessions_max);
  visited_.reserve(sessions_max);
  by_connection_.reserve(2 * std::size_t{sessions_max});
  by_address_.reserve(2 * std::size_t{sessions_max});
  per_host_.reserve(2 * std::size_t{sessions_max});
}

std::span<const std::uint32_t> SessionTable::visit() {
  visited_ = seated_;
  return visited_;
}

Session* SessionTable::find(std::uint32_t connection) {
  const auto row = by_connection_.find(connection);
  return row == by_connection_.end() ? nullptr : &rows_[row->second];
}

const Session* SessionTable::find(const PeerAddress& address) const {
  const auto row = by_address_.find(address);
  return row == by_address_.end() ? nullptr : &rows_[row->second];
}

Session* SessionTable::find(const PeerAddress& address) {
  return const_cast<Session*>(std::as_const(*this).find(address));  // of a table that may be changed
}

std::uint32_t SessionTable::count_of_host(const PeerAddress& peer) const {
  const auto count = per_host_.find(host_of(peer));
  return count == per_host_.end() ? 0 : count->second;
}

std::uint32_t SessionTable::row_of(const Session& session) const {
  ASHLAR_ASSERT(&session >= rows_.data() && &session < rows_.data() + rows_.size());
  return static_cast<std::uint32_t>(&session - rows_.data());
}

void SessionTable::assert_sizes() const {
  ASHLAR_ASSERT(by_connection_.size() == seated_.size());
  ASHLAR_ASSERT(by_address_.size() == seated_.size());
  ASHLAR_ASSERT(per_host_.size() <= seated_.size());
  ASHLAR_ASSERT(greeted_.size() <= seated_.size());
}

std::uint32_t SessionTable::free_row() const {
  ASHLAR_ASSERT(seated_.size() < rows_.size());
  std::uint32_t row = 0;  // rows are in order: the first that is not at its own number follows a free one
  while (row < seated_.size() && seated_[row] == row) ++row;
  ASHLAR_ASSERT(rows_[row].state == SessionState::free);
  return row;
}

Session& SessionTable::open(const PeerAddress& address, std::uint32_t connection) {
  ASHLAR_ASSERT(connection != 0);
  const std::uint32_t row = free_row();
  Session& session = rows_[row];
  session = Session{};
  session.state = SessionState::greeted;
  session.address = address;
  session.connection = connection;
  seated_.insert(std::ranges::lower_bound(seated_, row), row);
  const bool new_address = by_address_.emplace(address, row).second;
  const bool new_connection = by_connection_.emplace(connection, row).second;
  ASHLAR_ASSERT(new_address);
  ASHLAR_ASSERT(new_connection);
  ++per_host_[host_of(address)];
  greeted_.add(connection, limit_key(address));
  assert_sizes();
  return session;
}

void SessionTable::begin_join(Session& session) {
  ASHLAR_ASSERT(session.state == SessionState::greeted);
  session.state = SessionState::joining;
  greeted_.remove(session.connection);
}

void SessionTable::close(Session& session) {
  const std::uint32_t row = row_of(session);
  const auto seat = std::ranges::lower_bound(seated_, row);
  ASHLAR_ASSERT(seat != seated_.end() && *seat == row);
  seated_.erase(seat);
  const std::size_t addresses = by_address_.erase(session.address);
  const std::size_t connections = by_connection_.erase(session.connection);
  ASHLAR_ASSERT(addresses == 1);
  ASHLAR_ASSERT(connections == 1);
  greeted_.remove(session.connection);
  const auto count = per_host_.find(host_of(session.address));
  ASHLAR_ASSERT(count != per_host_.end() && count->second > 0);
  if (--count->second == 0) per_host_.erase(count);
  session = Session{};
  assert_sizes();
}

}  // namespace ashlar::server
