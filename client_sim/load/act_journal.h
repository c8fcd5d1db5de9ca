#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client_sim/client/client_tap.h"

namespace ashlar::client_sim {

/// What a client did to blocks, what it was told became of that, and what it was told is saved: lines of CSV,
/// in the order in which it heard. Memory: some 60 bytes a line.
class ActJournal final : public ClientTap {
 public:
  /// The columns: `player` as at the door; `tick` of the server's run; `verdict` by its name, "saved" where
  /// the world is up to that tick, "unanswered" for acts without a last word at the end; `act` its number,
  /// and `kind` by number as BlockActKind has it; x, y, z the block that was or would have been changed;
  /// `item` the kind of block or item.
  static constexpr const char* header = "player,tick,verdict,act,kind,x,y,z,item\n";

  explicit ActJournal(std::string player) : player_(std::move(player)) {}

  void act_out(std::uint32_t tick, const BlockAct& act) override;
  void answers_in(const ActAnswers& answers) override;
  void saved_in(std::uint32_t tick) override;

  /// All lines. Call it once, at the end.
  std::string take();

  // What it does not write down.
  void welcomed(const Welcome& /*welcome*/, bool /*goes_on*/) override {}
  void unreliable_in(std::span<const std::uint8_t> /*message*/) override {}
  void stream_in(StreamId /*stream*/, std::string_view /*what*/, std::size_t /*bytes*/) override {}
  void input_out(std::size_t /*bytes*/) override {}

 private:
  void line(std::uint32_t tick, std::string_view verdict, std::uint32_t number, const BlockAct& act,
            IVec3 block);

  std::string player_, lines_;
  struct Sent {
    std::uint32_t tick = 0;
    BlockAct act;
  };
  std::map<std::uint32_t, Sent> open_;  // by number: without a last word
};

}  // namespace ashlar::client_sim
