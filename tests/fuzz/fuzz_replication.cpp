// A client must survive any server: what its world tells of kinds, then parts of snapshots of both encodings
// that are read by that.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/decode.h"
#include "protocol/replication_codec.h"

using namespace ashlar;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const client_sim::KnownFields& known, FieldAudience to, const ReplicationRegistry& registry) {
  const ReplicatedKind* const kind = registry.find(known.kind);
  expect(kind != nullptr && known.before_tick <= known.tick);
  for (std::size_t f = 0; f < kind->fields.size(); ++f) {
    const FieldTraits& field = kind->fields[f];
    if (field.to != to) continue;
    expect(field.bits == 32 || known.values[f] >> field.bits == 0);
    const double shown = known.at(field, f, 0.5 * known.tick + 0.5 * known.before_tick);
    expect(shown - shown == 0);
  }
}

/// The next stretch, which has its length in front: a byte and another's four low bits.
std::vector<std::uint8_t> next(const std::uint8_t* data, std::size_t size, std::size_t& at) {
  const std::size_t wanted = data[at] | (data[at + 1] & 15u) << 8;
  at += 2;
  const std::size_t length = wanted < size - at ? wanted : size - at;
  at += length;
  return {data + at - length, data + at};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  if (size < 2) return 0;
  const auto made = decode_replication(next(data, size, at));
  if (!made) return 0;
  const ReplicationRegistry& registry = **made;
  const auto again = decode_replication(encode_replication(registry));
  expect(again.has_value() && **again == registry);

  client_sim::View view;
  client_sim::PackedMemory memory;
  view.reset(60);
  memory.reset(60, 1, *made);
  std::vector<client_sim::ViewEntity> seen;
  while (at + 2 <= size) {
    const std::vector<std::uint8_t> bytes = next(data, size, at);
    if (auto reader = PackedPartReader::open(bytes)) {
      SnapshotPart part;
      if (memory.take(*reader, view, part)) view.take(part);
    } else if (const auto message = decode_server_message(bytes)) {
      SnapshotPart part;
      if (const auto* plain = std::get_if<PlainPart>(&*message))
        if (memory.take(*plain, view, part)) view.take(part);
    }
    view.entities(seen);
    for (const client_sim::ViewEntity& e : seen) {
      client_sim::KnownFields known;
      for (const FieldAudience to : {FieldAudience::all, FieldAudience::owner, FieldAudience::team})
        if (memory.find_fields(e.record.id, to, known)) check(known, to, registry);
    }
  }
  return 0;
}
