#pragma once
// Keys that are the same in every run.

#include <cstdint>

#include "protocol/secure/identity.h"
#include "protocol/secure/secret.h"

namespace ashlar::fuzz {

/// Counts up from where it was told, around and around.
class Ramp final : public secure::Entropy {
 public:
  explicit Ramp(std::uint8_t from) : next_(from) {}
  void fill(std::span<std::uint8_t> out) override {
    for (auto& b : out) b = next_++;
  }

 private:
  std::uint8_t next_;
};

inline secure::KeyPair identity(std::uint8_t from) {
  Ramp entropy(from);
  return secure::key_pair(entropy.secret());
}

}  // namespace ashlar::fuzz
