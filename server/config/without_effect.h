#pragma once
#include <string>
#include <vector>

#include "server/config/load.h"

// What was said and changes nothing: told, not fatal.

namespace ashlar::server {

/// A setting that was given a value and has no effect beside the others.
struct WithoutEffect {
  std::string key;
  std::string from;   ///< as in LoadedConfig::origins
  std::string needs;  ///< "it needs --world", say
};

/// In the order of settings(). A value that is the default is nobody's wish.
std::vector<WithoutEffect> without_effect(const LoadedConfig& loaded);

/// What to do about a variable that no setting reads.
std::string variable_remedy(const std::string& variable);

}  // namespace ashlar::server
