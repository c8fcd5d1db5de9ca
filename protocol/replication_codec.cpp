#include "protocol/replication_codec.h"

#include <string>
#include <utility>

#include "protocol/bytes.h"
#include "protocol/standard_layout.h"
#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr std::uint8_t replication_format = 2;
constexpr std::uint8_t signed_flag = 1, interpolated_flag = 2;
constexpr std::uint8_t audience_mask = 3, own_interpolated_flag = 4;

constexpr std::size_t kinds_most = 64;
constexpr std::size_t field_bytes_most = 1 + replicated_name_bytes + 18;
static_assert(4 + standard_field_count * field_bytes_most +
                  kinds_most * (5 + replicated_name_bytes + own_fields_max * field_bytes_most) +
                  2 * game_messages_max * (3 + replicated_name_bytes) <=
              replication_bytes_max);

void write_name(ByteWriter& w, std::string_view name) {
  w.u8(static_cast<std::uint8_t>(name.size()));
  for (const char c : name) w.u8(static_cast<std::uint8_t>(c));
}

bool read_name(ByteReader& r, std::string& name) {
  const std::size_t size = r.u8();
  if (size > replicated_name_bytes) return false;
  name.clear();
  for (std::size_t i = 0; i < size; ++i) name += static_cast<char>(r.u8());
  return r.ok();
}

void write_standard(ByteWriter& w) {
  w.u8(static_cast<std::uint8_t>(standard_field_count));
  for (const StandardFieldTraits& field : standard_fields) {
    write_name(w, field.name);
    w.u8(field.bits);
    w.u8(static_cast<std::uint8_t>((field.is_signed ? signed_flag : 0) |
                                   (field.interpolated ? interpolated_flag : 0)));
    w.f64(field.step);
  }
}

/// Are they the bytes that write_standard() writes?
bool read_standard(ByteReader& r) {
  std::vector<std::uint8_t> ours;
  ByteWriter w(ours);
  write_standard(w);
  for (const std::uint8_t byte : ours)
    if (r.u8() != byte) return false;
  return r.ok();
}

void write_kind(ByteWriter& w, const ReplicatedKind& kind) {
  w.u8(static_cast<std::uint8_t>(kind.first));
  w.u8(static_cast<std::uint8_t>(kind.last));
  write_name(w, kind.name);
  w.u8(kind.motion_predicted ? 1 : 0);
  w.u8(static_cast<std::uint8_t>(kind.fields.size()));
  for (const FieldTraits& field : kind.fields) {
    write_name(w, field.name);
    w.u8(field.bits);
    w.u8(static_cast<std::uint8_t>(static_cast<unsigned>(field.to) |
                                   (field.interpolated ? own_interpolated_flag : 0)));
    w.f64(field.low);
    w.f64(field.step);
  }
}

/// False where bytes are none of a kind; whether its values make sense is not asked.
bool read_kind(ByteReader& r, ReplicatedKind& kind) {
  kind.first = static_cast<EntityKind>(r.u8());
  kind.last = static_cast<EntityKind>(r.u8());
  if (!read_name(r, kind.name)) return false;
  const std::uint8_t predicted = r.u8();
  kind.motion_predicted = predicted == 1;
  const std::size_t fields = r.u8();
  if (predicted > 1 || fields > own_fields_max) return false;
  for (std::size_t i = 0; i < fields; ++i) {
    FieldTraits& field = kind.fields.emplace_back();
    if (!read_name(r, field.name)) return false;
    field.bits = r.u8();
    const std::uint8_t flags = r.u8();
    if (flags > (audience_mask | own_interpolated_flag)) return false;
    field.to = static_cast<FieldAudience>(flags & audience_mask);
    field.interpolated = (flags & own_interpolated_flag) != 0;
    field.low = r.f64();
    field.step = r.f64();
  }
  return r.ok();
}

}  // namespace

std::vector<std::uint8_t> encode_replication(const ReplicationRegistry& registry) {
  std::vector<std::uint8_t> out;
  ByteWriter w(out);
  w.u8(replication_format);
  write_standard(w);
  w.u8(static_cast<std::uint8_t>(registry.kinds().size()));
  for (const ReplicatedKind& kind : registry.kinds()) write_kind(w, kind);
  for (const auto messages : {registry.messages(), registry.client_messages()}) {
    w.u8(static_cast<std::uint8_t>(messages.size()));
    for (const MessageTraits& message : messages) {
      write_name(w, message.name);
      w.u16(message.bytes_max);
    }
  }
  ASHLAR_ASSERT(out.size() <= replication_bytes_max);
  return out;
}

std::expected<std::shared_ptr<const ReplicationRegistry>, ReplicationError> decode_replication(
    std::span<const std::uint8_t> bytes) {
  const auto refused = [](const ByteReader& r, ReplicationError why) {
    return std::unexpected(r.ok() ? why : ReplicationError::cut);
  };
  ByteReader r(bytes);
  if (r.u8() != replication_format) return std::unexpected(ReplicationError::format);
  if (!read_standard(r)) return refused(r, ReplicationError::standard);
  std::vector<ReplicatedKind> kinds(r.u8());
  for (ReplicatedKind& kind : kinds)
    if (!read_kind(r, kind)) return refused(r, ReplicationError::kinds);
  std::array<std::vector<MessageTraits>, 2> messages;  // of the game, and of its clients
  for (std::vector<MessageTraits>& list : messages) {
    list.resize(r.u8());
    for (MessageTraits& message : list) {
      if (!read_name(r, message.name)) return refused(r, ReplicationError::kinds);
      message.bytes_max = r.u16();
    }
  }
  if (!r.ok() || !r.at_end()) return std::unexpected(ReplicationError::cut);
  auto registry =
      ReplicationRegistry::checked(std::move(kinds), std::move(messages[0]), std::move(messages[1]));
  if (!registry) return std::unexpected(ReplicationError::kinds);
  if (!registry->extended()) return ReplicationRegistry::builtin_ptr();
  return std::make_shared<const ReplicationRegistry>(std::move(*registry));
}

std::uint64_t replication_hash(const ReplicationRegistry& registry) {
  Hasher hash;
  hash.add_bytes(encode_replication(registry));
  return hash.value();
}

}  // namespace ashlar
