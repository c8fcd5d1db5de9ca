#include "protocol/message_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "protocol/schema/client_message_generated.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// A packet, the largest scalar's alignment and the builder's scratch room.
constexpr std::size_t builder_bytes = 2 * datagram_bytes_max;

std::int8_t axis_steps(double axis) {
  ASHLAR_ASSERT(axis >= -1 && axis <= 1);
  return static_cast<std::int8_t>(std::floor(axis * 127 + 0.5));
}

flatbuffers::Offset<wire::Rules> add_rules(flatbuffers::FlatBufferBuilder& fbb, const Rules& r) {
  wire::RulesBuilder out(fbb);
  // The table's fields are those of the list, one after the other, and all are written.
  flatbuffers::voffset_t field = wire::Rules::VT_TICK_RATE_HZ;
  visit_rules(r, [&](const RuleInfo&, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
      fbb.AddElement(field, static_cast<std::uint8_t>(value));
    else
      fbb.AddElement(field, value);
    field = static_cast<flatbuffers::voffset_t>(field + sizeof(flatbuffers::voffset_t));
  });
  ASHLAR_ASSERT(field == wire::Rules::VT_RESPAWN_S + sizeof(flatbuffers::voffset_t));
  return out.Finish();
}

}  // namespace

struct MessageWriter::Impl {
  flatbuffers::FlatBufferBuilder fbb{builder_bytes};
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> padded{};

  template <class Table>
  void finish_client(wire::ClientBody type, flatbuffers::Offset<Table> body) {
    fbb.Finish(wire::CreateClientMessage(fbb, type, body.Union()), wire::ClientMessageIdentifier());
  }

  template <class Table>
  void finish_server(wire::ServerBody type, flatbuffers::Offset<Table> body) {
    fbb.Finish(wire::CreateServerMessage(fbb, type, body.Union()), wire::ServerMessageIdentifier());
  }

  /// The builder grows towards the front, so the header is simply the last thing pushed.
  std::span<const std::uint8_t> packet(const PacketHeader& header) {
    const auto bytes = encode(header);
    fbb.PushBytes(bytes.data(), bytes.size());
    ASHLAR_ASSERT(fbb.GetSize() <= datagram_bytes_max);
    seal({fbb.GetBufferPointer(), fbb.GetSize()});
    return {fbb.GetBufferPointer(), fbb.GetSize()};
  }

  /// The same, filled up with zeros.
  std::span<const std::uint8_t> padded_packet(const PacketHeader& header, std::size_t size) {
    const auto bytes = packet(header);
    ASHLAR_ASSERT(bytes.size() <= size);
    padded.fill(0);
    std::copy(bytes.begin(), bytes.end(), padded.begin());
    const std::span<std::uint8_t> whole = std::span(padded).first(size);
    seal(whole);
    return whole;
  }

  flatbuffers::Offset<flatbuffers::String> string(std::string_view text) {
    return fbb.CreateString(text.data(), text.size());
  }

  void build(const Welcome& m) {
    fbb.Clear();
    std::array<flatbuffers::Offset<wire::PlacedMap>, placed_maps_max> maps;
    for (std::size_t i = 0; i < m.maps.size(); ++i) {
      const WelcomeMap& map = m.maps[i];
      ASHLAR_ASSERT(valid_text(map.name, 1, map_name_bytes_max));
      const auto map_name = string(map.name);
      maps[i] = wire::CreatePlacedMap(fbb, map_name, map.content_hash, map.origin_block.x, map.origin_block.y,
                                      map.surface_z, map.flags);
    }
    const auto map_list = fbb.CreateVector(maps.data(), m.maps.size());
    const auto rules = add_rules(fbb, m.rules);
    const auto motd = string(m.motd);
    std::array<flatbuffers::Offset<flatbuffers::String>, placed_props_max> name_list;
    std::array<wire::PlacedProp, placed_props_max> prop_list;
    std::array<std::string_view, placed_props_max> known;
    std::size_t name_count = 0;
    for (std::size_t i = 0; i < m.props.size(); ++i) {
      const WelcomeProp& prop = m.props[i];
      ASHLAR_ASSERT(valid_text(prop.name, 1, prop_name_bytes_max));
      std::size_t at = 0;
      while (at < name_count && known[at] != prop.name) ++at;
      if (at == name_count) {
        known[name_count] = prop.name;
        name_list[name_count++] = string(prop.name);
      }
      const DVec3 p = prop.place.position_m;
      prop_list[i] = wire::PlacedProp(prop.content_hash, p.x, p.y, p.z, static_cast<float>(prop.place.scale),
                                      static_cast<std::uint16_t>(prop.place.yaw),
                                      static_cast<std::uint8_t>(at), prop.up == ModelUp::z ? 1 : 0);
    }
    const auto props = m.props.empty() ? 0 : fbb.CreateVectorOfStructs(prop_list.data(), m.props.size());
    const auto names = m.props.empty() ? 0 : fbb.CreateVector(name_list.data(), name_count);
    finish_server(
        wire::ServerBody::Welcome,
        wire::CreateWelcome(fbb, m.nonce, m.connection, static_cast<std::uint32_t>(m.player), m.seed, m.tick,
                            m.snapshot_every_ticks, rules, map_list, motd, props, names));
  }
};

