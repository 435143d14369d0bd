#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {

/// Averages of a module's weights, in the order of Module::weights(): float32, or float64 for float64 weights.
class WeightAverage {
 public:
  using Function = std::function<double(double average, double weight, std::int64_t num_averaged)>;

  void clear();

  /// Adds the module's weights; the first time it copies them. Without a function it is the mean. Without `buffers`
  /// moving statistics are copied.
  void update(const Module& module, bool buffers, const Function& function);

  /// Sets the module's weights to the averages.
  void assign_to(const Module& module) const;

  std::int64_t count() const { return count_; }  ///< updates
  const std::vector<Tensor>& numbers() const { return numbers_; }

  /// Writes to and reads from the state of a callback. A FileError that starts with `where` for other shapes.
  void write(CallbackState& state) const;
  void read(const CallbackState& state, const Module& module, const char* where);

 private:
  std::vector<Tensor> numbers_;
  std::int64_t count_ = 0;
};

}  // namespace mezzo::detail
