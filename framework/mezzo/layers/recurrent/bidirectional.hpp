#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>

namespace mezzo {

struct BidirectionalOptions {
  Any<Layer> layer{};                       ///< required; a recurrent layer: LSTM(32), with return_sequences or without
  std::string merge_mode = "concat";        ///< "concat", "sum", "mul", "ave", or "none": both outputs
  Any<Layer> backward_layer{};              ///< layer for the other direction; default: a copy of `layer`
  Any<Regularizer> activity_regularizer{};  ///< penalty of the outputs, divided by the batch size
  std::string name{};                       ///< name of the layer; "": automatic ("bidirectional", "bidirectional_1")
  Policy dtype{};                           ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                    ///< false: training does not change the weights
};

/// Runs a recurrent layer over a sequence from both ends (Schuster and Paliwal, 1997) and merges the two outputs. Calls
/// are those of RNN; the initial states are those of the forward layer, then those of the backward layer, and so are
/// the states with return_state. With return_sequences, the output of skipped steps is 0, as in Keras. Weights:
/// forward_layer and backward_layer, with the names forward_NAME and backward_NAME of the given layer; both have new
/// weights. Weight files have torch's names, of the backward layer with the end _reverse.
class MEZZO_API Bidirectional : public Layer {
 public:
  /// A ValueError without a layer, for a layer that is not an RNN or was called before, an unknown merge_mode, or two
  /// layers that go in the same direction or return different things.
  explicit Bidirectional(BidirectionalOptions options = {});

  /// Positional: `Bidirectional(LSTM(32), {.merge_mode = "sum"})`.
  template <class L, std::enable_if_t<std::is_base_of_v<RNN, L>, int> = 0>
  explicit Bidirectional(const L& layer, BidirectionalOptions options = {})
      : Bidirectional(with_layer(Any<Layer>(layer), std::move(options))) {}

  /// Runs the layer and returns its (first) output.
  Value operator()(const Value& sequence, const RecurrentCallOptions& options = {});
  /// The same, with all outputs. `inputs`: sequence, then initial states, then the mask.
  Values operator()(const Values& inputs, const RecurrentCallOptions& options = {});

  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }
  /// With return_sequences, the mask of the sequence.
  Values compute_mask(const Values& inputs, const Values& masks) const override;

  /// Sets the states of stateful layers to 0.
  void reset_state();
  void reset_states() { reset_state(); }  ///< Keras' other name

 protected:
  Values call_many(const Values& xs) override;

 private:
  static BidirectionalOptions with_layer(Any<Layer> layer, BidirectionalOptions options);

  std::string merge_mode_;
  Any<Layer> forward_, backward_;
};

}  // namespace mezzo