MessageWriter::MessageWriter() : impl_(std::make_unique<Impl>()) {}
MessageWriter::~MessageWriter() = default;
MessageWriter::MessageWriter(MessageWriter&&) noexcept = default;
MessageWriter& MessageWriter::operator=(MessageWriter&&) noexcept = default;

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Hello& m) {
  ASHLAR_ASSERT(valid_player_name(m.name));
  ASHLAR_ASSERT(valid_text(m.build, 0, build_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto player_name = impl_->string(m.name);
  const auto build = impl_->string(m.build);
  impl_->finish_client(wire::ClientBody::Hello,
                       wire::CreateHello(fbb, m.protocol, m.nonce, player_name, build));
  return impl_->padded_packet(header, datagram_bytes_max);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Join& m) {
  ASHLAR_ASSERT(m.content_count <= join_content_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto content = fbb.CreateVector(m.content.data(), m.content_count);
  impl_->finish_client(wire::ClientBody::Join, wire::CreateJoin(fbb, content));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Input& m) {
  ASHLAR_ASSERT(m.command_count >= 1 && m.command_count <= input_commands_max);
  auto& fbb = impl_->fbb;
  fbb.Clear();
  std::array<wire::Command, input_commands_max> commands;
  for (std::size_t i = 0; i < m.command_count; ++i) {
    const PlayerCommand& c = m.commands[i];
    commands[i] = wire::Command(static_cast<std::uint16_t>(c.yaw), static_cast<std::int16_t>(c.pitch),
                                c.buttons, seen_age(c.seen, m.newest_tick - static_cast<std::uint32_t>(i)),
                                axis_steps(c.forward), axis_steps(c.left));
  }
  const auto list = fbb.CreateVectorOfStructs(commands.data(), m.command_count);
  impl_->finish_client(wire::ClientBody::Input,
                       wire::CreateInput(fbb, m.newest_tick, m.snapshot_tick, m.chat_seen, list));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Chat& m) {
  ASHLAR_ASSERT(m.number >= 1);
  ASHLAR_ASSERT(valid_text(m.text, 1, chat_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto text = impl_->string(m.text);
  impl_->finish_client(wire::ClientBody::Chat, wire::CreateChat(fbb, m.number, text));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Leave& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_client(wire::ClientBody::Leave,
                       wire::CreateLeave(fbb, static_cast<wire::LeaveReason>(m.reason)));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Welcome& m) {
  ASHLAR_ASSERT(m.connection != 0);
  ASHLAR_ASSERT(m.maps.size() <= placed_maps_max);
  ASHLAR_ASSERT(m.props.size() <= placed_props_max);
  ASHLAR_ASSERT(valid_text(m.motd, 0, motd_bytes_max));
  impl_->build(m);
  return impl_->packet(header);
}

std::size_t MessageWriter::bytes_of(const Welcome& m) {
  impl_->build(m);
  return impl_->fbb.GetSize() + packet_header_bytes;
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Refuse& m) {
  ASHLAR_ASSERT(valid_text(m.text, 0, reason_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto text = impl_->string(m.text);
  impl_->finish_server(wire::ServerBody::Refuse,
                       wire::CreateRefuse(fbb, m.nonce, static_cast<wire::RefuseReason>(m.reason), text));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const ChatLine& m) {
  ASHLAR_ASSERT(m.number >= 1);
  ASHLAR_ASSERT(m.from.empty() || valid_player_name(m.from));
  ASHLAR_ASSERT(valid_text(m.text, 1, chat_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto from = impl_->string(m.from);
  const auto text = impl_->string(m.text);
  impl_->finish_server(wire::ServerBody::ChatLine, wire::CreateChatLine(fbb, m.number, from, text));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Goodbye& m) {
  ASHLAR_ASSERT(valid_text(m.text, 0, reason_bytes_max));
  auto& fbb = impl_->fbb;
  fbb.Clear();
  const auto text = impl_->string(m.text);
  impl_->finish_server(wire::ServerBody::Goodbye,
                       wire::CreateGoodbye(fbb, static_cast<wire::GoodbyeReason>(m.reason), text));
  return impl_->packet(header);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Ping& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_client(wire::ClientBody::Ping, wire::CreatePing(fbb, m.nonce));
  return impl_->padded_packet(header, ping_bytes);
}

std::span<const std::uint8_t> MessageWriter::write(const PacketHeader& header, const Pong& m) {
  auto& fbb = impl_->fbb;
  fbb.Clear();
  impl_->finish_server(wire::ServerBody::Pong,
                       wire::CreatePong(fbb, m.nonce, m.tick, m.clients, m.clients_max));
  const auto packet = impl_->packet(header);
  ASHLAR_ASSERT(packet.size() <= ping_bytes);
  return packet;
}

}  // namespace ashlar
