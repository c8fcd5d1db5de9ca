#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ashlar::secure {

using ByteSpan = std::span<const std::uint8_t>;
using Bytes16 = std::array<std::uint8_t, 16>;
using Bytes32 = std::array<std::uint8_t, 32>;

/// Overwrites memory in a way that no compiler leaves out.
void wipe(std::span<std::uint8_t> bytes);

/// Compares in a time that depends on the lengths alone; false where they differ.
bool equal(ByteSpan a, ByteSpan b);

/// 32 bytes that nobody else may know: wiped when they go, compared in constant time, printed nowhere.
class Secret {
 public:
  Secret() = default;
  explicit Secret(const Bytes32& bytes) : bytes_(bytes) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { wipe(bytes_); }

  /// For ciphers and derivations only; a copy has to be wiped by who makes it.
  const Bytes32& bytes() const { return bytes_; }
  /// To be filled in.
  std::span<std::uint8_t, 32> writable() { return bytes_; }
  friend bool operator==(const Secret& a, const Secret& b) { return equal(a.bytes_, b.bytes_); }

 private:
  Bytes32 bytes_{};
};

/// Where random bytes come from: the operating system in a program, a seeded generator in tests and in the
/// simulation. Not kept by who takes one longer than the call.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;

  /// 32 random bytes.
  Secret secret() {
    Secret out;
    fill(out.writable());
    return out;
  }
};

/// The operating system's generator. Stops the program where there is none. Any thread.
class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override;
};

/// Makes the library of ciphers ready; whatever needs it calls this itself. Any thread, cheap after the first
/// time. Stops the program where the library says that it cannot work (no source of random bytes).
void prepare_ciphers();

}  // namespace ashlar::secure
