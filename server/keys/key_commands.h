#pragma once
#include <span>
#include <string>

#include "server/keys/command_words.h"

namespace ashlar::server {

/// `ashlar-server key new | show`. @param words  behind "key"
CommandResult key_command(std::span<const std::string> words, const CommandWorld& world);

}  // namespace ashlar::server
