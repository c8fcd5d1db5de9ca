// The books, laid open for checks.

#include "server/host/host_impl.h"

namespace ashlar::server {

void Host::audit(HostAudit& out) const {
  const Impl& h = *impl_;
  out.sessions.clear();
  for (const Session& session : h.sessions) {
    if (session.state == SessionState::free) continue;
    SessionAudit& row = out.sessions.emplace_back();
    row.address = session.address;
    row.connection = session.connection;
    row.nonce = session.nonce;
    row.player = session.player;
    row.playing = session.state == SessionState::playing;
    row.delta_yaw = session.delta_yaw;
    row.accepted = session.accepted;
    row.chat_waiting = session.chat.size();
    row.chat_given_up = session.chat.given_up();
  }
  out.addresses = h.by_address.size();
  out.counted_by_address = 0;
  for (const Session& session : h.sessions) {
    if (session.state == SessionState::free) continue;
    const auto known = h.by_address.find(session.address);
    if (known != h.by_address.end() && &h.sessions[known->second] == &session) ++out.counted_by_address;
  }
  out.hosts = h.per_host.size();
  out.leaves_waiting = h.leaves.size();
  out.admin_waiting = h.admin.size();
  out.lingering = h.lingering.size();
  out.extra_columns = h.ground.extra_columns();
}

}  // namespace ashlar::server
