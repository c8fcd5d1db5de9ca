#include "client_sim/simulation/invariant.h"

#include <algorithm>
#include <cstdio>

#include "client_sim/simulation/match.h"
#include "client_sim/simulation/seat.h"

namespace ashlar::simulation {

std::string entity_name(EntityId id) {
  char text[32];
  std::snprintf(text, sizeof text, "entity 0x%08x", static_cast<unsigned>(id));
  return text;
}

std::string seat_name(const Seat& seat) { return "client " + std::to_string(seat.number()); }

bool calm(const Match& match, const Seat& seat, Micros for_so_long) {
  const Micros since = std::max(seat.calm_since(), match.server_calm_since());
  return since != Micros::max() && match.now() - since > for_so_long;
}

std::vector<std::unique_ptr<Invariant>> all_invariants() {
  std::vector<std::unique_ptr<Invariant>> out;
  add_world_invariants(out);
  add_client_invariants(out);
  add_picture_invariants(out);
  add_server_invariants(out);
  add_ground_invariants(out);
  add_item_invariants(out);
  add_storage_invariants(out);
  add_fight_invariants(out);
  add_session_invariants(out);
  add_false_player_invariants(out);
  return out;
}

}  // namespace ashlar::simulation
