#include "world/content/udmf.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "world/bsp/line_specials.h"
#include "world/content/map_check.h"
#include "world/content/udmf_lexer.h"
#include "world/math/ascii.h"

namespace ashlar {
namespace {

using Token = UdmfLexer::Token;

/// The assignments of one block, with typed access; the last of a name counts.
class Fields {
 public:
  std::string block;
  std::vector<std::pair<std::string, UdmfValue>> list;
  std::string wrong;  ///< the first thing that was wrong

  const UdmfValue* find(std::string_view name) const {
    for (std::size_t i = list.size(); i-- > 0;)
      if (list[i].first == name) return &list[i].second;
    return nullptr;
  }
  double real(std::string_view name) { return number(name, true, 0); }
  double real_or(std::string_view name, double otherwise) { return number(name, false, otherwise); }
  /// An integer within [low, high].
  std::int64_t integer(std::string_view name, bool required, std::int64_t otherwise, std::int64_t low,
                       std::int64_t high) {
    const UdmfValue* v = find(name);
    if (v == nullptr) {
      if (required) note("has no " + std::string(name));
      return otherwise;
    }
    std::int64_t out = v->integer;
    // Editors may write 90.0 where the format says integer.
    if (v->kind == UdmfValue::Kind::real && v->real >= -1e9 && v->real <= 1e9)
      out = static_cast<std::int64_t>(v->real);
    else if (v->kind != UdmfValue::Kind::integer)
      return note(std::string(name) + " is no integer"), otherwise;
    if (out < low || out > high)
      return note(std::string(name) + " " + std::to_string(out) + " is out of range"), otherwise;
    return out;
  }
  std::uint32_t index(std::string_view name) {
    return static_cast<std::uint32_t>(integer(name, true, 0, 0, std::numeric_limits<std::int32_t>::max()));
  }
  bool flag(std::string_view name, bool otherwise = false) {
    const UdmfValue* v = find(name);
    if (v == nullptr) return otherwise;
    if (v->kind != UdmfValue::Kind::boolean)
      return note(std::string(name) + " is neither true nor false"), false;
    return v->integer != 0;
  }
  TextureName texture(std::string_view name, bool required) {
    const UdmfValue* v = find(name);
    if (v == nullptr) {
      if (required) note("has no " + std::string(name));
      return texture_name("-");
    }
    if (v->kind != UdmfValue::Kind::text)
      return note(std::string(name) + " is no quoted text"), TextureName{};
    return texture_name(v->text);
  }

