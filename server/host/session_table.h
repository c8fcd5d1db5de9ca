#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "server/host/number_index.h"
#include "server/host/session.h"
#include "server/net/strangers.h"

namespace ashlar::server {

/// Over all of an address. Not keyed: the tables that use it hold no more rows than there are sessions.
struct AddressHash {
  std::size_t operator()(const PeerAddress& a) const;
};

/// Of a public key or a hash of a token's id: the first bytes are as good as any.
struct IdentityHash {
  std::size_t operator()(const Identity& identity) const;
};

/// All sessions, and the ways to find them: by number, by identity, by TCP connection, how many a host has,
/// and who came and has not joined yet. Each session that is not free stands in all of them but the last, and
/// nothing else does.
/// Rows stay where they are; references to sessions last until close(). The Host's thread. No allocation but
/// for the nodes of its tables, as sessions come.
class SessionTable {
 public:
  /// @param sessions_max  1 to 65535; asserted
  explicit SessionTable(std::uint32_t sessions_max);

  // --- to find them ---
  /// Rows that are not free, in order: a tick costs what is there, however many could be. Changed by open()
  /// and close().
  std::span<const std::uint32_t> seated() const { return seated_; }
  /// seated() as it is now: for visits that may open or close. Valid until the next call of this.
  std::span<const std::uint32_t> visit();
  /// Calls visit(session) for all of seated(), which stays as it is meanwhile. Their rows lie far apart in
  /// memory: each one's head is asked for some rows ahead, and what ahead(session) asks for a little later.
  template <class Ahead, class Visit>
  void walk(Ahead&& ahead, Visit&& visit) {
    for (std::size_t i = 0; i < seated_.size(); ++i) {
      fetch_ahead(seated_, i, ahead);
      visit(rows_[seated_[i]]);
    }
  }
  template <class Visit>
  void walk(Visit&& visit) {
    walk([](const Session&) {}, visit);
  }
  template <class Visit>
  void walk(Visit&& visit) const {
    for (std::size_t i = 0; i < seated_.size(); ++i) {
      fetch_ahead(seated_, i, [](const Session&) {});
      visit(rows_[seated_[i]]);
    }
  }
  /// What walk() asks for before the visit to a row: for visits that may open or close.
  template <class Ahead>
  void fetch_ahead(std::span<const std::uint32_t> rows, std::size_t i, Ahead&& ahead) const {
    constexpr std::size_t heads = 8, parts = 4;
    if (i + heads < rows.size()) rows_[rows[i + heads]].prefetch_head();
    if (i + parts < rows.size()) ahead(rows_[rows[i + parts]]);
  }
  std::span<Session> rows() { return rows_; }
  std::span<const Session> rows() const { return rows_; }
  Session& operator[](std::uint32_t row) { return rows_[row]; }
  const Session& operator[](std::uint32_t row) const { return rows_[row]; }
  Session* find(std::uint32_t number);  ///< null: no such session
  const Session* find(std::uint32_t number) const;
  Session* find_identity(const Identity& identity);  ///< null: that player has none
  /// The session whose client may come back by that number; null: none. O(sessions), for handshakes.
  Session* find_resumable(std::uint32_t number);
  /// The session that comes over a TCP connection; null: none does, or the address is none of TCP.
  Session* find_link(const PeerAddress& link);
  const Session* find_link(const PeerAddress& link) const;
  /// Sessions of one host, whatever their ports: of IPv6 a /64 counts as one.
  std::uint32_t count_of_host(const PeerAddress& peer) const;
  /// Where a session of the table stands in it.
  std::uint32_t row_of(const Session& session) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(seated_.size()); }  ///< that are not free
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(rows_.size()); }
  /// Those who came and have not joined yet, by number. Who had a place before is none of them.
  const StrangerPool& greeted() const { return greeted_; }

  // --- how they begin and end ---
  /// The row that open() would give. Precondition: not full; asserted.
  std::uint32_t free_row() const;
  /// A new session in the first free row: state greeted, all of it but these at its defaults.
  /// Preconditions, asserted: not full; the number is not 0; neither it nor the identity nor the TCP
  /// connection is in the table.
  Session& open(const PeerAddress& address, std::uint32_t number, const Identity& identity);
  /// A greeted session has joined and goes on to `then`; asserted.
  void leave_greeted(Session& session, SessionState then);
  /// The other way: it was welcomed to another world. Who had joined the last one keeps its place, and gives
  /// way to nobody who comes meanwhile.
  void greet_again(Session& session);
  /// A greeted session goes on with the body of an earlier one: it has a place already, and gives way to
  /// nobody.
  void keep_place(Session& session);
  /// It goes on from another address, over the same transport.
  void move(Session& session, const PeerAddress& address);
  /// Frees the row; `session` is empty afterwards. Precondition: one of the table's that is not free;
  /// asserted.
  void close(Session& session);

  // --- for checks ---
  std::size_t link_rows() const { return by_link_.size(); }
  std::size_t identity_rows() const { return by_identity_.size(); }
  std::size_t host_rows() const { return per_host_.size(); }

 private:
  void assert_sizes() const;
  void count_out(const PeerAddress& address);

  std::vector<Session> rows_;
  std::vector<std::uint32_t> seated_;
  std::vector<std::uint32_t> visited_;
  // Looked up, never iterated.
  NumberIndex by_number_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_link_;  // TCP alone
  std::unordered_map<Identity, std::uint32_t, IdentityHash> by_identity_;
  std::unordered_map<PeerAddress, std::uint32_t, AddressHash> per_host_;  // none of them 0
  StrangerPool greeted_;
};

}  // namespace ashlar::server
