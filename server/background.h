#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace ashlar::server {

/// One thing at a time that may take long or never end, such as reading a file, on a thread of its own. What
/// it made is picked up when it is there; at the end of the process nobody waits for it.
template <class Result>
class Background {
 public:
  /// Begins, or notes that it is wanted once more when the last one has not ended. Where the system has no
  /// thread to spare each take() tries again. The work must own what it reads: it may outlive everything
  /// else.
  void start(std::function<Result()> work) {
    if (shared_ != nullptr) {
      again_ = std::move(work);
      return;
    }
    const auto shared = std::make_shared<Shared>();
    shared->work = std::move(work);
    try {
      std::thread([shared] { shared->run(); }).detach();
      shared_ = shared;
    } catch (const std::system_error&) {
      again_ = std::move(shared->work);
    }
  }

  /// What ended since the last call. Never waits. Throws what the work threw.
  std::optional<Result> take() {
    std::optional<Result> result;
    if (shared_ != nullptr) {
      const std::scoped_lock lock(shared_->mutex);
      if (!shared_->result && shared_->thrown == nullptr) return std::nullopt;
      result = std::move(shared_->result);
    }
    const std::exception_ptr thrown = shared_ == nullptr ? nullptr : shared_->thrown;
    shared_.reset();
    if (again_) start(std::exchange(again_, nullptr));
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return result;
  }

 private:
  struct Shared {
    void run() {
      std::optional<Result> made;
      std::exception_ptr failed;
      try {
        made = work();
      } catch (...) {
        failed = std::current_exception();
      }
      const std::scoped_lock lock(mutex);
      result = std::move(made);
      thrown = failed;
    }

    std::function<Result()> work;
    std::mutex mutex;
    std::optional<Result> result;  // under mutex, like the next
    std::exception_ptr thrown;
  };
  std::shared_ptr<Shared> shared_;  // null: nothing under way
  std::function<Result()> again_;
};

}  // namespace ashlar::server
