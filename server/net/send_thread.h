#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include "protocol/datagram.h"

namespace ashlar::server {

/// Sends batches beside the loop, in the order in which they are handed over. The queue between holds
/// batches_max: more are refused, and are the owner's to drop. All but what `send` does is the owner's one
/// thread; it neither waits nor allocates there once the batches have their size.
class SendThread {
 public:
  /// Two ticks' worth of turns: who is so far behind sends what nobody needs any more.
  static constexpr std::size_t batches_max = 16;

  /// @param send  called on the thread with one batch after the other
  explicit SendThread(std::function<void(const DatagramBatch&)> send);
  /// What was handed over is sent first.
  ~SendThread();
  SendThread(const SendThread&) = delete;
  SendThread& operator=(const SendThread&) = delete;

  /// Takes the batch, and leaves an empty one in its place.
  /// @param early  more of the same turn is to come, and the owner works on meanwhile: the time is not taken
  /// @return false: the queue is full, and the batch is as it was
  bool hand_over(DatagramBatch& batch, bool early = false);
  /// Less than half of the queue is taken: what is not hurried may be handed over.
  bool keeps_up() const {
    return given_.load(std::memory_order_relaxed) - sent_.load(std::memory_order_acquire) < batches_max / 2;
  }
  /// All that was handed over is sent.
  bool idle() const {
    return sent_.load(std::memory_order_acquire) == given_.load(std::memory_order_relaxed);
  }
  /// Of the batches sent since the last call, but for early ones: the longest time from handing over to the
  /// last send, in nanoseconds; 0: there was none.
  std::uint64_t take_longest_ns() { return longest_ns_.exchange(0, std::memory_order_relaxed); }

 private:
  struct Slot {
    DatagramBatch batch;
    std::uint64_t given_ns = 0;
    bool early = false;
  };
  void work();
  void ring();

  std::function<void(const DatagramBatch&)> send_;
  std::array<Slot, batches_max> slots_;
  std::atomic<std::uint32_t> given_{0}, sent_{0};  // batches; they wrap together
  std::atomic<std::uint32_t> bell_{0};             // rung whenever there is something to do
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> longest_ns_{0};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ashlar::server
