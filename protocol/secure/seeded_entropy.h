#pragma once
#include "protocol/secure/secret.h"

namespace ashlar::secure {

/// Bytes that follow from a seed: as good as the seed is, and the same each time. So a Host or a Client draws
/// all its randomness from one argument, and a test or a simulation plays again to the bit. One thread.
///
/// Source: ChaCha20 as a generator with fast key erasure (D. J. Bernstein, 2017): each call wipes the key
/// that made its bytes, so who reads the memory later learns nothing of what was drawn before.
class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(const Secret& seed) : key_(seed) {}
  /// A seed made of a number: for tests and simulations alone.
  explicit SeededEntropy(std::uint64_t number);
  void fill(std::span<std::uint8_t> out) override;

 private:
  Secret key_;
};

}  // namespace ashlar::secure
