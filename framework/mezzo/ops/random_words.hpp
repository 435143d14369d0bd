#pragma once
#include <cstdint>

namespace mezzo::detail {

/// Random numbers of one element of an array: words of Philox under a key, and numbers drawn from them.
class RandomWords {
 public:
  RandomWords(std::uint64_t key, std::uint64_t element) : key_(key), element_(element) {}

  std::uint64_t word();                                            ///< 64 random bits
  double unit();                                                   ///< in [0, 1), 53 bits
  double positive_unit() { return 1 - unit(); }                    ///< in (0, 1]
  double normal();                                                 ///< mean 0, deviation 1 (Box and Muller, 1958)
  double truncated_normal();                                       ///< normal() that is at most 2 from 0
  std::int64_t integer(std::int64_t minval, std::int64_t maxval);  ///< in [minval, maxval), without bias
  double log_gamma(double alpha);       ///< logarithm of a gamma number (Marsaglia and Tsang, 2000)
  double binomial(double n, double p);  ///< by inversion, or for n p >= 10 as Hoermann, 1993

 private:
  std::uint64_t key_, element_, block_ = 0, next_ = 0;
  bool full_ = false;
};

}  // namespace mezzo::detail
