#include "client_sim/simulation/seat.h"

#include <algorithm>
#include <utility>

#include "protocol/decode.h"
#include "protocol/packet.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"

namespace ashlar::simulation {
namespace {

constexpr Micros second{1'000'000};
constexpr std::uint32_t stream_every = 4;     // every fourth seat plays over TCP
constexpr std::uint32_t hostile_every = 8;    // seats 6, 14, ... are hostile, over UDP,
constexpr std::uint32_t hostile_stream = 16;  // and seats 15, 31, ... over TCP
constexpr std::uint32_t attacks_per_s = 600;
constexpr std::size_t send_queue_max = 512;  // datagrams that wait in a client's stream
// Kinds of brains before explorers, who would work out the maps' ground.
constexpr auto seat_brains = static_cast<std::uint32_t>(client_sim::BrainKind::explore);
constexpr std::uint32_t rejoin_every = 5;  // every fifth leaves now and then and comes back
// Beyond this many sequences a connection's count of originals stops growing: some ten hours of play.
constexpr std::uint64_t sequences_kept_max = 4'000'000;

Micros millis(std::uint32_t count) { return Micros{1000 * static_cast<std::int64_t>(count)}; }

client_sim::BrainKind kind_of(std::uint32_t number) {
  return static_cast<client_sim::BrainKind>(number % seat_brains);
}

}  // namespace

Seat::Seat(const SimulationConfig& config, std::uint32_t number)
    : config_(&config),
      number_(number),
      rng_(rng_for(config.seed, 0x5ea7, number)),
      stream_(number % stream_every == stream_every - 1),
      brain_(kind_of(number), rng_.next_u64()),
      up_({}, rng_.next_u64()),
      down_({}, rng_.next_u64()),
      drift_ppm_(static_cast<int>(rng_.below(401)) - 200),
      clock_offset_(Micros{rng_.below(1'000'000'000)}) {
  if (config.hostile &&
      (number % hostile_every == hostile_every - 2 || number % hostile_stream == hostile_stream - 1))
    attacker_.emplace(rng_.next_u64(), attacks_per_s);
  base_.latency = millis(2 + rng_.below(70));
  base_.jitter = millis(rng_.below(12));
  base_.loss = rng_.between(0, 0.01);
  base_.ordered = stream_;
  address_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
  server_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  server_.port = 7777;
  address_.transport = server_.transport = stream_ ? Transport::tcp : Transport::udp;
  back_at_ = millis(rng_.below(2000));
  set_conditions();
}

std::string Seat::name() const { return "p" + std::to_string(number_) + "." + std::to_string(lives_); }

Micros Seat::clock(Micros now) const {
  return clock_offset_ + now + Micros{now.count() / 1'000'000 * drift_ppm_};
}

void Seat::sit_down(Micros now) {
  if (!same_port_ || lives_ == 0)
    address_.port = static_cast<std::uint16_t>(ports_per_round * (1 + lives_ % 60) + number_);
  ++lives_;
  connection_ = 0;
  if (stream_) address_.link = server_.link = lives_ * ports_per_round + number_;
  same_port_ = false;
  client_sim::ClientConfig setup;
  setup.server = server_;
  setup.name = name();
  setup.build = "simulation";
  setup.nonce = rng_.next_u64();
  setup.content = [this](const WelcomeMap& wanted) -> std::optional<std::uint64_t> {
    const auto map = map_at(*config_, wanted.name, wanted.origin_block);
    return map == nullptr ? std::nullopt : std::optional(map->content_hash());
  };
  setup.prop_content = [this](const WelcomeProp& wanted) -> std::optional<std::uint64_t> {
    for (const auto& prop : config_->props)
      if (prop->name() == wanted.name && prop->at() == wanted.place && prop->up() == wanted.up)
        return prop->content_hash();
    return std::nullopt;
  };
  client_ = std::make_unique<Client>(std::move(setup));
  tainted_ = std::ranges::count(active_, FaultKind::corrupt, &Fault::kind) > 0;
  delivered_.clear();
  originals_ = 0;
  lines_said_ = 0;
  heard_.clear();
  sent_.fill({});
  next_line_ = now + 2 * second;
  if (rejoins()) goes_at_ = now + millis(15'000 + rng_.below(30'000));
}

/// The server does not know its client any more, and the client joined again: what was said and sent before
/// proves nothing about the new connection, which knows it under the name it came with.
void Seat::note_rejoin() {
  if (client_ == nullptr || !client_->welcomed()) return;
  const std::uint32_t before = std::exchange(connection_, client_->welcome().connection);
  if (before == 0 || before == connection_) return;
  ++lives_;
  delivered_.clear();
  originals_ = 1;  // its hello
  lines_said_ = 0;
  heard_.clear();
  sent_.fill({});
}

bool Seat::rejoins() const { return number_ % rejoin_every == rejoin_every - 1; }

void Seat::stand_up(Micros now, Micros away_for) {
  if (client_ != nullptr && stream_) to_server_.add_closed(address_);
  client_.reset();
  back_at_ = std::max(back_at_, now + away_for);
}

void Seat::set_conditions() {
  LinkConditions c = base_;
  for (const Fault& fault : active_) {
    const double share = std::min(0.9, fault.amount / 100.0);
    switch (fault.kind) {
      case FaultKind::loss: c.loss = std::max(c.loss, share); break;
      case FaultKind::delay: c.latency += millis(fault.amount); break;
      case FaultKind::jitter: c.jitter += millis(fault.amount); break;
      case FaultKind::reorder: c.reordering = std::max(c.reordering, share); break;
      case FaultKind::duplicate: c.duplication = std::max(c.duplication, share); break;
      case FaultKind::corrupt: c.corruption = std::max(c.corruption, share); break;
      case FaultKind::rate_limit: c.bytes_per_s = std::max<std::uint64_t>(1, fault.amount); break;
      default: break;
    }
  }
  // What waits for a slow line is a router's buffer: a quarter of a second's worth.
  if (c.bytes_per_s != 0)
    c.queue_bytes_max = std::max<std::size_t>(3 * datagram_bytes_max, c.bytes_per_s / 4);
  up_.set_conditions(c);
  down_.set_conditions(c);
}

void Seat::begin(const Fault& fault, Micros now) {
  active_.push_back(fault);
  const Micros until =
      now + Micros{1'000'000 * static_cast<std::int64_t>(fault.ticks) / config_->tick_rate_hz};
  switch (fault.kind) {
    case FaultKind::partition:
      if ((fault.amount & 1u) != 0) up_.partition(up_cut_until_ = std::max(up_cut_until_, until));
      if ((fault.amount & 2u) != 0) down_.partition(down_cut_until_ = std::max(down_cut_until_, until));
      break;
    case FaultKind::corrupt: tainted_ = true; break;
    case FaultKind::death:
      same_port_ = fault.amount == 1;
      stand_up(now, until - now);
      break;
    case FaultKind::leave:
      if (client_ != nullptr) client_->leave();
      back_at_ = std::max(back_at_, until);
      break;
    case FaultKind::client_jump: clock_offset_ += millis(fault.amount); break;
    default: break;
  }
  set_conditions();
}

void Seat::end(const Fault& fault, Micros now) {
  if (const auto it = std::ranges::find(active_, fault); it != active_.end()) active_.erase(it);
  calm_since_ = now;
  // A connection that carried corrupted bytes may believe anything: the next one starts clean.
  if (fault.kind == FaultKind::corrupt) stand_up(now, millis(200));
  set_conditions();
}

void Seat::note_sent(std::span<const std::uint8_t> bytes) {
  const auto packet = decode_packet(bytes);
  if (!packet) return;
  const auto message = decode_client_message(packet->payload);
  if (!message) return;
  const auto* input = std::get_if<Input>(&*message);
  if (input == nullptr) return;
  for (std::uint32_t i = 0; i < input->command_count; ++i) {
    const std::uint32_t tick = input->newest_tick - i;
    sent_[tick % sent_.size()] = {tick, input->commands[i]};
  }
}

const PlayerCommand* Seat::sent_command(std::uint32_t tick) const {
  const SentCommand& sent = sent_[tick % sent_.size()];
  return tick != 0 && sent.tick == tick ? &sent.command : nullptr;
}

void Seat::note_delivered(std::span<const std::uint8_t> bytes) {
  if (client_ == nullptr) return;
  const auto packet = decode_packet(bytes);
  if (!packet) return;
  const PacketHeader& header = packet->header;
  const std::uint32_t connection = client_->welcomed() ? client_->welcome().connection : 0;
  if (header.connection != 0 && header.connection != connection) return;
  if (header.sequence >= sequences_kept_max) return;
  if (delivered_.size() <= header.sequence) delivered_.resize(header.sequence + 1024);
  if (delivered_[header.sequence]) return;
  delivered_[header.sequence] = true;
  ++originals_;
}

void Seat::say_something(Micros now) {
  if (now < next_line_ || client_->state() != client_sim::ClientState::playing) return;
  next_line_ = now + millis(1500 + rng_.below(8000));
  if (client_->say(name() + " #" + std::to_string(lines_said_ + 1))) ++lines_said_;
}

void Seat::post(Micros now) {
  for (const DatagramBatch::Entry& entry : outbox_.entries()) {
    const auto bytes = outbox_.bytes(entry);
    if (!attacker_) note_sent(bytes);
    to_server_.add(address_, bytes);
  }
  // A stream's send buffer is full some time, as when a hostile peer floods a line that is cut.
  const bool full = stream_ && up_.under_way() >= send_queue_max && to_server_.closed().empty();
  if (!full) up_.send(now, to_server_);
  to_server_.clear();
}

void Seat::run(Micros now) {
  if (down_.under_way() < receive_queue_max) down_.send(now, from_server_);
  from_server_.clear();
  outbox_.clear();
  if (std::ranges::count(active_, FaultKind::stall, &Fault::kind) > 0) return post(now);

  if (client_ == nullptr && now >= back_at_) sit_down(now);
  inbox_.clear();
  down_.deliver(now, inbox_);
  if (client_ == nullptr) return post(now);  // what arrives for nobody is gone

  client_now_ = clock(now);
  client_->set_command(brain_.think(client_now_, *client_));
  say_something(now);
  if (rejoins() && now >= goes_at_) {
    client_->leave();
    disturb(now);
  }
  client_->advance(client_now_, inbox_, outbox_);
  note_rejoin();
  for (ChatLine& line : client_->take_chat()) heard_.push_back(std::move(line));
  if (attacker_) attacker_->act(now, *client_, server_, outbox_);
  post(now);
  if (client_->ended()) stand_up(now, millis(500 + rng_.below(1500)));
}

}  // namespace ashlar::simulation
