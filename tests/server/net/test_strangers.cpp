#include "server/net/strangers.h"

#include "tests/catch.h"

using namespace ashlar::server;

namespace {

StrangerPool::Key address_key(std::uint8_t number) {
  StrangerPool::Key k{};
  k[15] = number;
  return k;
}

}  // namespace

TEST_CASE("strangers have room until their places are taken", "[server][strangers]") {
  StrangerPool pool(3);
  for (std::uint32_t link = 1; link <= 3; ++link) {
    CHECK(pool.gives_way_to(address_key(1)) == 0);
    pool.add(link, address_key(1));
  }
  CHECK(pool.gives_way_to(address_key(1)) == 1);
  CHECK(pool.gives_way_to(address_key(2)) == 1);
  pool.remove(2);
  CHECK(pool.gives_way_to(address_key(2)) == 0);
  pool.remove(99);
  CHECK(pool.size() == 2);
}

TEST_CASE("of an address its oldest stranger is known, wherever it has moved to", "[server][strangers]") {
  StrangerPool pool(5);
  CHECK(pool.oldest_of(address_key(1)) == 0);
  pool.add(1, address_key(1));
  pool.add(2, address_key(2));
  pool.add(3, address_key(1));
  CHECK(pool.oldest_of(address_key(1)) == 1);
  CHECK(pool.oldest_of(address_key(1), 1) == 3);
  CHECK(pool.oldest_of(address_key(2), 2) == 0);
  pool.move(1, address_key(2));
  pool.move(99, address_key(3));
  CHECK(pool.oldest_of(address_key(1)) == 3);
  CHECK(pool.oldest_of(address_key(2)) == 1);
  CHECK(pool.oldest_of(address_key(3)) == 0);
  CHECK(pool.first_to_go(address_key(2)) == 1);  // where two are by now
  pool.remove(1);
  CHECK(pool.oldest_of(address_key(2)) == 2);
}

TEST_CASE("the address that holds most strangers gives one up, its oldest", "[server][strangers]") {
  StrangerPool pool(5);
  pool.add(1, address_key(1));
  pool.add(2, address_key(2));
  pool.add(3, address_key(2));
  pool.add(4, address_key(3));
  pool.add(5, address_key(2));
  CHECK(pool.gives_way_to(address_key(4)) == 2);
  CHECK(pool.gives_way_to(address_key(2)) == 2);
  pool.remove(2);
  pool.add(6, address_key(4));
  CHECK(pool.gives_way_to(address_key(4)) == 3);  // two addresses would hold two: the oldest of them
  pool.remove(3);
  pool.add(7, address_key(5));
  // Five addresses with one each: a sixth displaces the oldest, one of theirs its own.
  CHECK(pool.gives_way_to(address_key(6)) == 1);
  CHECK(pool.gives_way_to(address_key(5)) == 7);
}
