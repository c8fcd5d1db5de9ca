#pragma once
#include <algorithm>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/message_writer.h"
#include "server/bans/ban_list.h"
#include "server/host/away_bodies.h"
#include "server/host/chat_room.h"
#include "server/host/connection_ids.h"
#include "server/host/content_room.h"
#include "server/host/farewells.h"
#include "server/host/gate.h"
#include "server/host/ground_room.h"
#include "server/host/lingering.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"

namespace ashlar::server {

/// How sessions come and go: welcomed, joined into the world, sent away, timed out. What it decides about the
/// world enters the next tick. The Host's thread.
class Lobby {
 public:
  /// The rooms that it works with; all must outlive it.
  struct Rooms {
    const std::unique_ptr<World>& world;
    const HostConfig& config;
    SessionTable& sessions;
    Gate& gate;
    ChatRoom& chat;
    ContentRoom& content;
    GroundRoom& stream;
    LingeringBodies& lingering;
    AwayBodies& away;
    Farewells& farewells;
    TickInputCollector& input;
    HostStatus& status;
  };
  /// @param ids      numbers of connections are drawn with it
  /// @param entropy  must outlive this
  Lobby(const Rooms& rooms, const SecretKey& ids, secure::Entropy& entropy, const Defects& defects);

  // --- how they come: lobby_arrivals.cpp ---
  /// Somebody proved an identity and an address: becomes a session, or is told why not.
  /// @param unix_s  for connect tokens
  /// @return false: it was turned away, and its handshake is to be judged again when it comes again
  bool arrive(Micros now, std::int64_t unix_s, const PeerAddress& from, const secure::Accepted& accepted,
              HostOutput& out);
  /// A client that lacks a map or prop asks for it, joined or not.
  void give_content(Micros now, const Session& session, const ContentRequest& request);
  /// A greeted session that holds all content joins in the next tick, or goes on at once with the body that
  /// it came back to, or with the one that its player left in a fight; one that does not is told what it
  /// lacks.
  void join(Micros now, Session& session, const Join& join, HostOutput& out);
  /// After a step: gives those that it let in their entity; whom it did not is sent away.
  void settle_joins(Micros now, HostOutput& out);

  // --- how they go: lobby.cpp ---
  /// Its TCP connection ended: its player is away. Nothing happens where the peer has no session.
  void link_ended(Micros now, const PeerAddress& peer, HostOutput& out);
  /// Ends a session with a reason, which its client is told. `session` is empty afterwards.
  void send_away(Micros now, Session& session, SessionEnd reason, const std::string& text, HostOutput& out);
  /// What is due on each connection, and the ends of those that ended. In every advance(). Connections of
  /// which nothing was heard and by which nothing was said since are not touched before their time.
  void poll(Micros now, HostOutput& out);
  /// Something was heard of a session, or said by it: it is looked at in the next poll().
  void note_activity(const Session& session) { poll_at_[r_.sessions.row_of(session)] = Micros::min(); }
  /// Likewise of everybody: after a tick.
  void note_activity_of_all() { std::ranges::fill(poll_at_, Micros::min()); }
  /// Once a tick: refills what sessions may send, ends those that are kicked or have not joined in time.
  void keep_house(Micros now, HostOutput& out);
  /// Who may not come in; those of them who are here are sent away in the next keep_house(). Null: nobody.
  void set_bans(std::shared_ptr<const BanList> bans);
  /// For bans that end; before anything arrives.
  void set_time_of_day(std::int64_t unix_s) { unix_s_ = unix_s; }
  /// Everybody of this name who is away does not come back to its body: for an operator. @return how many
  std::uint32_t kick_away(const std::string& name, const std::string& reason);
  /// The world is another one: everybody is welcomed to it, and who is away has nothing to come back to.
  void change_world(Micros now);
  /// Everybody is told why, and nobody is left.
  void shut_down(Micros now, const std::string& reason, DatagramBatch& out);

 private:
  /// Who somebody is, once it is proven.
  struct Guest {
    Hello hello;
    Identity identity{};
    std::string token_id;  ///< empty on an open server
  };
  std::expected<Guest, Refusal> know(std::int64_t unix_s, const secure::Accepted& accepted) const;
  std::optional<Refusal> banned(const BanSuspect& who) const;
  bool put_out(Micros now, Session& session, HostOutput& out);
  void end_banned_away();
  std::optional<AwayBodies::Body> resume(Micros now, const PeerAddress& from, const Guest& guest,
                                         const secure::Accepted& accepted, HostOutput& out);
  std::optional<Refusal> make_room(Micros now, const PeerAddress& from, const Guest& guest, HostOutput& out);
  void refuse(Micros now, const PeerAddress& to, const secure::Accepted& accepted, const Refusal& refusal,
              const std::string& player, HostOutput& out);
  Session& begin(Micros now, const PeerAddress& from, const secure::Accepted& accepted, Guest guest);
  void take_back(Session& session, AwayBodies::Body body);
  void back_to_fight(Micros now, Session& session, HostOutput& out);
  void note_back(const Session& session);
  void play(Session& session, HostEventKind how, HostOutput& out);
  std::unique_ptr<Connection> connect(Micros now, const PeerAddress& peer,
                                      const secure::SessionKeys& keys) const;
  void welcome(Session& session);
  std::uint32_t new_number();

  /// Ends it when its time is over. @return is it still playing?
  bool keep(Micros now, Session& session, HostOutput& out);
  void note_end(Micros now, Session& session, HostOutput& out);
  static bool slow_reader(Micros now, Session& session);
  bool joins_in_time(Micros now, Session& session, HostOutput& out);
  void free_row(Session& session);
  void go_away(Micros now, Session& session, HostOutput& out);
  void step_aside(Micros now, Session& session);
  void end_away(Micros now, AwayBodies::Body& body, const std::string& why, HostOutput& out);
  void note_gone(Micros now, const AwayBodies::Body& gone, const std::string& why, HostOutput& out);
  void leave_body(EntityId player, const Identity& identity, bool leaves);
  void leave_world(Session& session, const std::string& why, HostOutput& out);
  void remove(Micros now, Session& session, const std::string& why, HostOutput& out);

  Rooms r_;
  ConnectionIds ids_;
  secure::KeyPair identity_;
  secure::Secret challenge_, reset_key_;
  MessageWriter writer_;
  /// By row of the sessions: when a connection is due, close together, as most are not.
  std::vector<Micros> poll_at_;
  std::shared_ptr<const BanList> bans_;  // null: nobody is banned
  bool bans_changed_ = false;            // since everybody was last looked at
  std::int64_t unix_s_ = 0;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
