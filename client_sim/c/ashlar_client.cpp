#include "client_sim/c/ashlar_client.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/game_client.h"
#include "client_sim/net/client_sockets.h"
#include "protocol/content/content.h"
#include "protocol/secure/identity.h"
#include "protocol/secure/secret.h"
#include "world/bsp/placement.h"
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

/// The place of a list's element, whose size is the caller's.
template <typename T>
void give_at(const T& value, T* list, std::size_t element_bytes, std::size_t at) {
  auto* const to = reinterpret_cast<std::uint8_t*>(list) + at * element_bytes;
  std::memset(to, 0, element_bytes);
  std::memcpy(to, &value, std::min(element_bytes, sizeof value));
}

/// Those of a chest or a player that are not empty. @return how many there are
std::size_t give_stacks(std::span<const ItemStack> slots, ashlar_stack* out, std::size_t stack_bytes,
                        std::size_t max) {
  std::size_t count = 0;
  for (const ItemStack& stack : slots) {
    if (stack.empty()) continue;
    if (count < max)
      give_at(ashlar_stack{static_cast<std::uint16_t>(stack.kind), stack.count}, out, stack_bytes, count);
    ++count;
  }
  return count;
}

/// As many as the predictor keeps.
template <typename Event>
void keep_last(std::vector<Event>& events) {
  const std::size_t over = events.size() - std::min(events.size(), Predictor::events_max);
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(over));
}

static_assert(ASHLAR_TOKEN_BYTES == hello_token_bytes_max);
static_assert(ASHLAR_DATAGRAM_BYTES == datagram_bytes_max);
static_assert(ASHLAR_ACT_PROTECTED_ZONE == static_cast<int>(ActVerdict::protected_zone));
static_assert(ASHLAR_ACT_PROTECTED_ZONE + 1 == act_verdict_count);  // one that is new stands there, too
static_assert(ASHLAR_CUE_DIG + 1 == cue_kind_count);
static_assert((ASHLAR_JUMP | ASHLAR_USE | ASHLAR_ATTACK | ASHLAR_DOWN | ASHLAR_RELOAD) ==
              (button::known & ~button::weapon));
static_assert(ASHLAR_RELOAD == button::reload && ASHLAR_DOWN == button::down);

}  // namespace

struct ashlar_client {
  ashlar_client(std::optional<ClientSockets> opened, GameConfig config)
      : sockets(std::move(opened)), server(config.client.server), game(std::move(config)) {}

  std::optional<ClientSockets> sockets;  // none: the caller carries datagrams, and tells the time
  PeerAddress server;
  GameClient game;
  DatagramBatch in, out;
  std::size_t drained = 0;  // of out
  Micros at{0};
  std::deque<ChatLine> lines;
  std::vector<ShotEvent> shots;
  std::vector<LaunchEvent> launches;
  std::uint64_t world = 0;  // ClientStats::worlds, that these are of

