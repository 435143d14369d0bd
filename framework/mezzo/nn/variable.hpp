#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/nn/initializer.hpp>
#include <mezzo/nn/regularizer.hpp>

namespace mezzo {

/// Options of Layer::add_weight. Weight files have torch's names and layouts. The three `file_` options describe where
/// these differ from the variable's; a layer of your own needs none of them.
struct WeightOptions {
  Shape shape{};                                    ///< required; all sizes known, {} is a scalar
  Any<Initializer> initializer = "glorot_uniform";  ///< initial values
  bool trainable = true;                            ///< false: not updated by optimizers (moving statistics)
  bool autocast = true;                             ///< true: read in the layer's compute dtype; false: as stored
  Any<Regularizer> regularizer{};  ///< penalty of the numbers, added to losses while the weight is trainable
  Any<Constraint> constraint{};    ///< projects the numbers after each update
  bool at_least_float32 = false;   ///< true: stored in float32 (float64 under float64), also under 16-bit policies
  std::string file_name{};         ///< name in weight files: "weight"; "": the variable's name
  Shape file_axes{};   ///< the variable's axes in the order of weight files: {3, 2, 0, 1} is OIHW; {}: as is
  Shape file_shape{};  ///< shape in weight files that merge axes: (out, heads * size); {}: not merged
  /// Axes that share a scale if Layer::quantize() stores the weight as integers: {.inputs = {0}} for a kernel (in,
  /// out), whose product sums over axis 0; default: the weight stays floating.
  detail::QuantizableAxes quantizable{};
};

/// Named weight of a layer. Copies share the numbers. Empty until the layer's build() fills it by add_weight().
class MEZZO_API Variable {
 public:
  /// Name: last part of the weight's path, "kernel".
  explicit Variable(std::string name) : state_(std::in_place, std::move(name)) {}

  /// Shares the numbers of that state.
  explicit Variable(detail::Shared<detail::VariableState> state) : state_(std::move(state)) {}

  /// Reads the variable: in a trace as a leaf of the graph, otherwise as a tensor.
  operator Value() const { return read_variable(state_.pointer()); }

  const std::string& name() const { return state_->name; }  ///< without the path: "kernel"
  const Shape& shape() const { return state_->shape(); }    ///< sizes of the axes; needs built()
  DType dtype() const { return state_->dtype(); }  ///< dtype of the stored numbers, not that of a policy's casts
  /// True once add_weight() made the numbers.
  bool filled() const { return state_->filled; }
  bool trainable() const { return state_->trainable; }

  /// True if Layer::quantize() or a quantized policy made it integers. Read in a layer, or as a Value, it gives
  /// dequantized numbers.
  bool quantized() const { return state_->quantization != nullptr; }

  /// Current numbers; the codes of a quantized weight, as int8. A ValueError while another thread runs a model with the
  /// variable.
  Tensor value() const { return state_->numbers(); }

  /// Replaces the numbers, converted to the variable's dtype. A quantized weight takes int8 codes, or floats, for which
  /// it chooses new scales. A ShapeError if the shape differs. A ValueError while another thread runs a model with the
  /// variable, and inside a step that computes with it.
  void assign(const Tensor& numbers) const { state_->assign(numbers); }

  /// Identity of the numbers: equal for variables that share them.
  const void* id() const { return state_.get(); }

  /// State that copies share, for graphs and optimizers.
  const detail::Shared<detail::VariableState>& state() const { return state_; }

 private:
  detail::Shared<detail::VariableState> state_;
};

}  // namespace mezzo
