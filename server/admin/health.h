#pragma once
#include <chrono>
#include <expected>
#include <string>

#include "protocol/datagram.h"

namespace ashlar::server {

/// Asks a server over UDP whether it answers: a ping, repeated while nothing comes. It takes no place there
/// and is answered whatever else the server has to refuse, so a full one is a healthy one; one that is
/// shutting down or speaks another protocol does not answer. Blocks for at most `patience`; a machine that
/// says that nobody listens there (ICMP) ends it at once.
/// @return one line either way: what the server said, or why it does not count
std::expected<std::string, std::string> ask_health(const PeerAddress& server,
                                                   std::chrono::milliseconds patience);

}  // namespace ashlar::server
