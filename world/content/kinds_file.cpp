// First, as it says.
#include "world/content/toml_parser.h"
//
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "world/content/kinds_file.h"
#include "world/sim/pickups.h"
#include "world/sim/thing_table.h"

namespace ashlar {
namespace {

constexpr std::array<std::string_view, attack_form_count> form_names{"none",   "melee", "hitscan", "missile",
                                                                     "charge", "leap",  "flame",   "summon"};
constexpr std::array<std::string_view, weapon_form_count> weapon_form_names{"melee", "hitscan", "missile",
                                                                            "beam", "thrown"};
constexpr std::array<std::string_view, ammo_kind_count + 1> ammo_names{"bullets", "shells", "rockets",
                                                                       "cells", "none"};
constexpr double leap_speed_mps_min = 1;
constexpr std::array<std::string_view, 3> build_names{"upright", "round", "legged"};

// The lists of keys: reading and writing go through them, so that they agree. visit(key, field, low, high);
// a field is a double or an unsigned whole number.

template <typename AnyAttack, typename Visit>
void visit_attack(AnyAttack& a, Visit&& visit) {
  visit("damage_step", a.damage_step, 0, 10000);
  visit("damage_sides", a.damage_sides, 1, 100);
  visit("count", a.count, 1, 32);
  visit("burst", a.burst, 1, 100);
  visit("refires", a.refires, 0, 1);
  visit("windup_s", a.windup_s, 0, 60);
  visit("burst_s", a.burst_s, 0, 60);
  visit("recover_s", a.recover_s, 0, 60);
  visit("spread_deg", a.spread_deg, 0, 90);
  visit("range_m", a.range_m, 0, 256);
  visit("speed_mps", a.speed_mps, 0, 60);
}

template <typename AnyTraits, typename Visit>
void visit_monster(AnyTraits& t, Visit&& visit) {
  visit("radius_m", t.shape.radius_m, 0.05, 4.5);
  visit("height_m", t.shape.height_m, 0.1, 8);
  visit("speed_mps", t.speed_mps, 0, 60);
  visit("step_height_m", t.step_height_m_max, 0, 1.5);
  visit("sight_m", t.sight_m_max, 0, 128);
  visit("sight_cone_deg", t.sight_cone_deg, 0, 360);
  visit("flies", t.flies, 0, 1);
  visit("swims", t.swims, 0, 1);
  visit("climbs", t.climbs, 0, 1);
  visit("opens_doors", t.opens_doors, 0, 1);
  visit("drop_m", t.drop_m, 0, monster_drop_any_m);
  visit("jump_m", t.jump_m, 0, 3);
  visit("hearing_m", t.hearing_m, 0, 64);
  visit("dark_sight_share", t.dark_sight_share, 0, 1);
  visit("body_meets_walls", t.body_meets_walls, 0, 1);
  visit("splash_proof", t.splash_proof, 0, 1);
  visit("health", t.health, 1, 65535);
  visit("pain_chance", t.pain_chance, 0, 256);
  visit("pain_s", t.pain_s, 0, 60);
  visit("mass", t.mass, 1, 1e6);
  visit("reaction_s", t.reaction_s, 0, 60);
  visit("decision_s", t.decision_s, 0.02, 60);
  visit("alarm_m", t.alarm_m, 0, 128);
  visit("flee_share", t.flee_share, 0, 1);
  visit("shy_share", t.shy_share, 0, 10);
  visit("shyness_max", t.shyness_max, 0, 255);
  visit("drop", t.drop, 0, 65535);
}

template <typename AnyTraits, typename Visit>
void visit_projectile(AnyTraits& p, Visit&& visit) {
  visit("radius_m", p.shape.radius_m, 0.01, 1);
  visit("height_m", p.shape.height_m, 0.01, 2);
  visit("speed_mps", p.speed_mps, 0.01, 200);
  visit("damage_step", p.damage_step, 0, 10000);
  visit("damage_sides", p.damage_sides, 1, 100);
  visit("bounces", p.bounces, 0, 255);
  visit("splash_damage", p.splash_damage, 0, 10000);
  visit("splash_radius_m", p.splash_radius_m, 0, 32);
  visit("gravity_share", p.gravity_share, 0, 10);
  visit("bounce_keep", p.bounce_keep, 0, 1);
  visit("homing_deg_per_s", p.homing_deg_per_s, 0, 10000);
  visit("life_s", p.life_s, 0.02, 600);
  visit("spray", p.spray, 0, 100);
  visit("spray_deg", p.spray_deg, 0, 360);
  visit("spray_range_m", p.spray_range_m, 0, 64);
  visit("spray_rolls", p.spray_rolls, 1, 100);
  visit("spray_sides", p.spray_sides, 1, 100);
}

template <typename AnyRule, typename Visit>
void visit_spawn(AnyRule& s, Visit&& visit) {
  visit("number", s.number, 1, 1000);
  visit("group", s.group, 1, 16);
  visit("light_least", s.light_least, 0, 15);
  visit("light_most", s.light_most, 0, 15);
  visit("every_s", s.every_s, 0.1, 3600);
  visit("away_m", s.away_m, 4, spawn_within_m_max);
  visit("within_m", s.within_m, 8, spawn_within_m_max);
  visit("lowest_m", s.lowest_m, -4096, 4096);
  visit("highest_m", s.highest_m, -4096, 4096);
}

struct WrongKinds {
  std::uint32_t line = 0;
  std::string what;
};

[[noreturn]] void refuse(const toml::node& at, std::string what) {
  throw WrongKinds{at.source().begin.line, std::move(what)};
}

std::string number_text(double v) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  return {text.data(), end};
}

/// A number of either type as one.
double number_of(const toml::node& node, const std::string& key) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* truth = node.as_boolean()) return truth->get() ? 1 : 0;
  refuse(node, key + " has to be a number");
}

