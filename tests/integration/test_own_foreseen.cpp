// The own player against what its client said to foresee: the same bits, in three bytes where both come to
// the same, and in full wherever they do not.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "client_sim/client/client_tap.h"
#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/snapshot/own_delta.h"
#include "protocol/snapshot/packed_part.h"
#include "server/host/packed_snapshot.h"
#include "tests/integration/predicted_client.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::testing;
using client_sim::PackedMemory;
using client_sim::View;

namespace {

/// What a client foresees of its player, in shares.
struct Sight {
  double right = 0, wrong = 0;  // the rest of the ticks it says nothing
};

/// Somebody who runs, stops and is hurt; the server that tells it so; the client that is told.
class OwnPlay {
 public:
  OwnPlay(std::uint64_t seed, double loss, std::uint32_t delay_max)
      : rng_(rng_for(seed, 3)), loss_(loss), delay_max_(delay_max), world_([] {
          WorldSetup setup;
          setup.monsters = 0;
          setup.monsters_max = setup.players_max = 1;
          return setup;
        }()) {
    memory.reset(60, 1);
    view.reset(60);
  }

  void tick(Sight sight) {
    world_.step({});
    walk();
    packed_.gather(world_, {});
    const std::uint32_t now = number(world_.tick());
    truth_[now % truth_.size()] = own_;
    PackedRequest request;
    request.head.tick = now;
    request.own = &own_;
    const double chance = rng_.unit();
    if (chance < sight.right + sight.wrong) {
      OwnPlayer foreseen = own_;
      if (chance >= sight.right) foreseen.body.position_m.x += 0.001;
      memory.foresee(now, foreseen);
      request.foreseen = memory.foreseen_hash(now);
    }
    const std::size_t parts = snapshot_.lay_out(packed_, request, held);
    REQUIRE(parts == 1);
    snapshot_.note_sent(0, now, held);
    bytes += snapshot_.part(0).size();
    if (rng_.unit() >= loss_)
      way_.push_back(
          {now + 1 + rng_.below(delay_max_), now, {snapshot_.part(0).begin(), snapshot_.part(0).end()}});
    hear(now);
  }
  void anew() {
    if (memory.lost_epoch() == held.epoch()) held.reset();
  }

  ClientBlocks held;
  PackedMemory memory;
  View view;
  std::uint64_t bytes = 0;
  int told = 0;

 private:
  struct Packet {
    std::uint32_t due = 0, tick = 0;
    std::vector<std::uint8_t> bytes;
  };

  void walk() {
    own_.id = make_entity_id(3, 1);
    if (rng_.below(20) == 0)
      own_.body.velocity_mps = {rng_.between(-6, 6), rng_.between(-6, 6), rng_.between(-1, 1)};
    own_.body.position_m += own_.body.velocity_mps * (1.0 / 60);
    own_.body.last_free_m = own_.body.position_m;
    if (rng_.below(100) == 0) own_.health = static_cast<std::uint8_t>(1 + rng_.below(255));
    if (rng_.below(200) == 0) own_.delta_yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
  }
  void hear(std::uint32_t now) {
    std::ranges::sort(way_, {}, [](const Packet& packet) { return std::pair(packet.due, packet.tick); });
    while (!way_.empty() && way_.front().due <= now) {
      const Packet packet = way_.front();
      way_.pop_front();
      auto reader = PackedPartReader::open(packet.bytes);
      REQUIRE(reader);
      SnapshotPart part;
      REQUIRE(memory.take(*reader, view, part));
      held.note_fate({packet.tick, true});
      if (!part.own) continue;
      ++told;
      // By their bits: -0 is not 0 here.
      REQUIRE(own_hash(*part.own) == own_hash(truth_[packet.tick % truth_.size()]));
    }
  }

  Rng rng_;
  double loss_;
  std::uint32_t delay_max_;
  World world_;
  PackedWorld packed_{60, 1};
  PackedSnapshot snapshot_;
  OwnPlayer own_;
  std::array<OwnPlayer, 256> truth_;
  std::deque<Packet> way_;
};

/// Counts in what items a client is told of its player.
struct OwnTap final : client_sim::ClientTap {
  void welcomed(const Welcome&, bool) override {}
  void unreliable_in(std::span<const std::uint8_t> message) override {
    if (!is_packed_part(message)) return;
    auto reader = PackedPartReader::open(message);
    REQUIRE(reader);
    while (const PackedEntry* entry = reader->next()) {
      if (entry->item == PackedItem::own) ++in_full;
      if (entry->item == PackedItem::own_foreseen) ++(entry->bytes.empty() ? as_foreseen : off_foreseen);
    }
  }
  void stream_in(StreamId, std::string_view, std::size_t) override {}
  void input_out(std::size_t) override {}
  int all() const { return in_full + as_foreseen + off_foreseen; }
  int in_full = 0, as_foreseen = 0, off_foreseen = 0;
};

/// A client who runs and jumps, over such a link, told so.
OwnTap told_while_running(client_sim::LinkConditions link, bool foresees) {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup = with_shared_ground(setup);
  OwnTap tap;
  client_sim::ClientConfig config = HostedClient::client_config(setup, "ada");
  config.tap = &tap;
  HostedClient play(setup, {}, config, 5);
  Predictor predictor(PredictedClient::config_of(setup, nullptr));
  client_sim::PredictorForesight ahead(predictor);
  if (foresees) play.foresight = &ahead;
  play.conditions(link);
  play.enter();
  play.run(3);
  tap = {};
  for (int i = 0; i < 20; ++i) {
    PlayerCommand command;
    command.forward = 1;
    command.yaw = Turn16{static_cast<std::uint16_t>(i * 5003)};
    command.buttons = i % 3 == 0 ? button::jump : std::uint16_t{0};
    play.client.set_command(command);
    play.run(0.5);
  }
  return tap;
}

}  // namespace

