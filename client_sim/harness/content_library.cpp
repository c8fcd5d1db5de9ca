#include "client_sim/harness/content_library.h"

#include <cstdlib>
#include <utility>

namespace ashlar::client_sim {

void ContentLibrary::serve(ClientConfig& config) {
  config.content = [this](const WelcomeMap& wanted) -> std::optional<std::uint64_t> {
    const auto held = map(wanted);
    return held == nullptr ? std::nullopt : std::optional(held->content_hash());
  };
  config.prop_content = [this](const WelcomeProp& wanted) { return prop_hash(wanted); };
  config.fetched = [this](const ContentFetch::Fetched& fetched) { keep(fetched); };
}

/// Fetched, now or in an earlier run.
const Content* ContentLibrary::find(std::uint64_t hash) {
  if (const auto at = known_.find(hash); at != known_.end()) return &at->second;
  auto kept = cache_.find(hash);
  if (!kept) return nullptr;
  return &known_.emplace(hash, *std::move(kept)).first->second;
}

std::shared_ptr<const PlacedMap> ContentLibrary::map(const WelcomeMap& wanted) {
  auto of_file = maps_->placed(wanted);
  if (of_file != nullptr && of_file->content_hash() == wanted.content_hash) return of_file;
  const Content* const fetched = find(wanted.content_hash);
  const auto* const held =
      fetched == nullptr ? nullptr : std::get_if<std::shared_ptr<const PlacedMap>>(fetched);
  return held == nullptr ? nullptr : *held;
}

std::shared_ptr<const Prop> ContentLibrary::prop(const WelcomeProp& wanted) {
  if (props_->content_hash(wanted) == wanted.content_hash)
    return props_->place(wanted.name, wanted.up, wanted.place).value_or(nullptr);
  const Content* const fetched = find(wanted.content_hash);
  const auto* const held = fetched == nullptr ? nullptr : std::get_if<std::shared_ptr<const Prop>>(fetched);
  return held == nullptr ? nullptr : *held;
}

std::optional<std::uint64_t> ContentLibrary::prop_hash(const WelcomeProp& wanted) {
  return prop(wanted) == nullptr ? std::nullopt : std::optional(wanted.content_hash);
}

void ContentLibrary::keep(const ContentFetch::Fetched& fetched) {
  known_.insert_or_assign(fetched.hash, fetched.content.value());
  if (const auto kept = cache_.keep(fetched.hash, fetched.bytes); !kept && trouble_.empty())
    trouble_ = kept.error();
}

std::string usual_cache_folder() {
  const auto named = [](const char* variable) -> std::string {
    const char* const value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  if (const std::string cache = named("XDG_CACHE_HOME"); !cache.empty()) return cache + "/ashlar";
  if (const std::string home = named("HOME"); !home.empty()) return home + "/.cache/ashlar";
  return "";
}

}  // namespace ashlar::client_sim
