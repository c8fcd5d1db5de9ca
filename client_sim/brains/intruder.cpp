#include "client_sim/brains/intruder.h"

#include <algorithm>
#include <string>

#include "protocol/little_endian.h"
#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros intruder_patience{500'000};
constexpr std::uint32_t inside_us_min = 500'000, inside_us_span = 2'500'000;
constexpr std::size_t frames_a_packet = 6;

}  // namespace

Intruder::Intruder(std::uint64_t seed, const PeerAddress& server, IntruderAim aim)
    : rng_(rng_for(seed, 0x171d)), entropy_(rng_.next_u64()), server_(server), aim_(aim) {}

std::span<const std::uint8_t> Intruder::random_bytes(std::size_t size) {
  scratch_.resize(size);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i, word >>= 8) {
    if (i % 8 == 0) word = rng_.next_u64();
    scratch_[i] = static_cast<std::uint8_t>(word);
  }
  return scratch_;
}

/// Numbers at the edges of what fits, where arithmetic wraps.
std::uint32_t Intruder::odd_number() {
  constexpr std::array<std::uint32_t, 6> edges{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffc0};
  const std::uint32_t pick = rng_.below(edges.size() + 2);
  return pick < edges.size() ? edges[pick] : rng_.next_u32();
}

std::span<const std::uint8_t> Intruder::payload() {
  const bool nonsense = aim_ == IntruderAim::finish && rng_.below(2) == 0;
  if (nonsense) return random_bytes(rng_.below(900));
  Hello hello;
  hello.name = "bad " + std::to_string(rng_.below(100'000));
  // Somebody else's session, which it has no proof for, and a token that is none.
  if (rng_.below(4) == 0) {
    hello.resume = rng_.next_u32() | 1u;
    entropy_.fill(hello.resume_proof);
  }
  if (rng_.below(4) == 0) {
    const auto token = random_bytes(1 + rng_.below(500));
    hello.token.assign(token.begin(), token.end());
  }
  if (aim_ == IntruderAim::finish) hello.name = rng_.below(2) == 0 ? hello.name : std::string("player");
  return writer_.write(hello);
}

void Intruder::begin(Micros now, DatagramBatch& out) {
  secure::ClientHandshakeSetup setup;
  setup.version = protocol_version;
  setup.identity = secure::key_pair(entropy_.secret());
  handshake_.emplace(setup, entropy_, now);
  begun_ = now;
  out.add(server_, handshake_->packet_due(now));
  if (aim_ == IntruderAim::knock) handshake_.reset();
}

void Intruder::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  if (!handshake_) return;
  for (const DatagramBatch::Entry& entry : in.entries())
    if (entry.peer == server_) handshake_->receive(in.bytes(entry), now);
  if (handshake_->step() == secure::ClientStep::server_known) {
    if (aim_ == IntruderAim::half) return handshake_.reset();
    handshake_->finish(payload(), now);
  }
  for (auto packet = handshake_->packet_due(now); !packet.empty(); packet = handshake_->packet_due(now))
    out.add(server_, packet);
  if (handshake_->step() == secure::ClientStep::done) {
    ++sessions_;
    protection_.emplace(handshake_->keys(), secure::End::client, now);
    sequence_ = 1;
    offsets_ = {};
    ends_at_ = now + Micros{inside_us_min + rng_.below(inside_us_span)};
  }
  if (secure::ended(handshake_->step())) handshake_.reset();
}

bool Intruder::act(Micros now, DatagramBatch& out) {
  if (protection_) {
    const bool last = aim_ == IntruderAim::finish || now >= ends_at_;
    say(out, last);
    if (last) protection_.reset();
    return true;
  }
  if (handshake_ && now - begun_ < intruder_patience) return false;
  begin(now, out);
  return true;
}

std::span<const std::uint8_t> Intruder::odd_input() {
  Input input;
  input.newest_tick = odd_number();
  input.snapshot_tick = odd_number();
  input.world = static_cast<std::uint8_t>(rng_.below(3));
  input.command_count = input_commands_max;
  for (PlayerCommand& command : input.commands) {
    command.forward = command.left = 1;
    command.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    command.buttons = button::known;
    command.seen = TickId{input.snapshot_tick};
  }
  return writer_.write(input);
}

std::span<const std::uint8_t> Intruder::some_message() {
  switch (rng_.below(4)) {
    case 0: return odd_input();
    case 1: return writer_.write(Chat{"I am the server"});
    case 2: {
      Join join;
      join.world = static_cast<std::uint8_t>(rng_.below(3));
      join.content.resize(rng_.below(8) == 0 ? rng_.below(join_content_max + 1) : 0);
      for (std::uint64_t& hash : join.content) hash = rng_.next_u64();
      return writer_.write(join);
    }
    default: {
      Hello hello;
      hello.name = "second";
      return writer_.write(hello);
    }
  }
}

void Intruder::say_message(FrameWriter& frames, StreamId stream, std::span<const std::uint8_t> message) {
  std::uint64_t& offset = offsets_[row(stream)];
  const std::size_t bytes = message_prefix_bytes + message.size();
  if (frames.stream_room(offset) < bytes) return;
  const auto out = frames.stream(stream, offset, bytes);
  put_little(out.data(), static_cast<std::uint32_t>(message.size()));
  std::ranges::copy(message, out.begin() + message_prefix_bytes);
  offset += bytes;
}

/// What is well formed and out of place: the session may go on.
void Intruder::say_frames(FrameWriter& frames) {
  const auto stream = static_cast<StreamId>(rng_.below(stream_count));
  switch (rng_.below(8)) {
    case 0: frames.ping(); return;
    case 1: frames.credit({stream, rng_.below(2) == 0 ? rng_.next_u64() >> 2 : odd_number()}); return;
    case 2: frames.path_challenge(rng_.next_u64()); return;
    case 3: frames.path_response(rng_.next_u64()); return;
    case 4: say_message(frames, StreamId::chat, writer_.write(Chat{"I am the server"})); return;
    default: say_message(frames, stream, some_message()); return;
  }
}

/// What no session survives.
void Intruder::say_last(FrameWriter& frames) {
  const auto stream = static_cast<StreamId>(rng_.below(stream_count));
  switch (rng_.below(6)) {
    case 0: {
      const AckRange never[] = {{sequence_ + 1'000'000, sequence_ + 1'000'000}};
      frames.ack(never, 0, frames.left());
      return;
    }
    case 1: {
      const auto out = frames.stream(stream, varint_max - 64, 8);
      std::ranges::fill(out, std::uint8_t{1});
      return;
    }
    case 2: {
      const auto out = frames.stream(stream, offsets_[row(stream)], message_prefix_bytes + 1);
      put_little(out.data(), rng_.next_u32() | 0x8000'0000u);  // as long as no message is
      out.back() = 0;
      return;
    }
    case 3: say_message(frames, stream, random_bytes(1 + rng_.below(300))); return;
    case 4: frames.stream_reset({stream, varint_max}); return;
    default: frames.close(static_cast<CloseReason>(rng_.next_u32()), "I am the server"); return;
  }
}

void Intruder::say(DatagramBatch& out, bool last) {
  std::array<std::uint8_t, datagram_bytes_max> packet;
  const auto plaintext = std::span(packet).subspan(plaintext_begin, plaintext_bytes_max);
  FrameWriter frames(plaintext);
  if (last) {
    say_last(frames);
  } else {
    for (std::size_t i = rng_.below(frames_a_packet); i > 0; --i) say_frames(frames);
    if (rng_.below(2) == 0) {
      const auto message = rng_.below(4) != 0 ? odd_input() : some_message();
      if (message.size() <= unreliable_bytes_max && frames.left() > message.size() + 16)
        frames.unreliable(message);
    }
    if (frames.size() == 0) frames.ping();
  }
  std::size_t size = frames.size();
  if (last && rng_.below(4) == 0) {
    const auto noise = random_bytes(1 + rng_.below(plaintext_bytes_max));
    std::ranges::copy(noise, plaintext.begin());
    size = noise.size();
  }
  sequence_ += 1 + (rng_.below(16) == 0 ? rng_.below(2000) : 0);
  const std::size_t bytes = protection_->seal(sequence_, plaintext.first(size), packet);
  out.add(server_, std::span(packet).first(bytes));
}

}  // namespace ashlar::client_sim
