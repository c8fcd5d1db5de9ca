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

std::size_t IdentityHash::operator()(const Identity& identity) const {
  std::uint64_t first = 0;
  std::memcpy(&first, identity.data(), sizeof first);
  return static_cast<std::size_t>(mix64(first));
}

SessionTable::SessionTable(std::uint32_t sessions_max)
    : rows_(sessions_max), by_number_(sessions_max), greeted_(greeted_max(sessions_max)) {
  ASHLAR_ASSERT(sessions_max >= 1 && sessions_max < 65536);
  seated_.reserve(sessions_max);
  visited_.reserve(sessions_max);
  by_link_.reserve(2 * std::size_t{sessions_max});
  by_identity_.reserve(2 * std::size_t{sessions_max});
  per_host_.reserve(2 * std::size_t{sessions_max});
}

std::span<const std::uint32_t> SessionTable::visit() {
  visited_ = seated_;
  return visited_;
}

const Session* SessionTable::find(std::uint32_t number) const {
  const auto row = by_number_.find(number);
  return row ? &rows_[*row] : nullptr;
}

Session* SessionTable::find(std::uint32_t number) {
  return const_cast<Session*>(std::as_const(*this).find(number));  // of a table that may be changed
}

Session* SessionTable::find_identity(const Identity& identity) {
  const auto row = by_identity_.find(identity);
  return row == by_identity_.end() ? nullptr : &rows_[row->second];
}

Session* SessionTable::find_resumable(std::uint32_t number) {
  if (Session* const session = find(number)) return session;
  for (const std::uint32_t row : seated_)
    if (rows_[row].resume.find(number) != nullptr) return &rows_[row];
  return nullptr;
}

const Session* SessionTable::find_link(const PeerAddress& link) const {
  if (link.transport != Transport::tcp) return nullptr;
  const auto row = by_link_.find(link.link);
  return row == by_link_.end() ? nullptr : &rows_[row->second];
}

Session* SessionTable::find_link(const PeerAddress& link) {
  return const_cast<Session*>(std::as_const(*this).find_link(link));  // of a table that may be changed
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
  ASHLAR_ASSERT(by_number_.size() == seated_.size());
  ASHLAR_ASSERT(by_identity_.size() == seated_.size());
  ASHLAR_ASSERT(by_link_.size() <= seated_.size());
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

Session& SessionTable::open(const PeerAddress& address, std::uint32_t number, const Identity& identity) {
  ASHLAR_ASSERT(number != 0);
  const std::uint32_t row = free_row();
  Session& session = rows_[row];
  session = Session{};
  session.state = SessionState::greeted;
  session.address = address;
  session.number = number;
  session.identity = identity;
  seated_.insert(std::ranges::lower_bound(seated_, row), row);
  const bool new_number = by_number_.add(number, row);
  const bool new_identity = by_identity_.emplace(identity, row).second;
  ASHLAR_ASSERT(new_number);
  ASHLAR_ASSERT(new_identity);
  if (address.transport == Transport::tcp) {
    const bool new_link = by_link_.emplace(address.link, row).second;
    ASHLAR_ASSERT(new_link);
  }
  ++per_host_[host_of(address)];
  greeted_.add(number, limit_key(address));
  assert_sizes();
  return session;
}

void SessionTable::leave_greeted(Session& session, SessionState then) {
  ASHLAR_ASSERT(session.state == SessionState::greeted);
  session.state = then;
  greeted_.remove(session.number);
}

void SessionTable::greet_again(Session& session) {
  ASHLAR_ASSERT(session.state != SessionState::free);
  session.state = SessionState::greeted;
}

void SessionTable::keep_place(Session& session) {
  ASHLAR_ASSERT(session.state == SessionState::greeted);
  greeted_.remove(session.number);
}

void SessionTable::count_out(const PeerAddress& address) {
  const auto count = per_host_.find(host_of(address));
  ASHLAR_ASSERT(count != per_host_.end() && count->second > 0);
  if (--count->second == 0) per_host_.erase(count);
}

void SessionTable::move(Session& session, const PeerAddress& address) {
  ASHLAR_ASSERT(session.address.transport == Transport::udp && address.transport == Transport::udp);
  count_out(session.address);
  ++per_host_[host_of(address)];
  greeted_.move(session.number, limit_key(address));
  session.address = address;
}

void SessionTable::close(Session& session) {
  const std::uint32_t row = row_of(session);
  const auto seat = std::ranges::lower_bound(seated_, row);
  ASHLAR_ASSERT(seat != seated_.end() && *seat == row);
  seated_.erase(seat);
  const bool known = by_number_.remove(session.number);
  const std::size_t identities = by_identity_.erase(session.identity);
  ASHLAR_ASSERT(known);
  ASHLAR_ASSERT(identities == 1);
  if (session.address.transport == Transport::tcp) by_link_.erase(session.address.link);
  greeted_.remove(session.number);
  count_out(session.address);
  session = Session{};
  assert_sizes();
}

}  // namespace ashlar::server
