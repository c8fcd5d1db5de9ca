#include "client_sim/client/streamed_ground.h"

#include <deque>
#include <map>

#include "client_sim/client/edited_ground.h"
#include "client_sim/client/replica_ground.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

constexpr ChunkCoord places[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 1}};

IVec3 local_of(std::uint16_t index) { return {(index >> 5) & 31, index >> 10, index & 31}; }

/// A server as the two streams show it: chunks and goodbyes on one, changes on the other, each in its order
/// and neither waiting for the other. Changes are told of what the client was sent, as of when it was.
struct Server {
  explicit Server(std::uint64_t seed) : rng(seed) {
    for (const ChunkCoord at : places) ground.emplace(at, Chunk(BlockId::stone));
  }

  struct Told {
    std::uint32_t tick = 0;
    ChunkCoord at;
    std::uint64_t hash = 0;
    std::vector<std::uint8_t> bytes;  // of a chunk; empty: it is gone
    std::vector<BlockChange> changes;
  };

  void step() {
    ++tick;
    for (const ChunkCoord at : places)
      if (rng.below(3) == 0) change(at, 1 + rng.below(3));
    for (const ChunkCoord at : places) {
      const bool sent = holds[at];
      if (!sent && rng.below(4) == 0)
        send(at);
      else if (sent && rng.below(40) == 0)  // it fell behind, and is sent again without a goodbye
        holds[at] = false;
      else if (sent && rng.below(30) == 0)
        bulk.push_back({tick, at, 0, {}, {}}), holds[at] = false;
    }
  }
  void change(ChunkCoord at, std::uint32_t count) {
    std::map<std::uint16_t, std::uint16_t> changes;
    for (std::uint32_t i = 0; i < count; ++i)
      changes[static_cast<std::uint16_t>(rng.below(64))] = static_cast<std::uint16_t>(rng.below(20));
    Told told{tick, at, 0, {}, {}};
    for (const auto& [index, kind] : changes) {
      ground.at(at).set_block(local_of(index), static_cast<BlockId>(kind));
      told.changes.push_back({index, kind});
      since_packed[at][index] = kind;
    }
    if (holds[at]) edits.push_back(told);
  }
  /// Packed long ago at times, with what changed since beside it.
  void send(ChunkCoord at) {
    if (!packed.contains(at) || rng.below(2) == 0) {
      packed[at] = {ground.at(at).content_hash(), codec.encode(ground.at(at))};
      since_packed[at].clear();
    }
    Told told{tick, at, packed[at].first, packed[at].second, {}};
    for (const auto& [index, kind] : since_packed[at]) told.changes.push_back({index, kind});
    bulk.push_back(std::move(told));
    holds[at] = true;
  }

  Rng rng;
  std::uint32_t tick = 0;
  std::map<ChunkCoord, Chunk, ChunkLess> ground;
  std::map<ChunkCoord, bool, ChunkLess> holds;
  std::map<ChunkCoord, std::map<std::uint16_t, std::uint16_t>, ChunkLess> since_packed;
  std::map<ChunkCoord, std::pair<std::uint64_t, std::vector<std::uint8_t>>, ChunkLess> packed;
  std::deque<Told> bulk, edits;
  ChunkCodec codec;
};

void deliver_bulk(Server& server, StreamedGround& client, std::vector<IVec3>& touched) {
  const Server::Told told = std::move(server.bulk.front());
  server.bulk.pop_front();
  if (told.bytes.empty())
    client.take(GroundGone{told.tick, 1, {&told.at, 1}});
  else
    REQUIRE(client.take(GroundChunk{told.tick, 1, told.at, told.hash, told.bytes, told.changes}, touched) ==
            nullptr);
}

void deliver_edits(Server& server, StreamedGround& client, std::vector<IVec3>& touched) {
  const Server::Told told = std::move(server.edits.front());
  server.edits.pop_front();
  client.take(BlockEdits{told.tick, 1, told.at, told.changes}, touched);
}

}  // namespace

