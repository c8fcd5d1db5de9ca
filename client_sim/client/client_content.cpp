// The maps and props of a client's world: held, or fetched from the server.

#include <algorithm>
#include <utility>

#include "client_sim/client/client.h"

namespace ashlar::client_sim {
namespace {

constexpr std::size_t lacks_named_max = 4;  // in a reason, which is a line

}  // namespace

/// What the client holds of the welcome, and what it lacks.
void Client::take_content() {
  join_.world = welcome_.world;
  join_.content.clear();
  missing_maps_.clear();
  const auto take = [this](const std::optional<std::uint64_t>& hash, const auto& wanted) {
    if (hash == wanted.content_hash)
      join_.content.push_back(*hash);
    else
      missing_maps_.push_back(wanted.name);
  };
  for (const WelcomeMap& map : welcome_.maps)
    take(config_.content ? config_.content(map) : std::nullopt, map);
  for (const WelcomeProp& prop : welcome_.props)
    take(config_.prop_content ? config_.prop_content(prop) : std::nullopt, prop);
}

/// Without them there is nothing to play in.
void Client::lack(const std::string& remedy) {
  fetching_ = false;
  std::string lacks = "this client lacks";
  const std::size_t named = std::min(missing_maps_.size(), lacks_named_max);
  for (std::size_t i = 0; i < named; ++i) lacks += " " + missing_maps_[i];
  if (missing_maps_.size() > named) lacks += " and " + std::to_string(missing_maps_.size() - named) + " more";
  close(SessionEnd::lacks_content, ClientState::refused, lacks + " as the server has it: " + remedy);
}

/// Parts that came before the session was sought anew are kept.
void Client::begin_fetch() {
  ContentFetch before = std::exchange(fetch_, {});
  fetching_ = !missing_maps_.empty();
  if (!fetching_) return;
  fetch_progress_at_ = now_;
  const auto held = [this](std::uint64_t hash) {
    return std::ranges::find(join_.content, hash) != join_.content.end();
  };
  fetch_ = ContentFetch(welcome_, held, config_.fetch_bytes_max);
  fetch_.take_over(std::move(before));
}

void Client::handle(const ContentPart& part) {
  if (!fetching_) return;  // asked for in a world that is gone
  fetch_progress_at_ = now_;
  fetch_.take(part);
}

void Client::handle(const ContentRefused& refused) {
  if (fetching_) fetch_.take(refused);
}

/// Asks for what is still lacking, and joins when nothing is. The first that is not to be had ends it.
void Client::advance_fetch() {
  if (!fetching_ || connection_ == nullptr || !greeted_ || ending_) return;
  while (auto one = fetch_.next()) {
    if (!one->content) return lack(one->content.error());
    ++stats_.fetched;
    stats_.fetched_bytes += one->bytes.size();
    config_.fetched(*std::move(one));
  }
  if (const auto request = fetch_.request()) connection_->send(StreamId::control, writer_.write(*request));
  if (!fetch_.done()) return;
  fetching_ = false;
  fetch_progress_at_ = now_;
  take_content();
  if (!missing_maps_.empty()) return lack("it was fetched and is not there");
  if (!join_waits_) join_world();
}

/// Everything is here.
void Client::join_world() {
  if (config_.map) {
    std::vector<std::shared_ptr<const PlacedMap>> held;
    held.reserve(welcome_.maps.size());
    for (const WelcomeMap& map : welcome_.maps) held.push_back(config_.map(map));
    sectors_ = SectorForecast(std::move(held), welcome_.rules.tick_rate_hz, sectors_.changes() + 1);
  }
  send_join();
}

/// What was kept of the ground is named as it is now.
void Client::send_join() {
  join_.watches = config_.watches;
  join_.ground = ground_.streamed().streams();
  join_.kept = ground_.streamed().kept();
  connection_->send(StreamId::control, writer_.write(join_));
}

}  // namespace ashlar::client_sim
