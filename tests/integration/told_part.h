#pragma once
#include <span>
#include <variant>
#include <vector>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/decode.h"
#include "protocol/snapshot/packed_part.h"
#include "tests/catch.h"

namespace ashlar::testing {

/// A client takes in a part of a snapshot in an encoding that it asked for. @return its head
inline PartHead told_part(std::span<const std::uint8_t> bytes, SnapshotEncoding encoding,
                          client_sim::PackedMemory& memory, client_sim::View& view) {
  const std::vector<std::uint8_t> aligned(bytes.begin(), bytes.end());  // as FlatBuffers want them
  SnapshotPart told;
  if (encoding == SnapshotEncoding::packed) {
    auto reader = PackedPartReader::open(aligned);
    REQUIRE(reader);
    REQUIRE(memory.take(*reader, view, told));
  } else {
    const auto message = decode_server_message(aligned);
    REQUIRE(message.has_value());
    REQUIRE(memory.take(std::get<PlainPart>(*message), view, told));
  }
  view.take(told);
  return told;
}

}  // namespace ashlar::testing