TEST_CASE("the own player comes to the bit, whatever of it was foreseen, lost or late",
          "[integration][own_foreseen]") {
  const Sight sight = GENERATE(Sight{0, 0}, Sight{1, 0}, Sight{0.9, 0.05}, Sight{0.3, 0.3}, Sight{0, 1});
  const auto [loss, delay] = GENERATE(std::pair{0.0, 1u}, std::pair{0.1, 6u}, std::pair{0.6, 30u});
  CAPTURE(sight.right, sight.wrong, loss);
  OwnPlay play(7, loss, delay);
  for (int tick = 0; tick < 600; ++tick) {
    play.tick(sight);
    REQUIRE(play.memory.lost_epoch() == 0);
  }
  // Of snapshots that overtook one another each newest shows one.
  CHECK(play.told > 60);
}

TEST_CASE("what came as foreseen is told in three bytes", "[integration][own_foreseen]") {
  OwnPlay blind(8, 0, 1), sees(8, 0, 1);
  for (int tick = 0; tick < 600; ++tick) blind.tick({0, 0}), sees.tick({1, 0});
  // A head of 12 bytes at most, and three.
  CHECK(sees.bytes <= 600 * 15);
  CHECK(blind.bytes > sees.bytes + 600 * 3);
}

TEST_CASE("who has forgotten what it foresaw is told anew, and says no more of it",
          "[integration][own_foreseen]") {
  OwnPlay play(9, 0, 1);
  for (int tick = 0; tick < 50; ++tick) play.tick({1, 0});
  // Its memory is another one's now, and the server knows nothing of that.
  play.memory = PackedMemory{};
  play.memory.reset(60, 1);
  const int told = play.told;
  for (int tick = 0; tick < 50; ++tick) play.tick({0, 0}), play.anew();
  CHECK(play.told > told + 40);

  // A server that says it was foreseen what nobody foresaw.
  PartHead head;
  head.tick = 1000;
  PackedPartWriter part;
  part.begin(head);
  REQUIRE(part.add_own(0, {}, true));
  auto reader = PackedPartReader::open(part.bytes());
  REQUIRE(reader);
  PackedMemory memory;
  View view;
  memory.reset(60, 1), view.reset(60);
  memory.foresee(999, {}), memory.foresee(1001, {});
  CHECK(memory.foreseen_hash(999) != 0);
  SnapshotPart out;
  REQUIRE(memory.take(*reader, view, out));
  CHECK_FALSE(out.own);
  CHECK(memory.lost_epoch() == head.epoch);
  CHECK(memory.foreseen_hash(1001) == 0);
  memory.begin_session();
  CHECK(memory.foreseen_hash(1001) != 0);
  // No bytes for another tick's, or bytes for that very one, are nothing that a server says.
  for (const std::uint32_t age : {0u, 1u}) {
    head.tick = 1001 + age;
    part.begin(head);
    const std::uint8_t bytes[] = {0, 0, 0, 0};
    REQUIRE(part.add_own(age, std::span(bytes).first(age == 0 ? 4u : 0u), true));
    auto wrong = PackedPartReader::open(part.bytes());
    REQUIRE(wrong);
    CHECK_FALSE(memory.take(*wrong, view, out));
  }
}

TEST_CASE(
    "a client that runs ahead is told its player in three bytes on a clean link, and mostly on a bad one",
    "[integration][own_foreseen]") {
  client_sim::LinkConditions link;
  link.latency = Micros{30'000};
  const OwnTap clean = told_while_running(link, true);
  REQUIRE(clean.all() > 550);
  CHECK(clean.as_foreseen == clean.all());
  const OwnTap blind = told_while_running(link, false);
  CHECK(blind.in_full == blind.all());
  link.loss = 0.02, link.jitter = Micros{10'000};
  const OwnTap bad = told_while_running(link, true);
  REQUIRE(bad.all() > 500);
  CHECK(bad.as_foreseen > bad.all() * 3 / 4);
}
