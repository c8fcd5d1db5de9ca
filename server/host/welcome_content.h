#pragma once
#include <expected>
#include <string>

#include "protocol/messages.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Names maps and props of a world in a welcome: what a client needs to place the same ones.
void add_content(const WorldSetup& setup, Welcome& welcome);

/// Can every welcome to this world be sent, whatever the message of the day? @return or one line that says
/// by how much maps and props are too many
std::expected<void, std::string> check_welcome(const WorldSetup& setup);

}  // namespace ashlar::server
