#include "server/host/address_budget.h"

#include <algorithm>

namespace ashlar::server {
namespace {

constexpr std::int64_t token = 1'000'000;
constexpr std::chrono::hours forgotten{1};  // keeps the product below within its range

}  // namespace

AddressBudget::AddressBudget(const SecretKey& secret, std::uint32_t per_minute, std::uint32_t burst)
    : secret_(secret), per_minute_(per_minute), full_(burst * token), places_(places) {}

std::int64_t AddressBudget::tokens_of(const Place& place, Micros now) const {
  const Micros elapsed = std::clamp<Micros>(now - place.at, Micros{0}, forgotten);
  return std::min(full_, place.tokens + per_minute_ * elapsed.count() / 60);
}

AddressBudget::Place& AddressBudget::place_of(Micros now, const Address& address) {
  const std::uint64_t tag = std::max<std::uint64_t>(1, keyed_hash(secret_, address));
  const auto first = places_.begin() + static_cast<std::ptrdiff_t>(tag % (places / ways) * ways);
  const auto last = first + ways;
  auto found = std::find_if(first, last, [&](const Place& place) { return place.tag == tag; });
  if (found == last) {
    const auto left = [&](const Place& place) { return place.tag == 0 ? full_ : tokens_of(place, now); };
    found = std::max_element(first, last, [&](const Place& a, const Place& b) { return left(a) < left(b); });
    *found = {tag, full_, now};
  }
  found->tokens = tokens_of(*found, now);
  found->at = now;
  return *found;
}

bool AddressBudget::take(Micros now, const Address& address) {
  Place& place = place_of(now, address);
  if (place.tokens < token) return false;
  place.tokens -= token;
  return true;
}

bool AddressBudget::has(Micros now, const Address& address) { return place_of(now, address).tokens >= token; }

}  // namespace ashlar::server
