#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "client_sim/brains/brain.h"
#include "client_sim/harness/content_cache.h"
#include "client_sim/harness/link.h"
#include "client_sim/load/cheating.h"
#include "client_sim/load/credentials.h"
#include "client_sim/load/raid.h"
#include "protocol/datagram.h"

namespace ashlar::client_sim {

inline constexpr std::uint32_t load_clients_max = 4096;

/// What `ashlar-sim load` was asked for.
struct LoadOptions {
  std::string server = "127.0.0.1:7777";
  Transport transport = Transport::udp;
  bool fallback = false;  ///< to TCP where UDP stays silent
  std::uint32_t clients = 32;
  std::uint32_t light = 0;  ///< more of them, that keep no picture of the world
  Micros duration{30'000'000};
  std::uint64_t seed = 1;
  std::vector<std::string> wads;
  std::vector<std::string> props;  ///< OBJ files
  std::string cache;               ///< folder for what is fetched; empty: it is not kept
  std::uint64_t cache_mib = ContentCache::bytes_max_usual >> 20;
  std::string report;              ///< JSON goes here; empty: nowhere
  std::string acts;                ///< what players did to blocks goes here as CSV; empty: nowhere
  std::optional<BrainKind> brain;  ///< of all players; nullopt: a mix
  std::uint32_t joins_per_s = 100;
  std::uint32_t predict = 0;       ///< so many of the clients foresee their players, the first ones
  std::optional<LoadCheat> cheat;  ///< every second client does; nullopt: nobody does
  bool stream_ground = false;      ///< the server sends the clients the ground, but for light ones
  std::uint32_t hostile = 0;       ///< hostile peers beside the clients
  std::uint32_t hostile_datagrams_per_s = 200;
  std::optional<RaidKind>
      raid;  ///< what the hostile peers do; nullopt: they play and do a little of everything
  std::uint32_t chat_every_s = 0;  ///< each client says a line about so often; 0: never
  LinkConditions link;             ///< each way, before the real network
  Credentials credentials;         ///< keys and tokens
  Micros progress{5'000'000};      ///< between progress lines; 0: none
};

/// What came of reading arguments: options to run with, or text to print and the exit code.
struct LoadCommand {
  std::optional<LoadOptions> options;
  std::string text;
  int exit_code = 0;
  std::vector<std::string> notes = {};  ///< a line each: what was given and has no effect
};

/// Reads the arguments behind `ashlar-sim load`. Bad ones give one line and exit code 2.
LoadCommand parse_load(int argc, const char* const* argv);

}  // namespace ashlar::client_sim
