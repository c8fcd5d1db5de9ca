#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/math/block_box.h"
#include "world/math/vec.h"
#include "world/voxel/block_registry.h"

namespace ashlar::server {

/// What an operator may type.
enum class ConsoleVerb : std::uint8_t {
  help,
  status,
  players,
  say,
  kick,
  motd,
  noclip,
  reload,
  stop,
  dig,
  set,
  log,
  rollback,
  ban,
  unban,
  bans,
  next,
  map,
  give,
  fill,
  blast,
  spectate,
  play
};

/// A line of the console, understood. What a verb does not need is left empty.
struct ConsoleCommand {
  ConsoleVerb verb{};
  /// Of log and rollback what edit_order.h reads; of motd and say the text; of map its name; of noclip,
  /// spectate and play the player's name, of give likewise; of kick name and reason, see kick_order(); of ban
  /// and unban see ban_order.h.
  std::string argument;
  bool on = false;          ///< of noclip
  IVec3 block{};            ///< of dig, set and blast
  BlockId id{};             ///< of set, give and fill
  std::uint16_t count = 0;  ///< of give: items
  BlockBox box{};           ///< of fill
  double radius_m = 0;      ///< of blast
  friend bool operator==(const ConsoleCommand&, const ConsoleCommand&) = default;
};

/// A line that was typed, or one line that says what is wrong with it. Surrounding blanks do not count.
/// @param blocks  that the world has
std::expected<ConsoleCommand, std::string> parse_console_line(
    std::string_view line, const BlockRegistry& blocks = BlockRegistry::builtin());

/// What `help` answers, in one line.
std::string_view console_help();

/// A name, and what stands behind it.
struct NamedRest {
  std::string name;
  std::string_view rest;  ///< of the text, without blanks around it
};

/// By the names that are there, as names may hold blanks: the longest that the text begins with.
/// @return or one line that says that nobody is called so
std::expected<NamedRest, std::string> split_name(std::string_view text, std::span<const std::string> names);

/// Whom `kick` means.
struct KickOrder {
  std::string name;
  std::string reason;  ///< never empty
};

/// Who is meant and why, by split_name(). @return or its line
std::expected<KickOrder, std::string> kick_order(std::string_view text, std::span<const std::string> names);

/// Reads lines from a descriptor without ever blocking and without changing its flags: a terminal is shared
/// with the shell. In the background of a terminal it leaves the input alone. The end of the input ends the
/// console and nothing else. One thread.
class Console {
 public:
  /// @param descriptor  not owned
  explicit Console(int descriptor) : descriptor_(descriptor) {}

  /// Whole lines that have arrived, without their ends. Of a longer one than line_bytes_max there is
  /// one byte more than that, for which parse_console_line() refuses it.
  /// Cost: one system call while nothing is there.
  std::vector<std::string> poll();
  bool ended() const { return ended_; }  ///< the input is over or cannot be read; for good

  static constexpr std::size_t line_bytes_max = 1024;

 private:
  bool readable() const;

  int descriptor_;
  bool ended_ = false;
  std::string partial_;
};

}  // namespace ashlar::server
