#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "protocol/datagram.h"

namespace ashlar::client_sim {

/// A socket as the system numbers it: a descriptor, or a handle of Windows. What differs between systems is
/// in system_socket_posix.cpp and system_socket_windows.cpp, and nowhere else.
using SystemSocket = std::intptr_t;
inline constexpr SystemSocket no_socket = -1;

/// Why a call had nothing to do or came to nothing.
enum class SocketTrouble : std::uint8_t {
  none,
  wait,      ///< nothing is there, no room is left, or the connection does not stand yet: ask again
  too_long,  ///< a datagram larger than the buffer, which is lost
  refused,   ///< an earlier datagram met nobody
  broken,    ///< all else: a connection is over
};

/// What receiving and sending came to.
struct SocketResult {
  std::size_t bytes = 0;  ///< of a connection: 0 without trouble is its end
  SocketTrouble trouble = SocketTrouble::none;
};

/// A socket that never blocks, on its way to the server: UDP is connected, TCP begins to be.
/// @return or one line saying why not
std::expected<SystemSocket, std::string> connect_system_socket(const PeerAddress& server);
/// Of an open one; 0: not known.
std::uint16_t system_socket_port(SystemSocket socket);
/// Precondition: it is open.
void close_system_socket(SystemSocket socket);

/// One datagram of UDP.
SocketResult receive_datagram(SystemSocket socket, std::span<std::uint8_t> out);
/// What is there of a connection, as far as there is room for it.
SocketResult receive_bytes(SystemSocket socket, std::span<std::uint8_t> out);
/// A datagram, or of a connection as much as the system takes.
SocketResult send_bytes(SystemSocket socket, std::span<const std::uint8_t> bytes);

/// Of one server; of a name that has more the others are never tried.
inline constexpr std::size_t server_addresses_max = 4;

/// Looks a name up, which may take seconds. The port and the transport are left alone.
/// @return its addresses, at least one, in the system's order; or why not, in some words
std::expected<std::vector<PeerAddress>, std::string> look_up_host(const std::string& host);

/// As allow_sockets() in socket.h.
std::expected<void, std::string> raise_socket_limit(std::size_t sockets);

}  // namespace ashlar::client_sim