  Micros frame_time() const { return sockets ? now() : at; }
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

/// Where the server is, and sockets to it. False: `error` says why not.
bool open_sockets(const ashlar_options& options, ClientConfig& config, std::optional<ClientSockets>& sockets,
                  std::string& error) {
  if (options.own_datagrams != 0) {
    config.server.port = 1;  // whatever it is, its datagrams come from there
    return true;
  }
  if (options.server == nullptr) {
    error = "no server: set ashlar_options.server to HOST:PORT";
    return false;
  }
  const auto found = resolve_addresses(options.server, options.tcp != 0 ? Transport::tcp : Transport::udp);
  if (!found) {
    error = found.error();
    return false;
  }
  auto opened = ClientSockets::open(*found);
  if (!opened) {
    error = opened.error();
    return false;
  }
  config.server = found->front();
  config.more_addresses.assign(found->begin() + 1, found->end());
  sockets.emplace(std::move(*opened));
  return true;
}

ashlar_client* open_client(const ashlar_options& options, std::string& error) {
  GameConfig config;
  std::optional<ClientSockets> sockets;
  if (options.size == 0) {
    error = "no options: set ashlar_options.size to sizeof(ashlar_options), as ASHLAR_OPTIONS_INIT does";
    return nullptr;
  }
  if (!open_sockets(options, config.client, sockets, error)) return nullptr;
  if (options.token != nullptr && options.token_bytes > hello_token_bytes_max) {
    error = "the token is longer than ASHLAR_TOKEN_BYTES";
    return nullptr;
  }
  config.content = store_of(options);
  if (options.name != nullptr) config.client.name = options.name;
  config.client.seed = secure::SystemEntropy().secret();
  config.client.opens_links = sockets.has_value();
  config.client.stream_ground = options.stream_ground != 0;
  config.client.watches = options.watches != 0;
  if (sockets && config.client.server.transport == Transport::udp) {
    config.client.fallback = config.client.server;
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
  if (options.token != nullptr)
    config.client.token.assign(options.token, options.token + options.token_bytes);
  return std::make_unique<ashlar_client>(std::move(sockets), std::move(config)).release();
}

}  // namespace

uint32_t ashlar_version(void) noexcept { return ASHLAR_CLIENT_VERSION; }

ashlar_client* ashlar_open(const ashlar_options* options, char* error, size_t error_bytes) noexcept {
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

void ashlar_close(ashlar_client* client) noexcept {
  if (client == nullptr) return;
  if (!client->game.client().ended() && client->sockets) {
    ashlar_leave(client);
    // What came meanwhile is not read: the caller's functions may be gone.
    client->in.clear(), client->out.clear();
    client->game.advance(now(), client->in, client->out);
    client->sockets->send(client->out);
  }
  const std::unique_ptr<ashlar_client> gone(client);
}

void ashlar_advance(ashlar_client* client) noexcept {
  if (client == nullptr) return;
  if (!client->sockets) return ashlar_advance_at(client, client->at.count());
  client->in.clear(), client->out.clear();
  client->sockets->receive(client->in);
  client->at = now();
  client->game.advance(client->at, client->in, client->out);
  client->sockets->send(client->out);
}

int ashlar_feed(ashlar_client* client, const uint8_t* bytes, size_t size) noexcept {
  if (client == nullptr) return 0;
  if (client->sockets || (bytes == nullptr && size > 0)) return 0;
  return client->in.add(client->server, {bytes, size}) ? 1 : 0;
}

void ashlar_advance_at(ashlar_client* client, int64_t microseconds) noexcept {
  if (client == nullptr) return;
  if (client->sockets) return;
  client->out.clear();
  client->drained = 0;
  client->at = std::max(client->at, Micros{microseconds});
  client->game.advance(client->at, client->in, client->out);
  client->in.clear();
}

size_t ashlar_drain(ashlar_client* client, uint8_t* out, size_t bytes_max) noexcept {
  if (client == nullptr || (out == nullptr && bytes_max > 0)) return 0;
  const auto entries = client->out.entries();
  if (client->sockets || client->drained >= entries.size()) return 0;
  const auto bytes = client->out.bytes(entries[client->drained++]);
  std::copy_n(bytes.begin(), std::min(bytes.size(), bytes_max), out);
  return bytes.size();
}

int ashlar_roam(ashlar_client* client, char* error, size_t error_bytes) noexcept {
  if (client == nullptr) return 0;
  if (!client->sockets) {
    say(error, error_bytes, "with own_datagrams the library has no sockets");
    return 0;
  }
  const auto roamed = client->sockets->roam();
  if (!roamed) say(error, error_bytes, roamed.error());
  return roamed ? 1 : 0;
}

enum ashlar_state ashlar_get_state(const ashlar_client* client) noexcept {
  if (client == nullptr) return ASHLAR_LOST;
  return static_cast<enum ashlar_state>(client->game.client().state());
}

const char* ashlar_reason(const ashlar_client* client) noexcept {
  if (client == nullptr) return "";
  return client->game.client().reason().c_str();
}

void ashlar_set_command(ashlar_client* client, const ashlar_command* command) noexcept {
  if (client == nullptr) return;
  const ashlar_command given = taken(command);
  PlayerCommand wanted;
  // False for NaN, too.
  const auto axis = [](double v) { return v > -1 ? std::min(v, 1.0) : v <= -1 ? -1.0 : 0.0; };
  wanted.forward = axis(given.forward);
  wanted.left = axis(given.left);
  wanted.yaw = Turn16{given.yaw};
  const auto pitch = std::clamp<std::int16_t>(given.pitch, -16384, 16384);
  wanted.pitch = Turn16{static_cast<std::uint16_t>(pitch)};
  wanted.buttons = static_cast<std::uint16_t>(given.buttons & button::known & ~button::weapon);
  if (given.weapon >= 1 && given.weapon <= 31)
    wanted.buttons = static_cast<std::uint16_t>(wanted.buttons |
                                                weapon_button(static_cast<std::uint8_t>(given.weapon - 1)));
  client->game.set_command(wanted);
}

void ashlar_leave(ashlar_client* client) noexcept {
  if (client == nullptr) return;
  client->game.client().leave();
}

int ashlar_server_key(const ashlar_client* client, uint8_t out[32]) noexcept {
  if (client == nullptr) return 0;
  const auto& key = client->game.client().server_key();
  if (!key || out == nullptr) return 0;
  std::ranges::copy(key->bytes, out);
  return 1;
}

int ashlar_say(ashlar_client* client, const char* text) noexcept {
  if (client == nullptr) return 0;
  return text != nullptr && client->game.client().say(text) ? 1 : 0;
}

int ashlar_take_line(ashlar_client* client, char* from, size_t from_bytes, char* text,
                     size_t text_bytes) noexcept {
  if (client == nullptr) return 0;
  for (ChatLine& line : client->game.client().take_chat()) {
    if (client->lines.size() == Client::chat_in_max) client->lines.pop_front();
    client->lines.push_back(std::move(line));
  }
  if (client->lines.empty()) return 0;
  say(from, from_bytes, client->lines.front().from);
  say(text, text_bytes, client->lines.front().text);
  client->lines.pop_front();
  return 1;
}

int ashlar_send_game_message(ashlar_client* client, const char* name, const uint8_t* bytes,
                             size_t size) noexcept {
  if (client == nullptr || name == nullptr || (bytes == nullptr && size > 0)) return 0;
  return client->game.client().send_game_message(name, {bytes, size}) ? 1 : 0;
}

int ashlar_self(ashlar_client* client, ashlar_self_state* out) noexcept {
  if (client == nullptr || out == nullptr) return 0;
  const auto shown = client->game.self(client->frame_time());
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
  state.spectates = session.spectates() ? 1 : 0;
  if (foreseen) state.weapon = client->game.predictor().replica().arsenal().held;
  state.tick = foreseen ? client->game.predictor().tick() : session.own_tick();
  give(state, out);
  return 1;
}

size_t ashlar_others(ashlar_client* client, ashlar_entity* out, size_t entity_bytes, size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return 0;
  const auto shown = client->game.others(client->frame_time());
  for (std::size_t i = 0; i < std::min(max, shown.size()); ++i) {
    const ShownEntity& e = shown[i];
    ashlar_entity entity{};
    entity.id = static_cast<std::uint32_t>(e.record.id);
    entity.kind = static_cast<std::uint8_t>(e.record.kind);
    entity.health = e.record.health;
    entity.state = e.record.state;
    entity.extrapolated = e.extrapolated ? 1 : 0;
    entity.x = e.position_m.x, entity.y = e.position_m.y, entity.z = e.position_m.z;
    entity.yaw = static_cast<std::uint16_t>(e.yaw);
    give_at(entity, out, entity_bytes, i);
  }
  return shown.size();
}

size_t ashlar_take_cues(ashlar_client* client, ashlar_cue* out, size_t cue_bytes, size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return 0;
  const auto heard = client->game.client().take_cues(max);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const Cue& cue = heard[i].cue;
    const DVec3 at = cue.place_m();
    const ashlar_cue told{heard[i].tick,
                          static_cast<std::uint32_t>(cue.who),
                          static_cast<std::uint8_t>(cue.kind),
                          cue.detail,
                          static_cast<std::uint8_t>(cue.placed),
                          {},
                          at.x,
                          at.y,
                          at.z};
    give_at(told, out, cue_bytes, i);
  }
  return heard.size();
}

size_t ashlar_take_shots(ashlar_client* client, ashlar_shot* out, size_t shot_bytes, size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return 0;
  const std::uint64_t world = client->game.client().stats().worlds;
  if (std::exchange(client->world, world) != world) client->shots.clear(), client->launches.clear();
  for (const ShotEvent& shot : client->game.predictor().take_shots()) client->shots.push_back(shot);
  for (const LaunchEvent& launch : client->game.predictor().take_launches())
    client->launches.push_back(launch);
  keep_last(client->shots);
  keep_last(client->launches);
  const std::size_t shots = std::min(max, client->shots.size());
  const std::size_t launches = std::min(max - shots, client->launches.size());
  const auto shot_of = [](DVec3 from, DVec3 way, double reach_m, std::uint8_t weapon) {
    return ashlar_shot{{from.x, from.y, from.z}, {way.x, way.y, way.z}, reach_m, weapon, 0, 0, 0, {}};
  };
  for (std::size_t i = 0; i < shots; ++i) {
    const ShotEvent& shot = client->shots[i];
    // Beyond what is loaded here nobody knows what it met.
    const bool known = shot.hit.solid.kind != ContactKind::unloaded || shot.hit.zone != HitZone::none;
    ashlar_shot told =
        shot_of(shot.origin, shot.direction, known ? shot.reach_m() : shot.range_m, shot.weapon);
    told.ray = shot.ray;
    give_at(told, out, shot_bytes, i);
  }
  for (std::size_t i = 0; i < launches; ++i) {
    const LaunchEvent& launch = client->launches[i];
    ashlar_shot told = shot_of(launch.origin, launch.direction, 0, launch.weapon);
    told.launched = 1, told.projectile = launch.projectile;
    give_at(told, out, shot_bytes, shots + i);
  }
  client->shots.erase(client->shots.begin(), client->shots.begin() + static_cast<std::ptrdiff_t>(shots));
  client->launches.erase(client->launches.begin(),
                         client->launches.begin() + static_cast<std::ptrdiff_t>(launches));
  return shots + launches;
}

size_t ashlar_maps(const ashlar_client* client) noexcept {
  if (client == nullptr) return 0;
  const Predictor& predictor = client->game.predictor();
  return predictor.ready() ? predictor.replica().setup().maps.size() : 0;
}

size_t ashlar_sectors(const ashlar_client* client, size_t map) noexcept {
  if (client == nullptr) return 0;
  return map < ashlar_maps(client) ? client->game.predictor().replica().heights(map).size() : 0;
}

int64_t ashlar_sector_at(const ashlar_client* client, size_t map, double x, double y) noexcept {
  if (client == nullptr) return -1;
  if (map >= ashlar_maps(client) || !in_bounds({x, y, 0})) return -1;
  const std::uint32_t sector = client->game.predictor().replica().plan(map).sector_at({x, y});
  return sector == no_index ? -1 : static_cast<int64_t>(sector);
}

int ashlar_sector(const ashlar_client* client, size_t map, size_t sector, double* floor_z,
                  double* ceiling_z) noexcept {
  if (client == nullptr) return 0;
  if (sector >= ashlar_sectors(client, map)) return 0;
  const SectorHeights heights =
      client->game.sector(map, static_cast<std::uint32_t>(sector), client->frame_time());
  if (floor_z != nullptr) *floor_z = heights.floor_m;
  if (ceiling_z != nullptr) *ceiling_z = heights.ceiling_m;
  return 1;
}

int ashlar_field(const ashlar_client* client, uint32_t id, const char* name, double* out) noexcept {
  if (client == nullptr) return 0;
  if (name == nullptr || out == nullptr) return 0;
  const auto value = client->game.client().field(EntityId{id}, name);
  if (!value) return 0;
  *out = *value;
  return 1;
}

int ashlar_block(const ashlar_client* client, int32_t x, int32_t y, int32_t z) noexcept {
  if (client == nullptr) return -1;
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
                  double metres_max) noexcept {
  if (client == nullptr || from == nullptr || direction == nullptr) return -1;
  const DVec3 origin{from[0], from[1], from[2]}, way{direction[0], direction[1], direction[2]};
  const double size = length(way);
  const bool sane = in_bounds(origin) && size > 1e-9 && size < 1e9 && metres_max >= 0;  // false for NaN, too
  if (!sane || !client->game.predictor().ready()) return -1;
  constexpr double far_m = 4096;
  const double reach_m = std::min(metres_max, far_m);
  const RayHit hit = space_ray(client->game.predictor().replica().space(), origin, way * (1 / size), reach_m);
  if (hit.kind == ContactKind::unloaded) return -1;
  return hit.hit() ? hit.t_m : metres_max;
}

uint32_t ashlar_dig(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face) noexcept {
  if (client == nullptr) return 0;
  if (face >= block_face_count) return 0;
  return client->game.client().act(BlockActKind::dig, {x, y, z}, static_cast<BlockFace>(face));
}

uint32_t ashlar_place(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face,
                      uint16_t block) noexcept {
  if (client == nullptr) return 0;
  if (face >= block_face_count || block >= block_kinds_max) return 0;
  return client->game.client().act(BlockActKind::place, {x, y, z}, static_cast<BlockFace>(face),
                                   static_cast<BlockId>(block));
}

uint32_t ashlar_open_block(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face) noexcept {
  if (client == nullptr) return 0;
  if (face >= block_face_count) return 0;
  return client->game.client().open_block({x, y, z}, static_cast<BlockFace>(face));
}

uint32_t ashlar_close_block(ashlar_client* client) noexcept {
  if (client == nullptr) return 0;
  return client->game.client().close_block();
}

uint32_t ashlar_take(ashlar_client* client, uint16_t item, uint8_t count) noexcept {
  if (client == nullptr) return 0;
  return client->game.client().take_from_block(static_cast<BlockId>(item), count);
}

uint32_t ashlar_put(ashlar_client* client, uint16_t item, uint8_t count) noexcept {
  if (client == nullptr) return 0;
  return client->game.client().put_into_block(static_cast<BlockId>(item), count);
}

uint32_t ashlar_write_sign(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face,
                           const char* text) noexcept {
  if (client == nullptr) return 0;
  if (face >= block_face_count || text == nullptr) return 0;
  return client->game.client().write_sign({x, y, z}, static_cast<BlockFace>(face), text);
}

uint32_t ashlar_drop(ashlar_client* client, uint16_t item, uint16_t count) noexcept {
  if (client == nullptr) return 0;
  if (item >= block_kinds_max) return 0;
  return client->game.client().drop_items(static_cast<BlockId>(item), count);
}

size_t ashlar_take_verdicts(ashlar_client* client, ashlar_verdict* out, size_t verdict_bytes,
                            size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return 0;
  const auto answers = client->game.client().take_verdicts(max);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ActAnswer& answer = answers[i];
    const ashlar_verdict told{answer.number,
                              answer.block.x,
                              answer.block.y,
                              answer.block.z,
                              static_cast<std::uint8_t>(answer.verdict),
                              {}};
    give_at(told, out, verdict_bytes, i);
  }
  return answers.size();
}

