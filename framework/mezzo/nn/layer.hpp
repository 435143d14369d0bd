#pragma once
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

namespace detail {
template <class Options, class = void>
struct TrainableOf {
  static bool get(const Options&) { return true; }
};
template <class Options>
struct TrainableOf<Options, std::void_t<decltype(std::declval<const Options&>().trainable)>> {
  static bool get(const Options& options) { return options.trainable; }
};
}  // namespace detail

struct LoadWeightsOptions {
  bool skip_mismatch = false;  ///< tensors of another shape are left out, with one warning that lists them
};

/// Base of all layers: named weights, made for the first input, and a call. Copies share weights, as references do in
/// Python; `clone(layer)` is the deep copy. A layer of your own declares Variables and sub-layers as members, fills
/// the variables in build() by add_weight, computes in call(), and never mentions a dtype:
///
///     class Scale : public Layer {
///      public:
///       explicit Scale(ScaleOptions o = {}) : Layer("Scale", o) {}
///       void build(const Shape& input) override { add_weight(gain_, {.shape = {input.back()}}); }
///      protected:
///       Value call(const Value& x) override { return x * gain_; }
///      private:
///       Variable gain_{"gain"};
///     };
class Layer {
 public:
  virtual ~Layer() = default;

  /// Runs the layer: builds it at the first call, under the nearest policy.
  Value operator()(const Value& x) { return (*this)(Values{x}).at(0); }
  Values operator()(const Values& xs);

  /// Makes the weights for inputs of that shape. Users may call it, the first call does otherwise. An override may run
  /// more than once: it sets members and calls add_weight. The default builds sub-layers by running call() on a symbol.
  virtual void build(const Shape& input);

  /// Empty unless one was given in the options.
  const std::string& name() const { return state_->name; }

  /// Of the last build or call, so that a container's policy shows; before, the layer's own or the global one.
  Policy dtype_policy() const;
  DType compute_dtype() const { return dtype_policy().compute_dtype(); }
  DType variable_dtype() const { return dtype_policy().variable_dtype(); }

  /// Gives the layer that policy and keeps its weights, and those below it, in the policy's variable dtype from here
  /// on, as torch's `module.to(dtype)`: `model.to("bfloat16")`. What a narrower dtype rounds away is lost. Layers below
  /// with a policy of their own keep it, statistics stay in float32. Optimizers go on: their states are those of the
  /// weights, and are kept in the accumulation dtype of the new one.
  void to(const Policy& policy);

  /// Whether its weights are trained. A layer below one that is not isn't either.
  void set_trainable(bool trainable) { state_->trainable = trainable; }
  bool trainable() const { return state_->trainable; }

  /// All weights below this layer, each once, with paths from here: {"backbone/conv1/kernel", ...}.
  std::vector<std::pair<std::string, Variable>> named_weights() const;
  std::vector<Variable> weights() const;
  /// Those that are trained.
  std::vector<Variable> trainable_weights() const;

  /// Writes all weights below this layer to a safetensors file, each once: with torch's names ("layer1.0.conv1.weight")
  /// and layouts (convolution OIHW, Dense (out, in)), floats as float32 (float64 stays), whatever the policy. The file
  /// appears as a whole: a FileError leaves the one that was there. A ValueError if the layer isn't built.
  void save_weights(const std::string& path) const;

  /// Reads such a file, or one that torch's state_dict was saved to, into the weights, converted to the dtype of each.
  /// The layer has to be built, by build() or a call; else a ValueError. All or nothing: if the file is malformed, a
  /// tensor is missing, unexpected, or of another shape, a FileError lists them all and no weight has changed.
  void load_weights(const std::string& path, const LoadWeightsOptions& options = {});

  /// An activation function where a layer is taken: `Sequential({Dense({.units = 8}), Activation("relu")})`.
  template <class A, class = std::enable_if_t<std::is_same_v<A, Activation>>>
  static Any<Layer> adopt(A activation) {
    return of_activation(std::move(activation));
  }

  const Shared<LayerState>& state() const { return state_; }

 protected:
  /// `options` has `name`, `dtype` and, if it wants, `trainable`.
  template <class Options>
  Layer(const char* kind, const Options& options)
      : state_(std::in_place,
               ScopeInfo{kind, options.name, options.dtype, detail::TrainableOf<Options>::get(options)}) {}
  explicit Layer(Shared<LayerState> state) : state_(std::move(state)) {}
  explicit Layer(const char* kind) : state_(std::in_place, ScopeInfo{kind, {}, {}, true}) {}
  Layer(const Layer&) = default;
  Layer(Layer&&) = default;
  Layer& operator=(const Layer&) = default;
  Layer& operator=(Layer&&) = default;

  /// What the layer computes of one input; override this, or call_many for several.
  virtual Value call(const Value& x);
  virtual Values call_many(const Values& xs);

  /// Declares a sub-layer under a name, in a member's initializer: `Dense fc_ = sub("fc", Dense({.units = 10}));`.
  template <class L>
  L sub(const std::string& name, L layer) {
    declare(name, layer.state());
    return layer;
  }

  /// Fills a variable. Does nothing for one that is filled, but for checking its shape.
  void add_weight(Variable& variable, const WeightOptions& options);

  /// Says, in the constructor, what else weight files have. A ValueError for a bad regular expression.
  void set_weight_files(const WeightFileRules& rules);

  /// In training, while the layer is trainable, the variable gets this value at the end of the step: moving
  /// statistics. Otherwise does nothing.
  static void update(const Variable& variable, const Value& value);

  /// `[Kind "name"]`, for errors.
  std::string label() const;

 private:
  friend class Model;
  friend class Sequential;
  void declare(const std::string& name, const Shared<LayerState>& child);
  static Any<Layer> of_activation(Activation activation);

  Shared<LayerState> state_;
  bool built_ = false;  // of this object, not shared: build() also sets plain members
  bool building_ = false;
};

/// While one lives, layers called on this thread belong to this one: the root of a run.
class RootScope {
 public:
  explicit RootScope(const Layer& root);
  ~RootScope();
  RootScope(const RootScope&) = delete;
  RootScope& operator=(const RootScope&) = delete;

 private:
  Scope scope_;
  LayerState* outer_;
};

/// The policy that holds for each weight below a layer while a run has `base` as its Trainer's policy.
struct WeightPolicy {
  std::string path;
  Variable variable;
  Policy policy;
  bool trainable = true;  ///< it and every layer above it
};
std::vector<WeightPolicy> weight_policies(const Layer& root, const Policy& base);

/// The dtype in which that policy keeps the weight.
DType stored_dtype(const WeightPolicy& weight);

}  // namespace mezzo
