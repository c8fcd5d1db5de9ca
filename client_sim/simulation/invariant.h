#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_sim/simulation/config.h"
#include "protocol/recording.h"
#include "server/host/host.h"

namespace ashlar::simulation {

class Match;
class Seat;
struct TrueFrame;

/// What a check found wrong: the first finding ends the run.
struct Finding {
  std::string entity;
  std::string detail;
};

/// Something that must hold in every tick of a simulated match. A room that adds state adds its own:
/// one class, and one line in all_invariants(). Checks read; they change nothing but their own memory.
class Invariant {
 public:
  virtual ~Invariant() = default;
  virtual std::string_view name() const = 0;
  /// A new server begins at tick 0 with nobody in it.
  virtual void on_server_start(const Match&) {}
  /// After a step of the world and before anybody is told of it.
  virtual std::optional<Finding> after_tick(const Match&, const TrueFrame&, const TickRecord&) {
    return std::nullopt;
  }
  /// After server and clients had their time, in a quantum in which a tick was stepped.
  virtual std::optional<Finding> after_clients(const Match&) { return std::nullopt; }
  /// What reached the server in a quantum, and what it sent then.
  virtual std::optional<Finding> on_datagrams(const Match&, const DatagramBatch& /*in*/,
                                              const DatagramBatch& /*out*/) {
    return std::nullopt;
  }
  /// For each event of the server, in order.
  virtual std::optional<Finding> on_event(const Match&, const server::HostEvent&) { return std::nullopt; }
};

/// Every check, in the order in which they are asked.
std::vector<std::unique_ptr<Invariant>> all_invariants();

/// How findings name an entity.
std::string entity_name(EntityId id);
/// "client 3"
std::string seat_name(const Seat& seat);
/// No fault at a client or at the server for so long: then it plays, and hears all that it should.
inline constexpr Micros calm_enough{12'000'000};
bool calm(const Match& match, const Seat& seat, Micros for_so_long = calm_enough);

/// Append the checks of one kind, by what they look at: the world, what clients do and hear, what they
/// picture, the server's books, items, fights, or how sessions come and go. Each list is made in the file of
/// that name (invariants_world.cpp, ...).
void add_world_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_client_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_picture_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_server_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_ground_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_storage_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_item_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_fight_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_session_invariants(std::vector<std::unique_ptr<Invariant>>& out);
void add_false_player_invariants(std::vector<std::unique_ptr<Invariant>>& out);

}  // namespace ashlar::simulation
