#pragma once
#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

/// Variables with a learning rate or weight decay of their own.
struct ParameterGroup {
  std::string match{};                   ///< required; regular expression for whole paths: ".*bias"
  double learning_rate_factor = 1;       ///< at least 0; multiplies the learning rate
  std::optional<double> weight_decay{};  ///< at least 0; not given: the optimizer's
};

/// Storage of optimizer states, a dtype or its name: `AdamW({.state_dtype = "int8"})`.
struct MEZZO_API StateDType {
  /// float32, bfloat16 or int8; the optimizer throws a ValueError for others.
  StateDType(DType type) : dtype(type) {}  // NOLINT(google-explicit-constructor): as the option is written
  /// A NameError for a name other than "float32", "bfloat16" and "int8".
  StateDType(const char* name);             // NOLINT(google-explicit-constructor): as the option is written
  StateDType(const std::string& name);      // NOLINT(google-explicit-constructor): as the option is written
  operator DType() const { return dtype; }  // NOLINT(google-explicit-constructor): as the option is read

  DType dtype;  ///< float32, bfloat16 or int8
};

/// Options of all optimizers, with Keras' names. At most one of the three clips may be set, and at most one of
/// split_master_weights, stochastic_rounding and kahan_summation. Each of these three acts only on variables of the
/// dtypes documented at it. Keras' loss_scale_factor is LossScaleOptions of compile() and Trainer.
struct OptimizerCommon {
  detail::LearningRate learning_rate = 1e-3;  ///< a number of at least 0, a Schedule, or a function
  double weight_decay = 0;                    ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                        ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;        ///< clips each element of a gradient to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;  ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  /// Keeps averages of the weights: average = ema_momentum * average + (1 - ema_momentum) * w after each update, and
  /// average = w after the first one. See swap_averages() and finalize_variable_values().
  bool use_ema = false;
  double ema_momentum = 0.99;                ///< in [0, 1]; needs use_ema
  std::int64_t ema_overwrite_frequency = 0;  ///< updates after which averages replace the weights; 0: never
  /// Steps whose gradients are averaged for one update, at least 2; 0: every step updates. Clips act on the average;
  /// counters, schedules and averages advance once per update.
  std::int64_t gradient_accumulation_steps = 0;
  std::string name{};  ///< name in errors; "": the class name
  /// Stores a float32 variable that layers read in bfloat16 as that bfloat16 and a 16-bit remainder (IPEX): 4 bytes an
  /// element instead of 6, without loss.
  bool split_master_weights = false;
  /// Rounds updated bfloat16 variables up or down at random, so that the expected value is exact. Results depend on
  /// seed, step, path and position in the variable, not on the machine or the number of threads.
  bool stochastic_rounding = false;
  /// Keeps the rounding error of bfloat16 and float16 variables, in their dtype, and adds it at the next step (Kahan,
  /// 1965).
  bool kahan_summation = false;
  /// Dtype of slots (moments, momentum): float32, bfloat16 with stochastic rounding, or int8, a byte with a dynamic
  /// exponent and a scale for each 256 elements (Dettmers et al., 2022, arXiv 2110.02861). Under int8, slots of
  /// variables with fewer than 4096 elements, and of tables whose rows are only looked up, are float32. Slots of
  /// float64 variables are float64, and averages and accumulated gradients are at least float32.
  DType state_dtype = DType::float32;
  std::vector<ParameterGroup> groups{};  ///< a variable may be in one of them; each must match a variable
  std::any made_of{};                    ///< options struct of the optimizer; set by common_options()
};

namespace detail {

template <class Options, class = void>
struct HasStateDType : std::false_type {};
template <class Options>
struct HasStateDType<Options, std::void_t<decltype(std::declval<Options>().state_dtype)>> : std::true_type {};

/// Fails for a learning rate that is given as the first argument and in the options.
[[noreturn]] MEZZO_API void fail_second_learning_rate(const char* kind);

/// The options with the learning rate of the first argument.
template <class Options>
Options with_learning_rate(const char* kind, const LearningRate& learning_rate, Options options) {
  if (!options.learning_rate.is_preset()) fail_second_learning_rate(kind);
  options.learning_rate = learning_rate;
  return options;
}

}  // namespace detail

/// The common part of an optimizer's options. Every options struct has these fields under the same names; state_dtype
/// is missing where slots are float32 only.
template <class Options>
OptimizerCommon common_options(const Options& options) {
  OptimizerCommon common;
  common.learning_rate = options.learning_rate;
  common.weight_decay = options.weight_decay;
  common.clipnorm = options.clipnorm;
  common.clipvalue = options.clipvalue;
  common.global_clipnorm = options.global_clipnorm;
  common.use_ema = options.use_ema;
  common.ema_momentum = options.ema_momentum;
  common.ema_overwrite_frequency = options.ema_overwrite_frequency;
  common.gradient_accumulation_steps = options.gradient_accumulation_steps;
  common.name = options.name;
  common.split_master_weights = options.split_master_weights;
  common.stochastic_rounding = options.stochastic_rounding;
  common.kahan_summation = options.kahan_summation;
  if constexpr (detail::HasStateDType<Options>::value) common.state_dtype = options.state_dtype;
  common.groups = options.groups;
  common.made_of = options;
  return common;
}

}  // namespace mezzo
