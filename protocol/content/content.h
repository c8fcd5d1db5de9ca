#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "protocol/content/envelope.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"

// Maps and props of a world as bytes that travel: who has them needs no files to play. No WAD and no OBJ
// file, but what the world is made of, and nothing that only eyes would need.

namespace ashlar {

/// A map or a prop where it stands. Never null.
using Content = std::variant<std::shared_ptr<const PlacedMap>, std::shared_ptr<const Prop>>;

/// PlacedMap::content_hash() or Prop::content_hash(): by which welcomes name it.
std::uint64_t content_hash(const Content& content);

/// Content as it travels, at most content_bytes_max. Refused, with a line that begins with its name: what is
/// larger than that, or more than a client would place (effort.h). Cost: 3 to 30 ms for Freedoom's maps.
std::expected<std::vector<std::uint8_t>, std::string> encode_content(const Content& content);

/// Bytes of any origin to the content that has this hash, or a line that says what is wrong. The hash proves
/// that it is what the welcome speaks of, as far as 64 bits without a secret can: who made the hash may have
/// made anything that has it. So all numbers are checked, and the cost is bounded: memory and time of placing
/// are those of a large map or prop (effort.h), tens of milliseconds as a rule. Not in a frame's time.
/// @param visibility  whether a map comes with its visibility set (PlaceOptions::visibility)
std::expected<Content, std::string> decode_content(std::span<const std::uint8_t> bytes, std::uint64_t hash,
                                                   bool visibility = false);

}  // namespace ashlar
