// A client must survive any server: nothing in a message may crash the decoder or the view behind it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/cue.h"
#include "protocol/decode.h"
#include "protocol/score_board.h"
#include "protocol/text.h"

using namespace ashlar;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const Welcome& m) {
  expect(rules_sane(m.rules));
  expect(m.snapshot_every_ticks >= 1 && m.snapshot_every_ticks <= m.rules.tick_rate_hz);
  expect(m.maps.size() <= placed_maps_max && m.props.size() <= placed_props_max);
  expect(valid_text(m.motd, 0, motd_bytes_max));
  for (const WelcomeProp& prop : m.props)
    expect(in_bounds(prop.place.position_m) && valid_text(prop.name, 1, prop_name_bytes_max));
}
void check(const ChatLine& m) { expect(valid_text(m.text, 1, chat_bytes_max)); }
void check(const ActAnswers&) {}
void check(const Fight& m) {
  expect(m.hits.size() <= fight_hits_max && m.armour_half <= 1);
  for (const CombatEvent& hit : m.hits) expect(hit.who != EntityId{0});
}
void check(const BlockKinds& m) { expect(m.kinds != nullptr); }
void check(const Saved&) {}
void check(const ReplicatedKinds& m) { expect(m.registry != nullptr); }
void check(const GameMessage& m) {
  expect(m.number < game_messages_max && m.bytes.size() <= game_message_bytes_max);
}
void check(const WeaponKinds& m) {
  expect(!m.weapons.empty() && m.weapons.size() <= weapons_max);
  for (const WeaponTraits& w : m.weapons) expect(weapon_sane(w) && !w.name.empty());
  for (const AmmoTraits& a : m.ammo) expect(ammo_sane(a));
}
void check(const MonsterShows& m) {
  expect(!m.kinds.empty() && m.kinds.size() <= monster_kinds_max);
  for (const KindShow& kind : m.kinds) {
    expect(static_cast<std::size_t>(kind.kind) < monster_kinds_max);
    visit_show(kind.show, [](const char*, const std::string& name) {
      expect(valid_text(name, 0, show_name_bytes_max));
    });
  }
}
void check(const Score& m) {
  expect(m.rows.size() <= score_rows_max);
  expect(m.gone.size() <= score_rows_max && (m.changes || m.gone.empty()));
  for (const ScoreRow& row : m.rows)
    expect(row.id != EntityId{0} && (valid_player_name(row.name) || (m.changes && row.name.empty())));
  Score known = m;
  if (!m.changes) expect(take_score(known, m) && known.rows.size() == m.rows.size());
}
void check(const Carried& m) {
  expect(m.arsenal.held < weapons_max && m.arsenal.wanted < weapons_max && m.picked.size() <= picked_max);
}
void check(const InventoryChange& m) {
  expect(m.slots.size() <= inventory_slots);
  for (const SlotChange& s : m.slots) expect(s.slot < inventory_slots && s.stack.count <= stack_items_max);
}
void check(const BlockEdits&) {}
void check(const HeldByBlock& m) {
  expect(in_bounds(to_dvec3(m.block)) && valid_text(m.data.text.view(), 0, sign_text_bytes_max));
  for (const ItemStack& stack : m.data.items.slots) expect(stack.count <= stack_items_max);
}
void check(const GroundChunk& m) {
  expect(chunk_in_world(m.at) && m.changes.size() <= block_changes_max);
  for (std::size_t i = 1; i < m.changes.size(); ++i) expect(m.changes[i - 1].index < m.changes[i].index);
}
void check(const GroundGone& m) { expect(m.chunks.size() <= gone_chunks_max); }
void check(const ContentPart& m) {
  expect(!m.bytes.empty() && m.bytes.size() <= content_part_bytes_max && m.total <= content_bytes_max);
  expect(m.offset + m.bytes.size() <= m.total);
}
void check(const ContentRefused& m) { expect(name(m.reason) != "?"); }
void check(const PlainPart& m) {
  expect(m.part < m.part_count);
  if (m.own) expect(own_sane(*m.own));
  for (const EntityRecord& e : m.entities) expect(record_sane(e));
  for (const Cue& cue : m.cues) expect(cue_sane(cue));
  for (const MovedEntity& moved : m.moved) expect(moved.id != EntityId{0});
  expect(m.cues.size() <= cues_max);
  client_sim::View view;
  client_sim::PackedMemory memory;
  view.reset(60);
  memory.reset(60, 1);
  SnapshotPart part;
  if (!memory.take(m, view, part)) return;
  view.take(part);
  std::vector<client_sim::ViewEntity> seen;
  view.entities(seen);
  for (const auto& e : seen) expect(is_finite(e.position_m));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> message_bytes(data, data + size);
  if (const auto message = decode_server_message(message_bytes))
    std::visit([](const auto& m) { check(m); }, *message);
  return 0;
}
