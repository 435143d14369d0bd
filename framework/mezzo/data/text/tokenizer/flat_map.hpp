#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mezzo::detail {

/// Hash map from 64-bit keys to 32-bit values in one array, for lookups in inner loops. The key ~0 is not allowed.
class FlatMap {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Value of a key, or `none`.
  std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return none;
    for (std::size_t at = place(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return slots_[at].value;
      if (slots_[at].key == free_key) return none;
    }
  }

  /// Sets the value of a key.
  void set(std::uint64_t key, std::uint32_t value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.key == free_key) ++count_;
    slot = {key, value};
  }

 private:
  static constexpr std::uint64_t free_key = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = free_key;
    std::uint32_t value = none;
  };

  std::size_t place(std::uint64_t key) const {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
    return static_cast<std::size_t>((key * golden) >> 32U) & mask_;
  }

  std::size_t place_of(std::uint64_t key) const {
    std::size_t at = place(key);
    while (slots_[at].key != key && slots_[at].key != free_key) at = (at + 1) & mask_;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.key != free_key) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0, count_ = 0;
};

}  // namespace mezzo::detail
