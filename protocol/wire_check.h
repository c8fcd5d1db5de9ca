#pragma once
#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "protocol/drop_reason.h"
#include "protocol/messages.h"
#include "world/math/assert.h"

// Shared by the decoders alone; brings FlatBuffers with it.

namespace ashlar {

inline constexpr flatbuffers::uoffset_t verify_depth_max = 8;
inline constexpr flatbuffers::uoffset_t verify_tables_max = 80;  // a score of 64 rows

/// The verified root of a buffer with the identifier, or malformed / too_long.
template <class Root>
std::expected<const Root*, DropReason> verified_root(std::span<const std::uint8_t> payload,
                                                     const char* identifier) {
  ASHLAR_ASSERT(reinterpret_cast<std::uintptr_t>(payload.data()) % 8 == 0);
  if (payload.size() > message_bytes_max) return std::unexpected{DropReason::too_long};
  flatbuffers::Verifier verifier(payload.data(), payload.size(), verify_depth_max, verify_tables_max);
  if (!verifier.VerifyBuffer<Root>(identifier)) return std::unexpected{DropReason::malformed};
  return flatbuffers::GetRoot<Root>(payload.data());
}

/// A missing string reads as an empty one; what must not be empty is refused for its length.
inline std::string_view view(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text->c_str(), text->size()};
}

}  // namespace ashlar
