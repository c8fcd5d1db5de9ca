#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "server/admin/reply.h"
#include "server/bans/ban_keeper.h"
#include "server/host/host.h"
#include "server/rotation.h"

namespace ashlar::server {

class EditHistory;

/// What the console's orders (admin/console.h) reach. Each may be null: then there are none of their orders.
struct OrderReach {
  MapRotation* rotation = nullptr;
  BanKeeper* bans = nullptr;
  EditHistory* history = nullptr;
};

/// What an order asks of who runs the host.
struct OrderWishes {
  bool status = false;  ///< to be logged now
  bool reload = false;
  bool stop = false;
};

/// Does what a line says, at the console or by an admin in play, and answers it; an empty line is none. The
/// loop's thread, between ticks.
/// @param now     of the host's clock
/// @param unix_s  the time of day
OrderWishes obey(std::string_view line, const OrderReach& reach, Host& host, std::chrono::microseconds now,
                 std::int64_t unix_s, Reply& reply);

}  // namespace ashlar::server
