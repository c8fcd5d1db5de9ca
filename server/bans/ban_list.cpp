#include "server/bans/ban_list.h"

#include <utility>

#include "protocol/connection/close_reason.h"
#include "protocol/secure/key_text.h"
#include "server/config/moment.h"

namespace ashlar::server {
namespace {

constexpr std::string_view text_head = "you are banned from this server";
constexpr std::size_t span_bytes_max = 40;  // " for another 3660d 23h"
static_assert(text_head.size() + span_bytes_max + 2 + ban_reason_bytes_max <= close_text_bytes_max);

const Network* network_in(const BanTarget& target) { return std::get_if<Network>(&target); }

}  // namespace

std::string to_text(const BanTarget& target) {
  if (const auto* key = std::get_if<secure::PublicKey>(&target)) return secure::public_key_text(*key);
  if (const auto* id = std::get_if<TokenId>(&target)) return "token:" + id->text;
  return to_text(std::get<Network>(target));
}

std::string ban_text(const Ban& ban, std::int64_t now_s) {
  std::string text(text_head);
  if (ban.until_s > now_s) text += " for another " + span_text(ban.until_s - now_s);
  return ban.reason.empty() ? text : text + ": " + ban.reason;
}

bool BanList::add(const BanTarget& target, Ban ban) {
  const auto at = entries_.find(target);
  if (at != entries_.end()) return at->second = std::move(ban), true;
  if (entries_.size() >= bans_max) return false;
  if (const Network* network = network_in(target)) ++networks_[network->bits];
  entries_.emplace(target, std::move(ban));
  return true;
}

bool BanList::remove(const BanTarget& target) {
  if (entries_.erase(target) == 0) return false;
  if (const Network* network = network_in(target)) --networks_[network->bits];
  return true;
}

void BanList::drop_over(std::int64_t now_s) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (!at->second.over(now_s)) {
      ++at;
      continue;
    }
    if (const Network* network = network_in(at->first)) --networks_[network->bits];
    at = entries_.erase(at);
  }
}

const Ban* BanList::find(const BanSuspect& who, std::int64_t now_s) const {
  const auto look = [&](const BanTarget& target) -> const Ban* {
    const auto at = entries_.find(target);
    return at == entries_.end() || at->second.over(now_s) ? nullptr : &at->second;
  };
  if (entries_.empty()) return nullptr;
  if (const Ban* ban = look(who.key)) return ban;
  if (!who.token_id.empty())
    if (const Ban* ban = look(TokenId{who.token_id})) return ban;
  for (std::size_t bits = networks_.size(); bits-- > 0;)
    if (networks_[bits] > 0)
      if (const Ban* ban = look(network_of(who.address, static_cast<std::uint8_t>(bits)))) return ban;
  return nullptr;
}

}  // namespace ashlar::server
