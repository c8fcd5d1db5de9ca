#include "server/net/send_thread.h"

#include <chrono>
#include <utility>

namespace ashlar::server {
namespace {

std::uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

SendThread::SendThread(std::function<void(const DatagramBatch&)> send)
    : send_(std::move(send)), thread_([this] { work(); }) {}

SendThread::~SendThread() {
  stopping_.store(true, std::memory_order_release);
  ring();
  thread_.join();
}

void SendThread::ring() {
  bell_.fetch_add(1, std::memory_order_release);
  bell_.notify_one();
}

bool SendThread::hand_over(DatagramBatch& batch, bool early) {
  const std::uint32_t given = given_.load(std::memory_order_relaxed);
  if (given - sent_.load(std::memory_order_acquire) == batches_max) return false;
  Slot& slot = slots_[given % batches_max];
  std::swap(slot.batch, batch);
  slot.given_ns = monotonic_ns();
  slot.early = early;
  batch.clear();
  given_.store(given + 1, std::memory_order_release);
  ring();
  return true;
}

void SendThread::work() {
  for (;;) {
    // In this order: what was handed over before the end is sent before it.
    const std::uint32_t rung = bell_.load(std::memory_order_acquire);
    const bool last = stopping_.load(std::memory_order_acquire);
    std::uint32_t sent = sent_.load(std::memory_order_relaxed);
    while (sent != given_.load(std::memory_order_acquire)) {
      const Slot& slot = slots_[sent % batches_max];
      send_(slot.batch);
      const std::uint64_t took_ns = slot.early ? 0 : monotonic_ns() - slot.given_ns;
      std::uint64_t longest = longest_ns_.load(std::memory_order_relaxed);
      while (longest < took_ns && !longest_ns_.compare_exchange_weak(longest, took_ns)) {
      }
      sent_.store(++sent, std::memory_order_release);
    }
    if (last) return;
    bell_.wait(rung, std::memory_order_acquire);
  }
}

}  // namespace ashlar::server
