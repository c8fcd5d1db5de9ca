#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "protocol/block_kinds.h"
#include "protocol/chunk_codec.h"
#include "protocol/decode.h"
#include "protocol/decode_snapshot.h"
#include "protocol/replication_codec.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/text.h"
#include "protocol/wire_check.h"
#include "world/sim/tick_limits.h"

namespace ashlar {
namespace {

using ServerResult = std::expected<ServerMessage, DropReason>;
constexpr std::unexpected<DropReason> out_of_range{DropReason::out_of_range};
constexpr std::unexpected<DropReason> bad_text{DropReason::bad_text};

constexpr std::int32_t horizontal_blocks_max = 1 << 20;
constexpr std::int32_t vertical_blocks_max = 1 << 12;

bool within(double v, double low, double high) { return v >= low && v <= high; }  // false for NaN too

/// False when a rule is outside what movement was made for.
bool decode_rules(const wire::Rules& in, Rules& out) {
  // In the order of the list; an enumeration is checked as a number, before it becomes one.
  const std::array<double, rule_count()> values{{static_cast<double>(in.tick_rate_hz()),
                                                 static_cast<double>(in.player_solver()),
                                                 static_cast<double>(in.monster_solver()),
                                                 in.player_radius_m(),
                                                 in.player_height_m(),
                                                 in.player_eye_m(),
                                                 in.step_height_m_max(),
                                                 in.gravity_mps2(),
                                                 in.jump_speed_mps(),
                                                 in.walk_speed_mps_max(),
                                                 in.ground_acceleration_mps2(),
                                                 in.air_acceleration_mps2(),
                                                 in.ground_friction_per_s(),
                                                 in.fall_speed_mps_max(),
                                                 in.shot_interval_s(),
                                                 in.shot_range_m(),
                                                 static_cast<double>(in.keys()),
                                                 static_cast<double>(in.player_health()),
                                                 static_cast<double>(in.crush_damage()),
                                                 in.respawn_s(),
                                                 in.block_reach_m(),
                                                 in.block_interval_s(),
                                                 static_cast<double>(in.free_blocks()),
                                                 static_cast<double>(in.map_margin_m()),
                                                 static_cast<double>(in.monsters_fight()),
                                                 static_cast<double>(in.infighting()),
                                                 static_cast<double>(in.friendly_fire()),
                                                 static_cast<double>(in.monster_respawn_s()),
                                                 static_cast<double>(in.skill()),
                                                 static_cast<double>(in.free_ammo()),
                                                 static_cast<double>(in.items()),
                                                 static_cast<double>(in.item_respawn_s()),
                                                 static_cast<double>(in.mode()),
                                                 static_cast<double>(in.frag_limit()),
                                                 static_cast<double>(in.time_limit_s()),
                                                 static_cast<double>(in.warmup_s()),
                                                 static_cast<double>(in.intermission_s()),
                                                 static_cast<double>(in.keep_inventory()),
                                                 static_cast<double>(in.item_life_s()),
                                                 in.burst_dig_m(),
                                                 static_cast<double>(in.day_s()),
                                                 static_cast<double>(in.match_places()),
                                                 static_cast<double>(in.lives()),
                                                 in.fall_free_m(),
                                                 static_cast<double>(in.fall_damage())}};
  std::size_t i = 0;
  bool known = true;
  visit_rules(out, [&](const RuleInfo& info, auto& field) {
    const double v = values[i++];
    if (!within(v, info.low, info.high))
      known = false;
    else
      field = static_cast<std::remove_cvref_t<decltype(field)>>(v);
  });
  if (!known) return false;
  return rules_sane(out);
}

bool block_ok(std::int32_t v, std::int32_t bound) { return v >= -bound && v <= bound; }

/// The reason to refuse, if there is one.
std::optional<DropReason> decode_props(const wire::Welcome& in, std::vector<WelcomeProp>& out) {
  if (in.props() == nullptr || in.props()->size() == 0) return std::nullopt;  // an empty one is not aligned
  if (in.prop_names() == nullptr) return DropReason::malformed;
  if (in.props()->size() > placed_props_max) return DropReason::out_of_range;
  if (reinterpret_cast<std::uintptr_t>(in.props()->Data()) % alignof(wire::PlacedProp) != 0)
    return DropReason::malformed;
  for (const wire::PlacedProp* prop : *in.props()) {
    const DVec3 at{prop->x(), prop->y(), prop->z()};
    const bool scale_ok = prop->scale() >= prop_scale_min && prop->scale() <= prop_scale_max;
    if (!in_bounds(at) || !scale_ok || prop->flags() > 1 || prop->name() >= in.prop_names()->size())
      return DropReason::out_of_range;
    const std::string_view name = view(in.prop_names()->Get(prop->name()));
    if (!valid_text(name, 1, prop_name_bytes_max)) return DropReason::bad_text;
    out.push_back({std::string(name),
                   prop->content_hash(),
                   {at, Turn16{prop->yaw()}, prop->scale()},
                   prop->flags() == 1 ? ModelUp::z : ModelUp::y});
  }
  return std::nullopt;
}

bool decode_kind_bodies(const wire::Welcome& in, std::vector<KindBody>& out) {
  if (in.kind_bodies() == nullptr) return true;
  if (in.kind_bodies()->size() > monster_kinds_max) return false;
  for (const wire::KindBody* body : *in.kind_bodies()) {
    // False for NaN, too.
    const bool size_ok =
        body->radius() >= 0.05f && body->radius() <= 4.5f && body->height() >= 0.1f && body->height() <= 8.0f;
    const auto kind = static_cast<MonsterKind>(body->kind());
    if (!size_ok || body->kind() >= monster_kinds_max || (!out.empty() && out.back().kind >= kind))
      return false;
    out.push_back({kind, {body->radius(), body->height()}});
  }
  return true;
}

/// The reason to refuse, if there is one.
std::optional<DropReason> decode_zones(const wire::Welcome& in, std::vector<ProtectedZone>& out) {
  if (in.zones() == nullptr || in.zones()->size() == 0) return std::nullopt;  // an empty one is not aligned
  if (in.zone_names() == nullptr) return DropReason::malformed;
  if (in.zones()->size() > protected_zones_max || in.zone_names()->size() != in.zones()->size())
    return DropReason::out_of_range;
  for (flatbuffers::uoffset_t i = 0; i < in.zones()->size(); ++i) {
    const wire::ProtectedZone& zone = *in.zones()->Get(i);
    const BlockBox box{{zone.low_x(), zone.low_y(), zone.low_z()},
                       {zone.high_x(), zone.high_y(), zone.high_z()}};
    if (!zone_box_sane(box)) return DropReason::out_of_range;
    const std::string_view name = view(in.zone_names()->Get(i));
    if (!valid_text(name, 0, zone_name_bytes_max)) return DropReason::bad_text;
    out.push_back({box, std::string(name)});
  }
  return std::nullopt;
}

ServerResult decode(const wire::Welcome& in) {
  Welcome out;
  if (in.snapshot_every_ticks() == 0) return out_of_range;
  if (in.reset_token() == nullptr || in.reset_token()->size() != out.reset_token.size()) return out_of_range;
  if (in.rules() == nullptr) return std::unexpected{DropReason::malformed};
  if (!decode_rules(*in.rules(), out.rules)) return out_of_range;
  if (in.snapshot_every_ticks() > out.rules.tick_rate_hz) return out_of_range;
  std::copy_n(in.reset_token()->begin(), out.reset_token.size(), out.reset_token.begin());
  out.resumed = in.resumed();
  out.world = in.world();
  out.seed = in.seed();
  out.tick = in.tick();
  if (out.tick > world_ticks_max) return out_of_range;
  out.terrain = in.terrain();
  out.generator = in.generator();
  out.blocks_hash = in.blocks_hash();
  out.bare = in.bare();
  out.age_ticks = in.age_ticks();
  if (out.age_ticks > life_ticks_max) return out_of_range;
  out.replication_hash = in.replication_hash();
  out.columns = {in.columns_low(), in.columns_high()};
  const ColumnSpan& columns = out.columns;
  if (!chunk_in_world({0, 0, columns.low}) || !chunk_in_world({0, 0, columns.high - 1}) ||
      columns.high < columns.low || columns.high - columns.low > column_chunks_told_max)
    return out_of_range;
  out.snapshot_every_ticks = in.snapshot_every_ticks();
  if (!valid_text(view(in.motd()), 0, motd_bytes_max)) return bad_text;
  out.motd = view(in.motd());
  if (const auto refused = decode_props(in, out.props)) return std::unexpected{*refused};
  if (!decode_kind_bodies(in, out.kind_bodies)) return out_of_range;
  if (const auto refused = decode_zones(in, out.zones)) return std::unexpected{*refused};
  if (in.maps() == nullptr) return out;
  if (in.maps()->size() > placed_maps_max) return out_of_range;
  for (const wire::PlacedMap* map : *in.maps()) {
    if (!valid_text(view(map->name()), 1, map_name_bytes_max)) return bad_text;
    if (!block_ok(map->origin_x(), horizontal_blocks_max) ||
        !block_ok(map->origin_y(), horizontal_blocks_max) || !block_ok(map->surface_z(), vertical_blocks_max))
      return out_of_range;
    out.maps.push_back({std::string(view(map->name())),
                        map->content_hash(),
                        {map->origin_x(), map->origin_y()},
                        map->surface_z(),
                        map->flags()});
  }
  return out;
}

/// A list of structs as a span of ours.
template <class Ours, class Wire>
std::span<const Ours> span_of(const flatbuffers::Vector<const Wire*>* list) {
  if (list == nullptr) return {};
  static_assert(sizeof(Ours) == sizeof(Wire) && alignof(Ours) == alignof(Wire));
  return {reinterpret_cast<const Ours*>(list->Data()), list->size()};
}

ServerResult decode(const wire::ChatLine& in) {
  const std::string_view from = view(in.from());
  if (!from.empty() && !valid_player_name(from)) return bad_text;
  if (!valid_text(view(in.text()), 1, chat_bytes_max)) return bad_text;
  return ChatLine{std::string(from), std::string(view(in.text()))};
}

ServerResult decode(const wire::ContentPart& in) {
  if (in.bytes() == nullptr) return std::unexpected{DropReason::malformed};
  const std::uint32_t size = in.bytes()->size();
  if (size < 1 || size > content_part_bytes_max || in.total() > content_bytes_max) return out_of_range;
  if (size > in.total() || in.offset() > in.total() - size) return out_of_range;
  return ContentPart{in.hash(), in.total(), in.offset(), {in.bytes()->Data(), size}};
}

ServerResult decode(const wire::ContentRefused& in) {
  if (in.reason() > wire::ContentRefusal::MAX) return out_of_range;
  return ContentRefused{in.hash(), static_cast<ContentRefusal>(in.reason())};
}

ServerResult decode(const wire::ActAnswers& in) {
  if (in.answers() == nullptr) return std::unexpected{DropReason::malformed};
  if (in.answers()->size() < 1 || in.answers()->size() > act_answers_max) return out_of_range;
  ActAnswers out;
  out.tick = in.tick();
  out.world = in.world();
  for (const wire::Answer* answer : *in.answers()) {
    if (answer->verdict() >= act_verdict_count) return out_of_range;
    out.answers.push_back({answer->number(),
                           static_cast<ActVerdict>(answer->verdict()),
                           {answer->x(), answer->y(), answer->z()}});
  }
  return out;
}

ServerResult decode(const wire::Fight& in) {
  Fight out;
  out.tick = in.tick();
  out.world = in.world();
  out.health = in.health();
  out.armour = in.armour();
  out.armour_half = in.armour_half();
  if (in.armour_half() > 1) return out_of_range;
  if (in.hits() == nullptr) return out;
  if (in.hits()->size() > fight_hits_max) return out_of_range;
  for (const wire::Hit* hit : *in.hits()) {
    if (hit->kind() >= combat_event_kind_count || hit->how() >= hurt_by_count || hit->who() == 0)
      return out_of_range;
    out.hits.push_back({static_cast<CombatEventKind>(hit->kind()), static_cast<HurtBy>(hit->how()),
                        hit->points(), EntityId{hit->who()}, EntityId{hit->by()}});
  }
  return out;
}

/// Calls use(slot, stack) for each slot of a list; false where it makes no sense.
template <class Use>
bool each_slot(const flatbuffers::Vector<const wire::Slot*>* slots, const Use& use) {
  if (slots == nullptr) return true;
  if (slots->size() > inventory_slots) return false;
  int before = -1;
  for (const wire::Slot* slot : *slots) {
    const bool nothing = slot->kind() == 0 && slot->count() == 0;
    const bool some = slot->kind() > 0 && slot->kind() < block_kinds_max && slot->count() > 0 &&
                      slot->count() <= stack_items_max;
    if (slot->slot() <= before || slot->slot() >= inventory_slots || !(nothing || some)) return false;
    use(slot->slot(), ItemStack{static_cast<BlockId>(slot->kind()), slot->count()});
    before = slot->slot();
  }
  return true;
}

ServerResult decode(const wire::InventoryChange& in) {
  InventoryChange out;
  out.tick = in.tick();
  out.world = in.world();
  out.whole = in.whole();
  const auto take = [&out](std::uint8_t slot, ItemStack stack) { out.slots.push_back({slot, stack}); };
  if (!each_slot(in.slots(), take)) return out_of_range;
  return out;
}

ServerResult decode(const wire::BlockContents& in) {
  HeldByBlock out;
  out.tick = in.tick();
  out.world = in.world();
  out.open = in.open();
  out.block = {in.x(), in.y(), in.z()};
  if (!in_bounds(to_dvec3(out.block))) return out_of_range;
  const auto take = [&out](std::uint8_t slot, ItemStack stack) { out.data.items.slots[slot] = stack; };
  if (!each_slot(in.slots(), take)) return out_of_range;
  const std::string_view text = view(in.text());
  if (!valid_text(text, 0, sign_text_bytes_max)) return bad_text;
  out.data.text = SignText::of(text);
  out.data.due = in.due();
  if (out.data.due > life_ticks_max) return out_of_range;
  return out;
}

ServerResult decode(const wire::WeaponKinds& in) {
  if (in.weapons() == nullptr || in.ammo() == nullptr) return std::unexpected{DropReason::malformed};
  if (in.weapons()->size() < 1 || in.weapons()->size() > weapons_max) return out_of_range;
  if (in.ammo()->size() != ammo_kind_count) return out_of_range;
  WeaponKinds out;
  out.world = in.world();
  for (const wire::Weapon* weapon : *in.weapons()) {
    if (!valid_text(view(weapon->name()), 1, weapon_name_bytes_max)) return bad_text;
    if (weapon->form() >= weapon_form_count || weapon->ammo() > ammo_kind_count) return out_of_range;
    WeaponTraits w;
    w.name = view(weapon->name());
    w.form = static_cast<WeaponForm>(weapon->form());
    w.ammo = static_cast<AmmoKind>(weapon->ammo());
    w.slot = weapon->slot(), w.rank = weapon->rank(), w.start = weapon->start();
    w.count = weapon->count(), w.steady = weapon->steady(), w.uses = weapon->uses();
    w.damage_step = weapon->damage_step(), w.damage_sides = weapon->damage_sides();
    w.strength_times = weapon->strength_times();
    w.spread_deg = weapon->spread_deg(), w.rise_deg = weapon->rise_deg(), w.range_m = weapon->range_m();
    w.windup_s = weapon->windup_s(), w.interval_s = weapon->interval_s();
    w.lower_s = weapon->lower_s(), w.raise_s = weapon->raise_s();
    w.clip = weapon->clip(), w.reload_s = weapon->reload_s(), w.charge_s = weapon->charge_s();
    w.throw_least = weapon->throw_least(), w.fuse_s = weapon->fuse_s();
    if (!weapon_sane(w)) return out_of_range;
    out.weapons.push_back(std::move(w));
  }
  for (std::size_t i = 0; i < ammo_kind_count; ++i) {
    const wire::AmmoLimits& limits = *in.ammo()->Get(static_cast<flatbuffers::uoffset_t>(i));
    out.ammo[i] = {limits.most(), limits.clip(), limits.start()};
    if (!ammo_sane(out.ammo[i])) return out_of_range;
  }
  return out;
}

ServerResult decode(const wire::MonsterShows& in) {
  if (in.kinds() == nullptr) return std::unexpected{DropReason::malformed};
  if (in.kinds()->size() < 1 || in.kinds()->size() > monster_kinds_max) return out_of_range;
  MonsterShows out;
  out.world = in.world();
  for (const wire::MonsterShow* from : *in.kinds()) {
    const auto kind = static_cast<MonsterKind>(from->kind());
    if (from->kind() >= monster_kinds_max || (!out.kinds.empty() && kind <= out.kinds.back().kind))
      return out_of_range;
    MonsterShow& show = out.kinds.emplace_back(KindShow{kind, {}}).show;
    const std::array names{view(from->blood()),       view(from->sight_sound()),  view(from->pain_sound()),
                           view(from->death_sound()), view(from->attack_sound()), view(from->step_sound())};
    bool good = true;
    std::size_t next = 0;
    visit_show(show, [&](const char*, std::string& to) {
      to = names[next++];
      good = good && to.size() <= show_name_bytes_max &&
             std::ranges::all_of(to, [](char c) { return c >= ' ' && c <= '~'; });
    });
    if (!good) return bad_text;
  }
  return out;
}

ServerResult decode(const wire::Carried& in) {
  if (in.arsenal() == nullptr) return std::unexpected{DropReason::malformed};
  const wire::Arsenal& from = *in.arsenal();
  Carried out;
  out.tick = in.tick();
  out.world = in.world();
  Arsenal& a = out.arsenal;
  a.weapons = from.weapons();
  a.ammo = {from.bullets(), from.shells(), from.rockets(), from.cells()};
  a.power_ticks = {
      from.invulnerability(), from.strength(), from.invisibility(), from.suit(), from.map(), from.light()};
  a.wait_ticks = from.wait_ticks(), a.windup_ticks = from.windup_ticks();
  a.switch_ticks = from.switch_ticks();
  a.reload_ticks = from.reload_ticks(), a.charge_ticks = from.charge_ticks();
  a.held = from.held(), a.wanted = from.wanted(), a.firing = from.firing(), a.backpack = from.backpack();
  if (a.held >= weapons_max || a.wanted >= weapons_max || a.firing > 1 || a.backpack > 1) return out_of_range;
  if (in.spent() != nullptr) {
    if (in.spent()->size() > weapons_max) return out_of_range;
    std::copy(in.spent()->begin(), in.spent()->end(), a.spent.begin());
  }
  if (in.picked() == nullptr) return out;
  if (in.picked()->size() > picked_max) return out_of_range;
  out.picked.assign(in.picked()->begin(), in.picked()->end());
  return out;
}

ServerResult decode(const wire::Score& in) {
  Score out;
  out.tick = in.tick();
  out.world = in.world();
  out.match = in.match();
  if (in.phase() >= match_phase_count) return out_of_range;
  out.phase = static_cast<MatchPhase>(in.phase());
  out.left_ticks = in.left_ticks();
  if (in.teams() == nullptr || in.teams()->size() != teams_max) return out_of_range;
  std::copy_n(in.teams()->begin(), teams_max, out.teams.begin());
  out.changes = in.changes();
  if (in.gone() != nullptr) {
    if (!out.changes || in.gone()->size() > score_rows_max) return out_of_range;
    for (const std::uint32_t id : *in.gone()) {
      if (id == 0) return out_of_range;
      out.gone.push_back(EntityId{id});
    }
  }
  if (in.rows() == nullptr) return out;
  if (in.rows()->size() > score_rows_max) return out_of_range;
  for (const wire::ScoreRow* row : *in.rows()) {
    const bool known = out.changes && view(row->name()).empty();
    if (!known && !valid_player_name(view(row->name()))) return bad_text;
    if (row->id() == 0 || row->team() > teams_max) return out_of_range;
    out.rows.push_back({EntityId{row->id()}, std::string(view(row->name())), row->score(), row->kills(),
                        row->deaths(), row->team()});
  }
  return out;
}

/// By index, each once, of kinds that a world may have.
bool changes_sane(std::span<const BlockChange> changes) {
  std::int32_t before = -1;
  for (const BlockChange& change : changes) {
    if (change.index <= before || change.index >= chunk_blocks || change.block >= block_kinds_max)
      return false;
    before = change.index;
  }
  return changes.size() <= block_changes_max;
}

ServerResult decode(const wire::BlockEdits& in) {
  BlockEdits out;
  out.tick = in.tick();
  out.world = in.world();
  out.chunk = {in.x(), in.y(), in.z()};
  if (!chunk_in_world(out.chunk)) return out_of_range;
  out.changes = span_of<BlockChange>(in.changes());
  if (out.changes.empty() || !changes_sane(out.changes)) return out_of_range;
  return out;
}

ServerResult decode(const wire::GroundChunk& in) {
  GroundChunk out;
  out.tick = in.tick();
  out.world = in.world();
  out.at = {in.x(), in.y(), in.z()};
  out.hash = in.hash();
  if (!chunk_in_world(out.at)) return out_of_range;
  if (in.bytes() != nullptr) out.bytes = {in.bytes()->Data(), in.bytes()->size()};
  if (out.bytes.size() > chunk_bytes_max) return out_of_range;
  out.changes = span_of<BlockChange>(in.changes());
  if (!changes_sane(out.changes)) return out_of_range;
  return out;
}

ServerResult decode(const wire::GroundGone& in) {
  GroundGone out;
  out.tick = in.tick();
  out.world = in.world();
  out.chunks = span_of<ChunkCoord>(in.chunks());
  if (out.chunks.size() > gone_chunks_max) return out_of_range;
  for (const ChunkCoord at : out.chunks)
    if (!chunk_in_world(at)) return out_of_range;
  return out;
}

ServerResult decode(const wire::BlockKinds& in) {
  if (in.kinds() == nullptr) return std::unexpected{DropReason::malformed};
  auto kinds = decode_block_kinds({in.kinds()->Data(), in.kinds()->size()});
  if (!kinds) return out_of_range;
  return BlockKinds{std::move(*kinds), in.world()};
}

ServerResult decode(const wire::ReplicatedKinds& in) {
  if (in.kinds() == nullptr) return std::unexpected{DropReason::malformed};
  auto registry = decode_replication({in.kinds()->Data(), in.kinds()->size()});
  if (!registry) return out_of_range;
  return ReplicatedKinds{std::move(*registry), in.world()};
}

ServerResult decode(const wire::GameMessage& in) {
  if (in.number() >= game_messages_max) return out_of_range;
  GameMessage out{in.tick(), in.world(), in.number(), {}};
  if (in.bytes() == nullptr) return out;
  if (in.bytes()->size() > game_message_bytes_max) return out_of_range;
  out.bytes.assign(in.bytes()->begin(), in.bytes()->end());
  return out;
}

}  // namespace

std::expected<ServerMessage, DropReason> decode_server_message(std::span<const std::uint8_t> payload) {
  const auto root = verified_root<wire::ServerMessage>(payload, wire::ServerMessageIdentifier());
  if (!root) return std::unexpected{root.error()};
  const wire::ServerMessage& message = **root;
  if (message.body() == nullptr) return std::unexpected{DropReason::malformed};
  switch (message.body_type()) {
    case wire::ServerBody::Welcome: return decode(*message.body_as_Welcome());
    case wire::ServerBody::Snapshot: return decode_snapshot(*message.body_as_Snapshot());
    case wire::ServerBody::ChatLine: return decode(*message.body_as_ChatLine());
    case wire::ServerBody::ContentPart: return decode(*message.body_as_ContentPart());
    case wire::ServerBody::ContentRefused: return decode(*message.body_as_ContentRefused());
    case wire::ServerBody::ActAnswers: return decode(*message.body_as_ActAnswers());
    case wire::ServerBody::BlockEdits: return decode(*message.body_as_BlockEdits());
    case wire::ServerBody::BlockKinds: return decode(*message.body_as_BlockKinds());
    case wire::ServerBody::Saved:
      return Saved{message.body_as_Saved()->tick(), message.body_as_Saved()->world()};
    case wire::ServerBody::Fight: return decode(*message.body_as_Fight());
    case wire::ServerBody::InventoryChange: return decode(*message.body_as_InventoryChange());
    case wire::ServerBody::MonsterShows: return decode(*message.body_as_MonsterShows());
    case wire::ServerBody::WeaponKinds: return decode(*message.body_as_WeaponKinds());
    case wire::ServerBody::Score: return decode(*message.body_as_Score());
    case wire::ServerBody::Carried: return decode(*message.body_as_Carried());
    case wire::ServerBody::ReplicatedKinds: return decode(*message.body_as_ReplicatedKinds());
    case wire::ServerBody::GameMessage: return decode(*message.body_as_GameMessage());
    case wire::ServerBody::GroundChunk: return decode(*message.body_as_GroundChunk());
    case wire::ServerBody::GroundGone: return decode(*message.body_as_GroundGone());
    case wire::ServerBody::BlockContents: return decode(*message.body_as_BlockContents());
    case wire::ServerBody::NONE: break;
  }
  return std::unexpected{DropReason::unknown_message};
}

std::string_view server_message_name(std::span<const std::uint8_t> payload) {
  return wire::EnumNameServerBody(flatbuffers::GetRoot<wire::ServerMessage>(payload.data())->body_type());
}

}  // namespace ashlar
