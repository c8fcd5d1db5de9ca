#include "client_sim/c/ashlar_client.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/game_client.h"
#include "client_sim/net/client_sockets.h"
#include "protocol/content/content.h"
#include "protocol/secure/identity.h"
#include "protocol/secure/secret.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

void say(char* error, std::size_t bytes, const std::string& line) {
  if (error == nullptr || bytes == 0) return;
  const std::size_t n = std::min(bytes - 1, line.size());
  std::memcpy(error, line.data(), n);
  error[n] = 0;
}

/// A caller's struct may be older, and shorter, than ours.
template <typename T>
T taken(const T* given) {
  T out{};
  if (given != nullptr) std::memcpy(&out, given, std::min<std::size_t>(given->size, sizeof out));
  return out;
}
template <typename T>
void give(T value, T* out) {
  value.size = out->size;
  std::memcpy(out, &value, std::min<std::size_t>(out->size, sizeof value));
}

}  // namespace

struct ashlar_client {
  ashlar_client(ClientSockets opened, GameConfig config)
      : sockets(std::move(opened)), game(std::move(config)) {}

  ClientSockets sockets;
  GameClient game;
  DatagramBatch in, out;
  Micros at{0};
};

namespace {

ContentStore store_of(const ashlar_options& options) {
  ContentStore store;
  void* const user = options.content_user;
  if (options.load_content != nullptr)
    store.load = [load = options.load_content, user](std::uint64_t hash) {
      std::vector<std::uint8_t> bytes(std::min(load(user, hash, nullptr, 0), content_bytes_max));
      if (bytes.empty() || load(user, hash, bytes.data(), bytes.size()) != bytes.size()) bytes.clear();
      return bytes;
    };
  if (options.keep_content != nullptr)
    store.keep = [keep = options.keep_content, user](std::uint64_t hash,
                                                     std::span<const std::uint8_t> bytes) {
      keep(user, hash, bytes.data(), bytes.size());
    };
  return store;
}

ashlar_client* open_client(const ashlar_options& options, std::string& error) {
  if (options.server == nullptr) {
    error = "no server: set ashlar_options.server to HOST:PORT";
    return nullptr;
  }
  const Transport transport = options.tcp != 0 ? Transport::tcp : Transport::udp;
  const auto server = resolve_server(options.server, transport);
  if (!server) {
    error = server.error();
    return nullptr;
  }
  auto sockets = ClientSockets::open(*server);
  if (!sockets) {
    error = sockets.error();
    return nullptr;
  }
  GameConfig config;
  config.content = store_of(options);
  config.client.server = *server;
  if (options.name != nullptr) config.client.name = options.name;
  config.client.seed = secure::SystemEntropy().secret();
  config.client.opens_links = true;
  config.client.stream_ground = options.stream_ground != 0;
  if (transport == Transport::udp) {
    config.client.fallback = *server;
    config.client.fallback->transport = Transport::tcp;
  }
  if (options.game_message != nullptr)
    config.client.on_message = [hear = options.game_message, user = options.game_user](
                                   const MessageTraits& kind, const GameMessage& message) {
      hear(user, kind.name.c_str(), message.number, message.bytes.data(), message.bytes.size());
    };
  if (options.identity != nullptr) {
    secure::Secret secret;
    std::ranges::copy(std::span(options.identity, 32), secret.writable().begin());
    config.client.identity = secure::key_pair(secret);
  }
  if (options.pinned != nullptr) {
    config.client.pinned.emplace();
    std::memcpy(config.client.pinned->bytes.data(), options.pinned, config.client.pinned->bytes.size());
  }
  return std::make_unique<ashlar_client>(std::move(*sockets), std::move(config)).release();
}

}  // namespace

uint32_t ashlar_version(void) { return ASHLAR_CLIENT_VERSION; }

ashlar_client* ashlar_open(const ashlar_options* options, char* error, size_t error_bytes) {
  std::string line;
  ashlar_client* client = nullptr;
  try {
    client = open_client(taken(options), line);
  } catch (const std::exception& e) {
    line = e.what();
  }
  say(error, error_bytes, line);
  return client;
}

