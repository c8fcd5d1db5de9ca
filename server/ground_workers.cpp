#include "server/ground_workers.h"

#include <iterator>
#include <utility>

#include "world/math/assert.h"
#include "world/sim/ground_generator.h"

namespace ashlar::server {

GroundWorkers::GroundWorkers(std::shared_ptr<const GroundGenerator> generator, std::uint32_t threads,
                             std::function<void(GroundColumn&)> finish)
    : generator_(std::move(generator)), finish_(std::move(finish)) {
  ASHLAR_ASSERT(generator_ != nullptr);
  ASHLAR_ASSERT(threads >= 1 && threads <= columns_max);
  waiting_.reserve(columns_max);
  to_pack_.reserve(pack_requests_max);
  packed_.reserve(pack_requests_max);
  finished_.reserve(columns_max);
  threads_.reserve(threads);
  start(threads);
}

void GroundWorkers::start(std::size_t threads) {
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    stop();  // a thread that is neither joined nor let go would end the process without a word
    throw;
  }
}

void GroundWorkers::begin_world(std::shared_ptr<const GroundGenerator> generator) {
  ASHLAR_ASSERT(generator != nullptr);
  const std::size_t threads = threads_.size();
  stop();
  threads_.clear();
  generator_ = std::move(generator);
  waiting_.clear(), finished_.clear(), to_pack_.clear(), packed_.clear();
  under_way_ = 0;
  stopping_ = false;
  start(threads);
}

GroundWorkers::~GroundWorkers() { stop(); }

void GroundWorkers::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void GroundWorkers::request(std::span<const IVec2> columns) {
  if (columns.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    under_way_ += columns.size();
    ASHLAR_ASSERT(under_way_ <= columns_max);
    waiting_.insert(waiting_.end(), columns.begin(), columns.end());
  }
  wanted_.notify_all();
}

void GroundWorkers::take(std::vector<GroundColumn>& into) {
  const std::scoped_lock lock(mutex_);
  ASHLAR_ASSERT(under_way_ >= finished_.size());
  under_way_ -= finished_.size();
  into.insert(into.end(), std::make_move_iterator(finished_.begin()),
              std::make_move_iterator(finished_.end()));
  finished_.clear();
}

void GroundWorkers::request(std::span<PackRequest> chunks) {
  if (chunks.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    to_pack_.insert(to_pack_.end(), std::make_move_iterator(chunks.begin()),
                    std::make_move_iterator(chunks.end()));
  }
  wanted_.notify_all();
}

void GroundWorkers::take(std::vector<PackedGround>& into) {
  const std::scoped_lock lock(mutex_);
  into.insert(into.end(), std::make_move_iterator(packed_.begin()), std::make_move_iterator(packed_.end()));
  packed_.clear();
}

void GroundWorkers::work() {
  std::unique_ptr<GroundPacker> packer;  // where nobody is sent the ground there is none
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return stopping_ || !waiting_.empty() || !to_pack_.empty(); });
    if (stopping_) return;
    if (!to_pack_.empty()) {
      const PackRequest request = std::move(to_pack_.front());
      to_pack_.erase(to_pack_.begin());
      lock.unlock();
      if (packer == nullptr) packer = std::make_unique<GroundPacker>();
      PackedGround made = packer->pack(request);
      lock.lock();
      packed_.push_back(std::move(made));
      continue;
    }
    const IVec2 column = waiting_.front();
    waiting_.erase(waiting_.begin());
    lock.unlock();
    GroundColumn made = make_column(*generator_, column);
    if (finish_) finish_(made);
    lock.lock();
    finished_.push_back(std::move(made));
    ASHLAR_ASSERT(finished_.size() + waiting_.size() <= under_way_);
  }
}

}  // namespace ashlar::server
