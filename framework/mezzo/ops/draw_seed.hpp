#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

namespace mezzo::detail {

/// Seed of the thread's draws of random numbers for its lifetime, in place of seed_everything() and the layer's place:
/// for layers with a seed of their own. Steps still differ. No effect without a seed.
class DrawSeed {
 public:
  /// `draws` counts the draws outside of steps, so that each draw has different numbers.
  DrawSeed(const std::optional<std::uint64_t>& seed, std::atomic<std::uint64_t>& draws);
  ~DrawSeed();
  DrawSeed(const DrawSeed&) = delete;
  DrawSeed& operator=(const DrawSeed&) = delete;

  /// The innermost one of the thread with a seed, or null.
  static DrawSeed* current();

  std::uint64_t seed() const { return seed_; }
  std::uint64_t next() { return draws_++; }

 private:
  bool active_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t>& draws_;
  DrawSeed* outer_;
};

}  // namespace mezzo::detail
