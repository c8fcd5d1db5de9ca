#include "client_sim/brains/false_player.h"

#include <algorithm>
#include <string>
#include <variant>

#include "protocol/decode.h"
#include "protocol/little_endian.h"
#include "protocol/snapshot/packed_part.h"
#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros handshake_patience{2'000'000}, silence_patience{3'000'000}, rest{500'000};
constexpr Micros say_every{16'666};
constexpr std::uint32_t rate_hz = 60;     // commands a second: near enough for who cheats anyway
constexpr std::uint32_t lead_ticks = 12;  // of them before they are due, whatever the path
constexpr std::uint8_t commands_said = 3;
constexpr std::size_t ranges_said = 12;
/// One packet in so many names some that were never sent, which no session survives.
constexpr std::uint32_t beyond_one_in = 512;

}  // namespace

FalsePlayer::FalsePlayer(std::uint64_t seed, const PeerAddress& server, FalseAcks acks)
    : rng_(rng_for(seed, 0xfa15e)),
      entropy_(rng_.next_u64()),
      identity_(secure::key_pair(entropy_.secret())),
      server_(server),
      acks_(acks),
      packed_(rng_.below(2) == 0),
      feet_(rng_.next_u64()) {}

void FalsePlayer::shake_hands(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  if (!handshake_ && now >= next_try_) {
    secure::ClientHandshakeSetup setup;
    setup.version = protocol_version;
    setup.identity = identity_;
    handshake_.emplace(setup, entropy_, now);
    begun_ = now;
  }
  if (!handshake_) return;
  for (const DatagramBatch::Entry& entry : in.entries())
    if (entry.peer == server_) handshake_->receive(in.bytes(entry), now);
  if (handshake_->step() == secure::ClientStep::server_known) {
    Hello hello;
    hello.name = "false " + std::to_string(rng_.below(100'000));
    hello.takes_packed = packed_;
    handshake_->finish(writer_.write(hello), now);
  }
  for (auto packet = handshake_->packet_due(now); !packet.empty(); packet = handshake_->packet_due(now))
    out.add(server_, packet);
  if (handshake_->step() == secure::ClientStep::done) begin_session(now);
  if (secure::ended(handshake_->step()) || now - begun_ > handshake_patience) {
    handshake_.reset();
    next_try_ = now + rest;
  }
}

void FalsePlayer::begin_session(Micros now) {
  ++sessions_;
  protection_.emplace(handshake_->keys(), secure::End::client, now);
  control_.emplace(StreamId::control, client_stream_windows[row(StreamId::control)]);
  since_ = heard_at_ = next_say_ = now;
  sequence_ = highest_ = bytes_in_ = 0;
  tick_ = 0;
  joins_.clear();
  joined_ = true;
}

void FalsePlayer::end_session(Micros now) {
  protection_.reset();
  control_.reset();
  tick_ = 0;
  next_try_ = now + rest;
}

void FalsePlayer::receive(Micros now, std::span<const std::uint8_t> packet) {
  const auto header = protection_->peek(packet);
  if (!header) return;
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> scratch;
  const auto size = protection_->open(packet, *header, std::span(scratch).subspan(plaintext_begin));
  if (!size) return;
  highest_ = std::max(highest_, header->sequence);
  bytes_in_ += packet.size();
  heard_at_ = now;
  FrameReader frames(std::span<const std::uint8_t>(scratch).subspan(plaintext_begin, *size));
  Frame frame;
  while (frames.next(frame))
    if (!hear(now, frame)) return end_session(now);
}

/// @return false: the server ended the session
bool FalsePlayer::hear(Micros now, const Frame& frame) {
  if (std::holds_alternative<CloseFrame>(frame)) return false;
  if (const auto* ack = std::get_if<AckFrame>(&frame)) protection_->confirmed(ack->ranges[0].last);
  if (const auto* stream = std::get_if<StreamFrame>(&frame); stream != nullptr)
    if (stream->stream == StreamId::control) control_->accept(stream->offset, stream->bytes), hear_control();
  if (const auto* reset = std::get_if<StreamResetFrame>(&frame); reset != nullptr)
    if (reset->stream == StreamId::control) control_->reset(reset->offset);
  if (const auto* said = std::get_if<UnreliableFrame>(&frame)) hear_unreliable(now, said->message);
  return true;
}

/// Holds whatever a welcome names, it says.
void FalsePlayer::hear_control() {
  while (control_->take(message_)) {
    const auto message = decode_server_message(message_);
    const auto* welcome = message ? std::get_if<Welcome>(&*message) : nullptr;
    if (welcome == nullptr) continue;
    Join join;
    world_ = join.world = welcome->world;
    for (const WelcomeMap& map : welcome->maps) join.content.push_back(map.content_hash);
    for (const WelcomeProp& prop : welcome->props) join.content.push_back(prop.content_hash);
    const auto bytes = writer_.write(join);
    const std::size_t at = joins_.size();
    joins_.resize(at + message_prefix_bytes + bytes.size());
    put_little(&joins_[at], static_cast<std::uint32_t>(bytes.size()));
    std::ranges::copy(bytes, joins_.begin() + static_cast<std::ptrdiff_t>(at + message_prefix_bytes));
    joined_ = false;
    tick_ = 0;
  }
}

void FalsePlayer::hear_unreliable(Micros now, std::span<const std::uint8_t> message) {
  std::uint32_t tick = 0;
  std::uint8_t world = world_;
  if (is_packed_part(message)) {
    const auto part = PackedPartReader::open(message);
    if (part) tick = part->head().tick, world = part->head().world;
  } else if (const auto decoded = decode_server_message(message)) {
    const auto* part = std::get_if<PlainPart>(&*decoded);
    if (part != nullptr) tick = part->tick, world = part->world;
  }
  if (tick <= tick_ || world != world_) return;
  tick_ = tick;
  tick_at_ = now;
  joined_ = true;
}

void FalsePlayer::say_acks(FrameWriter& frames) {
  if (acks_ == FalseAcks::none || highest_ == 0) return;
  if (rng_.below(beyond_one_in) == 0) {
    const AckRange never[] = {{highest_ + 1'000'000, highest_ + 1'000'000}};
    frames.ack(never, 0, frames.left());
    return;
  }
  std::array<AckRange, ranges_said> ranges;
  std::size_t count = 0;
  std::uint64_t last = highest_ - std::min<std::uint64_t>(highest_ - 1, rng_.below(4));
  while (count < ranges.size()) {
    const std::uint64_t first = last - std::min<std::uint64_t>(last - 1, rng_.below(6));
    ranges[count++] = {first, last};
    const std::uint64_t gap = 2 + rng_.below(4);
    if (first <= gap) break;
    last = first - gap;
  }
  frames.ack(std::span(ranges).first(count), rng_.below(50'000), frames.left() / 2);
}

/// Again and again, as it takes nobody's word for what arrived.
void FalsePlayer::say_join(FrameWriter& frames) {
  for (std::size_t at = 0; !joined_ && at < joins_.size();) {
    const std::size_t bytes = std::min(frames.stream_room(at), joins_.size() - at);
    if (bytes == 0) return;
    std::ranges::copy(std::span(joins_).subspan(at, bytes),
                      frames.stream(StreamId::control, at, bytes).begin());
    at += bytes;
  }
}

std::span<const std::uint8_t> FalsePlayer::input(Micros now) {
  Input input;
  input.world = world_;
  input.snapshot_tick = tick_;
  input.newest_tick =
      tick_ + lead_ticks + static_cast<std::uint32_t>((now - tick_at_).count() * rate_hz / 1'000'000);
  input.command_count = commands_said;
  PlayerCommand command = feet_.think(now);
  command.seen = TickId{tick_};
  std::fill_n(input.commands.begin(), commands_said, command);
  ++inputs_;
  return packed_ ? write_packed_input(input, packed_input_) : writer_.write(input);
}

void FalsePlayer::say(Micros now, DatagramBatch& out) {
  protection_->advance(now);
  std::array<std::uint8_t, datagram_bytes_max> packet;
  const auto plaintext = std::span(packet).subspan(plaintext_begin, plaintext_bytes_max);
  FrameWriter frames(plaintext);
  say_acks(frames);
  if (control_->credit_due()) frames.credit({StreamId::control, control_->grant()});
  say_join(frames);
  if (plays()) {
    const auto message = input(now);
    if (frames.left() > message.size() + 16) frames.unreliable(message);
  }
  if (frames.size() == 0) frames.ping();
  const std::size_t bytes = protection_->seal(++sequence_, plaintext.first(frames.size()), packet);
  if (bytes == 0) return end_session(now);
  out.add(server_, std::span(packet).first(bytes));
}

void FalsePlayer::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  if (!protection_) shake_hands(now, in, out);
  for (const DatagramBatch::Entry& entry : in.entries())
    if (protection_ && entry.peer == server_) receive(now, in.bytes(entry));
  if (protection_ && now - heard_at_ > silence_patience) end_session(now);
  if (!protection_ || now < next_say_) return;
  next_say_ = std::max(next_say_ + say_every, now);
  say(now, out);
}

}  // namespace ashlar::client_sim
