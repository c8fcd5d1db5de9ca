#pragma once
#include "server/keys/command_words.h"

// `ashlar-server world prune | export`.

namespace ashlar::server {

extern const CommandTable world_prune_table, world_export_table;

/// Makes a world's database smaller.
CommandResult world_prune(const CommandWords& words, const CommandWorld& world);
/// Writes some of a world's blocks as a model.
CommandResult world_export(const CommandWords& words, const CommandWorld& world);

}  // namespace ashlar::server
