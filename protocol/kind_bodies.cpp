#include <algorithm>

#include "protocol/messages.h"

namespace ashlar {

std::vector<KindBody> kind_bodies_of(const KindSet& kinds) {
  std::vector<KindBody> out;
  const auto& usual = default_kinds().monsters;
  for (std::size_t i = 0; i < kinds.monsters.size(); ++i) {
    // As they travel, so that both ends have the same.
    const Cylinder& shape = kinds.monsters[i].shape;
    const KindBody body{static_cast<MonsterKind>(i),
                        {static_cast<float>(shape.radius_m), static_cast<float>(shape.height_m)}};
    const bool same = i < usual.size() && usual[i].shape.radius_m == shape.radius_m &&
                      usual[i].shape.height_m == shape.height_m;
    if (!same) out.push_back(body);
  }
  return out;
}

std::vector<KindShow> kind_shows_of(const KindSet& kinds) {
  std::vector<KindShow> out;
  const auto& usual = default_kinds().monsters;
  for (std::size_t i = 0; i < kinds.monsters.size(); ++i)
    if (i >= usual.size() || kinds.monsters[i].show != usual[i].show)
      out.push_back({static_cast<MonsterKind>(i), kinds.monsters[i].show});
  return out;
}

std::optional<Cylinder> Welcome::body_of(EntityKind kind) const {
  if (kind == EntityKind::player) return rules.player;
  const auto first = static_cast<unsigned>(entity_kind(MonsterKind{}));
  const auto number = static_cast<unsigned>(kind);
  if (number < first || number >= first + monster_kinds_max) return std::nullopt;
  const auto monster = static_cast<MonsterKind>(number - first);
  const auto told = std::ranges::lower_bound(kind_bodies, monster, {}, &KindBody::kind);
  if (told != kind_bodies.end() && told->kind == monster) return told->shape;
  if (number - first >= monster_kind_count) return std::nullopt;
  return traits(monster).shape;
}

}  // namespace ashlar
