#include "world/content/kinds_file.h"

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

std::string kinds_error_of(const std::string& text) {
  const auto kinds = read_kinds(text, "k.toml");
  return kinds ? "" : kinds.error().line();
}

}  // namespace

TEST_CASE("our kinds written out and read back are the same", "[world][content][kinds]") {
  const std::string text = kinds_text(default_kinds());
  const auto kinds = read_kinds(text, "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  CHECK((*kinds)->monsters.size() == monster_kind_count);
  CHECK((*kinds)->projectiles == default_kinds().projectiles);
  CHECK(kinds_text(**kinds) == text);
  CHECK((*kinds)->source == text);
}

TEST_CASE("kinds of somebody's own written out and read back are the same", "[world][content][kinds]") {
  const auto kinds = read_kinds(
      "[monster.\"hu\\\"lk\"]\nlike = \"brute\"\nthing = 3002\nspeed_mps = 7.5\n"
      "[monster.\"hu\\\"lk\".ranged]\nform = \"missile\"\nkind = \"bo mb\"\nwindup_s = 0.5\n"
      "[projectile.\"bo mb\"]\nlike = \"rocket\"\nbounces = 2\n"
      "[weapon.mortar]\nlike = \"rocket launcher\"\nslot = 8\nprojectile = \"bo mb\"\n",
      "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  const std::string text = kinds_text(**kinds);
  const auto again = read_kinds(text, "k.toml");
  if (!again) FAIL(again.error().line());
  CHECK(kinds_text(**again) == text);
  CHECK((*again)->projectiles == (*kinds)->projectiles);
  CHECK((*again)->weapons == (*kinds)->weapons);
  REQUIRE((*again)->monsters.size() == monster_kind_count + 1);
  CHECK((*again)->monsters.back().name == "hu\"lk");
  CHECK((*again)->monsters.back().ranged == (*kinds)->monsters.back().ranged);
  REQUIRE((*again)->things.size() == 1);
  CHECK((*again)->things[0].number == 3002);
}

TEST_CASE("a file changes what it says and adds kinds of its own", "[world][content][kinds]") {
  const auto kinds = read_kinds(
      "[monster.imp]\nhealth = 80\n[monster.hulk]\nlike = \"brute\"\nthing = 3002\nspeed_mps = 7.5\n"
      "[monster.hulk.ranged]\nform = \"missile\"\nkind = \"bomb\"\nwindup_s = 0.5\n"
      "[projectile.bomb]\nlike = \"rocket\"\nbounces = 2\ngravity_share = 1\n",
      "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  const KindSet& set = **kinds;
  CHECK(set.monsters[static_cast<std::size_t>(MonsterKind::imp)].health == 80);
  CHECK(set.monsters[static_cast<std::size_t>(MonsterKind::imp)].speed_mps ==
        traits(MonsterKind::imp).speed_mps);
  REQUIRE(set.monsters.size() == monster_kind_count + 1);
  const MonsterTraits& hulk = set.monsters.back();
  CHECK(hulk.name == "hulk");
  CHECK(hulk.speed_mps == 7.5);
  CHECK(hulk.melee == traits(MonsterKind::brute).melee);
  CHECK(hulk.ranged.form == AttackForm::missile);
  CHECK(set.projectiles[hulk.ranged.kind].name == "bomb");
  CHECK(set.projectiles[hulk.ranged.kind].bounces == 2);
  CHECK(set.projectiles[hulk.ranged.kind].splash_damage == 128);
  REQUIRE(set.things.size() == 1);
  CHECK(set.things[0].number == 3002);
  CHECK(set.things[0].kind == static_cast<MonsterKind>(monster_kind_count));
}

TEST_CASE("a file says what a kind is able to", "[world][content][kinds]") {
  const auto kinds = read_kinds(
      "[monster.imp]\nopens_doors = 0\ndrop_m = 0.75\njump_m = 1.25\nhearing_m = 20\n"
      "dark_sight_share = 0.25\n",
      "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  const auto again = read_kinds(kinds_text(**kinds), "k.toml");
  REQUIRE(again.has_value());
  for (const KindSet* set : {kinds->get(), again->get()}) {
    const MonsterTraits& imp = set->monsters[static_cast<std::size_t>(MonsterKind::imp)];
    CHECK(imp.opens_doors == 0);
    CHECK(imp.drop_m == 0.75);
    CHECK(imp.jump_m == 1.25);
    CHECK(imp.hearing_m == 20);
    CHECK(imp.dark_sight_share == 0.25);
  }
  CHECK(traits(MonsterKind::imp).opens_doors == 1);
  CHECK(kinds_error_of("[monster.imp]\ndrop_m = 65\n") == "k.toml line 2: drop_m has to be from 0 to 64");
  CHECK(kinds_error_of("[monster.imp]\njump_m = -1\n") == "k.toml line 2: jump_m has to be from 0 to 3");
}

TEST_CASE("a file changes weapons and ammunition, and adds weapons of its own",
          "[world][content][kinds][weapons]") {
  // The example of docs/weapons.md.
  const auto kinds = read_kinds(
      "[weapon.pistol]\ninterval_s = 0.2\n[weapon.mortar]\nlike = \"rocket launcher\"\nslot = 8\nstart = 1\n"
      "projectile = \"shell\"\n[projectile.shell]\nlike = \"missile\"\ngravity_share = 1\nbounces = 1\n"
      "[ammo.rockets]\nmost = 20\nstart = 5\n",
      "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  const KindSet& set = **kinds;
  REQUIRE(set.weapons.size() == weapon_kind_count + 1);
  CHECK(set.weapons[weapon::pistol].interval_s == 0.2);
  CHECK(set.weapons.back().ammo == AmmoKind::rockets);
  CHECK(set.projectiles[set.weapons.back().projectile].gravity_share == 1);
  CHECK(set.ammo[2] == AmmoTraits{20, 1, 5});
  CHECK(set.weapons[weapon::shotgun] == default_kinds().weapons[weapon::shotgun]);
  const auto fewer = read_kinds("[ammo.bullets]\nmost = 20\n", "k.toml");
  REQUIRE(fewer.has_value());
  CHECK((*fewer)->ammo[0].start == 20);  // who carries fewer begins with fewer
  const auto ours = read_kinds(kinds_text(default_kinds()), "k.toml");
  REQUIRE(ours.has_value());
  CHECK((*ours)->weapons == default_kinds().weapons);
  CHECK((*ours)->ammo == default_kinds().ammo);
}

TEST_CASE("wrong weapons are told in one line with file and line", "[world][content][kinds][weapons]") {
  CHECK(kinds_error_of("[weapon.pistol]\nuses = -1\n") == "k.toml line 2: uses has to be from 0 to 1000");
  CHECK(kinds_error_of("[weapon.pistol]\nform = \"song\"\n") ==
        "k.toml line 2: form has to be one of melee, hitscan, missile, beam, thrown");
  CHECK(kinds_error_of("[weapon.pistol]\nammo = \"arrows\"\n") ==
        "k.toml line 2: ammo has to be one of bullets, shells, rockets, cells, none");
  CHECK(kinds_error_of("[weapon.pistol]\nprojectile = \"arrow\"\n") ==
        "k.toml line 2: there is no projectile \"arrow\"");
  CHECK(kinds_error_of("[weapon.pistol]\ncalibre = 9\n") == "k.toml line 2: a weapon has no \"calibre\"");
  CHECK(kinds_error_of("[weapon.fist]\nstart = 0\n[weapon.pistol]\nstart = 0\n").find("start = 1") !=
        std::string::npos);
  CHECK(kinds_error_of("[ammo.arrows]\nmost = 5\n").find("no ammunition \"arrows\"") != std::string::npos);
  CHECK(kinds_error_of("[ammo.shells]\nleast = 5\n") == "k.toml line 2: ammunition has no \"least\"");
  CHECK(kinds_error_of("[monster.imp]\ndrop = 77\n").find("nothing to pick up") != std::string::npos);
}

TEST_CASE("nobody leaves a key, which could not be taken", "[world][content][kinds]") {
  for (const char* key : {"5", "6", "13", "38", "39", "40"}) {
    CAPTURE(key);
    CHECK(kinds_error_of("[monster.imp]\ndrop = " + std::string(key) + "\n") ==
          "k.toml line 2: thing number " + std::string(key) +
              " is a key, which is taken where a map has it: give another drop, such as 2007");
  }
  CHECK(kinds_error_of("[monster.imp]\ndrop = 8\n").empty());
  CHECK(kinds_error_of("[monster.imp]\ndrop = 0\n").empty());
}

TEST_CASE("a leap goes somewhere", "[world][content][kinds]") {
  const std::string wrong =
      "k.toml line 2: a leap has to have a speed_mps from 1: slower, it goes up and nowhere";
  CHECK(kinds_error_of("[monster.imp]\nranged = { form = \"leap\" }\n") == wrong);
  CHECK(kinds_error_of("[monster.imp]\nranged = { form = \"leap\", speed_mps = 0.9 }\n") == wrong);
  CHECK(kinds_error_of("[monster.imp]\nranged = { form = \"leap\", speed_mps = 1 }\n").empty());
  CHECK(kinds_error_of("[monster.imp]\nranged = { form = \"charge\", speed_mps = 0 }\n").empty());
}

TEST_CASE("a kind's name is one that clients can be told", "[world][content][kinds][weapons]") {
  const std::string wrong =
      "k.toml line 2: a kind's name has to be of printable ASCII characters, at least one";
  for (const char* name :
       {"", "\\u001b[31m", "a\\u0000b", "a\\tb", "a\\nb", "\\u0085", "\\u202e", "\\u00e9", "\\u007f"}) {
    const std::string quoted = '"' + std::string(name) + '"';
    CHECK(kinds_error_of("\n[weapon." + quoted + "]\nlike = \"pistol\"\n") == wrong);
    CHECK(kinds_error_of("\n[monster." + quoted + "]\nlike = \"imp\"\n") == wrong);
    CHECK(kinds_error_of("\n[projectile." + quoted + "]\nlike = \"rocket\"\n") == wrong);
  }
  CHECK(kinds_error_of("[weapon.\" ~\"]\nlike = \"pistol\"\n").empty());
  CHECK(kinds_error_of("[weapon." + std::string(33, 'a') + "]\nlike = \"pistol\"\n") ==
        "k.toml line 1: a weapon's name has up to 32 bytes");
}

TEST_CASE("letters beyond ASCII belong in comments", "[world][content][kinds]") {
  for (const char* fine : {"\xEF\xBB\xBF# f\u00fcr \"alle\n[monster.imp]\nhealth = 80 # z\u00e4h\n",
                           "# it's \u00e4\n[weapon.\"a # b\"]\nlike = \"pistol\" # \u00e4\n",
                           "[weapon.\"a\\\"b\"] # \u00e4\nlike = 'pistol'\n"}) {
    CAPTURE(fine);
    CHECK(kinds_error_of(fine).empty());
  }
  for (const char* wrong : {"# m\u00f6rser\n[weapon.\"m\u00f6rser\"]\nlike = \"pistol\"\n",
                            "# it's\n[weapon.'# m\u00f6rser']\nlike = \"pistol\"\n",
                            "\nx = [\"\"\"a\"\"\"\", \"#\u00e4\"]\n", "\nx = ['''a''''', '#\u00e4']\n",
                            "\n[weapon.\"a\\\" # \u00e4\"]\nlike = \"pistol\"\n", "\n\u00e4 = 1\n"}) {
    CAPTURE(wrong);
    CHECK_THAT(kinds_error_of(wrong), ContainsSubstring("line 2: has a letter beyond ASCII"));
  }
  // A text over several lines may end in quotes of its own.
  CHECK(kinds_error_of("x = \"\"\"a\"\"\"\" # \u00e4\n").find("beyond ASCII") == std::string::npos);
  // A recording holds the file that was read when it was made.
  const char* const old = "[monster.imp]\nhealth = 80\n[weapon.\"m\u00f6rser\"]\nlike = \"pistol\"\n";
  CHECK_FALSE(read_kinds(old, "old", KindsLetters::ascii).has_value());
  {
    const auto read = read_kinds(old, "old", KindsLetters::any);
    REQUIRE(read.has_value());
    CHECK((*read)->source == old);
  }
}

TEST_CASE("a kind begins as another one stands above it", "[world][content][kinds][weapons]") {
  const auto kinds = read_kinds(
      "[projectile.z]\nlike = \"rocket\"\n"
      "[projectile.rocket]\nspeed_mps = 0.5\n"
      "[projectile.b]\nlike = \"rocket\"\nbounces = 2\n"
      "[projectile.a]\nlike = \"b\"\n"
      "[monster.imp]\nhealth = 80\n[monster.imp.ranged]\nkind = \"a\"\n"
      "[monster.devil]\nlike = \"imp\"\n[monster.devil.melee]\ndamage_step = 50\n"
      "[monster.arch]\nlike = \"devil\"\n"
      "[monster.brute]\nlike = \"arch\"\nmass = 9\n"
      "[weapon.pistol]\nrank = 77\n[weapon.two]\nlike = \"pistol\"\nclip = 3\n"
      "[weapon.three]\nlike = \"two\"\n",
      "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  const auto& projectiles = (*kinds)->projectiles;
  const std::size_t ours = default_kinds().projectiles.size();
  REQUIRE(projectiles.size() == ours + 3);
  CHECK((projectiles[ours].name == "z" && projectiles[ours].speed_mps > 10));
  CHECK((projectiles[ours + 1].name == "b" && projectiles[ours + 1].speed_mps == 0.5));
  CHECK((projectiles[ours + 2].name == "a" && projectiles[ours + 2].bounces == 2));
  const auto& monsters = (*kinds)->monsters;
  REQUIRE(monsters.size() == monster_kind_count + 2);
  const MonsterTraits& arch = monsters.back();
  CHECK((arch.name == "arch" && arch.health == 80 && arch.melee.damage_step == 50));
  CHECK(projectiles[arch.ranged.kind].name == "a");
  // One of ours may begin as another, too.
  const MonsterTraits& brute = monsters[static_cast<std::size_t>(MonsterKind::brute)];
  CHECK((brute.name == "brute" && brute.health == 80 && brute.mass == 9));
  const auto& weapons = (*kinds)->weapons;
  REQUIRE(weapons.size() == weapon_kind_count + 2);
  CHECK((weapons.back().name == "three" && weapons.back().rank == 77 && weapons.back().clip == 3));
  const auto again = read_kinds(kinds_text(**kinds), "k.toml");
  if (!again) FAIL(again.error().line());
  CHECK((*again)->projectiles == projectiles);
  CHECK((*again)->weapons == weapons);

  CHECK(kinds_error_of("[monster.imp]\nlike = \"nobody\"\n") ==
        "k.toml line 2: there is no kind \"nobody\" above");
  CHECK(kinds_error_of("[weapon.a]\nlike = \"b\"\n[weapon.b]\nlike = \"fist\"\n") ==
        "k.toml line 2: there is no kind \"b\" above");
  CHECK(kinds_error_of("[projectile.a]\nlike = \"a\"\n") == "k.toml line 2: there is no kind \"a\" above");
  CHECK(kinds_error_of("[weapon.fist]\nlike = 3\n") == "k.toml line 2: like has to be a text in quotes");
}

TEST_CASE("what a file of kinds leaves out or says twice is told", "[world][content][kinds][weapons]") {
  CHECK(kinds_error_of("[monster.brute.ranged]\nrange_m = 5\nform = \"missile\"\n") ==
        "k.toml line 3: form = \"missile\" needs a kind: give kind = and the name of a projectile");
  CHECK(kinds_error_of("[monster.imp.ranged]\nform = \"summon\"\n") ==
        "k.toml line 2: form = \"summon\" needs a kind: give kind = and the name of a monster");
  CHECK(kinds_error_of("[monster.hive.ranged]\nform = \"flame\"\n").find("name of a projectile") !=
        std::string::npos);
  CHECK(kinds_error_of("[monster.imp.ranged]\nform = \"missile\"\n").empty());  // it has one
  CHECK(kinds_error_of("[monster.a]\nlike = \"imp\"\n[monster.a.ranged]\nform = \"flame\"\n").empty());
  CHECK(kinds_error_of("[weapon.pistol]\nslot = 2\nform = \"thrown\"\n") ==
        "k.toml line 3: form = \"thrown\" needs a projectile: give projectile = and its name");
  CHECK(kinds_error_of("[weapon.pistol]\nform = \"missile\"\nprojectile = \"rocket\"\n").empty());
  CHECK(kinds_error_of("[weapon.a]\nlike = \"rocket launcher\"\nform = \"thrown\"\n").empty());
  CHECK(kinds_error_of("[ammo.cells]\nmost = 20\nclip = 5\nstart = 21\n") ==
        "k.toml line 4: start is 21, which is more than most: give start = 20 or less");
  CHECK(kinds_error_of("[ammo.bullets]\nmost = 20\nstart = 20\n").empty());
  CHECK(kinds_error_of("[monster.imp]\nthing = 3010\n[monster.brute]\nhealth = 5\nthing = 3010\n") ==
        "k.toml line 5: things of number 3010 are \"imp\" already: give each monster a number of its own");
  for (const char* start : {"1", "2", "3", "4", "11"})
    CHECK(kinds_error_of("[monster.imp]\nthing = " + std::string(start) + "\n") ==
          "k.toml line 2: things of number " + std::string(start) +
              " are where players begin: give another number, such as 3010");
  CHECK(kinds_error_of("[monster.imp]\nthing = 5\n").empty());
}

TEST_CASE("a wrong file of kinds is told in one line with file and line", "[world][content][kinds]") {
  CHECK(kinds_error_of("[monster.imp]\nhealth = 0\n") == "k.toml line 2: health has to be from 1 to 65535");
  CHECK(kinds_error_of("[monster.imp]\nhealth = 1.5\n") == "k.toml line 2: health has to be a whole number");
  CHECK(kinds_error_of("[monster.imp]\nhealth = \"much\"\n") == "k.toml line 2: health has to be a number");
  CHECK(kinds_error_of("[monster.imp]\nwings = 2\n") == "k.toml line 2: a monster has no \"wings\"");
  CHECK(kinds_error_of("\n[weather]\n").starts_with("k.toml line 2: unknown table \"weather\""));
  CHECK(kinds_error_of("[monster.hulk]\nhealth = 5\n").find("`like`") != std::string::npos);
  CHECK(kinds_error_of("[monster.hulk]\nlike = \"giant\"\n") ==
        "k.toml line 2: there is no kind \"giant\" above");
  CHECK(kinds_error_of("[monster.imp.melee]\nform = \"bite\"\n").find("has to be one of none, melee") !=
        std::string::npos);
  CHECK(kinds_error_of("[monster.imp.melee]\nform = \"missile\"\n").find("melee has to be") !=
        std::string::npos);
  CHECK(kinds_error_of("[monster.imp.ranged]\nkind = \"snow\"\n") ==
        "k.toml line 2: there is no projectile \"snow\"");
  CHECK(kinds_error_of("[monster.imp\n").starts_with("k.toml line "));
  const std::string unmatched = ": is no TOML: its brackets or quotes do not match";
  CHECK(kinds_error_of("[[[") == "k.toml line 1" + unmatched);
  CHECK(kinds_error_of("[monster.imp]\n\n[[[monster.imp]\nhealth = 5\n[ammo.cells]\n") ==
        "k.toml line 3" + unmatched);
  CHECK_FALSE(kinds_error_of(std::string(kinds_file_bytes_max + 1, '#')).empty());
}

TEST_CASE("a file of kinds that is cut off or spoilt anywhere never does harm", "[world][content][kinds]") {
  const std::string text = kinds_text(default_kinds());
  Rng rng{4};
  unsigned good = 0;
  for (int i = 0; i < 300; ++i) {
    std::string spoilt = text.substr(0, 1 + rng.below(static_cast<std::uint32_t>(text.size())));
    if (i % 2 == 0)
      spoilt[rng.below(static_cast<std::uint32_t>(spoilt.size()))] = static_cast<char>(rng.below(256));
    const auto kinds = read_kinds(spoilt, "k.toml");
    if (!kinds)
      CHECK(kinds.error().line().find('\n') == std::string::npos);
    else
      ++good;
  }
  CHECK(good > 0);
}
