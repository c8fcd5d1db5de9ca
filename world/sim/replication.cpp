#include "world/sim/replication.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ashlar {
namespace {

constexpr std::size_t kinds_of_registry_max = 64;
constexpr double value_max = 1e15;

constexpr auto monster_first = static_cast<std::uint8_t>(entity_kind(MonsterKind{0}));

bool name_ok(std::string_view name) {
  return !name.empty() && name.size() <= replicated_name_bytes &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

double largest_steps(const FieldTraits& field) {
  return static_cast<double>((std::uint64_t{1} << field.bits) - 1);
}

bool field_ok(const FieldTraits& f) {
  const bool range_ok = f.step > 0 && f.step <= value_max && f.low >= -value_max && f.low <= value_max;
  return name_ok(f.name) && f.bits >= 1 && f.bits <= 32 &&
         static_cast<std::uint8_t>(f.to) < field_audience_count && range_ok;
}

/// Has a kind like this an owner and a team?
bool can_be_owned(EntityKind first) {
  const auto number = static_cast<std::uint8_t>(first);
  return first == EntityKind::player || (number >= own_kind_first && number <= own_kind_last);
}

bool fields_ok(const ReplicatedKind& kind) {
  if (kind.fields.size() > own_fields_max) return false;
  unsigned shared_bits = 0;
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const FieldTraits& f = kind.fields[i];
    if (!field_ok(f) || (f.to != FieldAudience::all && !can_be_owned(kind.first))) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (kind.fields[j].name == f.name) return false;
    if (f.to == FieldAudience::all) shared_bits += f.bits;
  }
  return shared_bits <= shared_field_bits_max;
}

}  // namespace

std::uint32_t FieldTraits::steps_of(double value) const {
  const double steps = std::floor((value - low) / step + 0.5);
  if (!(steps > 0)) return 0;
  return static_cast<std::uint32_t>(std::min(steps, largest_steps(*this)));
}

bool ReplicatedKind::has(FieldAudience to) const {
  return std::ranges::any_of(fields, [to](const FieldTraits& f) { return f.to == to; });
}

namespace {

bool messages_ok(const std::vector<MessageTraits>& messages, std::size_t bytes_most) {
  if (messages.size() > game_messages_max) return false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!name_ok(messages[i].name) || messages[i].bytes_max > bytes_most) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (messages[j].name == messages[i].name) return false;
  }
  return true;
}

std::optional<std::uint8_t> add_to(std::vector<MessageTraits>& messages, std::string name,
                                   std::uint16_t bytes_max, std::size_t bytes_most) {
  const bool taken = std::ranges::any_of(messages, [&](const MessageTraits& m) { return m.name == name; });
  if (!name_ok(name) || taken || bytes_max > bytes_most || messages.size() >= game_messages_max)
    return std::nullopt;
  messages.push_back({std::move(name), bytes_max});
  return static_cast<std::uint8_t>(messages.size() - 1);
}

}  // namespace

ReplicationRegistry::ReplicationRegistry() {
  const auto kind = [](unsigned number) { return static_cast<EntityKind>(number); };
  const auto last_monster = monster_first + static_cast<unsigned>(monster_kinds_max) - 1;
  const auto first_projectile = static_cast<unsigned>(projectile_entity_kind(0));
  kinds_ = {
      {EntityKind::player, EntityKind::player, "player", true, {}},
      {kind(monster_first), kind(last_monster), "monster", true, {}},
      {kind(first_projectile), kind(first_projectile + projectile_kinds_max - 1), "projectile", true, {}},
      {kind(192), kind(239), "pickup", false, {}},
      {EntityKind::item, EntityKind::item, "item", true, {}}};
  static_assert(monster_first + monster_kinds_max <= own_kind_first);
  index();
}

const std::shared_ptr<const ReplicationRegistry>& ReplicationRegistry::builtin_ptr() {
  static const auto builtin = std::make_shared<const ReplicationRegistry>();
  return builtin;
}

std::optional<ReplicationRegistry> ReplicationRegistry::checked(std::vector<ReplicatedKind> kinds,
                                                                std::vector<MessageTraits> messages,
                                                                std::vector<MessageTraits> client_messages) {
  if (kinds.size() > kinds_of_registry_max) return std::nullopt;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!name_ok(kinds[i].name) || kinds[i].first > kinds[i].last || !fields_ok(kinds[i]))
      return std::nullopt;
    if (i > 0 && kinds[i].first <= kinds[i - 1].last) return std::nullopt;
    for (std::size_t j = 0; j < i; ++j)
      if (kinds[j].name == kinds[i].name) return std::nullopt;
  }
  if (!messages_ok(messages, game_message_bytes_max) || !messages_ok(client_messages, game_call_bytes_max))
    return std::nullopt;
  ReplicationRegistry out;
  out.kinds_ = std::move(kinds);
  out.messages_ = std::move(messages);
  out.client_messages_ = std::move(client_messages);
  out.index();
  return out;
}

void ReplicationRegistry::index() {
  row_ = {};
  shares_ = privates_ = false;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const auto first = static_cast<unsigned>(kinds_[i].first), last = static_cast<unsigned>(kinds_[i].last);
    for (unsigned number = first; number <= last; ++number) row_[number] = static_cast<std::uint8_t>(i + 1);
    shares_ = shares_ || kinds_[i].has(FieldAudience::all);
    privates_ = privates_ || kinds_[i].has(FieldAudience::owner) || kinds_[i].has(FieldAudience::team);
  }
}

std::optional<EntityKind> ReplicationRegistry::add_kind(std::string name, bool motion_predicted) {
  unsigned number = own_kind_first;
  auto behind = kinds_.begin();
  for (; behind != kinds_.end() && static_cast<unsigned>(behind->first) <= own_kind_last; ++behind)
    if (static_cast<unsigned>(behind->first) >= number) number = static_cast<unsigned>(behind->last) + 1;
  const bool taken = std::ranges::any_of(kinds_, [&](const ReplicatedKind& k) { return k.name == name; });
  if (!name_ok(name) || taken || number > own_kind_last || kinds_.size() >= kinds_of_registry_max)
    return std::nullopt;
  const auto kind = static_cast<EntityKind>(number);
  kinds_.insert(behind, {kind, kind, std::move(name), motion_predicted, {}});
  index();
  return kind;
}

std::optional<std::uint8_t> ReplicationRegistry::add_field(EntityKind kind, FieldTraits field) {
  const std::uint8_t at = row_[static_cast<std::uint8_t>(kind)];
  if (at == 0) return std::nullopt;
  ReplicatedKind& to = kinds_[at - 1];
  // Projectiles, pickups and items have no ids that a game gets to know.
  if (!can_be_owned(to.first) && static_cast<std::uint8_t>(to.first) != monster_first) return std::nullopt;
  ReplicatedKind more = to;
  more.fields.push_back(std::move(field));
  if (!fields_ok(more)) return std::nullopt;
  to = std::move(more);
  index();
  return static_cast<std::uint8_t>(to.fields.size() - 1);
}

std::optional<std::uint8_t> ReplicationRegistry::add_message(std::string name, std::uint16_t bytes_max) {
  return add_to(messages_, std::move(name), bytes_max, game_message_bytes_max);
}

std::optional<std::uint8_t> ReplicationRegistry::add_client_message(std::string name,
                                                                    std::uint16_t bytes_max) {
  return add_to(client_messages_, std::move(name), bytes_max, game_call_bytes_max);
}

}  // namespace ashlar