 private:
  void note(std::string what) {
    if (wrong.empty()) wrong = block + " " + std::move(what);
  }
  double number(std::string_view name, bool required, double otherwise) {
    const UdmfValue* v = find(name);
    if (v == nullptr) {
      if (required) note("has no " + std::string(name));
      return otherwise;
    }
    if (v->kind != UdmfValue::Kind::integer && v->kind != UdmfValue::Kind::real)
      return note(std::string(name) + " is no number"), otherwise;
    return v->real;
  }
};

void add_line(Fields& f, SectorMap& map) {
  MapLine l;
  l.v1 = f.index("v1");
  l.v2 = f.index("v2");
  l.front = f.index("sidefront");
  const auto back = f.integer("sideback", false, -1, -1, std::numeric_limits<std::int32_t>::max());
  l.back = back < 0 ? no_index : static_cast<std::uint32_t>(back);
  static constexpr std::pair<const char*, std::uint32_t> flags[] = {
      {"blocking", line_flag::blocking},
      {"blockmonsters", line_flag::block_monsters},
      {"twosided", line_flag::two_sided},
      {"dontpegtop", line_flag::upper_unpegged},
      {"dontpegbottom", line_flag::lower_unpegged},
      {"secret", line_flag::secret},
      {"blocksound", line_flag::block_sound},
      {"dontdraw", line_flag::hidden},
      {"mapped", line_flag::mapped},
      {"playeruse", line_activation::player_use},
      {"playercross", line_activation::player_cross},
      {"playerpush", line_activation::player_push},
      {"monsteruse", line_activation::monster_use},
      {"monstercross", line_activation::monster_cross},
      {"monsterpush", line_activation::monster_push},
      {"impact", line_activation::impact},
      {"repeatspecial", line_activation::repeats}};
  for (const auto& [name, bit] : flags)
    if (f.flag(name)) l.flags |= bit;
  l.special = static_cast<std::uint16_t>(f.integer("special", false, 0, 0, 0xffff));
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  static constexpr const char* arg_names[] = {"arg0", "arg1", "arg2", "arg3", "arg4"};
  for (std::size_t i = 0; i < l.args.size(); ++i)
    l.args[i] = static_cast<std::int32_t>(f.integer(arg_names[i], false, 0, low, high));
  // In Doom's own numbers a line's tag is its id; arg0 repeats it.
  const std::int64_t id = f.integer("id", false, -1, -1, 0xffff);
  if (id >= 0)
    l.tag = static_cast<std::uint16_t>(id);
  else if (map.specials == SpecialNumbers::doom && l.args[0] >= 0 && l.args[0] <= 0xffff)
    l.tag = static_cast<std::uint16_t>(l.args[0]);
  map.lines.push_back(l);
}

void add_sector(Fields& f, SectorMap& map) {
  MapSector s;
  s.floor = f.real_or("heightfloor", 0);
  s.ceiling = f.real_or("heightceiling", 0);
  s.floor_flat = f.texture("texturefloor", true);
  s.ceiling_flat = f.texture("textureceiling", true);
  s.light = static_cast<std::int16_t>(f.integer("lightlevel", false, 160, -32768, 32767));
  s.special = static_cast<std::uint16_t>(f.integer("special", false, 0, 0, 0xffff));
  // The namespace "zdoom" has Doom's sector specials 64 further up.
  if (map.specials == SpecialNumbers::zdoom)
    s.special = s.special > 64 && s.special <= 64 + 17 ? s.special - 64 : std::uint16_t{0};
  s.tag = static_cast<std::uint16_t>(f.integer("id", false, 0, 0, 0xffff));
  map.sectors.push_back(s);
}

void add_thing(Fields& f, SectorMap& map) {
  MapThing t;
  t.x = f.real("x");
  t.y = f.real("y");
  const std::int64_t degrees = f.integer("angle", false, 0, -1000000, 1000000);
  t.angle_deg = static_cast<std::int16_t>(((degrees % 360) + 360) % 360);
  t.type = static_cast<std::uint16_t>(f.integer("type", true, 0, 0, 0xffff));
  if (f.flag("skill1") || f.flag("skill2")) t.flags |= thing_flag::easy;
  if (f.flag("skill3")) t.flags |= thing_flag::medium;
  if (f.flag("skill4") || f.flag("skill5")) t.flags |= thing_flag::hard;
  if (f.flag("ambush")) t.flags |= thing_flag::deaf;
  // By the format each is false where it is not given; a thing that says none of them is meant for all.
  const bool single = f.flag("single"), together = f.flag("coop"), against = f.flag("dm");
  if (single || together || against) {
    if (!single) t.flags |= thing_flag::multiplayer_only;
    if (!together) t.flags |= thing_flag::not_cooperative;
    if (!against) t.flags |= thing_flag::not_deathmatch;
  }
  map.things.push_back(t);
}

void add_block(Fields& f, SectorMap& map) {
  if (f.block == "vertex") {
    const double x = f.real("x");
    map.vertices.push_back({x, f.real("y")});
  } else if (f.block == "linedef") {
    add_line(f, map);
  } else if (f.block == "sidedef") {
    MapSide s;
    s.sector = f.index("sector");
    s.upper = f.texture("texturetop", false);
    s.lower = f.texture("texturebottom", false);
    s.middle = f.texture("texturemiddle", false);
    map.sides.push_back(s);
  } else if (f.block == "sector") {
    add_sector(f, map);
  } else if (f.block == "thing") {
    add_thing(f, map);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  std::expected<SectorMap, ContentError> run() {
    SectorMap map;
    bool named = false;
    for (;;) {
      const Token token = lexer_.next();
      if (token == Token::end) break;
      if (token == Token::error) return refuse(lexer_.error());
      if (token != Token::identifier) return refuse("expected the name of a block");
      const std::string name = lower_ascii(lexer_.word());
      const std::size_t line = lexer_.line();
      const Token after = lexer_.next();
      if (after == Token::assign) {
        UdmfValue value;
        if (!rest_of_assignment(value)) return refuse(error_);
        if (name != "namespace") continue;
        named = true;
        const std::string space = lower_ascii(value.text);
        if (space != "doom" && space != "zdoom")
          return refuse("namespace \"" + space.substr(0, 24) + "\" is not read; doom and zdoom are");
        map.specials = space == "zdoom" ? SpecialNumbers::zdoom : SpecialNumbers::doom;
      } else if (after == Token::open) {
        Fields fields;
        fields.block = name;
        if (!block(fields)) return refuse(error_);
        add_block(fields, map);
        if (!fields.wrong.empty()) return refuse(fields.wrong, line);
      } else {
        return refuse(after == Token::error ? lexer_.error()
                                            : "expected '=' or '{' after " + name.substr(0, 24));
      }
    }
    if (!named) return refuse("the text does not say its namespace");
    const MapRecordNames names{"vertex", "linedef", "sidedef", "sector", "thing"};
    if (auto wrong = check_map(map, names)) {
      // The records have no lump of their own here: "TEXTMAP linedef 12".
      if (!wrong->entry.empty()) wrong->entry = wrong->lump + wrong->entry.substr(5);
      wrong->lump = "TEXTMAP";
      return std::unexpected(*wrong);
    }
    return map;
  }

 private:
  std::unexpected<ContentError> refuse(std::string reason, std::size_t line = 0) const {
    if (line == 0) line = lexer_.line();
    return std::unexpected(ContentError{"", "TEXTMAP", "line " + std::to_string(line), std::move(reason)});
  }
  bool fail(std::string reason) {
    error_ = std::move(reason);
    return false;
  }

  /// value ';'
  bool rest_of_assignment(UdmfValue& value) {
    const Token token = lexer_.next();
    if (token == Token::error) return fail(lexer_.error());
    if (token != Token::value && token != Token::identifier) return fail("expected a value after '='");
    value = lexer_.value();
    const Token end = lexer_.next();
    if (end == Token::error) return fail(lexer_.error());
    return end == Token::semicolon || fail("expected ';'");
  }

  bool block(Fields& fields) {
    for (;;) {
      const Token token = lexer_.next();
      if (token == Token::close) return true;
      if (token == Token::end) return fail("the text ends inside a block");
      if (token == Token::error) return fail(lexer_.error());
      if (token != Token::identifier) return fail("expected the name of a field");
      std::string name = lower_ascii(lexer_.word());
      const Token assign = lexer_.next();
      if (assign == Token::error) return fail(lexer_.error());
      if (assign != Token::assign) return fail("expected '=' after " + name.substr(0, 24));
      UdmfValue value;
      if (!rest_of_assignment(value)) return false;
      fields.list.emplace_back(std::move(name), std::move(value));
    }
  }

  UdmfLexer lexer_;
  std::string error_;
};

}  // namespace

std::expected<SectorMap, ContentError> parse_udmf(std::string_view text) { return Parser(text).run(); }

}  // namespace ashlar
