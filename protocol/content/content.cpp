#include "protocol/content/content.h"

#include "protocol/content/effort.h"
#include "protocol/content/map_layout.h"
#include "protocol/content/prop_layout.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

using Bytes = std::expected<std::vector<std::uint8_t>, std::string>;

Bytes encode(const std::shared_ptr<const PlacedMap>& map) {
  ASHLAR_ASSERT(map != nullptr);
  if (auto wrong = too_laborious(map->drawn())) return std::unexpected(std::move(*wrong));
  const auto layout = lay_out(*map);
  if (!layout) return std::unexpected(layout.error());
  return pack(ContentKind::map, *layout);
}

Bytes encode(const std::shared_ptr<const Prop>& prop) {
  ASHLAR_ASSERT(prop != nullptr);
  PropModel corners;  // each triangle with its own
  for (const Triangle& t : prop->mesh().triangles_as_given()) {
    const auto first = static_cast<std::uint32_t>(corners.vertices.size());
    corners.vertices.insert(corners.vertices.end(), {t.a, t.b, t.c});
    corners.triangles.push_back({first, first + 1, first + 2});
  }
  if (auto wrong = too_laborious(corners)) return std::unexpected(std::move(*wrong));
  const auto layout = lay_out(*prop);
  if (!layout) return std::unexpected(layout.error());
  return pack(ContentKind::prop, *layout);
}

std::expected<Content, std::string> decode_map(std::span<const std::uint8_t> layout, bool visibility) {
  auto read = read_map_layout(layout);
  if (!read) return std::unexpected(std::move(read.error()));
  if (auto wrong = too_laborious(read->map)) return std::unexpected(std::move(*wrong));
  read->options.visibility = visibility;
  auto placed = place_map(read->map, read->options);
  if (!placed) return std::unexpected(placed.error().line());
  return std::move(*placed);
}

std::expected<Content, std::string> decode_prop(std::span<const std::uint8_t> layout) {
  const auto read = read_prop_layout(layout);
  if (!read) return std::unexpected(read.error());
  if (auto wrong = too_laborious(read->in_world)) return std::unexpected(std::move(*wrong));
  auto prop = Prop::stand(read->in_world, read->place);
  if (!prop) return std::unexpected(std::move(prop.error()));
  return std::move(*prop);
}

}  // namespace

std::uint64_t content_hash(const Content& content) {
  return std::visit([](const auto& c) { return c->content_hash(); }, content);
}

std::expected<std::vector<std::uint8_t>, std::string> encode_content(const Content& content) {
  auto bytes = std::visit([](const auto& c) { return encode(c); }, content);
  if (bytes) return bytes;
  const std::string& name =
      std::visit([](const auto& c) -> const std::string& { return c->name(); }, content);
  return std::unexpected(name + ": " + bytes.error());
}

std::expected<Content, std::string> decode_content(std::span<const std::uint8_t> bytes, std::uint64_t hash,
                                                   bool visibility) {
  const auto envelope = unpack(bytes);
  if (!envelope) return std::unexpected(envelope.error());
  auto content = envelope->kind == ContentKind::map ? decode_map(envelope->layout, visibility)
                                                    : decode_prop(envelope->layout);
  if (content && content_hash(*content) != hash)
    return std::unexpected("it is not what was asked for: its content differs");
  return content;
}

}  // namespace ashlar
