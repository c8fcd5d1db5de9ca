#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "protocol/connection/streams.h"
#include "protocol/messages.h"

namespace ashlar::client_sim {

/// Is shown what a client hears and says, as messages lie in its packets: for those who ask where the bytes
/// go. Called from Client::advance().
class ClientTap {
 public:
  virtual ~ClientTap() = default;
  /// Another session began. @param goes_on  in the world of the last one
  virtual void welcomed(const Welcome& welcome, bool goes_on) = 0;
  /// What the welcome's world tells of its kinds, where it is told. Never null.
  virtual void replicated(const std::shared_ptr<const ReplicationRegistry>& /*registry*/) {}
  /// An unreliable message that came: a part of a snapshot.
  virtual void unreliable_in(std::span<const std::uint8_t> message) = 0;
  /// A whole message of a stream that came and could be read.
  /// @param what  its name in the schema, which lives for ever
  virtual void stream_in(StreamId stream, std::string_view what, std::size_t bytes) = 0;
  /// An act that went with the command of a tick.
  virtual void act_out(std::uint32_t /*tick*/, const BlockAct& /*act*/) {}
  /// What became of acts, and up to which tick the world is saved.
  virtual void answers_in(const ActAnswers& /*answers*/) {}
  virtual void saved_in(std::uint32_t /*tick*/) {}
  /// An input that went.
  virtual void input_out(std::size_t bytes) = 0;
};

}  // namespace ashlar::client_sim
