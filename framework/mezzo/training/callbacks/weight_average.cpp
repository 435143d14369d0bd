#include <mezzo/training/callbacks/weight_average.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t averaging_grain = 1 << 14;

template <class T, class Average>
void average_into(Tensor& average, const Tensor& weight, const Average& function) {
  T* const out = average.mutable_data<T>();
  const T* const numbers = weight.data<T>();
  for (std::int64_t i = 0; i < average.size(); ++i) {
    out[i] = static_cast<T>(function(static_cast<double>(out[i]), static_cast<double>(numbers[i])));
  }
}

template <class T>
void mean_into(Tensor& average, const Tensor& weight, std::int64_t count) {
  T* const out = average.mutable_data<T>();
  const T* const numbers = weight.data<T>();
  const T share = static_cast<T>(1) / static_cast<T>(count + 1);
  parallel_for(average.size(), averaging_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] += (numbers[i] - out[i]) * share;
  });
}

/// The numbers of a weight in the dtype of its average.
Tensor numbers_to_average(const Variable& weight) {
  const Tensor numbers = weight.value();
  return is_floating(numbers.dtype()) && numbers.dtype() != DType::float64 ? numbers.cast(DType::float32) : numbers;
}

}  // namespace

void WeightAverage::clear() {
  numbers_.clear();
  count_ = 0;
}

void WeightAverage::update(const Module& module, bool buffers, const Function& function) {
  const std::vector<Variable> weights = module.weights();
  numbers_.resize(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor numbers = numbers_to_average(weights[i]);
    Tensor& average = numbers_[i];
    const bool wide = numbers.dtype() == DType::float64;
    if (count_ == 0 || !is_floating(numbers.dtype()) || (!buffers && !weights[i].trainable())) {
      average = numbers;
    } else if (function) {
      const auto next = [&](double old, double weight) { return function(old, weight, count_); };
      wide ? average_into<double>(average, numbers, next) : average_into<float>(average, numbers, next);
    } else {
      wide ? mean_into<double>(average, numbers, count_) : mean_into<float>(average, numbers, count_);
    }
  }
  ++count_;
}

void WeightAverage::assign_to(const Module& module) const {
  const std::vector<Variable> weights = module.weights();
  for (std::size_t i = 0; i < numbers_.size(); ++i) weights[i].assign(numbers_[i]);
}

void WeightAverage::write(CallbackState& state) const {
  state.numbers["n_averaged"] = static_cast<double>(count_);
  for (std::size_t i = 0; i < numbers_.size(); ++i) state.tensors[fmt::format("average.{}", i)] = numbers_[i];
}

void WeightAverage::read(const CallbackState& state, const Module& module, const char* where) {
  clear();
  const std::vector<Variable> weights = module.weights();
  std::vector<Tensor> numbers;
  for (const Variable& weight : weights) {
    const auto found = state.tensors.find(fmt::format("average.{}", numbers.size()));
    if (found == state.tensors.end()) return;
    if (found->second.shape() != weight.shape()) {
      fail<FileError>(where, "averages in a checkpoint must have the shapes of the weights; got {} for {}",
                      found->second.shape(), weight.shape());
    }
    numbers.push_back(found->second.cast(numbers_to_average(weight).dtype()));
  }
  count_ = count_in(state, "n_averaged");
  if (count_ > 0) numbers_ = std::move(numbers);
}

}  // namespace mezzo::detail