std::string word_of(const toml::node& node, const std::string& key) {
  if (const auto* text = node.as_string()) return text->get();
  refuse(node, key + " has to be a text in quotes");
}

/// What is offered a table's entry, and takes it if it knows the key.
struct Entry {
  std::string key;
  const toml::node& node;
  bool taken = false;

  template <typename Field>
  void offer(const char* name, Field& field, double low, double high) {
    if (taken || key != name) return;
    taken = true;
    const double v = number_of(node, key);
    if (!(v >= low && v <= high))
      refuse(node, key + " has to be from " + number_text(low) + " to " + number_text(high));
    if constexpr (!std::is_same_v<Field, double>)
      if (v != std::floor(v)) refuse(node, key + " has to be a whole number");
    field = static_cast<Field>(v);
  }
};

template <std::size_t n>
std::size_t choice_of(const Entry& entry, const std::array<std::string_view, n>& names) {
  const std::string word = word_of(entry.node, entry.key);
  const auto at = std::ranges::find(names, word);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  refuse(entry.node, entry.key + " has to be one of " + all);
}

bool printable_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

template <typename List>
std::size_t index_of(const List& list, const std::string& name) {
  const auto at = std::ranges::find_if(list, [&](const auto& row) { return row.name == name; });
  return static_cast<std::size_t>(at - list.begin());
}

class KindsReader {
 public:
  explicit KindsReader(KindSet& set) : set_(set) {}

  void read(const toml::table& file) {
    constexpr std::array<std::string_view, 5> known{"monster", "projectile", "weapon", "ammo", "spawn"};
    for (const auto& [key, node] : file)
      if (std::ranges::find(known, key.str()) == known.end())
        refuse(node, "unknown table \"" + std::string(key.str()) +
                         "\": there are monster, projectile, weapon, ammo and spawn");
    // Names first, so that attacks may name what stands further down.
    if (const auto* all = tables(file, "projectile")) add_names(*all, set_.projectiles, projectile_kinds_max);
    if (const auto* all = tables(file, "monster")) add_names(*all, set_.monsters, monster_kinds_max);
    if (const auto* all = tables(file, "weapon")) add_names(*all, set_.weapons, weapons_max);
    if (const auto* all = tables(file, "projectile"))
      read_kinds_of(
          *all, set_.projectiles, default_kinds().projectiles.size(),
          [&](const toml::table& table, std::size_t row) { read_projectile(table, set_.projectiles[row]); });
    if (const auto* all = tables(file, "monster"))
      read_kinds_of(*all, set_.monsters, default_kinds().monsters.size(),
                    [&](const toml::table& table, std::size_t row) { read_monster(table, row); });
    if (const auto* all = tables(file, "weapon"))
      read_kinds_of(
          *all, set_.weapons, default_kinds().weapons.size(),
          [&](const toml::table& table, std::size_t row) { read_weapon(table, set_.weapons[row]); });
    if (const auto* all = tables(file, "ammo"))
      for (const auto& [key, node] : *all) read_ammo(std::string(key.str()), node);
    if (std::ranges::none_of(set_.weapons, [](const WeaponTraits& w) { return w.start != 0; }))
      refuse(*file.get("weapon"), "no weapon has start = 1: a player has to begin with one");
    if (const toml::node* spawns = file.get("spawn")) read_spawns(*spawns);
    std::ranges::sort(set_.things, {}, &ThingKind::number);
  }

