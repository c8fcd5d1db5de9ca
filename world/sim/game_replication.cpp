#include "world/sim/game_replication.h"

#include <utility>

#include "world/math/assert.h"

namespace ashlar {

GameReplication::GameReplication(std::shared_ptr<const ReplicationRegistry> registry, std::size_t movers,
                                 std::uint32_t first_slot)
    : registry_(std::move(registry)), movers_(movers), first_slot_(first_slot) {
  ASHLAR_ASSERT(registry_ != nullptr);
  messages_.reserve(messages_per_tick_max);
  bytes_.reserve(message_bytes_per_tick_max);
  if (!registry_->extended()) return;
  things_.resize(own_things_max);
  generation_.resize(own_things_max);
  values_.resize(movers + own_things_max);
}

EntityId GameReplication::add(OwnThing thing) {
  const auto number = static_cast<std::uint8_t>(thing.kind);
  if (number < own_kind_first || number > own_kind_last || registry_->find(thing.kind) == nullptr)
    return EntityId{0};
  for (std::size_t row = 0; row < things_.size(); ++row) {
    if (things_[row].id != EntityId{0}) continue;
    generation_[row] = next_generation(generation_[row]);
    thing.id = make_entity_id(first_slot_ + static_cast<std::uint32_t>(row), generation_[row]);
    things_[row] = thing;
    if (!values_.empty()) values_[movers_ + row] = {};  // ids come again after thousands of others
    return thing.id;
  }
  return EntityId{0};
}

OwnThing* GameReplication::find(EntityId id) { return const_cast<OwnThing*>(std::as_const(*this).find(id)); }

const OwnThing* GameReplication::find(EntityId id) const {
  const std::uint32_t slot = slot_of(id);
  if (id == EntityId{0} || slot < first_slot_ || slot - first_slot_ >= things_.size()) return nullptr;
  const OwnThing& thing = things_[slot - first_slot_];
  return thing.id == id ? &thing : nullptr;
}

bool GameReplication::remove(EntityId id) {
  OwnThing* const thing = find(id);
  if (thing == nullptr) return false;
  *thing = {};
  return true;
}

std::size_t GameReplication::row_of(EntityId id) const {
  const std::uint32_t slot = slot_of(id);
  if (id == EntityId{0} || values_.empty()) return no_row;
  if (slot < movers_) return slot;
  const bool thing = slot >= first_slot_ && slot - first_slot_ < things_.size();
  return thing ? movers_ + (slot - first_slot_) : no_row;
}

bool GameReplication::set(EntityId id, EntityKind kind, std::size_t field, std::uint32_t steps) {
  const std::size_t row = row_of(id);
  const ReplicatedKind* const declared = registry_->find(kind);
  if (row == no_row || declared == nullptr || field >= declared->fields.size()) return false;
  if (values_[row].id != id) values_[row] = {id, {}};
  values_[row].values[field] = steps;
  return true;
}

const FieldValues& GameReplication::values(EntityId id) const {
  static constexpr FieldValues nothing{};
  const std::size_t row = row_of(id);
  return row == no_row || values_[row].id != id ? nothing : values_[row].values;
}

bool GameReplication::send(GameMessageOut message, std::span<const std::uint8_t> bytes) {
  const auto known = registry_->messages();
  return message.number < known.size() && bytes.size() <= known[message.number].bytes_max &&
         keep(message, bytes);
}

bool GameReplication::tell(GameMessageOut to, std::string_view line) {
  to.number = GameMessageOut::chat_line;
  return line.size() <= game_call_bytes_max &&
         keep(to, {reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
}

bool GameReplication::keep(GameMessageOut message, std::span<const std::uint8_t> bytes) {
  if (messages_.size() == messages_per_tick_max || bytes_.size() + bytes.size() > message_bytes_per_tick_max)
    return false;
  message.first = static_cast<std::uint32_t>(bytes_.size());
  message.size = static_cast<std::uint32_t>(bytes.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  messages_.push_back(message);
  return true;
}

void GameReplication::begin_tick() {
  messages_.clear();
  bytes_.clear();
}

void GameReplication::add_to_hash(StripeHasher& hash) const {
  if (!registry_->extended()) return;
  for (const OwnThing& t : things_) {
    if (t.id == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(t.id) << 32 | static_cast<std::uint64_t>(t.owner));
    hash.add(static_cast<std::uint64_t>(t.kind) << 32 | static_cast<std::uint64_t>(t.yaw) << 16 |
             static_cast<std::uint64_t>(t.state) << 8 | t.team);
    hash.add(t.position_m), hash.add(t.velocity_mps);
  }
  for (const Values& v : values_) {
    if (v.id == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(v.id));
    for (std::size_t i = 0; i < own_fields_max; i += 2)
      hash.add(static_cast<std::uint64_t>(v.values[i]) << 32 | v.values[i + 1]);
  }
  hash.add_list(generation_);
  for (const GameMessageOut& m : messages_)
    hash.add(static_cast<std::uint64_t>(m.number) << 40 | static_cast<std::uint64_t>(m.to) << 32 | m.target);
}

}  // namespace ashlar
