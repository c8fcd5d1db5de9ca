#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "server/log/log.h"

namespace ashlar::server::test {

/// A log that keeps its lines. Of the thread that logs; read by others once that has ended.
class Lines final : public LineSink {
 public:
  void line(std::string_view text) override { all.emplace_back(text); }
  std::vector<std::string> all;
};

}  // namespace ashlar::server::test
