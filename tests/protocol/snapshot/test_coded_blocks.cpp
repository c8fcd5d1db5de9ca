// Blocks that were recorded, which the client of client_sim/web reads, too: neither codec changes without the
// other one. Print them anew: bin/tests_protocol "[coded_blocks_print]" >
// tests/protocol/snapshot/coded_blocks.txt
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "protocol/snapshot/block_delta.h"
#include "tests/catch.h"
#include "tests/protocol/snapshot/moving_scene.h"

using namespace ashlar;

namespace {

void put(std::ostream& out, const std::vector<MovingRecord>& entities) {
  for (const MovingRecord& e : entities) {
    const EntityRecord& r = e.record;
    out << static_cast<std::uint32_t>(r.id) << ',' << r.x << ',' << r.y << ',' << r.z;
    for (const std::int16_t v : e.velocity) out << ',' << v;
    for (const int byte :
         {int{r.yaw}, int{r.pitch}, int{r.health}, int{r.state}, int{r.flags}, static_cast<int>(r.kind)})
      out << ',' << byte;
    out << ';';
  }
}

/// Somebody as they are in matches: most changes are small.
MovingRecord a_little_later(Rng& rng, MovingRecord e, std::uint32_t age, std::uint32_t rate_hz) {
  e = test::changed(rng, e, age, rate_hz);
  for (std::int16_t& v : e.velocity) v = static_cast<std::int16_t>(v % 200);
  if (rng.below(3) == 0) test::run(rng, e);
  return e;
}

/// A line a block: tick rate, its tick, age of the base, the base, what it is now, and its bytes.
std::string blocks_today() {
  Rng rng = rng_for(210, 0);
  std::ostringstream out;
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t rate_hz = round % 3 == 0 ? 30 : 60;
    const std::uint32_t age = round % 10 == 0 ? 0 : 1 + rng.below(round % 4 == 0 ? 255 : 12);
    const std::uint32_t tick = 300 + 977 * static_cast<std::uint32_t>(round);
    std::vector<MovingRecord> base, now;
    for (std::uint32_t i = 0; age != 0 && i < rng.below(9); ++i)
      base.push_back(a_little_later(rng, test::some_moving(rng, i), 1, rate_hz));
    for (const MovingRecord& e : base)
      if (rng.below(9) != 0) now.push_back(a_little_later(rng, e, age, rate_hz));
    for (std::uint32_t i = rng.below(round == 10 ? 49 : 3); i-- > 0;)
      if (now.size() < block_entities_max) now.push_back(test::some_moving(rng, 1000 + i));
    if (round == 20)
      for (std::uint32_t i = 0; now.size() < block_entities_max; ++i)
        now.push_back(test::some_moving(rng, 2000 + i));
    test::sort_by_id(base);
    test::sort_by_id(now);
    std::vector<std::uint8_t> bytes(coded_block_bytes_max);
    bytes.resize(encode_block({{-3, 7, 1}, now}, {age, base, false, {}, tick}, rate_hz, bytes));
    out << rate_hz << ' ' << tick << ' ' << age << " [";
    put(out, base);
    out << "] [";
    put(out, now);
    out << "] " << std::hex << std::setfill('0');
    for (const std::uint8_t byte : bytes) out << std::setw(2) << unsigned{byte};
    out << std::dec << '\n';
  }
  return out.str();
}

}  // namespace

TEST_CASE("blocks have the bytes that were recorded", "[protocol][packed][block_delta]") {
  const auto root = std::filesystem::path(ASHLAR_WIRE_MD).parent_path().parent_path();
  const std::ifstream file(root / "tests/protocol/snapshot/coded_blocks.txt");
  std::stringstream recorded;
  recorded << file.rdbuf();
  const bool same = recorded.str() == blocks_today();
  CHECK(same);
}

TEST_CASE("prints blocks to record", "[.][coded_blocks_print]") { std::cout << blocks_today(); }
