#pragma once
#include <string>

#include <mezzo/core/shared.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// What `add_weight` takes. Weight files have torch's names and layouts: where these differ from the variable's, the
/// layer says so here, once. A layer of your own needs neither.
struct WeightOptions {
  Shape shape{};
  Any<Initializer> initializer = "glorot_uniform";
  bool trainable = true;
  bool autocast = true;           ///< read in the layer's compute dtype; false: as it is stored
  bool at_least_float32 = false;  ///< stored in float32 (float64 under float64) even where the policy stores less
  std::string file_name{};        ///< what weight files call it, where not by the variable's name: "weight"
  Shape file_axes{};              ///< its axes in the order in which weight files have them: {3, 2, 0, 1} is OIHW
  Shape file_shape{};             ///< its shape there, where files merge axes: (out, in) of kernels for several heads
};

/// A named weight: a box that copies share. Empty until the layer's build() fills it by add_weight.
class Variable {
 public:
  explicit Variable(std::string name) : state_(std::in_place, std::move(name)) {}
  explicit Variable(Shared<VariableState> state) : state_(std::move(state)) {}

  /// A read, inside a trace or outside.
  operator Value() const { return read_variable(state_.pointer()); }

  const std::string& name() const { return state_->name; }
  const Shape& shape() const { return state_->value.shape(); }
  DType dtype() const { return state_->dtype(); }
  bool filled() const { return state_->filled; }
  bool trainable() const { return state_->trainable; }

  /// Its numbers, as they are now.
  Tensor value() const { return state_->numbers(); }

  /// Replaces them, converted to its dtype; a ShapeError if the shape differs.
  void assign(const Tensor& numbers) const { state_->assign(numbers); }

  /// Equal for variables that are the same box.
  const void* id() const { return state_.get(); }

  const Shared<VariableState>& state() const { return state_; }

 private:
  Shared<VariableState> state_;
};

}  // namespace mezzo
