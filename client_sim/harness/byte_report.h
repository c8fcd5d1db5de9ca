#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "client_sim/harness/byte_meter.h"

namespace ashlar::client_sim {

/// One client's bytes.
struct ClientBytes {
  std::string name;
  double seconds = 0;  ///< that it played
  ByteMeter meter;
};

/// Where the bytes of some clients went. Rates are of one client and second.
struct ByteReport {
  std::vector<ClientBytes> clients;

  /// One line: bytes a second down and up, and the largest uses.
  std::string sum_line() const;
  /// Tables by use, by kind of entity and field, by cell and by client.
  std::string text() const;
  /// The same as a picture, but for cells and clients: a bar for each use and each kind, of its fields.
  std::string svg() const;
};

}  // namespace ashlar::client_sim
