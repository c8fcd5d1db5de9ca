#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/protocol/wire_page.h"

// The page's examples as our code says them today.

namespace ashlar::wire_page {

/// A heading of WIRE.md and the bytes below it.
using Example = std::pair<std::string, Bytes>;

/// One message of each kind.
std::vector<Example> messages_today();

/// A session between two ends whose secrets are known, and what is said outside of one.
/// @param hello    messages that travel in it, as bytes
std::vector<Example> packets_today(const Bytes& hello, const Bytes& welcome, const Bytes& input);

/// One of a list.
const Bytes& find_example(const std::vector<Example>& all, const std::string& heading);

}  // namespace ashlar::wire_page
