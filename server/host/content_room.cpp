#include "server/host/content_room.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr std::int64_t millionth = 1'000'000;  // of a byte
constexpr std::int64_t shares = 4;             // of the budget for all, each client has one
constexpr std::int64_t bursts_per_s = 8;       // what is saved up is an eighth of a second's
constexpr std::int64_t part_bytes_least = 1024;
constexpr std::int64_t bytes_per_s_max = std::int64_t{1} << 40;
constexpr Micros refill_max{1'000'000};  // longer gaps fill any bucket
// Millionths of a second's bytes fit.
static_assert(bytes_per_s_max <= INT64_MAX / millionth / 2);

template <class Bucket>
void refill(Micros now, Bucket& bucket, std::int64_t per_s, std::int64_t most) {
  ASHLAR_ASSERT(now >= bucket.at);
  const std::int64_t passed = std::min(now - bucket.at, refill_max).count();
  bucket.at = now;
  // A rate in bytes a second is one in millionths of a byte a microsecond.
  bucket.millionths = std::min(bucket.millionths + passed * per_s, most * millionth);
}

}  // namespace

ContentRoom::ContentRoom(const ContentShelf& shelf, std::uint64_t bytes_per_s, std::uint32_t clients_max,
                         const Defects& defects)
    : shelf_(&shelf),
      per_s_(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes_per_s, bytes_per_s_max))),
      per_s_each_(std::max<std::int64_t>(per_s_ / shares, per_s_ > 0 ? 1 : 0)),
      part_bytes_(static_cast<std::size_t>(
          std::clamp<std::int64_t>(per_s_each_ / bursts_per_s, part_bytes_least, content_part_bytes_max))),
      seats_(clients_max),
      defects_(defects) {
  turns_.reserve(clients_max);
}

void ContentRoom::refill_seat(Micros now, Seat& seat) const {
  // Where nothing is given away refusals still have their price.
  const std::int64_t per_s = std::max(per_s_each_, request_cost_bytes);
  const std::int64_t burst = std::max(per_s_each_ / bursts_per_s, request_cost_bytes);
  if (!seat.known) seat.bucket = {burst * millionth, now};
  seat.known = true;
  refill(now, seat.bucket, per_s, burst);
}

void ContentRoom::ask(Micros now, std::uint32_t client, const ContentRequest& request) {
  ASHLAR_ASSERT(client < seats_.size());
  Seat& seat = seats_[client];
  refill_seat(now, seat);
  ++counters_.requests;
  const std::int64_t debt_max = std::max(per_s_each_, request_cost_bytes) * millionth;
  seat.bucket.millionths = std::max(seat.bucket.millionths - request_cost_bytes * millionth, -debt_max);
  seat.request = request;
  if (!seat.waits) turns_.push_back(client);
  seat.waits = true;
}

void ContentRoom::forget(std::uint32_t client) {
  ASHLAR_ASSERT(client < seats_.size());
  if (seats_[client].waits)
    end_turn(static_cast<std::size_t>(std::ranges::find(turns_, client) - turns_.begin()));
  seats_[client] = Seat{};
}

bool ContentRoom::owes(std::uint32_t client) const {
  ASHLAR_ASSERT(client < seats_.size());
  return seats_[client].waits;
}

void ContentRoom::begin_world(const ContentShelf& shelf) {
  shelf_ = &shelf;
  while (!turns_.empty()) end_turn(turns_.size() - 1);
}

/// Who stands there waits no more.
void ContentRoom::end_turn(std::size_t at) {
  ASHLAR_ASSERT(at < turns_.size());
  seats_[turns_[at]].waits = false;
  turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(at));
  if (at < next_) --next_;
  if (next_ == turns_.size()) next_ = 0;
}

void ContentRoom::tick(Micros now, ContentBulk& bulk) {
  if (turns_.empty()) return;
  refill(now, all_, std::max(per_s_, request_cost_bytes),
         std::max<std::int64_t>(per_s_ / bursts_per_s, static_cast<std::int64_t>(part_bytes_)));
  // Each in turn, until the budget is used up or nobody of a whole round could be sent anything.
  std::size_t in_vain = 0;
  while (in_vain < turns_.size() && all_.millionths > 0) {
    const std::uint32_t client = turns_[next_];
    Seat& seat = seats_[client];
    refill_seat(now, seat);
    const Served served = seat.bucket.millionths > 0 ? serve(client, seat, bulk) : Served::nothing;
    in_vain = served == Served::nothing ? in_vain + 1 : 0;
    if (served == Served::last)
      end_turn(next_);
    else
      next_ = (next_ + 1) % turns_.size();
  }
}

/// One part, or the refusal. Nothing: its stream has no room.
ContentRoom::Served ContentRoom::serve(std::uint32_t client, Seat& seat, ContentBulk& bulk) {
  ASHLAR_ASSERT(seat.waits);
  if (per_s_ == 0) return refuse(client, seat, ContentRefusal::off, bulk);
  const ContentShelf::Item item = shelf_->find(seat.request.hash);
  if (item.has == ContentShelf::Has::nothing) return refuse(client, seat, ContentRefusal::unknown, bulk);
  if (item.has == ContentShelf::Has::known) return refuse(client, seat, ContentRefusal::not_offered, bulk);
  const std::size_t offset = seat.request.offset;
  if (offset >= item.bytes.size()) return refuse(client, seat, ContentRefusal::bad_offset, bulk);

  const std::size_t size = std::min(part_bytes_, item.bytes.size() - offset);
  if (!bulk.can_take(client, size + (content_message_bytes_max - content_part_bytes_max)))
    return Served::nothing;
  const auto message =
      writer_.write(ContentPart{seat.request.hash, static_cast<std::uint32_t>(item.bytes.size()),
                                seat.request.offset, item.bytes.subspan(offset, size)});
  if (!defects_.lost_part || counters_.parts % 2 == 0) bulk.send(client, message);
  spend(seat, message.size());
  ++counters_.parts;
  counters_.bytes += size;
  seat.request.offset += static_cast<std::uint32_t>(size);
  if (seat.request.offset < item.bytes.size()) return Served::part;
  ++counters_.finished;
  return Served::last;
}

ContentRoom::Served ContentRoom::refuse(std::uint32_t client, const Seat& seat, ContentRefusal reason,
                                        ContentBulk& bulk) {
  const auto message = writer_.write(ContentRefused{seat.request.hash, reason});
  if (!bulk.can_take(client, message.size())) return Served::nothing;
  bulk.send(client, message);
  // Its own budget has paid with the request.
  all_.millionths -= static_cast<std::int64_t>(message.size()) * millionth;
  ++counters_.refused;
  return Served::last;
}

void ContentRoom::spend(Seat& seat, std::size_t bytes) {
  const std::int64_t cost = static_cast<std::int64_t>(bytes) * millionth;
  seat.bucket.millionths -= cost;
  all_.millionths -= cost;
}

}  // namespace ashlar::server