void ashlar_close(ashlar_client* client) {
  if (client == nullptr) return;
  if (!client->game.client().ended()) {
    ashlar_leave(client);
    ashlar_advance(client);
  }
  const std::unique_ptr<ashlar_client> gone(client);
}

void ashlar_advance(ashlar_client* client) {
  client->in.clear(), client->out.clear();
  client->sockets.receive(client->in);
  client->at = now();
  client->game.advance(client->at, client->in, client->out);
  client->sockets.send(client->out);
}

enum ashlar_state ashlar_get_state(const ashlar_client* client) {
  return static_cast<enum ashlar_state>(client->game.client().state());
}

const char* ashlar_reason(const ashlar_client* client) { return client->game.client().reason().c_str(); }

void ashlar_set_command(ashlar_client* client, const ashlar_command* command) {
  const ashlar_command given = taken(command);
  PlayerCommand wanted;
  // False for NaN, too.
  const auto axis = [](double v) { return v > -1 ? std::min(v, 1.0) : v <= -1 ? -1.0 : 0.0; };
  wanted.forward = axis(given.forward);
  wanted.left = axis(given.left);
  wanted.yaw = Turn16{given.yaw};
  const auto pitch = std::clamp<std::int16_t>(given.pitch, -16384, 16384);
  wanted.pitch = Turn16{static_cast<std::uint16_t>(pitch)};
  wanted.buttons = static_cast<std::uint16_t>(given.buttons & button::known);
  client->game.set_command(wanted);
}

void ashlar_leave(ashlar_client* client) { client->game.client().leave(); }

int ashlar_self(ashlar_client* client, ashlar_self_state* out) {
  const auto shown = client->game.self(now());
  const Client& session = client->game.client();
  if (!shown || !session.own()) return 0;
  const bool foreseen = client->game.predictor().ready();
  const Body& body = foreseen ? client->game.predictor().body() : session.own()->body;
  ashlar_self_state state{};
  state.id = static_cast<std::uint32_t>(session.player());
  state.x = shown->position_m.x, state.y = shown->position_m.y, state.z = shown->position_m.z;
  state.vx = body.velocity_mps.x, state.vy = body.velocity_mps.y, state.vz = body.velocity_mps.z;
  state.eye_z = session.welcome().rules.player_eye_m + shown->eye_offset_m;
  state.delta_yaw = static_cast<std::uint16_t>(shown->delta_yaw);
  state.grounded = body.grounded;
  state.health = session.own()->health;
  state.tick = foreseen ? client->game.predictor().tick() : session.own_tick();
  give(state, out);
  return 1;
}

size_t ashlar_others(ashlar_client* client, ashlar_entity* out, size_t max) {
  const auto shown = client->game.others(now());
  for (std::size_t i = 0; i < std::min(max, shown.size()); ++i) {
    const ShownEntity& e = shown[i];
    out[i] = {};
    out[i].id = static_cast<std::uint32_t>(e.record.id);
    out[i].kind = static_cast<std::uint8_t>(e.record.kind);
    out[i].health = e.record.health;
    out[i].state = e.record.state;
    out[i].extrapolated = e.extrapolated ? 1 : 0;
    out[i].x = e.position_m.x, out[i].y = e.position_m.y, out[i].z = e.position_m.z;
    out[i].yaw = static_cast<std::uint16_t>(e.yaw);
  }
  return shown.size();
}

size_t ashlar_take_cues(ashlar_client* client, ashlar_cue* out, size_t max) {
  const auto heard = client->game.client().take_cues(max);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const Cue& cue = heard[i].cue;
    const DVec3 at = cue.place_m();
    out[i] = {heard[i].tick,
              static_cast<std::uint32_t>(cue.who),
              static_cast<std::uint8_t>(cue.kind),
              cue.detail,
              static_cast<std::uint8_t>(cue.placed),
              {},
              at.x,
              at.y,
              at.z};
  }
  return heard.size();
}

int ashlar_field(const ashlar_client* client, uint32_t id, const char* name, double* out) {
  if (name == nullptr || out == nullptr) return 0;
  const auto value = client->game.client().field(EntityId{id}, name);
  if (!value) return 0;
  *out = *value;
  return 1;
}

