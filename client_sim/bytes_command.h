#pragma once

namespace ashlar::client_sim {

/// `ashlar-sim bytes`: arguments behind the word, tables to stdout, errors to stderr. @return the exit code
int bytes_main(int argc, const char* const* argv);

}  // namespace ashlar::client_sim
