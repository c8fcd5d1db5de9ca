#include "tests/protocol/wire_examples.h"

#include "protocol/connection/connection.h"
#include "protocol/connection/session_end.h"
#include "protocol/message_writer.h"
#include "protocol/packed_input.h"
#include "protocol/pong_info.h"
#include "protocol/sector_motion.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"
#include "protocol/version.h"
#include "tests/protocol/bytes.h"

namespace ashlar::wire_page {
namespace {

using namespace secure;

constexpr std::uint32_t session_number = 0x11223344;
constexpr Micros handshake_at = std::chrono::seconds(100);  // of the server's clock: slot 20

Secret counting_secret(std::uint8_t first) {
  Bytes32 out;
  for (std::size_t i = 0; i < 32; ++i) out[i] = static_cast<std::uint8_t>(first + i);
  return Secret(out);
}

/// Gives both ends one seed, so that the page can name what is made of it.
class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (auto& b : out) b = ++last_;
  }

 private:
  std::uint8_t last_ = 0;
};

Bytes bytes_from(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

KeyPair server_pair() { return key_pair(counting_secret(0x20)); }
KeyPair player_pair() { return key_pair(counting_secret(0x60)); }

Bytes some_token() {
  TokenClaims claims;
  claims.client = player_pair().open;
  claims.id = "id-4711";
  claims.name = "Ada";
  claims.not_before_s = 1'700'000'000;
  claims.expires_s = 1'700'003'600;
  claims.servers = {server_pair().open};
  const auto token = mint_token(claims, issuer_key_pair(counting_secret(0xa0)));
  REQUIRE(token.has_value());
  return *token;
}

Hello page_hello() {
  Hello hello;
  hello.name = "Ada", hello.build = "page 4";
  hello.token = some_token();
  hello.resume = 0x55667788;
  hello.resume_proof = counting_secret(0xc0).bytes();
  return hello;
}

Input page_input() {
  Input input;
  input.newest_tick = 1000;
  input.snapshot_tick = 996;
  input.world = 1;
  input.command_count = 2;
  input.commands[0] = {
      1,          -1, Turn16{16384}, Turn16{static_cast<std::uint16_t>(-100)}, button::jump | button::attack,
      TickId{996}};
  input.commands[1] = {0, 0, Turn16{16000}, Turn16{0}, 0};
  return input;
}

Welcome page_welcome() {
  Welcome welcome;
  welcome.reset_token = reset_token(reset_key(server_pair().secret), session_number);
  welcome.world = 1;
  welcome.seed = 0x1122334455667788;
  welcome.tick = 990;
  welcome.snapshot_every_ticks = 2;
  welcome.motd = "hello";
  welcome.terrain = 3;
  welcome.generator = 258;
  welcome.maps.push_back({"MAP01", 0x0102030405060708, {-10, 20}, 30, welcome_map_flag::doorway});
  welcome.props.push_back({"crate.obj", 0x1112131415161718, {{1.5, -2, 40}, Turn16{16384}, 0.5}, ModelUp::z});
  return welcome;
}

Bytes page_snapshot() {
  EntityRecord player;
  player.id = make_entity_id(5, 3);
  player.x = 128, player.y = 256, player.z = 384;
  player.yaw = 64;
  player.pitch = -2;
  player.health = 255;
  player.flags = entity_flag::grounded;
  EntityRecord imp = player;
  imp.id = make_entity_id(300, 1);
  imp.kind = entity_kind(MonsterKind::imp);
  imp.x = 8191;
  OwnPlayer own;
  own.body.position_m = {-63, 130, 3};
  own.body.velocity_mps = {6, 0, -0.5};
  own.body.eye_offset_m = 0.25;
  own.body.grounded = 1;
  own.id = player.id;
  own.health = 255;
  own.delta_yaw = Turn16{49152};
  Mover door;
  door.sector = 18, door.plane = Plane::ceiling;
  door.motion = Motion::door_raise, door.phase = MotionPhase::wait_high, door.resume = MotionPhase::up;
  door.low_m = 0, door.high_m = 3.25, door.speed_mps = 2.1875, door.wait_s = 4.25, door.left_s = 1.5;
  const WireMotion motion = to_wire(door, 0, 3.25);
  PlainPartWriter writer;
  PartHead head;
  head.tick = 998;
  head.applied_tick = 997;
  head.world = 1;
  head.input_ahead = 2;
  head.epoch = 2;
  writer.begin(head);
  Bytes bytes(unreliable_bytes_max);
  const auto first = [&bytes](std::size_t size) { return std::span<const std::uint8_t>(bytes).first(size); };
  writer.add_own(0, first(encode_plain_own(own, bytes)));
  writer.add_gone(7);
  writer.add_moved({make_entity_id(302, 1), 5});
  const Cue cues[] = {{CueKind::hurt, 1, 3, imp.id, false, {}},
                      {CueKind::burst, 4, 0, {}, true, {-16, 32, 24}}};
  writer.add_cues(first(plain_cue_bytes * encode_plain_cues(cues, bytes)));
  writer.add_motion(motion);
  const SliceHeight heights[] = {{17, quantise_heights({-1.5, 4})}, {18, quantise_heights({0, 3.25})}};
  writer.add_heights(0, 0, 4, first(encode_plain_heights(heights, bytes)));
  writer.add_block(5, 0, test::whole_block({-1, 2, 0}, std::span(&player, 1)));
  // Of another one somebody changed, somebody is as before, and one is gone.
  EntityRecord before = imp, still = imp, left = imp;
  before.x = 8000;
  still.id = make_entity_id(301, 1), left.id = make_entity_id(302, 1);
  const MovingRecord was[] = {{before, {}}, {still, {}}, {left, {}}}, now[] = {{imp, {}}, {still, {}}};
  const PlainCoded coded = encode_plain_block({{0, 2, 0}, now}, {6, was, true, {}}, bytes);
  writer.add_block(300, coded.age, first(coded.bytes));
  writer.set_part_count(1);
  return bytes_from(writer.bytes());
}

/// Both ends of the session, as far as their handshake.
struct PageHandshake {
  Bytes hello, retry, accept, finish;
  SessionKeys keys;

  explicit PageHandshake(const Bytes& payload) {
    CountingEntropy server_entropy, client_entropy;
    ServerDoor door({protocol_version, server_pair(), offer_chacha20}, server_entropy, handshake_at);
    ClientHandshakeSetup setup;
    setup.version = protocol_version;
    setup.identity = player_pair();
    setup.ciphers = offer_chacha20 | offer_aes256;
    ClientHandshake client(setup, client_entropy, handshake_at);
    PeerAddress from;
    from.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
    from.port = 4000;
    Bytes out(datagram_bytes_max);
    const auto answer = [&](const Bytes& packet) {
      const Arrival arrival = door.receive(packet, from, out);
      REQUIRE(std::holds_alternative<Answer>(arrival));
      return bytes_from(std::span(out).first(std::get<Answer>(arrival).bytes));
    };
    const auto due = [&] { return bytes_from(client.packet_due(handshake_at)); };
    retry = answer(due());
    client.receive(retry, handshake_at);
    hello = due();
    accept = answer(hello);
    client.receive(accept, handshake_at);
    REQUIRE(client.step() == ClientStep::server_known);
    client.finish(payload, handshake_at);
    finish = due();
    const Arrival arrival = door.receive(finish, from, out);
    REQUIRE(std::holds_alternative<Accepted>(arrival));
    keys = std::get<Accepted>(arrival).session.keys(session_number);
  }
};

/// What a connection sends, one packet.
Bytes only_packet(DatagramBatch& batch) {
  REQUIRE(batch.entries().size() == 1);
  const Bytes packet = bytes_from(batch.bytes(batch.entries()[0]));
  batch.clear();
  return packet;
}

/// The first packets of the session: a welcome, an input with its acknowledgement, a close.
void add_sealed(const SessionKeys& keys, const Bytes& welcome, const Bytes& input,
                std::vector<Example>& out) {
  ConnectionSettings settings;
  const PeerAddress there;
  const auto noon = handshake_at;
  Connection client(settings, keys, there, Secret{}, noon);
  settings.end = End::server;
  settings.receive_windows = server_stream_windows;
  Connection server(settings, keys, there, Secret{}, noon);
  DatagramBatch batch;
  PacketScratch scratch;

  REQUIRE(server.send(StreamId::control, welcome) == SendResult::sent);
  server.poll(noon, batch);
  out.emplace_back("Sealed welcome", only_packet(batch));
  const auto opened = client.open(noon, there, out.back().second, scratch);
  REQUIRE(opened.has_value());
  REQUIRE(client.accept(noon, *opened).has_value());
  REQUIRE(client.send_unreliable(noon + Micros{1000}, input, batch).has_value());
  out.emplace_back("Sealed input", only_packet(batch));
  server.close(noon + Micros{2000}, close_reason(SessionEnd::kicked), "idle");
  server.poll(noon + Micros{2000}, batch);
  out.emplace_back("Sealed close", only_packet(batch));
}

/// Frames that the packets above lack, sealed with the client's next keys.
Bytes sealed_small_frames(const SessionKeys& keys) {
  Bytes plain(100);
  FrameWriter writer(plain);
  REQUIRE(writer.ping());
  const AckRange ranges[] = {{291, 300}, {286, 287}};
  REQUIRE(writer.ack(ranges, 5, 100) == 2);
  REQUIRE(writer.credit({StreamId::bulk, 300'000}));
  REQUIRE(writer.stream_reset({StreamId::edits, 77}));
  REQUIRE(writer.path_challenge(0x0123456789abcdef));
  REQUIRE(writer.path_response(0xfedcba9876543210));
  const ByteSpan chat = bytes_of("chat");
  std::ranges::copy(chat, writer.stream(StreamId::chat, 300, chat.size()).begin());
  plain.resize(writer.size());

  PacketProtection client(keys, End::client, handshake_at);
  Bytes packet(plain.size() + seal_overhead_bytes);
  REQUIRE(client.seal(1, plain, packet) > 0);
  client.confirmed(1);
  REQUIRE(client.rekey());
  REQUIRE(client.seal(0x1'0000'0007, plain, packet) == packet.size());
  return packet;
}

}  // namespace

std::vector<Example> messages_today() {
  MessageWriter writer;
  std::vector<Example> out;
  out.emplace_back("Hello message", bytes_from(writer.write(page_hello())));
  out.emplace_back("Join", bytes_from(writer.write(Join{{0x0102030405060708, 0x1112131415161718}, 1})));
  out.emplace_back("Input", bytes_from(writer.write(page_input())));
  std::array<std::uint8_t, packed_input_bytes_max> packed;
  out.emplace_back("Packed input", bytes_from(write_packed_input(page_input(), packed)));
  out.emplace_back("Chat", bytes_from(writer.write(Chat{"good morning"})));
  out.emplace_back("Welcome", bytes_from(writer.write(page_welcome())));
  out.emplace_back("Snapshot", page_snapshot());
  out.emplace_back("ChatLine", bytes_from(writer.write(ChatLine{"Ada", "good morning"})));
  out.emplace_back("ContentRequest", bytes_from(writer.write(ContentRequest{0x0102030405060708, 32768})));
  const Bytes content{0xc0, 0xc1, 0xc2, 0xc3, 0xc4};
  out.emplace_back("ContentPart",
                   bytes_from(writer.write(ContentPart{0x0102030405060708, 32773, 32768, content})));
  out.emplace_back("ContentRefused",
                   bytes_from(writer.write(ContentRefused{0x1112131415161718, ContentRefusal::not_offered})));
  return out;
}

std::vector<Example> packets_today(const Bytes& hello, const Bytes& welcome, const Bytes& input) {
  const PageHandshake handshake(hello);
  std::vector<Example> out;
  const Secret seed = counting_secret(1);
  constexpr std::array<std::uint8_t, 4> first_attempt{};
  Bytes secrets;
  for (const Secret& secret : {counting_secret(0x20), counting_secret(0x60),
                               expand(seed, "client ephemeral", first_attempt), expand(seed, "door")})
    secrets.insert(secrets.end(), secret.bytes().begin(), secret.bytes().end());
  out.emplace_back("Secrets", secrets);
  REQUIRE(std::ranges::all_of(std::span(handshake.hello).subspan(hello_fields_bytes),
                              [](std::uint8_t b) { return b == 0; }));
  out.emplace_back("Hello", bytes_from(std::span(handshake.hello).first(hello_fields_bytes)));
  out.emplace_back("Retry", handshake.retry);
  out.emplace_back("Accept", handshake.accept);
  out.emplace_back("Finish", handshake.finish);
  add_sealed(handshake.keys, welcome, input, out);
  out.emplace_back("Sealed frames", sealed_small_frames(handshake.keys));

  Bytes packet(datagram_bytes_max);
  const auto first = [&packet](std::size_t size) { return bytes_from(std::span(packet).first(size)); };
  const Bytes unknown = find_example(out, "Sealed input");
  out.emplace_back("Reset",
                   first(write_reset(unknown, protocol_version, reset_key(server_pair().secret), packet)));
  out.emplace_back("Ping", first(write_ping(protocol_version, 0x8877665544332211, 72, packet)));
  const Bytes ping = out.back().second;
  out.emplace_back("Pong", first(write_pong(ping, protocol_version, encode(PongInfo{600, 3, 32}), packet)));
  Bytes newer = handshake.hello;
  ++newer[0];
  out.emplace_back("Refused version", first(write_refuse_version(newer, protocol_version, packet)));
  out.emplace_back("Connect token", some_token());
  return out;
}

const Bytes& find_example(const std::vector<Example>& all, const std::string& heading) {
  for (const Example& one : all)
    if (one.first == heading) return one.second;
  FAIL("there is no example of " << heading);
  return all.front().second;
}

}  // namespace ashlar::wire_page