TEST_CASE("whatever of the two streams comes first, the ground is the server's in the end",
          "[client][streamed_ground]") {
  const std::uint64_t seed = GENERATE(range(1u, 60u));
  CAPTURE(seed);
  Server server(seed);
  Rng late(seed + 1000);
  StreamedGround client;
  client.begin(true);
  std::vector<IVec3> touched;
  const std::uint32_t bulk_one_in = 1 + late.below(6), edits_one_in = 1 + late.below(6);
  for (int tick = 0; tick < 150; ++tick) {
    server.step();
    while (!server.bulk.empty() && late.below(bulk_one_in) == 0) deliver_bulk(server, client, touched);
    while (!server.edits.empty() && late.below(edits_one_in) == 0) deliver_edits(server, client, touched);
  }
  while (!server.bulk.empty() && !server.edits.empty())
    late.below(2) == 0 ? deliver_bulk(server, client, touched) : deliver_edits(server, client, touched);
  while (!server.bulk.empty()) deliver_bulk(server, client, touched);
  while (!server.edits.empty()) deliver_edits(server, client, touched);
  for (const ChunkCoord at : places) {
    if (!server.holds[at]) continue;  // what is sent again by and by the client may have as it was
    REQUIRE(client.find(at) != nullptr);
    CHECK(client.find(at)->content_hash() == server.ground.at(at).content_hash());
  }
}

TEST_CASE("changes are kept no longer than a chunk from before them may come", "[client][streamed_ground]") {
  StreamedGround client;
  client.begin(true);
  std::vector<IVec3> touched;
  const BlockChange change{7, 1};
  client.take(BlockEdits{5, 1, {0, 0, 0}, {&change, 1}}, touched);
  client.take(BlockEdits{9, 1, {0, 0, 0}, {&change, 1}}, touched);
  CHECK(client.pending() == 2);
  CHECK(touched.empty());  // nothing is held that they change
  client.take(GroundGone{5, 1, {}});
  CHECK(client.pending() == 1);
  client.take(GroundGone{9, 1, {}});
  CHECK(client.pending() == 0);
  client.take(BlockEdits{9, 1, {0, 0, 0}, {&change, 1}}, touched);
  CHECK(client.pending() == 0);
}

TEST_CASE("what was kept is offered to the next session and holds again when the server says so",
          "[client][streamed_ground]") {
  StreamedGround client;
  ChunkCodec codec;
  std::vector<IVec3> touched;
  const Chunk stone(BlockId::stone);
  const auto bytes = codec.encode(stone);
  client.begin(true);
  REQUIRE(client.take(GroundChunk{3, 1, {1, 2, 0}, stone.content_hash(), bytes, {}}, touched) == nullptr);
  const std::uint64_t version = client.version({1, 2, 0});
  CHECK(version != 0);
  const BlockChange change{7, 1};
  client.take(BlockEdits{4, 1, {1, 2, 0}, {&change, 1}}, touched);
  const std::uint64_t hash = client.find({1, 2, 0})->content_hash();

  client.begin(true);
  CHECK(client.find({1, 2, 0}) == nullptr);  // solid, until the server has spoken
  REQUIRE(client.kept().size() == 1);
  CHECK(client.kept().front() == KeptChunk{{1, 2, 0}, hash});
  SECTION("it holds, but for a block") {
    const BlockChange again{9, 0};
    REQUIRE(client.take(GroundChunk{1, 1, {1, 2, 0}, hash, {}, {&again, 1}}, touched) == nullptr);
    REQUIRE(client.find({1, 2, 0}) != nullptr);
    CHECK(client.find({1, 2, 0})->block(local_of(9)) == BlockId::air);
    CHECK(client.version({1, 2, 0}) > version);
    CHECK(client.kept().empty());
  }
  SECTION("another hash than it was kept under is a lie") {
    CHECK(client.take(GroundChunk{1, 1, {1, 2, 0}, hash + 1, {}, {}}, touched) != nullptr);
  }
  SECTION("what was never kept cannot be held") {
    CHECK(client.take(GroundChunk{1, 1, {1, 3, 0}, hash, {}, {}}, touched) != nullptr);
  }
  SECTION("where the ground is computed nothing of it is of use") {
    client.begin(false);
    CHECK(client.kept().empty());
  }
}

