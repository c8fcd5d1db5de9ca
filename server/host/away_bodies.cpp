#include "server/host/away_bodies.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

template <class Bodies, class Test>
AwayBodies::Body* first_away(Bodies& bodies, const Test& test) {
  const auto it = std::ranges::find_if(bodies, test);
  return it == bodies.end() ? nullptr : &*it;
}

}  // namespace

AwayBodies::AwayBodies(std::size_t places) : places_(places) { bodies_.reserve(places); }

void AwayBodies::add(Body body) {
  ASHLAR_ASSERT(bodies_.size() < places_);
  ASHLAR_ASSERT(body.player != EntityId{0});
  bodies_.push_back(std::move(body));
}

AwayBodies::Body* AwayBodies::find(std::uint32_t number) {
  return first_away(bodies_, [number](const Body& body) { return body.resume.find(number) != nullptr; });
}

AwayBodies::Body* AwayBodies::find_identity(const Identity& identity) {
  return first_away(bodies_, [&identity](const Body& body) { return body.identity == identity; });
}

AwayBodies::Body AwayBodies::take(Body& body) {
  ASHLAR_ASSERT(&body >= bodies_.data() && &body < bodies_.data() + bodies_.size());
  const auto at = bodies_.begin() + (&body - bodies_.data());
  Body taken = std::move(*at);
  bodies_.erase(at);
  return taken;
}

}  // namespace ashlar::server
