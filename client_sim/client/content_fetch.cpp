#include "client_sim/client/content_fetch.h"

#include <algorithm>
#include <utility>

#include "protocol/content/envelope.h"
#include "world/math/assert.h"

namespace ashlar::client_sim {
namespace {

constexpr const char* too_much = "all content of this server is more than a client takes";

std::string why_refused(ContentRefusal reason) {
  switch (reason) {
    case ContentRefusal::off: return "the server gives no files away: get its file from the operator";
    case ContentRefusal::not_offered: return "the server holds it, but it is too large to be sent";
    case ContentRefusal::unknown: return "the server does not know it: the world has changed, join again";
    case ContentRefusal::bad_offset: break;
  }
  return "the server and the client disagree about its size: join again";
}

}  // namespace

ContentFetch::ContentFetch(const Welcome& welcome, const std::function<bool(std::uint64_t)>& held,
                           std::size_t bytes_max)
    : bytes_left_(bytes_max) {
  const auto want = [&](std::uint64_t hash, ContentKind kind, const std::string& name) {
    if (held(hash) || std::ranges::find(wanted_, hash, &Wanted::hash) != wanted_.end()) return;
    wanted_.push_back({hash, kind, name});
  };
  for (const WelcomeMap& map : welcome.maps) want(map.content_hash, ContentKind::map, map.name);
  for (const WelcomeProp& prop : welcome.props) want(prop.content_hash, ContentKind::prop, prop.name);
}

std::optional<ContentRequest> ContentFetch::request() {
  if (asked_ || at_ == wanted_.size()) return std::nullopt;
  asked_ = true;
  return ContentRequest{wanted_[at_].hash, static_cast<std::uint32_t>(bytes_.size())};
}

void ContentFetch::take_over(ContentFetch&& before) {
  ASHLAR_ASSERT(!asked_ && at_ == 0);
  if (before.at_ == before.wanted_.size() || before.bytes_.empty()) return;
  const auto same = std::ranges::find(wanted_, before.wanted_[before.at_].hash, &Wanted::hash);
  if (same == wanted_.end() || before.total_ > bytes_left_) return;
  std::rotate(wanted_.begin(), same, same + 1);
  bytes_ = std::move(before.bytes_);
  total_ = before.total_;
}

void ContentFetch::take(const ContentPart& part) {
  if (!asked_ || at_ == wanted_.size() || part.hash != wanted_[at_].hash) return;
  // Of an answer to an earlier request for the same, before a resume().
  if (part.offset < bytes_.size()) return;
  if (part.offset > bytes_.size()) return finish("a part of it is missing");
  if (bytes_.empty()) {
    if (part.total > bytes_left_) return finish(too_much);
    total_ = part.total;
  }
  // The decoder has held the part against its total, and that against content_bytes_max.
  if (part.total != total_) return finish("its size changed on the way");
  bytes_.insert(bytes_.end(), part.bytes.begin(), part.bytes.end());
  if (bytes_.size() == total_) unpack_later();
}

/// What it unpacks to counts, too: little may be made into much.
void ContentFetch::unpack_later() {
  const std::size_t announced = announced_layout_bytes(bytes_);
  if (announced > layout_bytes_left_) return finish(too_much);
  layout_bytes_left_ -= announced;
  finish({});
}

void ContentFetch::take(const ContentRefused& refused) {
  if (!asked_ || at_ == wanted_.size() || refused.hash != wanted_[at_].hash) return;
  finish(why_refused(refused.reason));
}

/// Goes on to the next. @param failure  empty: it is whole
void ContentFetch::finish(std::string failure) {
  bytes_left_ -= bytes_.size();
  if (!failure.empty()) bytes_.clear();
  arrived_.push_back({wanted_[at_], std::exchange(bytes_, {}), std::move(failure)});
  ++at_;
  asked_ = false;
  total_ = 0;
}

std::optional<ContentFetch::Fetched> ContentFetch::next() {
  if (arrived_.empty()) return std::nullopt;
  Arrived one = std::move(arrived_.front());
  arrived_.erase(arrived_.begin());
  Fetched out{one.what.hash, one.what.name, std::move(one.bytes), std::unexpected(std::move(one.failure))};
  if (out.content.error().empty()) {
    out.content = decode_content(out.bytes, out.hash);
    const std::size_t kind = one.what.kind == ContentKind::map ? 0 : 1;
    if (out.content && out.content->index() != kind)
      out.content = std::unexpected(std::string("it is a prop where a map should be, or a map for a prop"));
  }
  if (!out.content) {
    out.bytes.clear();
    const char* kind = one.what.kind == ContentKind::map ? "map " : "prop ";
    out.content = std::unexpected(kind + out.name + " cannot be fetched: " + out.content.error());
  }
  return out;
}

}  // namespace ashlar::client_sim
