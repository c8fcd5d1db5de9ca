#pragma once
#include <expected>
#include <functional>
#include <string>

#include "client_sim/client/client.h"
#include "client_sim/harness/content_library.h"
#include "client_sim/load/options.h"
#include "client_sim/load/report.h"

namespace ashlar::client_sim {

/// What a load run does outside itself.
struct LoadHooks {
  std::function<void(const std::string&)> line;  ///< a line of progress
  std::function<bool()> stop;                    ///< true: end now, with the report
  /// What is shown the messages of a client, by its number, from 0; may be empty, and give null.
  std::function<ClientTap*(std::uint32_t)> tap;
  /// Called for each at the end, with how long it played; may be empty.
  std::function<void(std::uint32_t, const ClientStats&, Micros)> played;
};

/// Plays against a real server with sockets and the real clock, until the time is over or everyone has ended,
/// then says goodbye. One thread, which wakes every 2 ms: a load generator that sleeps in the kernel until a
/// packet comes would make each of the server's sends pay for waking it.
/// @return or one line saying what is missing (an address, sockets)
std::expected<LoadReport, std::string> run_load(const LoadOptions& options, ContentLibrary& content,
                                                const LoadHooks& hooks);

/// `ashlar-sim load`: arguments behind the word, output to stdout, errors to stderr. @return the exit code
int load_main(int argc, const char* const* argv);

}  // namespace ashlar::client_sim