TEST_CASE("what was kept of a world with more kinds is not taken where it holds others than this one has",
          "[client][streamed_ground]") {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> more(own.begin(), own.end());
  more.emplace_back().name = "marble";
  const auto marble = static_cast<BlockId>(own.size());
  Chunk chunk(BlockId::stone);
  const bool holds = GENERATE(true, false);
  chunk.set_block({1, 2, 3}, marble);
  if (!holds) chunk.set_block({1, 2, 3}, BlockId::stone);
  const auto bytes = ChunkCodec().encode(chunk);
  StreamedGround ground;
  std::vector<IVec3> touched;
  ground.use_kinds(std::make_shared<const BlockRegistry>(std::move(more)));
  ground.begin(true);
  GroundChunk message;
  message.tick = 1, message.world = 1;
  message.hash = chunk.content_hash(), message.bytes = bytes;
  REQUIRE(ground.take(message, touched) == nullptr);
  ground.use_kinds(BlockRegistry::builtin_ptr());
  ground.begin(true);
  message.bytes = {};
  CHECK((ground.take(message, touched) == nullptr) == !holds);
  CHECK((ground.find({0, 0, 0}) != nullptr) == !holds);
}

TEST_CASE("a chunk that comes again tells which blocks it changes", "[client][streamed_ground]") {
  StreamedGround client;
  ChunkCodec codec;
  std::vector<IVec3> touched;
  Chunk chunk(BlockId::stone);
  client.begin(true);
  auto bytes = codec.encode(chunk);
  REQUIRE(client.take(GroundChunk{3, 1, {1, 0, 0}, chunk.content_hash(), bytes, {}}, touched) == nullptr);
  CHECK(touched.empty());
  chunk.set_block({4, 5, 6}, BlockId::air);
  bytes = codec.encode(chunk);
  REQUIRE(client.take(GroundChunk{8, 1, {1, 0, 0}, chunk.content_hash(), bytes, {}}, touched) == nullptr);
  REQUIRE(touched.size() == 1);
  CHECK(touched.front() == IVec3{36, 5, 6});
  CHECK(client.take(GroundChunk{7, 1, {1, 0, 0}, chunk.content_hash(), bytes, {}}, touched) != nullptr);
}

TEST_CASE("a replica walks on what was sent alone, and what has not come is not there",
          "[client][streamed_ground][replica]") {
  WorldSetup setup;
  setup.monsters = setup.monsters_max = 0;
  ReplicaGround replica(setup, ColumnSpan{0, 2});
  EditedGround edits;
  edits.begin_stream(true);
  ChunkCodec codec;
  const Chunk air(BlockId::air);
  const auto bytes = codec.encode(air);
  const DVec3 here{16, 16, 16};
  replica.load_around(here, edits, 1);
  CHECK(replica.volume().chunk_count() == 0);
  CHECK_FALSE(replica.there(here));
  REQUIRE(edits.take(GroundChunk{1, 1, {0, 0, 0}, air.content_hash(), bytes, {}}) == nullptr);
  replica.load_around(here, edits, 1);
  CHECK(replica.there(here));
  CHECK_FALSE(replica.volume().solid({16, 16, 16}));
  CHECK(replica.volume().solid({-1, 16, 16}));
  const ChunkCoord gone{0, 0, 0};
  edits.take(GroundGone{2, 1, {&gone, 1}});
  replica.load_around(here, edits, 1);
  CHECK_FALSE(replica.there(here));
}
