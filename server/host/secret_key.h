#pragma once
#include <cstdint>
#include <span>

namespace ashlar::server {

/// 128 random bits from the adapter. What is made of them with keyed_hash() tells neither the key nor
/// anything else that is made of it: connection ids, places in tables that strangers fill.
struct SecretKey {
  std::uint64_t low = 0, high = 0;
};

/// SipHash-2-4: who does not hold the key can neither foresee nor choose its values. About 20 ns for 16
/// bytes. Source: Aumasson and Bernstein, SipHash: a fast short-input PRF (2012).
std::uint64_t keyed_hash(const SecretKey& key, std::span<const std::uint8_t> bytes);
std::uint64_t keyed_hash(const SecretKey& key, std::uint64_t value);

}  // namespace ashlar::server
