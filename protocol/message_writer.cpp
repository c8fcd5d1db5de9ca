#include "protocol/message_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "protocol/block_kinds.h"
#include "protocol/chunk_codec.h"
#include "protocol/datagram.h"
#include "protocol/replication_codec.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr std::size_t builder_bytes = 2 * datagram_bytes_max;  // to begin with

flatbuffers::Offset<wire::Rules> add_rules(flatbuffers::FlatBufferBuilder& fbb, const Rules& r) {
  wire::RulesBuilder out(fbb);
  // The table's fields are those of the list, one after the other, and all are written.
  flatbuffers::voffset_t field = wire::Rules::VT_TICK_RATE_HZ;
  visit_rules(r, [&](const RuleInfo&, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
      fbb.AddElement(field, static_cast<std::uint8_t>(value));
    else
      fbb.AddElement(field, value);
    field = static_cast<flatbuffers::voffset_t>(field + sizeof(flatbuffers::voffset_t));
  });
  ASHLAR_ASSERT(field == wire::Rules::VT_FALL_DAMAGE + sizeof(flatbuffers::voffset_t));
  return out.Finish();
}

}  // namespace

struct MessageWriter::Impl {
  flatbuffers::FlatBufferBuilder fbb{builder_bytes};

  template <class Table>
  void finish_client(wire::ClientBody type, flatbuffers::Offset<Table> body) {
    fbb.Finish(wire::CreateClientMessage(fbb, type, body.Union()), wire::ClientMessageIdentifier());
  }

  template <class Table>
  void finish_server(wire::ServerBody type, flatbuffers::Offset<Table> body) {
    fbb.Finish(wire::CreateServerMessage(fbb, type, body.Union()), wire::ServerMessageIdentifier());
  }

  std::span<const std::uint8_t> message(std::size_t bytes_max = message_bytes_max) {
    ASHLAR_ASSERT(fbb.GetSize() <= bytes_max);
    return {fbb.GetBufferPointer(), fbb.GetSize()};
  }

  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> bytes(std::span<const std::uint8_t> list) {
    return list.empty() ? 0 : fbb.CreateVector(list.data(), list.size());
  }

  flatbuffers::Offset<flatbuffers::String> string(std::string_view text) {
    return fbb.CreateString(text.data(), text.size());
  }

