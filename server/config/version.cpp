#include "server/config/version.h"

#include "protocol/version.h"

namespace ashlar::server {

std::string version() { return ASHLAR_VERSION; }

std::string version_text() {
  return "ashlar-server " + version() + " (protocol " + std::to_string(protocol_version) + ", " +
#ifdef __clang__
         "clang " __clang_version__
#else
         "g++ " __VERSION__
#endif
         + ")";
}

}  // namespace ashlar::server
