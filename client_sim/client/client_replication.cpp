// What a client is told of its world's kinds, of their added fields, and by its game.

#include <algorithm>
#include <utility>

#include "client_sim/client/client.h"
#include "protocol/replication_codec.h"

namespace ashlar::client_sim {

/// Is everything known that one has to know before one is in the welcome's world?
bool Client::knows_world() const {
  static const std::uint64_t usual = replication_hash(*ReplicationRegistry::builtin_ptr());
  const std::uint64_t known = replication_hash_ != 0 ? replication_hash_ : usual;
  // They are told last: who waits for them has all of it, its weapons, too.
  const bool told = welcome_.resumed || kinds_told_;
  return told && knows_blocks() && known == welcome_.replication_hash;
}

void Client::handle(ReplicatedKinds& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  const std::uint64_t hash = replication_hash(*message.registry);
  if (hash != welcome_.replication_hash)
    return close(SessionEnd::protocol, ClientState::lost,
                 "what the server tells of its kinds is not what its welcome named");
  if (config_.tap != nullptr) config_.tap->replicated(message.registry);
  const bool other = *message.registry != *replication_;
  replication_ = std::move(message.registry);
  replication_hash_ = hash;
  kinds_told_ = true;
  // Nothing was told by the new ones before: who does not know them has not joined.
  if (other) packed_.reset(welcome_.rules.tick_rate_hz, welcome_.snapshot_every_ticks, replication_);
  join_if_ready();
}

void Client::join_if_ready() {
  if (!join_waits_ || !knows_world()) return;
  join_waits_ = false;
  if (!fetching_) join_world();
}

void Client::handle(GameMessage& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  const auto known = replication_->messages();
  if (message.number >= known.size() || message.bytes.size() > known[message.number].bytes_max)
    return drop(DropReason::out_of_range);
  ++stats_.game_messages;
  if (config_.on_message) return config_.on_message(known[message.number], message);
  if (world_.game_messages.size() == game_messages_max)
    world_.game_messages.erase(world_.game_messages.begin());
  world_.game_messages.push_back(std::move(message));
}

bool Client::send_game_message(std::string_view kind, std::span<const std::uint8_t> bytes) {
  const auto known = replication_->client_messages();
  const auto at = std::ranges::find(known, kind, &MessageTraits::name);
  if (state_ != ClientState::playing || at == known.end() || bytes.size() > at->bytes_max) return false;
  if (world_.calls_out.size() == calls_queue_max) return false;
  world_.calls_out.push_back({{welcome_.world, static_cast<std::uint8_t>(at - known.begin()),
                               std::vector<std::uint8_t>(bytes.begin(), bytes.end())},
                              0});
  return true;
}

/// Nothing else goes by this stream, so its unacknowledged bytes are those of the newest of them.
void Client::send_calls() {
  const auto queued = [this] { return connection_->queue_bytes(StreamId::events); };
  std::uint64_t sent = 0;
  for (const CallOut& call : world_.calls_out) sent += call.queued_bytes;
  while (!world_.calls_out.empty() && world_.calls_out.front().queued_bytes != 0) {
    sent -= world_.calls_out.front().queued_bytes;
    if (queued() > sent) break;
    world_.calls_out.pop_front();
  }
  for (CallOut& call : world_.calls_out) {
    if (call.queued_bytes != 0) continue;
    call.message.world = welcome_.world;  // counted anew by each session
    const std::uint64_t before = queued();
    if (connection_->send(StreamId::events, writer_.write(call.message)) != SendResult::sent) return;
    call.queued_bytes = queued() - before;
  }
}

std::vector<GameMessage> Client::take_game_messages() { return std::exchange(world_.game_messages, {}); }

std::optional<double> Client::field_at(EntityId id, std::string_view name, double tick) const {
  for (std::uint8_t to = 0; to < field_audience_count; ++to) {
    const auto audience = static_cast<FieldAudience>(to);
    KnownFields known;
    if (!packed_.find_fields(id, audience, known)) continue;
    const ReplicatedKind* const kind = replication_->find(known.kind);
    for (std::size_t f = 0; kind != nullptr && f < kind->fields.size(); ++f)
      if (kind->fields[f].to == audience && kind->fields[f].name == name)
        return known.at(kind->fields[f], f, tick);
  }
  return std::nullopt;
}

std::optional<double> Client::field(EntityId id, std::string_view name) const {
  return field_at(id, name, static_cast<double>(0xffffffffu));
}

}  // namespace ashlar::client_sim
