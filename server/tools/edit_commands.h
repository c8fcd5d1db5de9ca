#pragma once
#include "server/keys/command_words.h"

// `ashlar-server world log | rollback`.

namespace ashlar::server {

extern const CommandTable world_log_table, world_rollback_table;

/// Who changed what in a world.
CommandResult world_log(const CommandWords& words, const CommandWorld& world);
/// Puts blocks back.
CommandResult world_rollback(const CommandWords& words, const CommandWorld& world);

}  // namespace ashlar::server
