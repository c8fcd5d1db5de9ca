// What a world that plays wrote into its log of edits, put back: the saver's order of them, and the
// rollback's.
#include "server/store/rollback.h"

#include <memory>
#include <string>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "server/store/saver.h"
#include "server/store/sqlite_store.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/world/sim/builders.h"

namespace ashlar::server {
namespace {

constexpr IVec3 chest_place{10, 8, 4};  // before Ada, on the ground
constexpr std::int64_t played_s = 1000;

/// Ada and Bob play in a world that is kept.
struct KeptYard : testing::Builders {
  explicit KeptYard(bool with_treasure = false)
      : Builders(
            2, [with_treasure](IVec3 b) { return with_treasure && b == chest_place ? treasure() : plain(b); },
            rules(), 0, [](WorldSetup& s) { s.secret = 7; }) {
    put(0, {8.5, 8.5, 4}), put(1, {8.5, 10.5, 4});
    rest();
    SaverOptions options;
    options.own_thread = false;
    options.every = std::chrono::microseconds{1};
    store->keep();
    saver = std::make_unique<WorldSaver>(store, 0, options);
  }
  static BlockId treasure() { return BlockRegistry::builtin().treasure(); }
  static Rules rules() {
    Rules made;
    made.free_blocks = FreeBlocks::no;
    return made;
  }
  void note() {
    const LogAs as{played_s, [this](EntityId id, EditAuthor& author) {
                     if (id == ids[0]) author = {EditAuthor::Kind::player, {1}, "Ada"};
                     if (id == ids[1]) author = {EditAuthor::Kind::player, {2}, "Bob"};
                   }};
    saver->note(std::chrono::microseconds{now += 1'000'000}, *world, {}, as);
    if (saver->has_work()) REQUIRE(saver->work());
  }
  void tick() { step(), note(); }
  void give(std::size_t who, BlockId id, std::uint8_t count) {
    AdminCommand command;
    command.action = AdminAction::give;
    command.player = ids[who], command.id = id, command.count = count;
    step_admin(command), note();
  }
  void do_all(std::initializer_list<BlockAct> acts) {
    step(std::span(acts.begin(), acts.size()));
    for (const BlockVerdict& said : world->block_acts().verdicts())
      CHECK(std::string(name(said.verdict)) == name(ActVerdict::done));
    note();
  }
  BlockAct moved(std::size_t who, BlockActKind kind, BlockFace face, std::uint8_t count) {
    BlockAct made = act(who, kind, chest_place, face, BlockId::clay);
    made.count = count;
    return made;
  }
  /// Ada places what she is given.
  void place_one(BlockId id) {
    give(0, id, 1);
    look(0, {10.5, 8.5, 4.0}), tick();
    do_all({act(0, BlockActKind::place, chest_place - IVec3{0, 0, 1}, BlockFace::top, id)});
  }
  RollbackReport roll(const std::string& who, std::int64_t at_s, bool force = false,
                      std::int64_t since_s = 0) {
    saver.reset();
    EditQuery query;
    query.player = who;
    if (since_s > 0) query.since_s = since_s;
    const auto report = roll_back(file, query, {.force = force}, at_s);
    REQUIRE(report.has_value());
    return *report;
  }
  BlockData stored() const {
    const auto all = store->load_contents();
    for (const PlacedData& one : all->contents)
      if (one.block == chest_place) return one.data;
    return {};
  }
  /// The block's kind as it is kept, and how many items it holds.
  std::string kept() const {
    const auto chunk = ChunkCodec().decode(store->load_chunk(chunk_of(chest_place)).bytes);
    return BlockRegistry::builtin().type((*chunk)->block(local_in_chunk(chest_place))).name + " holding " +
           std::to_string(stored().items.count());
  }
  std::uint32_t lying() const {
    std::uint32_t sum = 0;
    const auto all = store->load_items();
    for (const LyingItem& item : all->items) sum += item.stack.count;
    return sum;
  }