  void build(const Welcome& m) {
    fbb.Clear();
    std::array<flatbuffers::Offset<wire::PlacedMap>, placed_maps_max> maps;
    for (std::size_t i = 0; i < m.maps.size(); ++i) {
      const WelcomeMap& map = m.maps[i];
      ASHLAR_ASSERT(valid_text(map.name, 1, map_name_bytes_max));
      const auto map_name = string(map.name);
      maps[i] = wire::CreatePlacedMap(fbb, map_name, map.content_hash, map.origin_block.x, map.origin_block.y,
                                      map.surface_z, map.flags);
    }
    const auto map_list = fbb.CreateVector(maps.data(), m.maps.size());
    const auto rules = add_rules(fbb, m.rules);
    const auto motd = string(m.motd);
    std::array<flatbuffers::Offset<flatbuffers::String>, placed_props_max> name_list;
    std::array<wire::PlacedProp, placed_props_max> prop_list;
    std::array<std::string_view, placed_props_max> known;
    std::size_t name_count = 0;
    for (std::size_t i = 0; i < m.props.size(); ++i) {
      const WelcomeProp& prop = m.props[i];
      ASHLAR_ASSERT(valid_text(prop.name, 1, prop_name_bytes_max));
      std::size_t at = 0;
      while (at < name_count && known[at] != prop.name) ++at;
      if (at == name_count) {
        known[name_count] = prop.name;
        name_list[name_count++] = string(prop.name);
      }
      const DVec3 p = prop.place.position_m;
      prop_list[i] = wire::PlacedProp(prop.content_hash, p.x, p.y, p.z, static_cast<float>(prop.place.scale),
                                      static_cast<std::uint16_t>(prop.place.yaw),
                                      static_cast<std::uint8_t>(at), prop.up == ModelUp::z ? 1 : 0);
    }
    const auto props = m.props.empty() ? 0 : fbb.CreateVectorOfStructs(prop_list.data(), m.props.size());
    const auto names = m.props.empty() ? 0 : fbb.CreateVector(name_list.data(), name_count);
    const auto token = bytes(m.reset_token);
    ASHLAR_ASSERT(m.kind_bodies.size() <= monster_kinds_max);
    std::array<wire::KindBody, monster_kinds_max> bodies;
    for (std::size_t i = 0; i < m.kind_bodies.size(); ++i) {
      const KindBody& body = m.kind_bodies[i];
      bodies[i] =
          wire::KindBody(static_cast<float>(body.shape.radius_m), static_cast<float>(body.shape.height_m),
                         static_cast<std::uint8_t>(body.kind));
    }
    const auto body_list =
        m.kind_bodies.empty() ? 0 : fbb.CreateVectorOfStructs(bodies.data(), m.kind_bodies.size());
    ASHLAR_ASSERT(m.zones.size() <= protected_zones_max);
    std::array<wire::ProtectedZone, protected_zones_max> zone_list;
    std::array<flatbuffers::Offset<flatbuffers::String>, protected_zones_max> zone_names;
    for (std::size_t i = 0; i < m.zones.size(); ++i) {
      const auto& [box, name] = m.zones[i];
      ASHLAR_ASSERT(valid_text(name, 0, zone_name_bytes_max));
      zone_list[i] = wire::ProtectedZone(box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z);
      zone_names[i] = string(name);
    }
    const auto zones = m.zones.empty() ? 0 : fbb.CreateVectorOfStructs(zone_list.data(), m.zones.size());
    const auto named = m.zones.empty() ? 0 : fbb.CreateVector(zone_names.data(), m.zones.size());
    finish_server(
        wire::ServerBody::Welcome,
        wire::CreateWelcome(fbb, token, m.resumed, m.world, m.seed, m.tick, m.snapshot_every_ticks, rules,
                            map_list, motd, props, names, m.terrain, m.generator, m.blocks_hash, body_list,
                            m.bare, m.replication_hash, static_cast<std::int16_t>(m.columns.low),
                            static_cast<std::int16_t>(m.columns.high), zones, named, m.age_ticks));
  }
};

MessageWriter::MessageWriter() : impl_(std::make_unique<Impl>()) {}
MessageWriter::~MessageWriter() = default;
MessageWriter::MessageWriter(MessageWriter&&) noexcept = default;
MessageWriter& MessageWriter::operator=(MessageWriter&&) noexcept = default;

