#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/random.hpp>
#include <mezzo/data/image/random.hpp>

namespace mezzo::image::detail {

/// Random numbers of one transform for one sample.
class Draws {
 public:
  Draws(const std::string& transform, const SampleKey& key)
      : key_(mezzo::detail::mix(mezzo::detail::mix(key.seed, mezzo::detail::key_of(transform)),
                                static_cast<std::uint64_t>(key.epoch))),
        index_(static_cast<std::uint64_t>(key.index)) {}

  /// Returns two numbers in [0, 1).
  std::pair<double, double> next() {
    const auto words = philox(key_, index_, draw_++);
    return {unit_double(words[0], words[1]), unit_double(words[2], words[3])};
  }

 private:
  std::uint64_t key_;
  std::uint64_t index_;
  std::uint64_t draw_ = 0;
};

/// Maps a number in [0, 1) to one in [low, high).
inline double between(double low, double high, double unit) { return low + (high - low) * unit; }

}  // namespace mezzo::image::detail
