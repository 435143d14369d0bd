#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of compile_step().
struct CompileStepOptions {
  bool training = true;  ///< mode of layers: dropout drops elements, moving statistics are updated
  int plans = 0;         ///< plans that are kept, those used last; 0: plan_cache_size()
};

namespace detail {
struct LoopNumbers;

/// An input of a StepFunction: an array, or a C++ number, which becomes float32 of shape ().
class StepInput {
 public:
  template <class T, std::enable_if_t<std::is_convertible_v<const T&, Tensor> && !std::is_arithmetic_v<T>, int> = 0>
  StepInput(const T& array) : tensor_(array) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  StepInput(T number) : tensor_(Tensor::scalar(static_cast<double>(number), DType::float32)) {}

  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};
}  // namespace detail

/// A step of a training loop of one's own, made by compile_step(). Copies share the plans and the count of runs.
class MEZZO_API StepFunction {
 public:
  using Function = std::function<Values(const Values&)>;  ///< batch arrays to results, traced once per signature

  StepFunction(Function function, const CompileStepOptions& options);  ///< called by compile_step(); errors as there

  /// Runs the step for these inputs, `step({x, y, 0.5})`, and returns the results of the function. They hold until the
  /// next run. The first run with other shapes or dtypes, layers or scopes of autocast() makes a plan; the others
  /// allocate nothing for it. Throws what the function and its kernels throw, and a ValueError for gradients that are
  /// not finite, or if another thread runs the step or a variable of it; nothing has changed then.
  const std::vector<Tensor>& operator()(const std::vector<detail::StepInput>& inputs);

  /// Number of runs. step() is this number inside of the function, from 0, and dropout depends on it.
  std::int64_t steps() const;

  /// Continues from another number of runs. A ValueError for a negative number.
  void set_steps(std::int64_t steps);

  /// Number of plans that are kept.
  std::size_t plans() const;

  /// Counter and key of random numbers, for checkpoints.
  detail::LoopNumbers& numbers() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// @name Steps of a training loop of one's own
/// Compiles a function of arrays: gradients by value_and_grad(), updates by Optimizer::apply(), changes of variables by
/// update_variable().
///
///     auto step = compile_step([&](const Values& batch) {
///       const auto [loss, gradients] = value_and_grad(model, [&] { return mean(square(model(batch[0]) - batch[1]));
///       }); optimizer.apply(gradients); return loss;
///     });
///     for (...) total += step({x, y})[0].item();
///
/// The function runs once for each combination of shapes and dtypes of the inputs, on symbols; then a plan runs. So
/// C++ numbers, conditions and counters in the function keep the values of its first run: pass numbers that change as
/// inputs, use where() and ApplyOptions::condition. Learning rates, counts, dropout and step() change from run to run.
/// Updates take effect at the end of a run. A ValueError for an empty function or a negative number of plans.
/// @{
MEZZO_API StepFunction compile_step(std::function<Values(const Values&)> function,
                                    const CompileStepOptions& options = {});
MEZZO_API StepFunction compile_step(std::function<Value(const Values&)> function,
                                    const CompileStepOptions& options = {});
/// @}

}  // namespace mezzo
