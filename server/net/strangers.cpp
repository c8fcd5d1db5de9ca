#include "server/net/strangers.h"

#include <algorithm>

namespace ashlar::server {

std::uint32_t StrangerPool::first_to_go(const Key& key) const {
  if (entries_.empty()) return 0;
  const auto held = [&](const Key& address) {
    const auto found = count_.find(address);
    return (found == count_.end() ? 0u : found->second) + (address == key ? 1u : 0u);
  };
  std::uint32_t most = held(key);
  for (const auto& [address, count] : count_) most = std::max(most, held(address));
  // The newcomer's own address may hold most with the newcomer alone: then the oldest of all gives way.
  const auto victim =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return held(entry.key) == most; });
  return victim == entries_.end() ? entries_.front().link : victim->link;
}

std::uint32_t StrangerPool::oldest_of(const Key& key, std::uint32_t but_for) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.key == key && entry.link != but_for; });
  return found == entries_.end() ? 0 : found->link;
}

bool StrangerPool::holds(std::uint32_t link) const {
  return std::ranges::find(entries_, link, &Entry::link) != entries_.end();
}

void StrangerPool::add(std::uint32_t link, const Key& key) {
  entries_.push_back({link, key});
  ++count_[key];
}

void StrangerPool::move(std::uint32_t link, const Key& key) {
  const auto found = std::ranges::find(entries_, link, &Entry::link);
  if (found == entries_.end()) return;
  count_out(found->key);
  found->key = key;
  ++count_[key];
}

void StrangerPool::remove(std::uint32_t link) {
  const auto found = std::ranges::find(entries_, link, &Entry::link);
  if (found == entries_.end()) return;
  count_out(found->key);
  entries_.erase(found);
}

void StrangerPool::count_out(const Key& key) {
  const auto count = count_.find(key);
  if (--count->second == 0) count_.erase(count);
}

}  // namespace ashlar::server
