// First, as it says.
#include "world/content/toml_parser.h"
//
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "world/content/block_file.h"

namespace ashlar {
namespace {

/// What is wrong, and in which line of the text.
struct Misread {
  std::uint32_t line = 0;
  std::string reason;
};

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

std::optional<double> number(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(**whole);
  if (const auto* real = node.as_floating_point()) return **real;
  return std::nullopt;
}

std::string list(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

constexpr std::string_view keys =
    "name, shape, boxes, hardness, tool, drops, opaque, liquid, climbable, falls, slots, text, light, "
    "damage, friction, jump, timer, becomes and blast";

/// The kinds of a file on their way to a registry. A kind may drop one that is further down, so drops are
/// looked up last, and so is what it becomes.
class Reader {
 public:
  Reader() {
    const auto own = BlockRegistry::builtin().types();
    types_.assign(own.begin(), own.end());
    places_.resize(types_.size());
  }

  std::optional<Misread> read(const toml::table& file) {
    for (const auto& [key, node] : file)
      if (key.str() != "block" || !node.is_array_of_tables())
        return Misread{key.source().begin.line, "\"" + std::string(key.str()) +
                                                    "\" is nothing of a block file: it has [[block]] tables"};
    const toml::array* blocks = file.get_as<toml::array>("block");
    for (std::size_t i = 0; blocks != nullptr && i < blocks->size(); ++i)
      if (auto wrong = read_block(*blocks->get(i)->as_table())) return wrong;
    for (std::size_t kind = 0; kind < places_.size(); ++kind) {
      const Place& place = places_[kind];
      if (auto wrong = look_up(place.drops, place.drops_line, "drop", types_[kind].drops)) return wrong;
      if (auto wrong = look_up(place.becomes, place.becomes_line, "become", types_[kind].becomes))
        return wrong;
    }
    return std::nullopt;
  }

  /// The kinds, or what is wrong with them together.
  std::expected<BlockRegistry, Misread> finish() && {
    if (const auto wrong = BlockRegistry::check(types_)) {
      const std::size_t kind = std::min(wrong->kind, places_.size() - 1);
      return std::unexpected(Misread{places_[kind].line, types_[kind].name + ": " + wrong->reason});
    }
    return BlockRegistry(std::move(types_));
  }

 private:
  /// Where a kind stands in the file, and by name what it drops and becomes.
  struct Place {
    std::uint32_t line = 0;  // 0: nowhere
    std::string drops, becomes;
    std::uint32_t drops_line = 0, becomes_line = 0;
  };

  /// @param wanted  empty: nothing is
  std::optional<Misread> look_up(const std::string& wanted, std::uint32_t line, const char* to,
                                 BlockId& out) {
    if (wanted.empty()) return std::nullopt;
    const auto at = std::ranges::find(types_, wanted, &BlockType::name);
    if (at == types_.end()) return Misread{line, "there is no block \"" + wanted + "\" that it could " + to};
    out = static_cast<BlockId>(at - types_.begin());
    return std::nullopt;
  }

  /// The name of another kind.
  static std::optional<Misread> read_name(const toml::node& node, const std::string& key, std::string& out,
                                          std::uint32_t& line) {
    if (!node.is_string()) return Misread{line_of(node), key + " has to be a block's name in quotes"};
    out = **node.as_string();
    line = line_of(node);
    if (out.empty()) return Misread{line, key + " nothing: say " + key + " = \"air\""};
    return std::nullopt;
  }

  std::optional<Misread> read_block(const toml::table& table) {
    const std::uint32_t line = line_of(table);
    const auto* name = table.get_as<std::string>("name");
    if (name == nullptr) return Misread{line, "a [[block]] has no name: give name = \"marble\""};
    const auto known = std::ranges::find(types_, **name, &BlockType::name);
    const auto kind = static_cast<std::size_t>(known - types_.begin());
    const bool fresh = known == types_.end();
    if (kind == block_kinds_max) return Misread{line, "a world has at most 256 kinds of blocks"};
    if (fresh) {
      types_.emplace_back().name = **name;
      types_.back().drops = static_cast<BlockId>(kind);
      places_.emplace_back();
    } else if (places_[kind].line != 0) {
      return Misread{line, "\"" + **name + "\" is here a second time: it is in line " +
                               std::to_string(places_[kind].line) + ", too"};
    }
    places_[kind].line = line;
    // Of several mistakes the first in the text is told.
    std::optional<Misread> first;
    for (const auto& [key, node] : table) {
      auto wrong = read_key(std::string(key.str()), node, kind);
      if (wrong && (!first || wrong->line < first->line)) first = std::move(wrong);
    }
    if (!first && table.contains("shape") && table.contains("boxes"))
      first = Misread{line, "a [[block]] has a shape or boxes, not both"};
    // What is no more than air to bodies needs no word about its shape.
    const bool shaped = table.contains("shape") || table.contains("boxes");
    if ((types_[kind].liquid || types_[kind].climbable) && !shaped && fresh) types_[kind].shape = {};
    return first;
  }

  std::optional<Misread> read_key(const std::string& key, const toml::node& node, std::size_t kind) {
    BlockType& type = types_[kind];
    if (key == "name") return std::nullopt;
    if (key == "shape") return read_shape(node, type.shape);
    if (key == "boxes") return read_boxes(node, type.shape);
    if (key == "hardness") return read_hardness(node, type.hardness_s);
    if (key == "tool") return read_tool(node, type.tool);
    Place& place = places_[kind];
    if (key == "drops") return read_name(node, key, place.drops, place.drops_line);
    if (key == "becomes") return read_name(node, key, place.becomes, place.becomes_line);
    if (key == "timer")
      return read_number(node, "timer has to be a number of seconds from 0 to 604800", block_timer_s_max,
                         type.timer_s);
    if (key == "blast")
      return read_number(node, "blast has to be a number of metres from 0 to 7", block_blast_m_max,
                         type.blast_m);
    for (const auto& [flag, field] : {std::pair{"opaque", &BlockType::opaque},
                                      {"liquid", &BlockType::liquid},
                                      {"climbable", &BlockType::climbable},
                                      {"falls", &BlockType::falls},
                                      {"text", &BlockType::text}}) {
      if (key != flag) continue;
      if (!node.is_boolean()) return Misread{line_of(node), key + " has to be true or false"};
      type.*field = **node.as_boolean();
      return std::nullopt;
    }
    if (key == "friction")
      return read_number(node, "friction has to be a number from 0 to 4", friction_factor_max, type.friction);
    if (key == "jump")
      return read_number(node, "jump has to be a number from 0 to 4", jump_factor_max, type.jump);
    if (key == "slots") return read_whole(node, key, block_slots_max, type.slots);
    if (key == "light") return read_whole(node, key, block_light_max, type.light);
    if (key == "damage") return read_whole(node, key, block_damage_max, type.damage_per_s);
    return Misread{line_of(node), "unknown key \"" + key + "\" in [[block]]: it takes " + std::string(keys)};
  }

  static std::optional<Misread> read_number(const toml::node& node, const char* range, double most,
                                            double& out) {
    const auto value = number(node);
    if (!value || !(*value >= 0 && *value <= most)) return Misread{line_of(node), range};
    out = *value;
    return std::nullopt;
  }

  template <typename Whole>
  static std::optional<Misread> read_whole(const toml::node& node, const std::string& key, Whole most,
                                           Whole& out) {
    const auto* value = node.as_integer();
    if (value == nullptr || **value < 0 || **value > most)
      return Misread{line_of(node), key + " has to be a whole number from 0 to " + std::to_string(most)};
    out = static_cast<Whole>(**value);
    return std::nullopt;
  }

  static std::optional<Misread> read_shape(const toml::node& node, BlockShape& out) {
    const auto shape = node.is_string() ? find_shape(**node.as_string()) : std::nullopt;
    if (!shape)
      return Misread{line_of(node),
                     "shape has to be one of " + list(shape_names()) + ", in quotes; or give boxes"};
    out = *shape;
    return std::nullopt;
  }

  /// boxes = [[0, 0, 0, 16, 16, 8]]: from the lower corner to the upper one, in sixteenths.
  static std::optional<Misread> read_boxes(const toml::node& node, BlockShape& out) {
    Misread wrong{line_of(node),
                  "boxes has to be a list of 1 to 4 boxes, each of six whole numbers from 0 to 16: west, "
                  "south and bottom, then east, north and top, such as [[0, 0, 0, 16, 16, 8]]"};
    const toml::array* boxes = node.as_array();
    if (boxes == nullptr || boxes->empty() || boxes->size() > BlockShape::boxes_max) return wrong;
    out = {};
    for (const toml::node& one : *boxes) {
      const toml::array* sides = one.as_array();
      if (sides == nullptr || sides->size() != 6) return wrong;
      ShapeBox& box = out.box[out.count++];
      for (std::size_t i = 0; i < 6; ++i) {
        const auto* side = sides->get(i)->as_integer();
        if (side == nullptr || **side < 0 || **side > shape_cells) return wrong;
        (i < 3 ? box.min[i] : box.max[i - 3]) = static_cast<std::uint8_t>(**side);
      }
    }
    if (out.sane()) return std::nullopt;
    return wrong;
  }

  /// hardness = 2.5, or hardness = { hand = 2.5, pick = 0.5 }: seconds.
  static std::optional<Misread> read_tool(const toml::node& node, Tool& out) {
    for (std::size_t tool = 1; tool < tool_count; ++tool) {
      out = static_cast<Tool>(tool);
      if (node.is_string() && **node.as_string() == ashlar::name(out)) return std::nullopt;
    }
    return Misread{line_of(node), "tool has to be \"pick\", \"axe\" or \"shovel\""};
  }

  static std::optional<Misread> read_hardness(const toml::node& node, std::array<double, tool_count>& out) {
    const auto good = [](std::optional<double> s) {
      return s && (*s == -1 || (*s >= 0 && *s <= hardness_s_max));
    };
    const std::string range = "0 to 600 seconds, or -1 for never";
    if (const auto all = number(node)) {
      if (!good(all)) return Misread{line_of(node), "hardness has to be " + range};
      out.fill(*all);
      return std::nullopt;
    }
    const toml::table* table = node.as_table();
    if (table == nullptr || !table->contains("hand"))
      return Misread{line_of(node),
                     "hardness has to be a number of seconds, or a table by tool that begins with "
                     "hand, such as { hand = 2, pick = 0.5 }"};
    const auto hand = number(*table->get("hand"));
    if (!good(hand)) return Misread{line_of(node), "hardness by hand has to be " + range};
    out.fill(*hand);
    for (const auto& [key, entry] : *table) {
      std::size_t tool = 0;
      while (tool < tool_count && ashlar::name(static_cast<Tool>(tool)) != key.str()) ++tool;
      if (tool == tool_count)
        return Misread{line_of(entry), "there is no tool \"" + std::string(key.str()) +
                                           "\": there are hand, pick, axe and shovel"};
      const auto seconds = number(entry);
      if (!good(seconds))
        return Misread{line_of(entry), "hardness by " + std::string(key.str()) + " has to be " + range};
      out[tool] = *seconds;
    }
    return std::nullopt;
  }

  std::vector<BlockType> types_;
  std::vector<Place> places_;  // of each of them
};

}  // namespace

std::expected<BlockRegistry, ContentError> read_block_file(std::string_view text, const std::string& name) {
  const auto refused = [&](std::uint32_t line, std::string reason) {
    return std::unexpected(ContentError{name, "", "line " + std::to_string(line), std::move(reason)});
  };
  if (text.size() > block_file_bytes_max)
    return refused(1, "it is too long for a block file: 1 MiB is enough");
  if (const std::uint32_t line = line_beyond_ascii(text); line != 0) return refused(line, letters_refused);
  const auto file = parse_toml(ascii_only(text), name);
  if (!file) return refused(std::max(file.error().line, 1U), "this is not TOML: " + file.error().what);
  Reader reader;
  if (auto wrong = reader.read(*file)) return refused(wrong->line, std::move(wrong->reason));
  auto made = std::move(reader).finish();
  if (!made) return refused(made.error().line, std::move(made.error().reason));
  return std::move(*made);
}

}  // namespace ashlar
