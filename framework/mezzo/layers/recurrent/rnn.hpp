#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/handle.hpp>
#include <mezzo/layers/recurrent/rnn_cell.hpp>

namespace mezzo {

/// Options of the call of recurrent layers.
struct RecurrentCallOptions {
  /// States before the first step, (batch, units) each: one for SimpleRNN and GRU, two for LSTM (state, carry).
  /// Default: zeros, or those of the last call if the layer is stateful.
  Values initial_state{};
  Value mask{};                    ///< bool (batch, steps), false for steps that are skipped; default: none
  std::optional<bool> training{};  ///< as in CallOptions

  /// `inputs`, then the initial states, then the mask.
  Values inputs(Values inputs) const;
};

struct StackedRNNCellsOptions {
  std::vector<Any<Layer>> cells{};  ///< required; RNNCells, the first one for the inputs
  std::string name{};               ///< name of the layer; "": automatic ("stacked_rnn_cells", "stacked_rnn_cells_1")
  Policy dtype{};                   ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;            ///< false: training does not change the weights
};

struct RNNOptions {
  Any<Layer> cell{};                        ///< required; an RNNCell: LSTMCell(32), StackedRNNCells({...})
  bool return_sequences = false;            ///< true: returns the output of each step, false: that of the last one
  bool return_state = false;                ///< true: returns the states after the last step, too
  bool go_backwards = false;                ///< true: starts with the last step, and returns the outputs in that order
  bool stateful = false;                    ///< true: starts with the states that the last call ended with
  bool zero_output_for_mask = false;        ///< true: the output of a skipped step is 0, else that of the step before
  Any<Regularizer> activity_regularizer{};  ///< penalty of the outputs, divided by the batch size
  std::string name{};                       ///< name of the layer; "": automatic ("rnn", "rnn_1")
  Policy dtype{};                           ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                    ///< false: training does not change the weights
};

/// Cells on top of each other: each takes the output of the one before. The states are those of the first cell, then
/// those of the second, and so on; the output is that of the last.
class MEZZO_API StackedRNNCells : public RNNCell {
 public:
  /// A ValueError if there is no cell, or one of them is not an RNNCell.
  explicit StackedRNNCells(const StackedRNNCellsOptions& options = {});

  /// Positional: `StackedRNNCells({LSTMCell(32), LSTMCell(16)})`.
  explicit StackedRNNCells(const std::vector<Any<Layer>>& cells, StackedRNNCellsOptions options = {});

  void build(const Shape& input) override;
  Shape state_size() const override;
  std::int64_t output_size() const override;
  std::optional<std::size_t> output_state() const override;
  std::vector<Shape> state_shapes(const Shape& input) const override;
  Values get_initial_state(const Shape& input) override;

  /// True if all cells take sequences.
  bool takes_sequences() const override;

 protected:
  Values call_many(const Values& xs) override;

 private:
  std::vector<Any<Layer>> cells_;
};

/// Runs a cell over the steps of a sequence: (batch, steps, features) becomes (batch, units), or, with
/// return_sequences, (batch, steps, units). Cells of your own may take and return more axes. The graph has the same
/// size for any number of steps: a cell of your own is traced for one step (see RNNCell). Calls on several
/// Values take the sequence, the initial states and the mask (bool) in that order, as many as there are, and return the
/// output, then the states with return_state. A mask skips steps: their states are those of the step before. Base of
/// SimpleRNN, LSTM and GRU.
class MEZZO_API RNN : public Layer {
 public:
  /// A ValueError if there is no cell, or it is not an RNNCell.
  explicit RNN(const RNNOptions& options = {});

  /// Positional: `RNN(LSTMCell(32))`.
  template <class L, std::enable_if_t<std::is_base_of_v<RNNCell, L>, int> = 0>
  explicit RNN(const L& cell, RNNOptions options = {}) : RNN(with_cell(Any<Layer>(cell), std::move(options))) {}

  /// Several cells, each on the outputs of the one before: `RNN({LSTMCell(32), LSTMCell(16)})`.
  explicit RNN(const std::vector<Any<Layer>>& cells, RNNOptions options = {});

  /// Runs the layer and returns its output; the states that return_state adds are left out.
  Value operator()(const Value& sequence, const RecurrentCallOptions& options = {});
  /// The same, with all outputs: output, states. `inputs`: sequence, then initial states, then the mask.
  Values operator()(const Values& inputs, const RecurrentCallOptions& options = {});

  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

  /// With return_sequences, the mask of the sequence, in the order of the outputs.
  Values compute_mask(const Values& inputs, const Values& masks) const override;

  /// Sets the states of a stateful layer to 0. Does nothing for others and before the first call.
  void reset_state();
  void reset_states() { reset_state(); }  ///< Keras' other name

  bool goes_backwards() const { return flags_.go_backwards; }  ///< true: reads the steps from the last to the first

  /// True: returns all outputs, (batch, steps, ...), not the last one alone.
  bool returns_sequences() const { return flags_.return_sequences; }

  /// True if both have the same return_sequences, return_state and stateful.
  bool returns_like(const RNN& other) const;

  /// For wrappers such as Bidirectional, before the first call.
  void set_go_backwards(bool backwards) { flags_.go_backwards = backwards; }
  void set_zero_output_for_mask(bool zero) { flags_.zero_output_for_mask = zero; }

 protected:
  /// The options of the same names.
  struct Flags {
    bool return_sequences, return_state, go_backwards, stateful, zero_output_for_mask;  ///< see RNNOptions
  };

  /// For derived layers: takes the options that all recurrent layers share from `options`. `cell_name` is the cell's
  /// name in weight paths.
  template <class Options>
  RNN(const char* kind, const Options& options, Any<Layer> cell, const std::string& cell_name)
      : Layer(kind, options),
        flags_{options.return_sequences, options.return_state, options.go_backwards, options.stateful,
               options.zero_output_for_mask},
        cell_(sub(cell_name, detail::SubLayer{std::move(cell)}).layer) {
    leave_out_in_files(cell_name);
    if (flags_.stateful) states_.assign(this->cell().state_size().size(), Variable("rnn_state"));
    for (Variable& state : states_) state = Variable("rnn_state");  // one Variable each: assign() copied a handle
  }

  Values call_many(const Values& xs) override;
  RNNCell& cell() const;  ///< the cell that the constructor got

 private:
  static RNNOptions with_cell(Any<Layer> cell, RNNOptions options);
  void leave_out_in_files(const std::string& cell_name);
  void require_sequence(const Shape& input) const;
  void add_states(const Shape& input);
  Values states_before(const Value& sequence, const Values& given);

  Flags flags_;
  Any<Layer> cell_;
  std::vector<Variable> states_;
};

}  // namespace mezzo
