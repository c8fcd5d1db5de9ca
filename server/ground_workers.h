#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "server/host/chunk_loader.h"
#include "server/host/ground_packer.h"

namespace ashlar::server {

/// Makes the ground that a Host asks for, and packs chunks for clients that are sent it, on threads of its
/// own: the adapter between HostOutput::ground_requests, pack_requests and HostInput::ground, packed. One for
/// each Host. Its functions are called by the
/// Host's thread; they wait for no work, only for a lock that is held as long as moving a few pointers takes,
/// and allocate nothing.
class GroundWorkers {
 public:
  /// Most requests that may be under way, not yet taken: a Host asks for no more.
  static constexpr std::size_t columns_max = ChunkLoader::in_flight_max;

  /// @param generator  of the Host's world: World::ground()
  /// @param threads    1 to columns_max; asserted. More than one help only where processors are idle
  /// @param finish     called on the threads with every column that was made. May be empty
  GroundWorkers(std::shared_ptr<const GroundGenerator> generator, std::uint32_t threads,
                std::function<void(GroundColumn&)> finish = {});
  /// Waits for what the threads are at, some milliseconds; what is left is not made.
  ~GroundWorkers();
  GroundWorkers(const GroundWorkers&) = delete;
  GroundWorkers& operator=(const GroundWorkers&) = delete;

  /// Another world's ground from now on: what was asked for is void. Waits as the destructor does.
  void begin_world(std::shared_ptr<const GroundGenerator> generator);

  /// Made in this order as threads become free. Asserts columns_max.
  void request(std::span<const IVec2> columns);
  /// Packed before the next column is made, as that takes a hundred times as long. Moved from.
  void request(std::span<PackRequest> chunks);
  /// Appends what was finished since the last call, in the order of finishing.
  void take(std::vector<GroundColumn>& into);
  void take(std::vector<PackedGround>& into);  ///< likewise of chunks that were to be packed

 private:
  void work();
  void start(std::size_t threads);
  void stop();

  std::shared_ptr<const GroundGenerator> generator_;  // changed while no thread runs
  const std::function<void(GroundColumn&)> finish_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  // Under mutex_.
  std::vector<IVec2> waiting_;
  std::vector<GroundColumn> finished_;
  std::vector<PackRequest> to_pack_;
  std::vector<PackedGround> packed_;
  std::size_t under_way_ = 0;  // waiting, at work or finished
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace ashlar::server
