#pragma once
#include <span>
#include <string>

#include "server/keys/command_words.h"

namespace ashlar::server {

/// `ashlar-server world info | check | backup | restore | salvage | log | rollback | prune |
/// export`. @param words  behind "world"
CommandResult world_command(std::span<const std::string> words, const CommandWorld& world);

}  // namespace ashlar::server
