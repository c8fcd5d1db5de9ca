#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "world/content/kinds_file.h"

// Any bytes as a file of kinds: it is refused in one line, or its weapons are some that a world can have and
// all of it comes back from its own text as it was.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kinds = read_kinds(text, "fuzz.toml");
  if (!kinds) {
    if (kinds.error().line().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const KindSet& set = **kinds;
  if (set.monsters.size() > monster_kinds_max || set.projectiles.size() > projectile_kinds_max) std::abort();
  for (const WeaponTraits& w : set.weapons)
    if (!weapon_sane(w) || w.projectile >= set.projectiles.size()) std::abort();
  for (const ThingKind& thing : set.things)
    if (static_cast<std::size_t>(thing.kind) >= set.monsters.size()) std::abort();
  for (const MonsterTraits& m : set.monsters)
    for (const MonsterAttack& a : {m.melee, m.ranged})
      if (a.kind >= (a.form == AttackForm::summon ? set.monsters.size() : set.projectiles.size()))
        std::abort();
  return 0;
}