 private:
  static const toml::table* tables(const toml::table& file, std::string_view name) {
    const toml::node* node = file.get(name);
    if (node == nullptr) return nullptr;
    if (!node->is_table())
      refuse(*node, std::string(name) + " has to be tables such as [" + std::string(name) + ".imp]");
    return node->as_table();
  }

  /// Names of tables in the order of their lines.
  static std::vector<std::string> names_by_line(const toml::table& all) {
    std::vector<std::pair<std::uint32_t, std::string>> found;
    for (const auto& [key, node] : all) {
      std::string name(key.str());
      if (!node.is_table()) refuse(node, name + " has to be a table");
      found.emplace_back(node.source().begin.line, std::move(name));
    }
    std::ranges::sort(found);
    std::vector<std::string> names;
    names.reserve(found.size());
    for (auto& [line, name] : found) names.push_back(std::move(name));
    return names;
  }

  /// New kinds go behind ours in the order of their lines, so that ids do not depend on how names sort.
  template <typename List>
  void add_names(const toml::table& all, List& list, std::size_t most) {
    for (const std::string& name : names_by_line(all)) {
      if (index_of(list, name) != list.size()) continue;
      const toml::table& table = *all.get(name)->as_table();
      // Clients are told names, and operators read them in a terminal.
      if (name.empty() || !printable_ascii(name))
        refuse(table, "a kind's name has to be of printable ASCII characters, at least one");
      if (list.size() == most) refuse(table, "more than " + std::to_string(most) + " kinds");
      if (table.get("like") == nullptr)
        refuse(table, name + " is none of ours: `like` has to name the kind it begins as");
      list.emplace_back().name = name;
    }
  }

  /// Reads tables from the top down, so that a kind begins as another one stands there.
  /// @param ours  kinds at the list's begin that need no table to be like
  template <typename List, typename Read>
  void read_kinds_of(const toml::table& all, List& list, std::size_t ours, const Read& read) {
    std::vector<bool> known(list.size());
    std::fill_n(known.begin(), ours, true);
    for (const std::string& name : names_by_line(all)) {
      const toml::table& table = *all.get(name)->as_table();
      const std::size_t row = index_of(list, name);
      if (const toml::node* like = table.get("like")) {
        const std::size_t from = index_of(list, word_of(*like, "like"));
        if (from == list.size() || !known[from])
          refuse(*like, "there is no kind \"" + word_of(*like, "like") + "\" above");
        auto kind = list[from];
        kind.name = name;
        list[row] = std::move(kind);
      }
      read(table, row);
      known[row] = true;
    }
  }

  void read_projectile(const toml::table& table, ProjectileTraits& p) {
    for (const auto& [key, node] : table) {
      Entry entry{std::string(key.str()), node};
      visit_projectile(
          p, [&](const char* name, auto& f, double low, double high) { entry.offer(name, f, low, high); });
      if (!entry.taken && entry.key != "like") refuse(node, "a projectile has no \"" + entry.key + "\"");
    }
  }

  void read_weapon(const toml::table& table, WeaponTraits& w) {
    if (w.name.size() > weapon_name_bytes_max) refuse(table, "a weapon's name has up to 32 bytes");
    const bool has_projectile = launches(w.form) || table.get("projectile") != nullptr;
    for (const auto& [key, node] : table) {
      Entry entry{std::string(key.str()), node};
      visit_weapon(
          w, [&](const char* name, auto& f, double low, double high) { entry.offer(name, f, low, high); });
      if (entry.taken || entry.key == "like") continue;
      if (entry.key == "form") {
        w.form = static_cast<WeaponForm>(choice_of(entry, weapon_form_names));
      } else if (entry.key == "ammo") {
        w.ammo = static_cast<AmmoKind>(choice_of(entry, ammo_names));
      } else if (entry.key == "projectile") {
        const std::string name = word_of(node, "projectile");
        const std::size_t at = index_of(set_.projectiles, name);
        if (at == set_.projectiles.size()) refuse(node, "there is no projectile \"" + name + '"');
        w.projectile = static_cast<std::uint8_t>(at);
      } else {
        refuse(node, "a weapon has no \"" + entry.key + "\"");
      }
    }
    if (launches(w.form) && !has_projectile)
      refuse(*table.get("form"), "form = \"" +
                                     std::string(weapon_form_names[static_cast<std::size_t>(w.form)]) +
                                     "\" needs a projectile: give projectile = and its name");
  }

