// Makes the seeds that the fuzzers start from: ASHLAR_CORPUS=tests/fuzz/corpus bin/tests_protocol "[corpus]"
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "protocol/message_writer.h"
#include "protocol/recorded_world.h"
#include "protocol/snapshot_writer.h"
#include "protocol/stream_frame.h"
#include "protocol/visibility_file.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"

using namespace ashlar;

namespace {

constexpr PacketHeader corpus_header{.connection = 9, .sequence = 10, .ack = 8, .ack_bits = 0xff};

void save(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

std::span<const std::uint8_t> payload(std::span<const std::uint8_t> packet) {
  return packet.subspan(packet_header_bytes);
}

/// Two players who do a little of everything that a recording can hold.
std::vector<std::uint8_t> short_recording() {
  WorldSetup setup;
  setup.players_max = 4, setup.monsters_max = 4, setup.monsters = 2;
  RecordingWriter writer(recording_header(World(setup), "seed"));
  constexpr EntityId ada = make_entity_id(0, 1);
  constexpr EntityId bob = make_entity_id(1, 1);
  std::vector<TickRecord> ticks(12);
  for (TickRecord& tick : ticks) tick.commands = {{ada, {1, 0, Turn16{9}, {}, 0}}, {bob, {0, -1, {}, {}, 1}}};
  ticks[0] = TickRecord{};
  ticks[0].joins = {1, 2};
  ticks[3].admin = {{AdminAction::noclip_on, ada, {}}, {AdminAction::teleport, bob, {8.5, -3.5, 40}}};
  ticks[5].edits = {{{1, 2, 3}, BlockId::brick}, {{-1, -2, 30}, BlockId::air}};
  ticks[7].chunks_dropped = {{0, 0, 0}};
  ticks[8].chunks_ready = {{0, 0, 0}, {-1, 2, 0}};
  ticks[9].leaves = {bob};
  for (const TickRecord& tick : ticks) writer.add(tick);
  std::vector<std::uint8_t> file;
  writer.take(file);
  return file;
}

}  // namespace

TEST_CASE("writes the fuzzers' seeds", "[.][corpus]") {
  const char* folder = std::getenv("ASHLAR_CORPUS");
  REQUIRE(folder != nullptr);
  const std::filesystem::path root(folder);
  MessageWriter w;

  const auto client = root / "client_message";
  save(client / "hello", payload(w.write(corpus_header, Hello{1, 2, "Ada", "seed"})));
  Join join;
  join.content = {1, 2};
  join.content_count = 2;
  save(client / "join", payload(w.write(corpus_header, join)));
  Input input;
  input.newest_tick = 77;
  input.command_count = 3;
  input.commands[0] = {1, -1, Turn16{1000}, Turn16{65000}, button::known};
  save(client / "input", payload(w.write(corpus_header, input)));
  save(client / "chat", payload(w.write(corpus_header, Chat{1, "good evening"})));
  save(client / "leave", payload(w.write(corpus_header, Leave{LeaveReason::stopped})));
  save(client / "ping", payload(w.write(corpus_header, Ping{7})));
  save(client / "packet", w.write(corpus_header, Leave{LeaveReason::quit}));

  const auto server = root / "server_message";
  Welcome welcome;
  welcome.nonce = 3;
  welcome.connection = 9;
  welcome.maps.push_back({"MAP01", 42, {-10, 20}, 30, welcome_map_flag::doorway});
  welcome.motd = "welcome";
  save(server / "welcome", payload(w.write(corpus_header, welcome)));
  save(server / "refuse", payload(w.write(corpus_header, Refuse{3, RefuseReason::content, "lacks MAP01"})));
  save(server / "chat_line", payload(w.write(corpus_header, ChatLine{1, "Ada", "good evening"})));
  save(server / "goodbye",
       payload(w.write(corpus_header, Goodbye{GoodbyeReason::shutting_down, "until later"})));
  save(server / "pong", payload(w.write(corpus_header, Pong{7, 600, 12, 256})));
  std::vector<EntityRecord> entities(5);
  for (std::size_t i = 0; i < entities.size(); ++i)
    entities[i].id = make_entity_id(static_cast<std::uint32_t>(i), 1),
    entities[i].x = static_cast<std::uint16_t>(100 * i);
  const CellBlock blocks[] = {{{0, 0, 0}, std::span(entities).first(3)},
                              {{-1, 2, 0}, std::span(entities).subspan(3)}};
  const std::vector<WireHeights> heights{{0, 65536}, {65536, 131072}};
  const HeightBlock run{0, 4, heights};
  OwnPlayer own;
  own.id = make_entity_id(0, 1);
  SnapshotHead head;
  head.tick = 600;
  head.own = &own;
  SnapshotWriter snapshots;
  snapshots.begin(head, blocks, std::span(&run, 1), 4);
  save(server / "snapshot", payload(test::packet_of(snapshots, 0, corpus_header).span()));

  std::vector<std::uint8_t> stream{3};  // the first byte says how the fuzzer cuts it
  for (int i = 0; i < 3; ++i) {
    const auto packet = w.write(corpus_header, Leave{LeaveReason::quit});
    const auto prefix = frame_prefix(packet.size());
    stream.insert(stream.end(), prefix.begin(), prefix.end());
    stream.insert(stream.end(), packet.begin(), packet.end());
  }
  save(root / "stream_frame" / "three", stream);
  stream.insert(stream.end(), {0, 0, 1, 2, 3});
  save(root / "stream_frame" / "broken", stream);

  save(root / "recording" / "two_players", short_recording());

  for (const std::uint32_t sectors : {3u, 70u}) {
    SectorVisibility set;
    set.sectors = sectors, set.row_words = (sectors + 63) / 64;
    set.bits.assign(std::size_t{sectors} * set.row_words, 5);
    set.from_above.assign(sectors, 1);
    std::vector<std::uint8_t> file = encode_visibility(set, 0);
    file.insert(file.begin(), static_cast<std::uint8_t>(sectors));  // the first byte: of which map
    save(root / "visibility_file" / std::to_string(sectors), file);
  }
}