  const BlockId chest = *BlockRegistry::builtin().find("chest");
  testing::TemporaryFolder folder;
  std::string file = folder.path("world.db");
  std::shared_ptr<SqliteStore> store{std::move(*SqliteStore::open(file, {.seed = 7}))};
  std::unique_ptr<WorldSaver> saver;
  std::int64_t now = 0;
};

}  // namespace

TEST_CASE("a treasure that somebody opened is put back, and is not a chest", "[server][rollback]") {
  KeptYard yard(true);
  yard.look(0, {10.0, 8.5, 4.5}), yard.tick();
  yard.do_all({yard.act(0, BlockActKind::open, chest_place, BlockFace::west, BlockId::air)});
  REQUIRE(yard.stored().items.count() > 0);
  CHECK(yard.roll("Ada", 2000).blocks == 1);
  CHECK(yard.kept() == BlockRegistry::builtin().type(KeptYard::treasure()).name + " holding 0");
  CHECK(yard.lying() == 0);
  // Taken back it is the chest again, with what was in it.
  yard.roll("@operator", 3000, false, 1500);
  CHECK(yard.kept().starts_with("chest holding "));
  CHECK(yard.stored().items.count() > 0);
}

TEST_CASE("a chest that is placed and filled at once is taken back like one that is filled later",
          "[server][rollback]") {
  const bool one_tick = GENERATE(false, true);
  KeptYard yard;
  yard.give(0, yard.chest, 1), yard.give(0, BlockId::clay, 40);
  yard.look(0, {10.5, 8.5, 4.0}), yard.tick();
  const BlockAct put_there =
      yard.act(0, BlockActKind::place, chest_place - IVec3{0, 0, 1}, BlockFace::top, yard.chest);
  const BlockAct open = yard.act(0, BlockActKind::open, chest_place, BlockFace::west, BlockId::air);
  const BlockAct fill = yard.moved(0, BlockActKind::put, BlockFace::west, 40);
  if (one_tick)
    yard.do_all({put_there, open, fill});
  else
    yard.do_all({put_there}), yard.do_all({open}), yard.do_all({fill});
  REQUIRE(yard.kept() == "chest holding 40");
  CHECK(yard.roll("Ada", 2000).blocks == 1);
  CHECK(yard.kept() == "air holding 0");
  CHECK(yard.lying() == 40);
}

TEST_CASE("a rollback can be taken back, chests with what they held", "[server][rollback]") {
  KeptYard yard;
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.player = operator_entity;
  fill.id = yard.chest, fill.box = {chest_place, chest_place + IVec3{1, 1, 1}};
  yard.step_admin(fill), yard.note();
  fill.action = AdminAction::fill_block;
  fill.data.items.add({BlockId::clay, 40});
  yard.step_admin(fill), yard.note();
  yard.look(0, {10.0, 8.5, 4.5}), yard.tick();
  CHECK(yard.verdict_of(yard.act(0, BlockActKind::dig, chest_place, BlockFace::west, BlockId::air)) ==
        ActVerdict::progress);
  yard.note();
  for (int i = 0; i < 200; ++i) yard.tick();
  REQUIRE(yard.kept() == "air holding 0");
  yard.roll("Ada", 2000);
  CHECK(yard.kept() == "chest holding 40");
  yard.roll("@operator", 3000, false, 1500);
  CHECK(yard.kept() == "air holding 0");
  yard.roll("@operator", 4000, false, 2500);
  CHECK(yard.kept() == "chest holding 40");
}

TEST_CASE("what others put in a chest that is taken back lies there", "[server][rollback]") {
  KeptYard yard;
  yard.place_one(yard.chest);
  yard.give(1, BlockId::clay, 40);
  yard.look(1, {10.5, 9.0, 4.5}), yard.tick();
  yard.do_all({yard.act(1, BlockActKind::open, chest_place, BlockFace::north, BlockId::air)});
  yard.do_all({yard.moved(1, BlockActKind::put, BlockFace::north, 40)});
  REQUIRE(yard.kept() == "chest holding 40");
  CHECK(yard.roll("Ada", 2000).blocks == 0);
  CHECK(yard.kept() == "chest holding 40");
  CHECK(yard.roll("Ada", 2000, true).blocks == 1);
  CHECK(yard.kept() == "air holding 0");
  CHECK(yard.lying() == 40);
  yard.roll("@operator", 3000, false, 1500);
  CHECK(yard.kept() == "chest holding 40");
}

TEST_CASE("a charge that is taken back has no timer left, and one that is put back has one",
          "[server][rollback]") {
  KeptYard yard;
  yard.place_one(*BlockRegistry::builtin().find("charge"));
  yard.tick();
  REQUIRE(yard.stored().due > 0);
  yard.roll("Ada", 2000);
  CHECK(yard.kept() == "air holding 0");
  CHECK(yard.stored().due == 0);
  yard.roll("@operator", 3000, false, 1500);
  CHECK(yard.kept() == "charge holding 0");
  CHECK(yard.stored().due > yard.store->world().tick);
}

TEST_CASE("who moves an item in and out of a chest leaves one row of that in a group", "[server][saver]") {
  KeptYard yard;
  yard.place_one(yard.chest);
  yard.give(0, BlockId::clay, 40);
  yard.do_all({yard.act(0, BlockActKind::open, chest_place, BlockFace::west, BlockId::air)});
  yard.do_all({yard.moved(0, BlockActKind::put, BlockFace::west, 40)});
  const auto rows = [&] { return find_edits(*open_log(yard.file), {})->edits.size(); };
  const std::size_t before = rows();
  std::vector<BlockAct> acts;
  for (int i = 0; i < 2; ++i) {
    acts.push_back(yard.moved(0, BlockActKind::take, BlockFace::west, 1));
    acts.push_back(yard.moved(0, BlockActKind::put, BlockFace::west, 1));
  }
  yard.step(acts);
  REQUIRE(yard.world->contents().applied().size() == 4);
  yard.note();
  CHECK(rows() == before + 1);
  yard.roll("Ada", 2000);
  CHECK(yard.kept() == "air holding 0");
}

}  // namespace ashlar::server