size_t ashlar_inventory(const ashlar_client* client, ashlar_stack* out, size_t stack_bytes,
                        size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return 0;
  return give_stacks(client->game.client().inventory().slots, out, stack_bytes, max);
}

const char* ashlar_block_name(const ashlar_client* client, uint16_t block) noexcept {
  if (client == nullptr) return "";
  const auto& kinds = client->game.client().blocks();
  if (!client->game.client().welcomed() || block >= kinds->size()) return "";
  return kinds->type(static_cast<BlockId>(block)).name.c_str();
}

int ashlar_opened(const ashlar_client* client, ashlar_stack* out, size_t stack_bytes, size_t max) noexcept {
  if (client == nullptr || (out == nullptr && max > 0)) return -1;
  const auto& opened = client->game.client().opened();
  return opened ? static_cast<int>(give_stacks(opened->data.items.slots, out, stack_bytes, max)) : -1;
}

size_t ashlar_sign(const ashlar_client* client, int32_t x, int32_t y, int32_t z, char* out,
                   size_t bytes) noexcept {
  if (client == nullptr) return 0;
  const std::string_view text = client->game.client().sign_text({x, y, z});
  if (bytes == 0 || out == nullptr) return text.size();
  const std::size_t size = std::min(text.size(), bytes - 1);
  std::ranges::copy(text.substr(0, size), out);
  out[size] = 0;
  return text.size();
}

void ashlar_get_stats(const ashlar_client* client, ashlar_stats* out) noexcept {
  if (client == nullptr || out == nullptr) return;
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