  void read_ammo(const std::string& name, const toml::node& node) {
    const auto at = std::ranges::find(ammo_names, name);
    if (at >= ammo_names.begin() + ammo_kind_count)
      refuse(node, "there is no ammunition \"" + name + "\": there are bullets, shells, rockets and cells");
    if (!node.is_table()) refuse(node, name + " has to be a table");
    const toml::table& table = *node.as_table();
    AmmoTraits& ammo = set_.ammo[static_cast<std::size_t>(at - ammo_names.begin())];
    for (const auto& [key, value] : table) {
      Entry entry{std::string(key.str()), value};
      visit_ammo(ammo, [&](const char* field, auto& f, double low, double high) {
        entry.offer(field, f, low, high);
      });
      if (!entry.taken) refuse(value, "ammunition has no \"" + entry.key + "\"");
    }
    const toml::node* const start = table.get("start");
    if (start == nullptr)
      ammo.start = std::min(ammo.start, ammo.most);  // nobody begins with what he cannot carry
    if (ammo.start > ammo.most)
      refuse(*start, "start is " + std::to_string(ammo.start) +
                         ", which is more than most: give start = " + std::to_string(ammo.most) + " or less");
  }

  void read_spawns(const toml::node& node) {
    const toml::array* const all = node.as_array();
    if (all == nullptr) refuse(node, "spawn has to be tables such as [[spawn]]");
    for (const toml::node& each : *all) {
      if (!each.is_table()) refuse(each, "spawn has to be tables such as [[spawn]]");
      if (set_.spawns.size() == spawn_rules_max)
        refuse(each, "more than " + std::to_string(spawn_rules_max) + " spawn rules");
      set_.spawns.push_back(read_spawn(*each.as_table()));
    }
  }

  SpawnRule read_spawn(const toml::table& table) {
    SpawnRule rule;
    rule.line = table.source().begin.line;
    bool named = false;
    for (const auto& [key, node] : table) {
      Entry entry{std::string(key.str()), node};
      visit_spawn(
          rule, [&](const char* name, auto& f, double low, double high) { entry.offer(name, f, low, high); });
      if (entry.taken) continue;
      if (entry.key == "monster") {
        const std::string name = word_of(node, "monster");
        const std::size_t at = index_of(set_.monsters, name);
        if (at == set_.monsters.size()) refuse(node, "there is no monster \"" + name + '"');
        rule.kind = static_cast<MonsterKind>(at);
        named = true;
      } else if (entry.key == "ground") {
        rule.ground = word_of(node, "ground");
        rule.line = node.source().begin.line;
      } else {
        refuse(node, "a spawn rule has no \"" + entry.key + "\"");
      }
    }
    if (!named) refuse(table, "a spawn rule has to name its monster");
    if (rule.away_m >= rule.within_m) refuse(table, "away_m has to be less than within_m");
    if (rule.light_least > rule.light_most) refuse(table, "light_least has to be at most light_most");
    if (rule.lowest_m > rule.highest_m) refuse(table, "lowest_m has to be at most highest_m");
    return rule;
  }

  /// A name of what clients have.
  static std::string show_name(const toml::node& node, const std::string& key) {
    std::string name = word_of(node, key);
    if (name.size() > show_name_bytes_max || !printable_ascii(name))
      refuse(node, key + " has to be up to 32 printable ASCII characters");
    return name;
  }

  void read_monster(const toml::table& table, std::size_t row) {
    for (const auto& [key, node] : table) {
      Entry entry{std::string(key.str()), node};
      MonsterTraits& t = set_.monsters[row];
      visit_monster(
          t, [&](const char* name, auto& f, double low, double high) { entry.offer(name, f, low, high); });
      if (entry.key == "drop" && t.drop != 0 && item_of_thing(t.drop) == item_none)
        refuse(node, "there is nothing to pick up of thing number " + std::to_string(t.drop));
      if (entry.key == "drop" && t.drop != 0 && item_type(item_of_thing(t.drop)).pickup == PickupKind::key)
        refuse(node, "thing number " + std::to_string(t.drop) +
                         " is a key, which is taken where a map has it: give another drop, such as 2007");
      visit_show(t.show, [&](const char* name, std::string& text) {
        if (entry.key != name) return;
        text = show_name(node, entry.key);
        entry.taken = true;
      });
      if (entry.taken || entry.key == "like") continue;
      if (entry.key == "build") {
        t.build = static_cast<HitBuild>(choice_of(entry, build_names));
      } else if (entry.key == "thing") {
        std::uint16_t number = 0;
        entry.offer("thing", number, 1, 65535);
        add_thing(node, number, static_cast<MonsterKind>(row));
      } else if (entry.key == "melee" || entry.key == "ranged") {
        if (!node.is_table()) refuse(node, entry.key + " has to be a table");
        read_attack(*node.as_table(), entry.key == "melee" ? t.melee : t.ranged, entry.key == "melee");
      } else {
        refuse(node, "a monster has no \"" + entry.key + "\"");
      }
    }
  }

