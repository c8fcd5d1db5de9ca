#pragma once
#include <span>
#include <string>

#include "server/keys/command_words.h"

namespace ashlar::server {

/// `ashlar-server token mint | show`. @param words  behind "token"
CommandResult token_command(std::span<const std::string> words, const CommandWorld& world);

/// `token mint` and `token show`, for token_command.
extern const CommandTable token_mint_table;
CommandResult token_mint(const CommandWords& words, const CommandWorld& world);
extern const CommandTable token_show_table;
CommandResult token_show(const CommandWords& words, const CommandWorld& world);

}  // namespace ashlar::server
