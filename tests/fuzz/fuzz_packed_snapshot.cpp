// A client must survive any server: parts of snapshots of both encodings one after the other, each built on
// those before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "client_sim/client/cue_inbox.h"
#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/decode.h"
#include "protocol/snapshot/cue_codec.h"

using namespace ashlar;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const client_sim::View& view, const client_sim::PackedMemory& memory) {
  expect(memory.entity_count() <= client_sim::PackedMemory::entities_max);
  expect(memory.state_count() <= client_sim::PackedMemory::states_max);
  std::vector<client_sim::ViewEntity> seen;
  view.entities(seen);
  for (const auto& e : seen) expect(is_finite(e.position_m) && e.record.id != EntityId{});
  for (const client_sim::ViewCell& cell : view.cells()) {
    expect(cell.now.entities.size() <= block_entities_max);
    for (std::size_t i = 1; i < cell.now.entities.size(); ++i)
      expect(cell.now.entities[i - 1].id < cell.now.entities[i].id);
  }
}

}  // namespace

/// Each part has its length in front, a byte and another's two low bits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  client_sim::View view;
  client_sim::PackedMemory memory;
  view.reset(60);
  memory.reset(60, 1);
  OwnPlayer own;
  own.id = make_entity_id(0, 1);
  memory.foresee(100, own);
  client_sim::CueInbox inbox;
  for (std::size_t at = 0; at + 2 <= size;) {
    const std::size_t wanted = data[at] | (data[at + 1] & 3u) << 8;
    at += 2;
    const std::size_t length = wanted < size - at ? wanted : size - at;
    const std::vector<std::uint8_t> bytes(data + at, data + at + length);
    at += length;
    SnapshotPart part;
    if (auto reader = PackedPartReader::open(bytes)) {
      if (!memory.take(*reader, view, part)) continue;
    } else {
      const auto message = decode_server_message(bytes);
      const auto* plain = message ? std::get_if<PlainPart>(&*message) : nullptr;
      if (plain == nullptr || !memory.take(*plain, view, part)) continue;
      expect(part.part < part.part_count && part.cues.size() <= cues_max);
      if (part.own) expect(own_sane(*part.own));
      view.take(part);
      check(view, memory);
      continue;  // its cues live as long as the message
    }
    expect(part.part < part.part_count);
    expect(part.cues.size() <= cues_max && std::ranges::all_of(part.cues, cue_sane));
    inbox.take_in(part.tick, part.part, part.cues);
    expect(inbox.take().size() <= client_sim::CueInbox::kept_max);
    if (part.own) expect(own_sane(*part.own));
    view.take(part);
    check(view, memory);
  }
  return 0;
}