  void add_thing(const toml::node& node, std::uint16_t number, MonsterKind kind) {
    const ThingType* const known = find_thing_type(number);
    // Who makes monsters of them has nowhere for players to begin.
    if (known != nullptr &&
        (known->role == ThingRole::player_start || known->role == ThingRole::deathmatch_start))
      refuse(node, "things of number " + std::to_string(number) +
                       " are where players begin: give another number, such as 3010");
    const auto other = std::ranges::find(set_.things, number, &ThingKind::number);
    if (other != set_.things.end())
      refuse(node, "things of number " + std::to_string(number) + " are \"" +
                       set_.monsters[static_cast<std::size_t>(other->kind)].name +
                       "\" already: give each monster a number of its own");
    set_.things.push_back({number, kind});
  }

  /// What an attack's kind is one of.
  enum class KindOf : std::uint8_t { nothing, projectiles, monsters };
  static KindOf kind_of(AttackForm form) {
    if (form == AttackForm::summon) return KindOf::monsters;
    const bool flies = form == AttackForm::missile || form == AttackForm::flame;
    return flies ? KindOf::projectiles : KindOf::nothing;
  }

  void read_attack(const toml::table& table, MonsterAttack& a, bool melee) {
    const toml::node* kind = nullptr;
    const KindOf before = kind_of(a.form);
    for (const auto& [key, node] : table) {
      Entry entry{std::string(key.str()), node};
      visit_attack(
          a, [&](const char* name, auto& f, double low, double high) { entry.offer(name, f, low, high); });
      if (entry.taken) continue;
      if (entry.key == "form")
        a.form = static_cast<AttackForm>(choice_of(entry, form_names));
      else if (entry.key == "kind")
        kind = &node;
      else
        refuse(node, "an attack has no \"" + entry.key + "\"");
    }
    const bool touches = a.form == AttackForm::melee;
    if (a.form != AttackForm::none && touches != melee)
      refuse(table,
             melee ? "melee has to be of the form \"melee\"" : "ranged cannot be of the form \"melee\"");
    if (a.form == AttackForm::leap && a.speed_mps < leap_speed_mps_min)
      refuse(table, "a leap has to have a speed_mps from " + number_text(leap_speed_mps_min) +
                        ": slower, it goes up and nowhere");
    const bool monster = kind_of(a.form) == KindOf::monsters;
    if (kind == nullptr) {
      if (kind_of(a.form) == KindOf::nothing || kind_of(a.form) == before) return;
      refuse(*table.get("form"), "form = \"" + std::string(form_names[static_cast<std::size_t>(a.form)]) +
                                     "\" needs a kind: give kind = and the name of a " +
                                     (monster ? "monster" : "projectile"));
    }
    const std::string name = word_of(*kind, "kind");
    const std::size_t at = monster ? index_of(set_.monsters, name) : index_of(set_.projectiles, name);
    if (at == (monster ? set_.monsters.size() : set_.projectiles.size()))
      refuse(*kind, std::string("there is no ") + (monster ? "monster" : "projectile") + " \"" + name + "\"");
    a.kind = static_cast<std::uint8_t>(at);
  }

  KindSet& set_;
};

std::unexpected<ContentError> refused(const std::string& source, std::uint32_t line, std::string what) {
  return std::unexpected(
      ContentError{source, {}, line > 0 ? "line " + std::to_string(line) : std::string(), std::move(what)});
}

/// A name of somebody's own may hold what TOML has to have escaped.
std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// A kind of the file's own begins as one of ours, whatever: all that it is is said behind that.
template <typename Kind>
void write_like(std::string& out, const std::vector<Kind>& all, const std::vector<Kind>& ours,
                const Kind& kind) {
  if (static_cast<std::size_t>(&kind - all.data()) >= ours.size())
    out += "like = " + quoted(ours[0].name) + '\n';
}