std::span<const std::uint8_t> MessageWriter::write(const Hello& m) {
  ASHLAR_ASSERT(valid_player_name(m.name));
  ASHLAR_ASSERT(valid_text(m.build, 0, build_bytes_max));
  ASHLAR_ASSERT(m.token.size() <= hello_token_bytes_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto player_name = impl_->string(m.name);
  const auto build = impl_->string(m.build);
  const auto token = impl_->bytes(m.token);
  const auto proof = m.resume == 0 ? 0 : impl_->bytes(m.resume_proof);
  impl_->finish_client(wire::ClientBody::Hello,
                       wire::CreateHello(fbb, player_name, build, token, m.resume, proof, m.takes_packed));
  return impl_->message(hello_bytes_max);
}

std::span<const std::uint8_t> MessageWriter::write(const Join& m) {
  ASHLAR_ASSERT(m.content.size() <= join_content_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  ASHLAR_ASSERT(m.kept.size() <= kept_chunks_max && (m.ground || m.kept.empty()));
  const auto content = fbb.CreateVector(m.content.data(), m.content.size());
  flatbuffers::Offset<flatbuffers::Vector<const wire::KeptChunk*>> kept = 0;
  if (!m.kept.empty()) {
    std::vector<wire::KeptChunk> list;
    list.reserve(m.kept.size());
    for (const KeptChunk& chunk : m.kept) {
      ASHLAR_ASSERT(chunk_in_world(chunk.at));
      list.emplace_back(chunk.hash, static_cast<std::int16_t>(chunk.at.x),
                        static_cast<std::int16_t>(chunk.at.y), static_cast<std::int16_t>(chunk.at.z));
    }
    kept = fbb.CreateVectorOfStructs(list);
  }
  impl_->finish_client(wire::ClientBody::Join,
                       wire::CreateJoin(fbb, content, m.world, m.ground, kept, m.watches));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Input& m) {
  ASHLAR_ASSERT(m.command_count >= 1 && m.command_count <= input_commands_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Command, input_commands_max> commands;
  for (std::size_t i = 0; i < m.command_count; ++i) {
    const PlayerCommand& c = m.commands[i];
    commands[i] = wire::Command(static_cast<std::uint16_t>(c.yaw), static_cast<std::int16_t>(c.pitch),
                                c.buttons, seen_age(c.seen, m.newest_tick - static_cast<std::uint32_t>(i)),
                                command_axis_steps(c.forward), command_axis_steps(c.left));
  }
  const auto list = fbb.CreateVectorOfStructs(commands.data(), m.command_count);
  impl_->finish_client(wire::ClientBody::Input,
                       wire::CreateInput(fbb, m.newest_tick, m.snapshot_tick, list, m.world, m.lost_epoch));
  return impl_->message(unreliable_bytes_max);
}

std::span<const std::uint8_t> MessageWriter::write(const Chat& m) {
  ASHLAR_ASSERT(valid_text(m.text, 1, chat_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto text = impl_->string(m.text);
  impl_->finish_client(wire::ClientBody::Chat, wire::CreateChat(fbb, text));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const GameCallMessage& m) {
  ASHLAR_ASSERT(m.number < game_messages_max && m.bytes.size() <= game_call_bytes_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto bytes = impl_->bytes(m.bytes);
  impl_->finish_client(wire::ClientBody::GameCall, wire::CreateGameCall(fbb, m.world, m.number, bytes));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Welcome& m) {
  ASHLAR_ASSERT(m.maps.size() <= placed_maps_max);
  ASHLAR_ASSERT(m.props.size() <= placed_props_max);
  ASHLAR_ASSERT(valid_text(m.motd, 0, motd_bytes_max));
  impl_->build(m);
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const ChatLine& m) {
  ASHLAR_ASSERT(m.from.empty() || valid_player_name(m.from));
  ASHLAR_ASSERT(valid_text(m.text, 1, chat_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto from = impl_->string(m.from);
  const auto text = impl_->string(m.text);
  impl_->finish_server(wire::ServerBody::ChatLine, wire::CreateChatLine(fbb, from, text));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const ContentRequest& m) {
  ASHLAR_ASSERT(m.offset < content_bytes_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_client(wire::ClientBody::ContentRequest, wire::CreateContentRequest(fbb, m.hash, m.offset));
  return {fbb.GetBufferPointer(), fbb.GetSize()};
}

std::span<const std::uint8_t> MessageWriter::write(const ContentPart& m) {
  ASHLAR_ASSERT(!m.bytes.empty() && m.bytes.size() <= content_part_bytes_max);
  ASHLAR_ASSERT(m.total <= content_bytes_max && m.bytes.size() <= m.total);
  ASHLAR_ASSERT(m.offset <= m.total - m.bytes.size());
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto bytes = fbb.CreateVector(m.bytes.data(), m.bytes.size());
  impl_->finish_server(wire::ServerBody::ContentPart,
                       wire::CreateContentPart(fbb, m.hash, m.total, m.offset, bytes));
  ASHLAR_ASSERT(fbb.GetSize() <= content_message_bytes_max);
  return {fbb.GetBufferPointer(), fbb.GetSize()};
}

std::span<const std::uint8_t> MessageWriter::write(const ContentRefused& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_server(wire::ServerBody::ContentRefused,
                       wire::CreateContentRefused(fbb, m.hash, static_cast<wire::ContentRefusal>(m.reason)));
  return {fbb.GetBufferPointer(), fbb.GetSize()};
}

std::span<const std::uint8_t> MessageWriter::write(const Acts& m) {
  ASHLAR_ASSERT(m.act_count >= 1 && m.act_count <= acts_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Act, acts_max> acts;
  std::string_view text;
  for (std::size_t i = 0; i < m.act_count; ++i) {
    const BlockAct& a = m.acts[i];
    acts[i] = wire::Act(a.number, a.block.x, a.block.y, a.block.z, static_cast<std::uint16_t>(a.id),
                        static_cast<std::uint8_t>(a.kind),
                        moves_items(a.kind) ? a.count : static_cast<std::uint8_t>(a.face));
    if (a.kind != BlockActKind::write) continue;
    ASHLAR_ASSERT(text.empty());
    text = a.text.view();
  }
  const auto list = fbb.CreateVectorOfStructs(acts.data(), m.act_count);
  const auto said = text.empty() ? 0 : fbb.CreateString(text.data(), text.size());
  impl_->finish_client(wire::ClientBody::Acts, wire::CreateActs(fbb, m.tick, list, m.world, said));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const ActAnswers& m) {
  ASHLAR_ASSERT(!m.answers.empty() && m.answers.size() <= act_answers_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Answer, act_answers_max> answers;
  for (std::size_t i = 0; i < m.answers.size(); ++i) {
    const ActAnswer& a = m.answers[i];
    answers[i] =
        wire::Answer(a.number, a.block.x, a.block.y, a.block.z, static_cast<std::uint8_t>(a.verdict));
  }
  const auto list = fbb.CreateVectorOfStructs(answers.data(), m.answers.size());
  impl_->finish_server(wire::ServerBody::ActAnswers, wire::CreateActAnswers(fbb, m.tick, list, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const BlockKinds& m) {
  ASHLAR_ASSERT(m.kinds != nullptr);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto kinds = impl_->bytes(encode_block_kinds(*m.kinds));
  impl_->finish_server(wire::ServerBody::BlockKinds, wire::CreateBlockKinds(fbb, kinds, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const ReplicatedKinds& m) {
  ASHLAR_ASSERT(m.registry != nullptr);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto kinds = impl_->bytes(encode_replication(*m.registry));
  impl_->finish_server(wire::ServerBody::ReplicatedKinds, wire::CreateReplicatedKinds(fbb, kinds, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const GameMessage& m) {
  ASHLAR_ASSERT(m.number < game_messages_max && m.bytes.size() <= game_message_bytes_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto bytes = impl_->bytes(m.bytes);
  impl_->finish_server(wire::ServerBody::GameMessage,
                       wire::CreateGameMessage(fbb, m.tick, m.world, m.number, bytes));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Saved& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_server(wire::ServerBody::Saved, wire::CreateSaved(fbb, m.tick, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Fight& m) {
  ASHLAR_ASSERT(m.hits.size() <= fight_hits_max);
  ASHLAR_ASSERT(m.armour_half <= 1);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Hit, fight_hits_max> hits;
  for (std::size_t i = 0; i < m.hits.size(); ++i) {
    const CombatEvent& h = m.hits[i];
    hits[i] = wire::Hit(static_cast<std::uint32_t>(h.who), static_cast<std::uint32_t>(h.by), h.points,
                        static_cast<std::uint8_t>(h.kind), static_cast<std::uint8_t>(h.how));
  }
  const auto list = fbb.CreateVectorOfStructs(hits.data(), m.hits.size());
  impl_->finish_server(wire::ServerBody::Fight,
                       wire::CreateFight(fbb, m.tick, m.world, m.health, m.armour, m.armour_half, list));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const InventoryChange& m) {
  ASHLAR_ASSERT(m.slots.size() <= inventory_slots);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Slot, inventory_slots> slots;
  for (std::size_t i = 0; i < m.slots.size(); ++i) {
    const SlotChange& s = m.slots[i];
    ASHLAR_ASSERT(s.slot < inventory_slots && s.stack.count <= stack_items_max);
    slots[i] = wire::Slot(static_cast<std::uint16_t>(s.stack.kind), static_cast<std::uint8_t>(s.stack.count),
                          s.slot);
  }
  const auto list = fbb.CreateVectorOfStructs(slots.data(), m.slots.size());
  impl_->finish_server(wire::ServerBody::InventoryChange,
                       wire::CreateInventoryChange(fbb, m.tick, m.world, m.whole, list));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const HeldByBlock& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Slot, inventory_slots> slots;
  std::size_t count = 0;
  for (std::size_t i = 0; i < inventory_slots; ++i) {
    const ItemStack& stack = m.data.items.slots[i];
    if (stack.empty()) continue;
    ASHLAR_ASSERT(stack.count <= stack_items_max);
    slots[count++] = wire::Slot(static_cast<std::uint16_t>(stack.kind),
                                static_cast<std::uint8_t>(stack.count), static_cast<std::uint8_t>(i));
  }
  const auto list = fbb.CreateVectorOfStructs(slots.data(), count);
  const std::string_view text = m.data.text.view();
  const auto said = text.empty() ? 0 : fbb.CreateString(text.data(), text.size());
  impl_->finish_server(wire::ServerBody::BlockContents,
                       wire::CreateBlockContents(fbb, m.tick, m.world, m.open, m.block.x, m.block.y,
                                                 m.block.z, list, said, m.data.due));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const WeaponKinds& m) {
  ASHLAR_ASSERT(!m.weapons.empty() && m.weapons.size() <= weapons_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<flatbuffers::Offset<wire::Weapon>, weapons_max> weapons;
  for (std::size_t i = 0; i < m.weapons.size(); ++i) {
    const WeaponTraits& w = m.weapons[i];
    ASHLAR_ASSERT(weapon_sane(w) && valid_text(w.name, 1, weapon_name_bytes_max));
    const auto weapon_name = impl_->string(w.name);
    weapons[i] = wire::CreateWeapon(fbb, weapon_name, static_cast<std::uint8_t>(w.form),
                                    static_cast<std::uint8_t>(w.ammo), w.slot, w.rank, w.start, w.count,
                                    w.steady, w.uses, w.damage_step, w.damage_sides, w.strength_times,
                                    w.spread_deg, w.rise_deg, w.range_m, w.windup_s, w.interval_s, w.lower_s,
                                    w.raise_s, w.clip, w.reload_s, w.charge_s, w.throw_least, w.fuse_s);
  }
  const auto list = fbb.CreateVector(weapons.data(), m.weapons.size());
  std::array<wire::AmmoLimits, ammo_kind_count> ammo;
  for (std::size_t i = 0; i < ammo.size(); ++i)
    ammo[i] = wire::AmmoLimits(m.ammo[i].most, m.ammo[i].clip, m.ammo[i].start);
  const auto limits = fbb.CreateVectorOfStructs(ammo.data(), ammo.size());
  impl_->finish_server(wire::ServerBody::WeaponKinds, wire::CreateWeaponKinds(fbb, list, limits, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const MonsterShows& m) {
  ASHLAR_ASSERT(!m.kinds.empty() && m.kinds.size() <= monster_kinds_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<flatbuffers::Offset<wire::MonsterShow>, monster_kinds_max> kinds;
  for (std::size_t i = 0; i < m.kinds.size(); ++i) {
    std::array<flatbuffers::Offset<flatbuffers::String>, 6> names;
    std::size_t next = 0;
    visit_show(m.kinds[i].show, [&](const char*, const std::string& text) {
      ASHLAR_ASSERT(text.size() <= show_name_bytes_max);
      names[next++] = text.empty() ? 0 : impl_->string(text);
    });
    kinds[i] = wire::CreateMonsterShow(fbb, static_cast<std::uint8_t>(m.kinds[i].kind), names[0], names[1],
                                       names[2], names[3], names[4], names[5]);
  }
  const auto list = fbb.CreateVector(kinds.data(), m.kinds.size());
  impl_->finish_server(wire::ServerBody::MonsterShows, wire::CreateMonsterShows(fbb, list, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Carried& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const Arsenal& a = m.arsenal;
  const auto& p = a.power_ticks;
  const wire::Arsenal arsenal(a.weapons, a.ammo[0], a.ammo[1], a.ammo[2], a.ammo[3], p[0], p[1], p[2], p[3],
                              p[4], p[5], a.wait_ticks, a.windup_ticks, a.switch_ticks, a.held, a.wanted,
                              a.firing, a.backpack, a.reload_ticks, a.charge_ticks);
  ASHLAR_ASSERT(m.picked.size() <= picked_max);
  const auto picked = impl_->bytes(m.picked);
  std::size_t fired = a.spent.size();
  while (fired > 0 && a.spent[fired - 1] == 0) --fired;
  const auto spent = impl_->bytes(std::span(a.spent).first(fired));
  impl_->finish_server(wire::ServerBody::Carried,
                       wire::CreateCarried(fbb, m.tick, m.world, &arsenal, picked, spent));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const Score& m) {
  ASHLAR_ASSERT(m.rows.size() <= score_rows_max && m.gone.size() <= score_rows_max);
  ASHLAR_ASSERT(m.changes || m.gone.empty());
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<flatbuffers::Offset<wire::ScoreRow>, score_rows_max> rows;
  for (std::size_t i = 0; i < m.rows.size(); ++i) {
    const ScoreRow& r = m.rows[i];
    ASHLAR_ASSERT(valid_player_name(r.name) || (m.changes && r.name.empty()));
    ASHLAR_ASSERT(r.team <= teams_max);
    const auto player_name = r.name.empty() ? 0 : impl_->string(r.name);
    rows[i] = wire::CreateScoreRow(fbb, static_cast<std::uint32_t>(r.id), player_name, r.score, r.kills,
                                   r.deaths, r.team);
  }
  const auto list = fbb.CreateVector(rows.data(), m.rows.size());
  const auto teams = fbb.CreateVector(m.teams.data(), m.teams.size());
  std::array<std::uint32_t, score_rows_max> ids;
  std::ranges::transform(m.gone, ids.begin(), [](EntityId id) { return static_cast<std::uint32_t>(id); });
  const auto gone = m.gone.empty() ? 0 : fbb.CreateVector(ids.data(), m.gone.size());
  impl_->finish_server(wire::ServerBody::Score,
                       wire::CreateScore(fbb, m.tick, m.world, m.match, static_cast<std::uint8_t>(m.phase),
                                         m.left_ticks, teams, list, m.changes, gone));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const GroundChunk& m) {
  ASHLAR_ASSERT(m.bytes.size() <= chunk_bytes_max && m.changes.size() <= block_changes_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto bytes = m.bytes.empty() ? 0 : fbb.CreateVector(m.bytes.data(), m.bytes.size());
  flatbuffers::Offset<flatbuffers::Vector<const wire::BlockChange*>> changes = 0;
  if (!m.changes.empty())
    changes = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::BlockChange*>(m.changes.data()),
                                        m.changes.size());
  impl_->finish_server(
      wire::ServerBody::GroundChunk,
      wire::CreateGroundChunk(fbb, m.tick, m.at.x, m.at.y, m.at.z, m.hash, bytes, changes, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const GroundGone& m) {
  ASHLAR_ASSERT(m.chunks.size() <= gone_chunks_max);
  static_assert(sizeof(wire::ChunkPlace) == sizeof(ChunkCoord));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  flatbuffers::Offset<flatbuffers::Vector<const wire::ChunkPlace*>> chunks = 0;
  if (!m.chunks.empty())
    chunks = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::ChunkPlace*>(m.chunks.data()),
                                       m.chunks.size());
  impl_->finish_server(wire::ServerBody::GroundGone, wire::CreateGroundGone(fbb, m.tick, chunks, m.world));
  return impl_->message();
}

std::span<const std::uint8_t> MessageWriter::write(const BlockEdits& m) {
  ASHLAR_ASSERT(!m.changes.empty() && m.changes.size() <= block_changes_max);
  static_assert(sizeof(wire::BlockChange) == sizeof(BlockChange));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  // The same bytes here as there (snapshot_writer.cpp asserts that this machine is little endian).
  const auto list = fbb.CreateVectorOfStructs(reinterpret_cast<const wire::BlockChange*>(m.changes.data()),
                                              m.changes.size());
  impl_->finish_server(wire::ServerBody::BlockEdits,
                       wire::CreateBlockEdits(fbb, m.tick, m.chunk.x, m.chunk.y, m.chunk.z, list, m.world));
  return impl_->message();
}

}  // namespace ashlar
