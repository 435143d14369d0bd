#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Base of the cells of RNN: one step of a recurrent layer. A call takes the input of the step and the states, (batch,
/// ...), and returns the output and the new states.
class MEZZO_API RNNCell : public Layer {
 public:
  /// Size of each state: {units} for SimpleRNNCell and GRUCell, {units, units} for LSTMCell.
  virtual Shape state_size() const = 0;

  /// Size of the output.
  virtual std::int64_t output_size() const = 0;

  /// Index of the state that is also the output; none if the output is another Value.
  virtual std::optional<std::size_t> output_state() const { return std::nullopt; }

  /// Runs all steps at once: sequence (batch, steps, features), the states before the first step (none: zeros), and a
  /// bool mask (batch, steps) if defined. Returns the state or output of each step, (batch, steps, units), then the
  /// states after the last one.
  Values run_sequence(const Value& sequence, const Values& states, const Value& mask);

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

/// What a call of a recurrent layer or cell may give behind the sequence.
struct RecurrentInputs {
  Values states{};  ///< before the first step
  Value mask{};     ///< the last input, if it is bool

  /// The given mask, or that of the sequence.
  Value mask_for(const Value& sequence) const { return mask.defined() ? mask : sequence.mask(); }
};

/// Splits the inputs of a call: the sequence, the states and the mask, as many as there are.
RecurrentInputs recurrent_inputs(const Values& xs);

/// A cell whose steps are one op, recurrence: base of SimpleRNNCell, LSTMCell and GRUCell.
class MEZZO_API FusedCell : public RNNCell {
 public:
  void build(const Shape& input) override;
  Shape state_size() const override;
  std::int64_t output_size() const override { return settings_.units; }
  std::optional<std::size_t> output_state() const override { return 0; }
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
  Value project(const Value& x, bool drops);
  Values run(const Value& sequence, const Values& states, const Value& mask);
  Value factors(const Value& x, double rate, std::int64_t width) const;

  RecurrentSettings settings_;
  Variable kernel_{"kernel"};
  Variable recurrent_kernel_{"recurrent_kernel"};
  Variable bias_{"bias"};
};

}  // namespace detail
}  // namespace mezzo
