#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/content_counters.h"
#include "server/host/content_shelf.h"
#include "server/host/host.h"

namespace ashlar::server {

/// Where content goes: the connections' bulk streams, as the Host has them.
class ContentBulk {
 public:
  virtual ~ContentBulk() = default;
  /// May the client be sent a message of so many bytes now? No while much waits in its stream: what is queued
  /// there is memory, and nobody else's.
  virtual bool can_take(std::uint32_t client, std::size_t bytes) = 0;
  /// Queues a message; it was asked before whether it fits.
  virtual void send(std::uint32_t client, std::span<const std::uint8_t> message) = 0;
};

/// Who asked for which content, and whose turn it is. A client has one request at a time, a new one takes the
/// place of the last. Parts go round, one a turn, within a budget of bytes for all and a quarter of it for
/// each. No request is dropped, as a client does not repeat what travels on a stream; it costs as much as a
/// short part, so who asks again and again runs into debt, up to a second's, and waits for his own answer.
/// The Host's thread. Nothing is allocated once a part was written; a tick costs nothing while nobody waits,
/// and 50 ns for each that does.
class ContentRoom {
 public:
  /// @param shelf        outlives this
  /// @param bytes_per_s  for all clients together; 0: everything is refused (ContentRefusal::off)
  /// @param clients_max  clients are numbered below it
  ContentRoom(const ContentShelf& shelf, std::uint64_t bytes_per_s, std::uint32_t clients_max,
              const Defects& defects = {});

  /// Takes a client's request; the answer comes from a tick.
  void ask(Micros now, std::uint32_t client, const ContentRequest& request);
  /// Nothing is kept of a client that has gone: whoever has its number next begins anew.
  void forget(std::uint32_t client);
  /// Is an answer to this client not complete? Then it is the server's turn, not the client's.
  bool owes(std::uint32_t client) const;
  /// Another world: nobody's request counts any more. @param shelf  outlives this; may be the same
  void begin_world(const ContentShelf& shelf);
  /// Sends what is due: at most as much as the budget for all has saved up, an eighth of a second's.
  void tick(Micros now, ContentBulk& bulk);

  /// Since the start.
  const ContentCounters& counters() const { return counters_; }
  std::size_t waiting() const { return turns_.size(); }  ///< clients whose answer is not complete

  /// What a request costs, and a refusal with it.
  static constexpr std::int64_t request_cost_bytes = 1024;
  /// Bytes of content in a part: less than content_part_bytes_max where the budget is small.
  std::size_t part_bytes() const { return part_bytes_; }

 private:
  /// Bytes that may be sent, refilled by time; in debt after a part that was longer.
  struct Bucket {
    std::int64_t millionths = 0;
    Micros at{0};
  };
  struct Seat {
    bool waits = false;
    ContentRequest request;
    Bucket bucket;
    bool known = false;  ///< the bucket has been filled once
  };
  void refill_seat(Micros now, Seat& seat) const;
  enum class Served : std::uint8_t { nothing, part, last };
  Served serve(std::uint32_t client, Seat& seat, ContentBulk& bulk);
  Served refuse(std::uint32_t client, const Seat& seat, ContentRefusal reason, ContentBulk& bulk);
  void end_turn(std::size_t at);
  void spend(Seat& seat, std::size_t bytes);

  const ContentShelf* shelf_;
  std::int64_t per_s_, per_s_each_;
  std::size_t part_bytes_;
  Bucket all_;
  std::vector<Seat> seats_;
  std::vector<std::uint32_t> turns_;  // who waits, in the order in which they came
  std::size_t next_ = 0;              // of turns_: whose turn is next
  MessageWriter writer_;
  ContentCounters counters_;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
