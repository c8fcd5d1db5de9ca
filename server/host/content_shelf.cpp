#include "server/host/content_shelf.h"

#include <algorithm>

namespace ashlar::server {

std::optional<std::string> ContentShelf::add(const Content& content) {
  const std::uint64_t hash = content_hash(content);
  const auto at = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash);
  if (at != entries_.end() && at->hash == hash) return std::nullopt;
  auto bytes = encode_content(content);
  std::optional<std::string> why;
  if (!bytes) {
    why = std::move(bytes.error());
  } else if (bytes->size() > bytes_max_ - bytes_) {
    const auto name = std::visit([](const auto& c) { return c->name(); }, content);
    why = name + ": clients may fetch no more than " + std::to_string(bytes_max_ >> 20) + " MiB in all";
  }
  if (!why) bytes_ += bytes->size();
  entries_.insert(at, {hash, why ? std::vector<std::uint8_t>{} : std::move(*bytes)});
  return why;
}

std::vector<std::string> ContentShelf::add(const WorldSetup& setup) {
  std::vector<std::string> lines;
  const auto put = [&](const Content& content) {
    if (auto why = add(content)) lines.push_back(std::move(*why));
  };
  for (const auto& map : setup.maps) put(map);
  for (const auto& prop : setup.props) put(prop);
  return lines;
}

ContentShelf::Item ContentShelf::find(std::uint64_t hash) const {
  const auto at = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash);
  if (at == entries_.end() || at->hash != hash) return {};
  return {at->bytes.empty() ? Has::known : Has::whole, at->bytes};
}

}  // namespace ashlar::server
