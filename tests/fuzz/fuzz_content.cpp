// Any bytes as content of a world. The first byte says how they are taken: as a whole envelope, or as the
// layout of a map or a prop, which get into no envelope by chance. What reads is checked, and placed where it
// is small.
#include <cstdlib>

#include "protocol/content/content.h"
#include "protocol/content/effort.h"
#include "protocol/content/map_layout.h"
#include "protocol/content/prop_layout.h"

namespace {

using namespace ashlar;

void one_line(const std::string& text) {
  if (text.empty() || text.find('\n') != std::string::npos) std::abort();
}

void check_again(const Content& content) {
  const auto bytes = encode_content(content);
  if (!bytes) return one_line(bytes.error());
  const auto again = decode_content(*bytes, content_hash(content));
  if (!again) std::abort();
}

void take_map(std::span<const std::uint8_t> layout) {
  const auto read = read_map_layout(layout);
  if (!read) return one_line(read.error());
  if (read->map.lines.size() > 100 || too_laborious(read->map)) return;
  const auto placed = place_map(read->map, read->options);
  if (!placed) return one_line(placed.error().line());
  if (content_hash((*placed)->drawn()) != content_hash(read->map)) std::abort();
  check_again(*placed);
}

void take_prop(std::span<const std::uint8_t> layout) {
  const auto read = read_prop_layout(layout);
  if (!read) return one_line(read.error());
  for (const auto& triangle : read->in_world.triangles)
    for (const std::uint32_t corner : triangle)
      if (corner >= read->in_world.vertices.size()) std::abort();
  if (read->in_world.triangles.size() > 50 || too_laborious(read->in_world)) return;
  const auto prop = Prop::stand(read->in_world, read->place);
  if (!prop) return one_line(prop.error());
  check_again(*prop);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      if (const auto envelope = unpack(bytes); !envelope)
        one_line(envelope.error());
      else if (envelope->kind == ContentKind::map)
        take_map(envelope->layout);
      else
        take_prop(envelope->layout);
      break;
    case 1: take_map(bytes); break;
    default: take_prop(bytes); break;
  }
  return 0;
}
