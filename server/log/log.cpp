#include "server/log/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace ashlar::server {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format) {
  // %v is not escaped by spdlog; format_event has done that.
  const char* pattern = format == LogFormat::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                                  : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc, "\n");
}

/// Hands formatted lines on.
class ForwardSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ForwardSink(std::shared_ptr<LineSink> target) : target_(std::move(target)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    target_->line({line.data(), line.size() - (line.size() > 0 ? 1 : 0)});
  }
  void flush_() override {}

 private:
  std::shared_ptr<LineSink> target_;
};

}  // namespace

struct Log::Impl {
  LogFormat format;
  std::shared_ptr<LineSink> sink;
  std::shared_ptr<spdlog::logger> logger;
};

Log::Log(LogFormat format, LogLevel least, std::shared_ptr<LineSink> sink)
    : impl_(new Impl{format, sink, nullptr}) {
  impl_->logger = std::make_shared<spdlog::logger>("ashlar", std::make_shared<ForwardSink>(std::move(sink)));
  impl_->logger->set_formatter(make_formatter(format));
  set_level(least);
}

Log::~Log() = default;

void Log::event(LogLevel level, std::string_view name, std::span<const LogField> fields) {
  if (!logs(level)) return;
  impl_->logger->log(to_spdlog(level), spdlog::string_view_t(format_event(impl_->format, name, fields)));
}

void Log::set_level(LogLevel least) { impl_->logger->set_level(to_spdlog(least)); }
bool Log::logs(LogLevel level) const { return impl_->logger->should_log(to_spdlog(level)); }
std::uint64_t Log::lines_lost() const { return impl_->sink->lines_lost(); }

}  // namespace ashlar::server
