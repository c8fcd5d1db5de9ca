#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ashlar::server {

/// One thing at a time that may take long or never end, such as reading a file, on a thread of its own. What
/// it made is picked up when it is there; at the end of the process nobody waits for it.
template <class Result>
class Background {
 public:
  /// Begins, or notes that it is wanted once more when the last one has not ended. The work must own what it
  /// reads: it may outlive everything else.
  void start(std::function<Result()> work) {
    if (shared_ != nullptr) {
      again_ = std::move(work);
      return;
    }
    shared_ = std::make_shared<Shared>();
    std::thread([shared = shared_, work = std::move(work)] {
      Result result = work();
      const std::scoped_lock lock(shared->mutex);
      shared->result = std::move(result);
    }).detach();
  }

  /// What ended since the last call. Never waits.
  std::optional<Result> take() {
    if (shared_ == nullptr) return std::nullopt;
    std::optional<Result> result;
    {
      const std::scoped_lock lock(shared_->mutex);
      result = std::move(shared_->result);
      shared_->result.reset();
    }
    if (!result) return std::nullopt;
    shared_.reset();
    if (again_) start(std::exchange(again_, nullptr));
    return result;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::optional<Result> result;
  };
  std::shared_ptr<Shared> shared_;  // null: nothing under way
  std::function<Result()> again_;
};

}  // namespace ashlar::server
