#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Base of the cells of RNN: one step of a recurrent layer. call_many() takes the input of the step, (batch, ...), and
/// the states, and returns the output and the new states, of the same shapes. RNN traces it once and runs it for each
/// step (see scan); it may use any ops and layers, but neither update variables nor add losses.
///
///     class Minimal : public RNNCell {
///      public:
///       explicit Minimal(std::int64_t units) : RNNCell("Minimal"), units_(units) {}
///       Shape state_size() const override { return {units_}; }
///       std::int64_t output_size() const override { return units_; }
///
///      protected:
///       Values call_many(const Values& xs) override {
///         const Value state = tanh(of_input_(xs[0]) + of_state_(xs[1]));
///         return {state, state};
///       }
///
///      private:
///       std::int64_t units_;
///       Dense of_input_ = sub("of_input", Dense(units_)), of_state_ = sub("of_state", Dense(units_));
///     };
///     RNN(Minimal(32), {.return_sequences = true})
class MEZZO_API RNNCell : public Layer {
 public:
  /// Creates no weights: the first call builds the sub-layers, because it has the states.
  void build(const Shape&) override {}

  /// Size of each state: {units} for SimpleRNNCell and GRUCell, {units, units} for LSTMCell.
  virtual Shape state_size() const = 0;

  /// Size of the last axis of the output.
  virtual std::int64_t output_size() const = 0;

  /// Index of the state that is also the output; none if the output is another Value.
  virtual std::optional<std::size_t> output_state() const { return std::nullopt; }

  /// Shape of each state without the batch, for the input of a step of that shape, (batch, ...). Default: one axis each
  /// of state_size().
  virtual std::vector<Shape> state_shapes(const Shape& input) const;

  /// States before the first step, for the input of a step of that shape. Default: zeros.
  virtual Values get_initial_state(const Shape& input);

  /// True if a call also takes all steps: (batch, steps, features), then states before the first step if there are any,
  /// then a bool mask (batch, steps) if there is one. It returns the output of each step, then the last states.
  virtual bool takes_sequences() const { return false; }

 protected:
  using Layer::Layer;
};

namespace detail {

/// Options of SimpleRNNCell, LSTMCell and GRUCell in one form.
struct RecurrentSettings {
  std::string kind{};  ///< as in RecurrenceOptions
  std::int64_t units = 0;
  ActivationFunction activation{}, recurrent_activation{};
  bool use_bias = true;
  Any<Initializer> kernel_initializer{}, recurrent_initializer{}, bias_initializer{};
  Any<Regularizer> kernel_regularizer{}, recurrent_regularizer{}, bias_regularizer{};
  Any<Constraint> kernel_constraint{}, recurrent_constraint{}, bias_constraint{};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::uint64_t> seed{};
};

/// Copies the options that the three cells and their layers share.
template <class From, class To>
void copy_recurrent_options(const From& from, To& to) {
  to.units = from.units;
  to.activation = from.activation;
  to.use_bias = from.use_bias;
  to.kernel_initializer = from.kernel_initializer;
  to.recurrent_initializer = from.recurrent_initializer;
  to.bias_initializer = from.bias_initializer;
  to.kernel_regularizer = from.kernel_regularizer;
  to.recurrent_regularizer = from.recurrent_regularizer;
  to.bias_regularizer = from.bias_regularizer;
  to.kernel_constraint = from.kernel_constraint;
  to.recurrent_constraint = from.recurrent_constraint;
  to.bias_constraint = from.bias_constraint;
  to.dropout = from.dropout;
  to.recurrent_dropout = from.recurrent_dropout;
  to.seed = from.seed;
}

/// The settings of a cell with these options; recurrent_activation is left out.
template <class Options>
RecurrentSettings recurrent_settings(const Options& options, const char* kind) {
  RecurrentSettings settings;
  settings.kind = kind;
  copy_recurrent_options(options, settings);
  return settings;
}

/// Inputs of a recurrent layer or cell behind the sequence.
struct RecurrentInputs {
  Values states{};  ///< before the first step
  Value mask{};     ///< the last input, if it is bool

  /// The given mask, or that of the sequence.
  Value mask_for(const Value& sequence) const { return mask.defined() ? mask : sequence.mask(); }
};

/// Splits the inputs of a call: the sequence, the states and the mask, as many as there are.
RecurrentInputs recurrent_inputs(const Values& xs);

/// Shape of one step of a sequence (batch, steps, ...).
Shape step_shape(Shape sequence);

/// Shape of a state with the batch in front.
Shape with_batch(std::int64_t batch, Shape state);

/// Runs a cell over all steps of (batch, steps, ...): `states` before the first step (none: the cell's initial ones), a
/// bool mask (batch, steps) if defined. Returns the outputs of all steps, (batch, steps, ...), then the states after
/// the last one. A skipped step keeps the states and repeats the output before it, 0 at first. `owner`: the running
/// layer, which has the cell.
Values run_sequence(const Any<Layer>& cell, const Shared<LayerState>& owner, const Value& sequence,
                    const Values& states, const Value& mask);

/// One step: its input and the states to the output and the new states.
using StepFunction = std::function<Values(const Value& x, const Values& states)>;

/// The same for a function and given states. `output_state`: index of the state that is also the output.
Values run_steps(const StepFunction& step, const Value& sequence, const Values& states, const Value& mask,
                 std::optional<std::size_t> output_state);

/// The initializer of an LSTM's bias with ones for the forget gate, the second quarter, and the rest by `others`.
Any<Initializer> unit_forget_bias(Any<Initializer> others);

/// In training, 0 or 1 / (1 - rate) for each element of that shape: the same in all steps of a loop.
Value dropout_factors(const Shape& shape, DType dtype, double rate, const std::optional<std::uint64_t>& seed);

/// Base of SimpleRNNCell, LSTMCell and GRUCell. The op recurrence computes all steps at once; with activations that it
/// does not support, scan runs the steps.
class MEZZO_API FusedCell : public RNNCell {
 public:
  void build(const Shape& input) override;
  Shape state_size() const override;
  std::int64_t output_size() const override { return settings_.units; }
  std::optional<std::size_t> output_state() const override { return 0; }
  bool takes_sequences() const override { return true; }
  const RecurrentSettings& settings() const { return settings_; }

 protected:
  template <class Options>
  FusedCell(const char* kind, const Options& options, RecurrentSettings settings)
      : RNNCell(kind, options), settings_(std::move(settings)) {
    check_settings();
  }

  /// One step of (batch, features), or all of (batch, steps, features), then the states and the mask.
  Values call_many(const Values& xs) override;

 private:
  void check_settings() const;
  std::int64_t gates() const;
  bool fused() const;
  Value bias_row(std::int64_t row) const;
  Value project(const Value& x, const Value& bias, bool drops);
  Values run(const Value& sequence, const Values& states, const Value& mask);
  Values run_unfused(const Value& sequence, const Values& states, const Value& mask);
  Values step(const Value& x, const Values& states, const Value& dropped);
  Value factors(const Value& x, double rate, std::int64_t width) const;

  RecurrentSettings settings_;
  Variable kernel_{"kernel"};
  Variable recurrent_kernel_{"recurrent_kernel"};
  Variable bias_{"bias"};
};

}  // namespace detail
}  // namespace mezzo
