#include "client_sim/simulation/seat.h"

#include <algorithm>
#include <utility>

#include "client_sim/client/game_client.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/version.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"

namespace ashlar::simulation {
namespace {

constexpr Micros second{1'000'000};
/// So long after it heard last of a session a server has given it up.
constexpr Micros late_max = 30 * second;
constexpr std::uint32_t stream_every = 4;     // every fourth seat plays over TCP
constexpr std::uint32_t hostile_every = 8;    // seats 6, 14, ... are hostile, over UDP,
constexpr std::uint32_t hostile_stream = 16;  // and seats 15, 31, ... over TCP
constexpr std::uint32_t attacks_per_s = 600;
// Kinds of brains before explorers, who would work out the maps' ground.
constexpr auto seat_brains = static_cast<std::uint32_t>(client_sim::BrainKind::explore);
constexpr std::uint32_t build_every = 4;   // seats 0, 4, ... dig and build
constexpr std::uint32_t fetch_every = 3;   // every third has no files
constexpr std::uint32_t rejoin_every = 5;  // every fifth leaves now and then and comes back

Micros millis(std::uint32_t count) { return Micros{1000 * static_cast<std::int64_t>(count)}; }

bool watches(const SimulationConfig& config, std::uint32_t number) {
  return number + config.watchers >= config.clients;
}

client_sim::BrainKind kind_of(const SimulationConfig& config, std::uint32_t number) {
  if (watches(config, number)) return client_sim::BrainKind::watch;
  if (number < config.fighters) return client_sim::BrainKind::fight;
  if (number % (config.survival ? 2 : build_every) == 0) return client_sim::BrainKind::build;
  return static_cast<client_sim::BrainKind>(number % seat_brains);
}

bool is_hostile(const SimulationConfig& config, std::uint32_t number) {
  return config.hostile &&
         (number % hostile_every == hostile_every - 2 || number % hostile_stream == hostile_stream - 1);
}

/// Honest players share an address, as behind one router. An attacker has one of its own: what strangers may
/// ask of a server is counted by address.
std::array<std::uint8_t, 2> host_of(const SimulationConfig& config, std::uint32_t number) {
  if (!is_hostile(config, number)) return {0, 2};
  return {static_cast<std::uint8_t>(1 + number / 200), static_cast<std::uint8_t>(1 + number % 200)};
}

}  // namespace

Seat::Seat(const SimulationConfig& config, std::uint32_t number,
           const std::shared_ptr<client_sim::ExploreParty>& party)
    : config_(&config),
      number_(number),
      rng_(rng_for(config.seed, 0x5ea7, number)),
      stream_(number % stream_every == stream_every - 1),
      hostile_(is_hostile(config, number)),
      fights_(number < config.fighters),
      // Who finds ways holds the maps.
      fetches_(!hostile_ && !fights_ && number % fetch_every == fetch_every - 2),
      line_(number, host_of(config, number), rng_),
      forger_(config, number),
      party_(party),
      brain_(kind_of(config, number), rng_.next_u64(), party),
      drift_ppm_(static_cast<int>(rng_.below(401)) - 200),
      clock_offset_(Micros{rng_.below(1'000'000'000)}) {
  server_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  server_.port = 7777;
  server_.transport = stream_ ? Transport::tcp : Transport::udp;
  if (hostile_) attacker_.emplace(rng_.next_u64(), attacks_per_s, server_);
  base_.latency = millis(2 + rng_.below(70));
  base_.jitter = millis(rng_.below(12));
  base_.loss = std::max(rng_.between(0, 0.01), config.line.loss / 100);
  base_.reordering = config.line.reorder / 100;
  base_.duplication = config.line.duplicate / 100;
  base_.corruption = config.line.corrupt / 100;
  back_at_ = millis(rng_.below(2000));
  forger_.set_latency(base_.latency);
  line_.set_tap(this);
  set_conditions();
}

Micros Seat::clock(Micros now) const {
  return clock_offset_ + now + Micros{now.count() / 1'000'000 * drift_ppm_};
}

client_sim::ClientConfig Seat::client_setup() {
  client_sim::ClientConfig setup;
  setup.server = server_;
  if (!stream_) {
    setup.fallback = server_;
    setup.fallback->transport = Transport::tcp;
  }
  // An attacker shares its connection with the client that it plays.
  setup.opens_links = !hostile_;
  setup.name = name_;
  setup.build = "simulation";
  setup.seed = drawn_secret(*config_, 0xc11e, rng_.next_u64());
  setup.identity = identity_;
  setup.pinned = server_identity(*config_).open;
  setup.watches = watches(*config_, number_);
  setup.stream_ground = number_ < config_->stream_ground;
  setup.takes_packed = number_ % 2 == 0;  // the others read plain ones
  if (number_ % 4 >= 2) setup.lead_ticks = client_sim::GameConfig().client.lead_ticks;
  setup.key_age = Micros{std::int64_t{1'000'000} * config_->key_age_s};
  set_content(setup);
  return setup;
}

void Seat::set_content(client_sim::ClientConfig& setup) {
  if (fetches_) {
    const auto held = [this](std::uint64_t hash) {
      return held_.contains(hash) ? std::optional(hash) : std::nullopt;
    };
    setup.content = [held](const WelcomeMap& wanted) { return held(wanted.content_hash); };
    setup.prop_content = [held](const WelcomeProp& wanted) { return held(wanted.content_hash); };
    setup.fetched = [this](client_sim::ContentFetch::Fetched one) {
      fetched_.push_back(one.hash);
      held_.insert_or_assign(one.hash, std::move(one.bytes));
    };
    return;
  }
  setup.content = [this](const WelcomeMap& wanted) -> std::optional<std::uint64_t> {
    const auto map = map_at(*config_, wanted.name, wanted.origin_block);
    return map == nullptr ? std::nullopt : std::optional(map->content_hash());
  };
  if (fights_)
    setup.map = [this](const WelcomeMap& wanted) {
      return map_at(*config_, wanted.name, wanted.origin_block);
    };
  setup.prop_content = [this](const WelcomeProp& wanted) -> std::optional<std::uint64_t> {
    for (const auto& prop : config_->props)
      if (prop->name() == wanted.name && prop->at() == wanted.place && prop->up() == wanted.up)
        return prop->content_hash();
    return std::nullopt;
  };
}

void Seat::sit_down(Micros now) {
  line_.hang_up(same_port_ || lives_ == 0);
  same_port_ = false;
  // The same player started its game again, or another one came.
  if (lives_ == 0 || rng_.below(2) == 0) {
    identity_ = secure::key_pair(drawn_secret(*config_, 0x1d00 + number_, lives_));
    players_.push_back(identity_.open);
    held_.clear();
  }
  ++lives_;
  name_ = "p" + std::to_string(number_) + "." + std::to_string(lives_);
  client_ = std::make_unique<Client>(client_setup());
  rejoins_ = 0;
  lines_said_ = 0;
  heard_.clear();
  hits_.clear();
  fight_session_ = score_session_ = fight_tick_ = score_tick_ = 0;
  sent_.fill({});
  noted_tick_ = 0;
  next_line_ = now + 2 * second;
  if (rejoins()) goes_at_ = now + millis(15'000 + rng_.below(30'000));
}

/// The server may not know yet, and gets what somebody held back.
void Seat::end_session(Micros now) {
  std::erase_if(earlier_,
                [now](const Earlier& e) { return now - std::max(e.over_at, e.late_at) > late_max; });
  if (session_ != 0) earlier_.push_back({session_, std::exchange(originals_, {}), now, {}});
  session_ = 0;
}

/// What was sent in one session proves nothing of the next; and what was done in a body that the server does
/// not have any more nothing of the new one.
void Seat::note_sessions(Micros now) {
  if (session_ != client_->session()) {
    end_session(now);
    session_ = client_->session();
    // What came in the same moment is of nobody knows which of the two.
    (void)client_->take_hits();
    fight_session_ = score_session_ = 0;
    fight_tick_ = client_->fight() ? client_->fight()->tick : 0;
    score_tick_ = client_->score() ? client_->score()->tick : 0;
  }
  if (std::exchange(rejoins_, client_->stats().rejoins) == client_->stats().rejoins) return;
  ++lives_;
  heard_.clear();
  sent_.fill({});
  noted_tick_ = 0;
}

/// In which session something was told is told by when it changed.
void Seat::note_fights() {
  for (const CombatEvent& hit : client_->take_hits()) hits_.push_back({session_, hit});
  const auto note = [this](const auto& told, std::uint32_t& tick, std::uint32_t& session) {
    if (told && told->tick != tick) tick = told->tick, session = session_;
  };
  note(client_->fight(), fight_tick_, fight_session_);
  note(client_->score(), score_tick_, score_session_);
}

/// From the client's own books, as packets are sealed.
void Seat::note_commands() {
  std::uint32_t newest = std::max(noted_tick_, client_->command_tick());
  while (newest > noted_tick_ && client_->command_of(newest) == nullptr) --newest;
  for (std::uint32_t tick = newest; tick > noted_tick_; --tick) {
    const PlayerCommand* command = client_->command_of(tick);
    if (command == nullptr) break;
    sent_[tick % sent_.size()] = {tick, *command};
  }
  noted_tick_ = newest;
}

bool Seat::rejoins() const { return number_ % rejoin_every == rejoin_every - 1; }

void Seat::stand_up(Micros now, Micros away_for) {
  if (client_ != nullptr) line_.hang_up(true);
  client_.reset();
  end_session(now);
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
  line_.set_conditions(c);
}

void Seat::begin(const Fault& fault, Micros now) {
  // Who has no key can do nothing that a client would notice.
  if (fault.kind == FaultKind::forge) {
    forged_per_s_ += fault.amount;
    return;
  }
  // Nor can who plays beside it.
  if (fault.kind == FaultKind::deaf || fault.kind == FaultKind::liar) {
    if (guest_ == nullptr) {
      guest_ = std::make_unique<Guest>(*config_, number_, server_);
      guest_->set_latency(base_.latency);
    }
    return guest_->come(fault);
  }
  // Nor does one that plays over UDP notice where it comes from.
  if (fault.kind == FaultKind::roam) {
    const bool unnoticed = client_ != nullptr && !client_->resuming() &&
                           client_->transport() == Transport::udp &&
                           client_->state() == client_sim::ClientState::playing;
    line_.roam(fault.amount == 2);
    roamed_at_ = now;
    if (!unnoticed) disturb(now);
    return;
  }
  active_.push_back(fault);
  const Micros until =
      now + Micros{1'000'000 * static_cast<std::int64_t>(fault.ticks) / config_->tick_rate_hz};
  switch (fault.kind) {
    case FaultKind::partition:
      if ((fault.amount & 1u) != 0) line_.partition_up(up_cut_until_ = std::max(up_cut_until_, until));
      if ((fault.amount & 2u) != 0) line_.partition_down(down_cut_until_ = std::max(down_cut_until_, until));
      break;
    case FaultKind::death:
      same_port_ = fault.amount == 1;
      stand_up(now, until - now);
      break;
    case FaultKind::leave:
      if (client_ != nullptr) client_->leave();
      back_at_ = std::max(back_at_, until);
      break;
    case FaultKind::resume: line_.die(fault.amount == 2); break;
    case FaultKind::client_jump: clock_offset_ += millis(fault.amount); break;
    default: break;
  }
  set_conditions();
}

void Seat::end(const Fault& fault, Micros now) {
  if (fault.kind == FaultKind::roam) return;
  if (guest_ != nullptr) guest_->go(fault);
  if (fault.kind == FaultKind::deaf || fault.kind == FaultKind::liar) return;
  if (fault.kind == FaultKind::forge) {
    forged_per_s_ -= fault.amount;
    return;
  }
  if (fault.kind == FaultKind::resume) line_.revive(fault.amount == 2);
  if (const auto it = std::ranges::find(active_, fault); it != active_.end()) active_.erase(it);
  disturb(now);
  set_conditions();
}

const PlayerCommand* Seat::sent_command(std::uint32_t tick) const {
  const SentCommand& sent = sent_[tick % sent_.size()];
  return tick != 0 && sent.tick == tick ? &sent.command : nullptr;
}

void Seat::note_delivered(Micros now, std::span<const std::uint8_t> bytes) {
  if (hostile_) return;
  const auto number = secure::sealed_connection(bytes, protocol_version);
  if (!number) return;
  if (client_ != nullptr && *number == client_->session()) (void)originals_.deliver(bytes);
  for (Earlier& e : earlier_)
    if (e.session == *number && e.originals.deliver(bytes)) e.late_at = now;
}

Micros Seat::late_original_at(std::uint32_t session) const {
  const auto e = std::ranges::find(earlier_, session, &Earlier::session);
  return e == earlier_.end() ? Micros{0} : e->late_at;
}

std::size_t Seat::kept_bytes() const {
  std::size_t sum = originals_.bytes() + line_.memory_bytes() + forger_.memory_bytes();
  if (guest_ != nullptr) sum += guest_->line().memory_bytes();
  for (const Earlier& e : earlier_) sum += e.originals.bytes();
  return sum;
}

void Seat::up(const PeerAddress& from, std::span<const std::uint8_t> bytes) {
  forger_.up(from, bytes);
  if (client_ == nullptr || hostile_) return;
  const auto number = secure::sealed_connection(bytes, protocol_version);
  if (number && *number == client_->session()) originals_.say(bytes);
}

void Seat::down(const PeerAddress& to, std::span<const std::uint8_t> bytes) { forger_.down(to, bytes); }

void Seat::say_something(Micros now) {
  if (now < next_line_ || client_->state() != client_sim::ClientState::playing) return;
  next_line_ = now + millis(1500 + rng_.below(8000));
  if (client_->say(name() + " #" + std::to_string(lines_said_ + 1))) ++lines_said_;
}

void Seat::deliver_up(Micros now, DatagramBatch& in) {
  line_.deliver_up(now, in);
  forger_.take_up(now, in);
  if (guest_ != nullptr) guest_->deliver_up(now, in);
}

void Seat::send_down(const PeerAddress& to, std::span<const std::uint8_t> bytes) {
  if (to == forger_.address())
    forger_.hear(bytes);
  else if (guest_ != nullptr && guest_->line().has(to))
    guest_->send_down(to, bytes);
  else
    line_.send_down(to, bytes);
}

void Seat::run(Micros now) {
  line_.carry(now);
  if (guest_ != nullptr) guest_->run(now);
  if (forged_per_s_ > 0) forger_.act(now, forged_per_s_, line_.datagram_address());
  outbox_.clear();
  if (frozen_ || std::ranges::count(active_, FaultKind::stall, &Fault::kind) > 0)
    return line_.send(now, outbox_);

  if (client_ == nullptr && now >= back_at_) sit_down(now);
  inbox_.clear();
  line_.receive(now, inbox_);
  forger_.take_down(now, inbox_);
  if (client_ == nullptr) return line_.send(now, outbox_);  // what arrives for nobody is gone

  client_now_ = clock(now);
  if (fights_ && client_->welcomed() && !client_->fetching()) party_->prepare(client_->welcome());
  client_->set_command(brain_.think(client_now_, *client_));
  brain_.act(*client_);
  say_something(now);
  if (rejoins() && now >= goes_at_) {
    client_->leave();
    disturb(now);
  }
  client_->advance(client_now_, inbox_, outbox_);
  note_sessions(now);
  note_fights();
  note_commands();
  for (ChatLine& line : client_->take_chat()) heard_.push_back(std::move(line));
  if (attacker_) attacker_->act(now, *client_, inbox_, outbox_);
  line_.send(now, outbox_);
  if (client_->ended()) stand_up(now, millis(500 + rng_.below(1500)));
}

}  // namespace ashlar::simulation
