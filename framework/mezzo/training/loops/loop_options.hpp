#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>

namespace mezzo {

namespace detail {
/// Option `verbose` of Keras: 0 is silent, 1 a progress bar, 2 one line per epoch or call. "auto" is 1; true and false
/// are 1 and 0.
class MEZZO_API Verbose {
 public:
  Verbose(bool shown) : level_(shown ? 1 : 0) {}
  /// A ValueError for another number.
  Verbose(int level);
  /// A NameError for another name than "auto".
  template <class S, detail::IfName<S> = 0>
  Verbose(const S& name) : Verbose(named(name)) {}

  operator int() const { return level_; }

 private:
  static int named(const std::string& name);
  int level_;
};

/// Option `validation_freq` of Keras: the number of epochs between validations, or the numbers of the epochs after
/// which fit validates. Both count epochs from 1.
class MEZZO_API ValidationFrequency {
 public:
  /// A ValueError for a number below 1.
  ValidationFrequency(int every);
  ValidationFrequency(std::vector<int> epochs);
  ValidationFrequency(std::initializer_list<int> epochs) : ValidationFrequency(std::vector<int>(epochs)) {}

  /// True if fit validates after the epoch of that number, counted from 0.
  bool due(int epoch) const;

 private:
  int every_ = 0;
  std::vector<int> epochs_;
};

/// How often a callback acts: after each epoch, or after a number of batches.
class MEZZO_API Frequency {
 public:
  /// A ValueError for a number below 1.
  Frequency(int batches);
  /// "epoch" or "batch", which is 1. A NameError for another name.
  template <class S, detail::IfName<S> = 0>
  Frequency(const S& name) : batches_(named(name)) {}

  bool by_epoch() const { return batches_ == 0; }
  int batches() const { return batches_; }

 private:
  static int named(const std::string& name);
  int batches_;
};
}  // namespace detail

}  // namespace mezzo
