#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/held_content.h"
#include "client_sim/client/others.h"
#include "client_sim/client/predictor.h"

// The page to begin with: a game that plays on an Ashlar server makes one GameClient and turns it.
//
//   auto addresses = *resolve_addresses("host:7777", Transport::udp);
//   auto sockets = ClientSockets::open(addresses);
//   GameClient game(config);
//   each frame:
//     in.clear(), out.clear();
//     sockets->receive(in);                  // or whatever carries datagrams
//     game.advance(now(), in, out);
//     sockets->send(out);
//     game.set_command(command);             // what the player wants: axes, view, buttons
//     draw(game.self(now()), game.others(now()));
//
// Sockets are those of net/client_sockets.h, or a game's own. Nothing here opens one, reads a clock, logs, or
// starts a thread. What a frame shows:
//
//   who                 as of                                     from
//   the own player      the newest command, foreseen              self(), predictor()
//   everybody else      a little while ago, between two states     others()
//   sectors (doors)     as the own player, foreseen               sector()
//   blocks              as the own player, foreseen               predictor().replica().space()
//
// What the server decides otherwise is corrected over a fifth of a second. Shots are judged by the picture
// that was shown, a quarter of a second old at most. examples/walk_square.cpp is a whole client,
// docs/own-client.md the guide, c/ashlar_client.h the same for C and what can load a shared library.

namespace ashlar::client_sim {

/// What a game's client is made with. Maps and props are fetched from the server, and `content` says where
/// they are kept until the next time. A game that has files of its own sets `client.content` instead, and
/// with it `client.map`, `client.prop_content`, `prediction.map` and `prediction.prop`; where one of them
/// lacks something of a world, nothing is foreseen there.
struct GameConfig {
  /// Who foresees feels each tick that commands wait: one less than others wish for.
  GameConfig() { client.lead_ticks = 1; }

  ClientConfig client;
  PredictorConfig prediction;
  ContentStore content;
};

/// A session, a prediction and a picture of the others, turned together. One thread; same calls, same bits.
/// A turn costs 10 to 20 us where ten others are in sight.
class GameClient {
 public:
  explicit GameClient(GameConfig config)
      : held_(hold(config)), client_(std::move(config.client)), predictor_(std::move(config.prediction)) {}

  /// As Client::advance(): every few milliseconds, at least once a frame.
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
    if (!in.empty()) others_.prefetch();
    PredictorForesight ahead(predictor_, &others_);
    client_.advance(now, in, out, &ahead);
  }
  /// As Client::set_command(), where `yaw` is turned as self() last said: by what is foreseen of a teleporter
  /// before the server's word has come, or not yet by a word that has.
  void set_command(const PlayerCommand& command) {
    PlayerCommand turned = command;
    if (told_yaw_) turned.yaw = command.yaw - (*told_yaw_ - client_.delta_yaw());
    client_.set_command(turned);
  }

  /// The own player as a frame shows it; none: it is not in the world yet, as at the start and after a change
  /// of worlds, until the first word of the new one (while its content is fetched Client::fetching() is
  /// true).
  std::optional<ShownPlayer> self(Micros now) const {
    std::optional<ShownPlayer> shown;
    if (predictor_.ready())
      shown = predictor_.shown(now);
    else if (const std::optional<OwnPlayer>& own = client_.own())
      shown = ShownPlayer{own->body.position_m, own->body.eye_offset_m, client_.delta_yaw()};
    if (shown) told_yaw_ = shown->delta_yaw;
    return shown;
  }
  /// Everybody else in sight as a frame shows them, by id. Valid until the next call.
  std::span<const ShownEntity> others(Micros now) {
    if (predictor_.ready())
      others_.shown(now, client_, &predictor_.replica(), shown_, predictor_.shown_sectors(now));
    else
      others_.shown(now, client_, nullptr, shown_);
    return shown_;
  }
  /// Where a sector's floor and ceiling are as a frame shows them, of the same moment as self(): the newest
  /// tick's are those of predictor().replica().heights(map). Precondition: predictor().ready(), and it has
  /// that sector.
  SectorHeights sector(std::size_t map, std::uint32_t sector, Micros now) const {
    return predictor_.shown_sector(map, sector, now);
  }

  Client& client() { return client_; }  ///< the session: state, chat, acts, keys
  const Client& client() const { return client_; }
  Predictor& predictor() { return predictor_; }  ///< what is foreseen; ask ready() first
  const Predictor& predictor() const { return predictor_; }
  const Others& picture() const { return others_; }

 private:
  /// Null: the game has maps and props of its own.
  static std::unique_ptr<HeldContent> hold(GameConfig& config) {
    if (config.client.content || config.client.prop_content) return nullptr;
    auto held = std::make_unique<HeldContent>(std::move(config.content));
    held->serve(config.client, config.prediction);
    return held;
  }

  std::unique_ptr<HeldContent> held_;
  Client client_;
  Predictor predictor_;
  Others others_;
  std::vector<ShownEntity> shown_;
  mutable std::optional<Turn16> told_yaw_;  // ShownPlayer::delta_yaw as the game was told last
};

}  // namespace ashlar::client_sim
