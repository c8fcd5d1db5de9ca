#include "server/keys/token_commands.h"

#include <array>

namespace ashlar::server {

CommandResult token_command(std::span<const std::string> words, const CommandWorld& world) {
  const std::array<GroupEntry, 2> entries{{{token_mint_table, token_mint}, {token_show_table, token_show}}};
  return run_group("token", entries, words, world);
}

}  // namespace ashlar::server
