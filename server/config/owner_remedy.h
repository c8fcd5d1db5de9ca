#pragma once
#include <string>

namespace ashlar::server {

/// What to do about a folder or file that may not be read or written: whose it is and whom the server runs
/// as, with the command that mends it. Begins with "; ". Empty for errors other than EACCES and EPERM.
std::string owner_remedy(const std::string& path, int error);

}  // namespace ashlar::server
