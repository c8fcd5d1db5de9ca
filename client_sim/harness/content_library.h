#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "client_sim/client/client.h"
#include "client_sim/harness/content_cache.h"
#include "client_sim/harness/map_library.h"
#include "client_sim/harness/prop_library.h"

namespace ashlar::client_sim {

/// All maps and props that the clients of this process hold: those of files, what was fetched before (the
/// cache), and what is fetched now. A file whose map differs from the server's does not count: then the
/// server's is taken. One thread.
class ContentLibrary {
 public:
  /// @param maps, props  must outlive this
  ContentLibrary(MapLibrary& maps, PropLibrary& props, ContentCache cache)
      : maps_(&maps), props_(&props), cache_(std::move(cache)) {}

  /// Has a client look here for what it lacks, and bring what it fetches. @param config  of a client that
  /// does not outlive this
  void serve(ClientConfig& config);

  /// The map that a welcome names, placed as it says; nullptr: not held. The first call for a map takes tens
  /// of milliseconds.
  std::shared_ptr<const PlacedMap> map(const WelcomeMap& wanted);
  /// Likewise of a prop.
  std::shared_ptr<const Prop> prop(const WelcomeProp& wanted);
  /// Its hash, where it is held.
  std::optional<std::uint64_t> prop_hash(const WelcomeProp& wanted);
  /// What a client fetched: held from now on, and kept for the next run.
  void keep(const ContentFetch::Fetched& fetched);

  /// Why the cache could not keep something, one line; empty: it could.
  const std::string& trouble() const { return trouble_; }

 private:
  const Content* find(std::uint64_t hash);

  MapLibrary* maps_;
  PropLibrary* props_;
  ContentCache cache_;
  std::unordered_map<std::uint64_t, Content> known_;  // looked up, never iterated
  std::string trouble_;
};

/// Where fetched content is kept unless somebody says otherwise: $XDG_CACHE_HOME/ashlar, else
/// ~/.cache/ashlar; empty where neither is known.
std::string usual_cache_folder();

}  // namespace ashlar::client_sim
