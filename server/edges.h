#pragma once
#include <array>
#include <chrono>
#include <span>

#include "server/host/host.h"
#include "server/log/log.h"
#include "server/net/counters.h"
#include "server/net/tcp.h"

namespace ashlar::server {

/// Turns what happens while the server runs into log lines: who came and went, matches, ticks that took too
/// long, datagrams that were lost. Lines that a peer can cause are capped in number; what was left out is
/// counted in the next one.
class Edges {
 public:
  Edges(Log& log, std::chrono::microseconds start, std::uint16_t tick_rate_hz);

  /// Call once a turn.
  /// @param closes  TCP connections that the transports ended by themselves in this turn
  void observe(std::chrono::microseconds now, const HostStatus& status, const TransportCounters& transports,
               std::span<const HostEvent> events, std::span<const TcpClosed> closes = {});

  /// Another world is in place of the last one: its match is told, though it may be called as that one's was.
  /// @param tick  HostStatus::tick of it, before its first step
  void begin_world(std::uint32_t tick);

 private:
  void log_close(std::chrono::microseconds now, const TcpClosed& closed);
  RateCap& cap_of(HostEventKind kind);
  void log_event(std::chrono::microseconds now, const HostEvent& event);
  void log_late_tick(std::chrono::microseconds now, const HostStatus& status, std::uint64_t tick_ns);
  void log_match(std::chrono::microseconds now, const HostStatus& status);
  void log_overload(const HostStatus& status);
  void log_skipped_ticks(std::chrono::microseconds now, const HostStatus& status);
  void log_forgotten(const HostStatus& status);
  void log_losses(const HostStatus& status, const TransportCounters& transports);

  Log& log_;
  std::uint64_t tick_ns_max_;
  std::uint32_t tick_seen_ = 0;
  RateCap people_, orders_, flags_, talk_, refusals_, closes_, late_, skips_, matches_;
  std::chrono::microseconds next_losses_;
  std::uint64_t skipped_seen_ = 0;
  bool forgotten_told_ = false;
  std::uint8_t rung_seen_ = 0;
  std::uint32_t match_seen_ = 1;
  MatchPhase phase_seen_ = MatchPhase::open;
  bool match_waits_ = false;  // what the status says of a match is of the world before
  TransportCounters transports_seen_;
  std::array<std::uint64_t, drop_reason_count> drops_seen_{};
};

}  // namespace ashlar::server