void write_attack(std::string& out, const KindSet& set, const std::string& table, const MonsterAttack& a) {
  out += '[' + table + "]\nform = \"" + std::string(form_names[static_cast<std::size_t>(a.form)]) + "\"\n";
  if (a.form == AttackForm::none) return;
  if (a.form == AttackForm::summon) out += "kind = " + quoted(set.monsters[a.kind].name) + '\n';
  if (a.form == AttackForm::missile || a.form == AttackForm::flame)
    out += "kind = " + quoted(set.projectiles[a.kind].name) + '\n';
  visit_attack(a, [&](const char* name, const auto& v, double, double) {
    out += std::string(name) + " = " + number_text(static_cast<double>(v)) + '\n';
  });
}

}  // namespace

std::expected<std::shared_ptr<const KindSet>, ContentError> read_kinds(std::string_view text,
                                                                       const std::string& source,
                                                                       KindsLetters letters) {
  if (text.size() > kinds_file_bytes_max) return refused(source, 0, "is longer than 256 KiB");
  auto set = std::make_shared<KindSet>(default_kinds());
  set->source = text;
  // Clients are told names, and operators read them in a terminal.
  if (const std::uint32_t line = line_beyond_ascii(text); line != 0 && letters == KindsLetters::ascii)
    return refused(source, line, letters_refused);
  const auto file = parse_toml(ascii_only(text), source);
  if (!file) return refused(source, file.error().line, "is no TOML: " + file.error().what);
  try {
    KindsReader(*set).read(*file);
  } catch (const WrongKinds& wrong) {
    return refused(source, wrong.line, wrong.what);
  }
  return set;
}

std::string kinds_text(const KindSet& kinds) {
  std::string out;
  const KindSet& ours = default_kinds();
  const auto line = [&](const char* name, const auto& v, double, double) {
    out += std::string(name) + " = " + number_text(static_cast<double>(v)) + '\n';
  };
  for (const ProjectileTraits& p : kinds.projectiles) {
    out += "[projectile." + quoted(p.name) + "]\n";
    write_like(out, kinds.projectiles, ours.projectiles, p);
    visit_projectile(p, line);
    out += '\n';
  }
  for (const MonsterTraits& t : kinds.monsters) {
    const std::string table = "monster." + quoted(t.name);
    out += '[' + table + "]\n";
    write_like(out, kinds.monsters, ours.monsters, t);
    for (const ThingKind& thing : kinds.things)
      if (static_cast<std::size_t>(thing.kind) == static_cast<std::size_t>(&t - kinds.monsters.data()))
        out += "thing = " + std::to_string(thing.number) + '\n';
    visit_monster(t, line);
    visit_show(t.show, [&](const char* name, const std::string& text) {
      out += std::string(name) + " = " + quoted(text) + '\n';
    });
    out += "build = \"" + std::string(build_names[static_cast<std::size_t>(t.build)]) + "\"\n";
    write_attack(out, kinds, table + ".melee", t.melee);
    write_attack(out, kinds, table + ".ranged", t.ranged);
    out += '\n';
  }
  for (const WeaponTraits& w : kinds.weapons) {
    out += "[weapon." + quoted(w.name) + "]\n";
    write_like(out, kinds.weapons, ours.weapons, w);
    visit_weapon(w, line);
    out += "form = \"" + std::string(weapon_form_names[static_cast<std::size_t>(w.form)]) + "\"\n";
    out += "ammo = \"" + std::string(ammo_names[static_cast<std::size_t>(w.ammo)]) + "\"\n";
    if (launches(w.form)) out += "projectile = " + quoted(kinds.projectiles[w.projectile].name) + '\n';
    out += '\n';
  }
  for (std::size_t i = 0; i < ammo_kind_count; ++i) {
    out += '[' + ("ammo." + std::string(ammo_names[i])) + "]\n";
    visit_ammo(kinds.ammo[i], line);
  }
  for (const SpawnRule& rule : kinds.spawns) {
    out += "[[spawn]]\nmonster = " + quoted(kinds.monsters[static_cast<std::size_t>(rule.kind)].name) + '\n';
    if (!rule.ground.empty()) out += "ground = " + quoted(rule.ground) + '\n';
    visit_spawn(rule, line);
  }
  return out;
}

}  // namespace ashlar