int ashlar_block(const ashlar_client* client, int32_t x, int32_t y, int32_t z) {
  if (!client->game.predictor().ready()) return -1;
  const VoxelVolume& blocks = *client->game.predictor().replica().space().voxels;
  const IVec3 at{x, y, z};
  const ChunkCoord chunk = chunk_of(at);
  if (!VoxelVolume::in_range(chunk)) return -1;
  if (!blocks.loaded(chunk)) {
    const Chunk* const sent = client->game.client().ground().streamed().find(chunk);
    return sent == nullptr ? -1 : static_cast<int>(sent->block(local_in_chunk(at)));
  }
  return static_cast<int>(blocks.block(at));
}

double ashlar_ray(const ashlar_client* client, const double from[3], const double direction[3],
                  double metres_max) {
  const DVec3 origin{from[0], from[1], from[2]}, way{direction[0], direction[1], direction[2]};
  const double size = length(way);
  const bool sane = in_bounds(origin) && size > 1e-9 && size < 1e9 && metres_max >= 0;  // false for NaN, too
  if (!sane || !client->game.predictor().ready()) return -1;
  constexpr double far_m = 4096;
  const double reach_m = std::min(metres_max, far_m);
  const RayHit hit = space_ray(client->game.predictor().replica().space(), origin, way * (1 / size), reach_m);
  return hit.hit() ? hit.t_m : metres_max;
}

uint32_t ashlar_dig(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face) {
  if (face >= block_face_count) return 0;
  return client->game.client().act(BlockActKind::dig, {x, y, z}, static_cast<BlockFace>(face));
}

uint32_t ashlar_place(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face, uint16_t block) {
  if (face >= block_face_count || block >= block_kinds_max) return 0;
  return client->game.client().act(BlockActKind::place, {x, y, z}, static_cast<BlockFace>(face),
                                   static_cast<BlockId>(block));
}

uint32_t ashlar_open_block(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face) {
  if (face >= block_face_count) return 0;
  return client->game.client().open_block({x, y, z}, static_cast<BlockFace>(face));
}

uint32_t ashlar_close_block(ashlar_client* client) { return client->game.client().close_block(); }

uint32_t ashlar_take(ashlar_client* client, uint16_t item, uint8_t count) {
  return client->game.client().take_from_block(static_cast<BlockId>(item), count);
}

uint32_t ashlar_put(ashlar_client* client, uint16_t item, uint8_t count) {
  return client->game.client().put_into_block(static_cast<BlockId>(item), count);
}

uint32_t ashlar_write_sign(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face,
                           const char* text) {
  if (face >= block_face_count || text == nullptr) return 0;
  return client->game.client().write_sign({x, y, z}, static_cast<BlockFace>(face), text);
}

int ashlar_opened(const ashlar_client* client, ashlar_stack* out, size_t max) {
  const auto& opened = client->game.client().opened();
  if (!opened) return -1;
  int count = 0;
  for (const ItemStack& stack : opened->data.items.slots) {
    if (stack.empty()) continue;
    if (static_cast<size_t>(count) < max) out[count] = {static_cast<uint16_t>(stack.kind), stack.count};
    ++count;
  }
  return count;
}

size_t ashlar_sign(const ashlar_client* client, int32_t x, int32_t y, int32_t z, char* out, size_t bytes) {
  const std::string_view text = client->game.client().sign_text({x, y, z});
  if (bytes == 0) return text.size();
  const std::size_t size = std::min(text.size(), bytes - 1);
  std::copy_n(text.data(), size, out);
  out[size] = 0;
  return text.size();
}

void ashlar_get_stats(const ashlar_client* client, ashlar_stats* out) {
  const Client& session = client->game.client();
  const PredictorStats& p = client->game.predictor().stats();
  ashlar_stats stats{};
  stats.round_trip_ms = static_cast<double>(session.rtt().count()) / 1e3;
  if (session.welcomed())
    stats.others_lag_ms = 1e3 * client->game.picture().lag_ticks() * session.welcome().rules.tick_s();
  stats.snapshots = session.stats().snapshots;
  stats.confirmed = p.confirmed, stats.mispredicted = p.mispredicted_sum(), stats.late = p.late;
  give(stats, out);
}
