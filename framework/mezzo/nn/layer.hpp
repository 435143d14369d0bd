#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/io/shard_options.hpp>
#include <mezzo/nn/layer_names.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/load_weights.hpp>
#include <mezzo/nn/lora_options.hpp>
#include <mezzo/nn/positional.hpp>
#include <mezzo/nn/quantize_options.hpp>
#include <mezzo/nn/remat.hpp>
#include <mezzo/nn/weight_facts.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

class Layer;
struct GPTQConfig;

namespace detail {
MEZZO_API void quantize_by_gptq(Layer& layer, const std::string& mode, const GPTQConfig& config);

template <class Options, class = void>
struct TrainableOf {
  static bool get(const Options&) { return true; }
};
template <class Options>
struct TrainableOf<Options, std::void_t<decltype(std::declval<const Options&>().trainable)>> {
  static bool get(const Options& options) { return options.trainable; }
};
template <class Options, class = void>
struct ActivityRegularizerOf {
  static Any<Regularizer> get(const Options&) { return {}; }
};
template <class Options>
struct ActivityRegularizerOf<Options, std::void_t<decltype(std::declval<const Options&>().activity_regularizer)>> {
  static Any<Regularizer> get(const Options& options) { return options.activity_regularizer; }
};
}  // namespace detail

namespace detail {
/// Masks of a layer's inputs in a call: `{.mask = m}`, or in the order of the inputs `{.mask = {query_mask,
/// value_mask}}`.
class CallMasks {
 public:
  CallMasks() = default;
  CallMasks(const Value& mask) : masks_{mask} {}
  CallMasks(const Tensor& mask) : masks_{Value(mask)} {}
  CallMasks(Values masks) : masks_(std::move(masks)) {}
  CallMasks(std::initializer_list<Value> masks) : masks_(masks) {}
  const Values& values() const { return masks_; }

 private:
  Values masks_;
};
}  // namespace detail

/// Options of a layer's call.
struct CallOptions {
  /// Mode of the layer and its sub-layers in this call: true, as in training (dropout drops elements); false, as in
  /// inference (also in training steps: batch normalization of a frozen base model). Default: the mode of the run.
  std::optional<bool> training{};
  /// Masks of the inputs, true for what counts: each replaces the mask that its input carries. Bool, other dtypes are
  /// compared with 0. An undefined or missing one: the mask of the input itself. A ValueError for more than inputs.
  detail::CallMasks mask{};
};

/// Calls of the layer that a handle holds: `layers[0](x)`. A ValueError for an empty handle.
template <>
struct MEZZO_API detail::AnyCalls<Layer> {
  Value operator()(const Value& x, const CallOptions& options = {}) const;
  Values operator()(const Values& xs, const CallOptions& options = {}) const;
};

/// Base of all layers: named weights, made for the shape of the first input, and a call. Copies share weights, as
/// Python's references do; `clone(layer)` is the deep copy. A layer of your own declares Variables and sub-layers as
/// members, fills the variables in build() by add_weight(), and computes in call(). It needs no code for dtypes:
///
///     class Scale : public Layer {
///      public:
///       explicit Scale(ScaleOptions options = {}) : Layer("Scale", options) {}
///       void build(const Shape& input) override { add_weight(gain_, {.shape = {input.back()}}); }
///
///      protected:
///       Value call(const Value& x) override { return x * gain_; }
///
///      private:
///       Variable gain_{"gain"};
///     };
///
/// Masks travel with Values, as in Keras: call() reads that of an input by `x.mask()`. See compute_mask().
class MEZZO_API Layer {
 public:
  virtual ~Layer() = default;

  /// Runs the layer under the nearest policy (its own, an enclosing layer's, the Trainer's, the global one). The first
  /// call builds it.
  Value operator()(const Value& x, const CallOptions& options = {}) { return (*this)(Values{x}, options).at(0); }
  Values operator()(const Values& xs, const CallOptions& options = {});

  /// Makes the weights for inputs of that shape. Without an explicit build() the first call makes them. An override
  /// sets members and calls add_weight(); it may run more than once. The default builds sub-layers by running call() on
  /// a symbolic Value.
  virtual void build(const Shape& input);

  /// True if compute_mask() returns the masks of the outputs. False, the default: the outputs have only masks that
  /// call() gave them by Value::with_mask(), and a mask of an input is dropped with a warning.
  virtual bool supports_masking() const { return false; }

  /// Returns the masks of the outputs that have none, in their order; undefined or missing ones: no mask. `masks` has
  /// one entry for each input. The default returns `masks`. It runs outside of the layer's frame: with ops, not with
  /// weights.
  virtual Values compute_mask(const Values& inputs, const Values& masks) const;

  /// Calls the layer with arguments as call_arguments() wrote them. For configs. The default is a ValueError.
  virtual Values call_with(const std::string& arguments, const Values& xs, const CallOptions& options);

  /// Name given in the options, or "".
  const std::string& name() const { return state_->name; }

  /// Policy of the last build or call, which may be an enclosing layer's. Before the first one: the layer's own policy,
  /// or the global one.
  Policy dtype_policy() const;
  DType compute_dtype() const { return dtype_policy().compute_dtype(); }
  DType variable_dtype() const { return dtype_policy().variable_dtype(); }

  /// Sets the layer's policy and converts its weights, with those of sub-layers, to the policy's variable dtype, as
  /// torch's `module.to(dtype)`: `model.to("bfloat16")`. A narrower dtype rounds the numbers. Sub-layers with a policy
  /// of their own keep it, and statistics stay in float32. Optimizers continue with their slots, which are
  /// kept in the accumulation dtype of the new one (float32 or float64). A ValueError for a finite number that the
  /// dtype can't hold (beyond 65504 in float16), and while another thread runs a model with the layer.
  void to(const Policy& policy);

  /// Stores kernels and tables of this layer and its sub-layers as integers with scales, as Keras' quantize(): mode
  /// "int8"; "int4", a scale for each block of 128 inputs; "int4/64" for other blocks; "int4/-1" for one scale for each
  /// output; "nf4" or "nf4/64", codes of NF4 with a largest magnitude for each block of inputs. Quantized weights are
  /// not trainable; the others are. The layers get policies such as "int8_from_float32".
  /// "float8" lets Dense, EinsumDense and projections of attention layers train in float8, emulated: weights stay
  /// trainable floats, products round their operands to float8_e4m3fn and gradients to float8_e5m2, by scales that
  /// training updates. Other layers below this one keep their floats.
  /// "fake_int8", "fake_int4" and so on prepare for these modes (quantization-aware training): weights stay trainable
  /// floats, and layers compute with what the mode would store, with gradients that pass through the rounding. The mode
  /// itself then converts.
  /// A ValueError, and no weight changes, if the layer isn't built, `filters` match no layer with such weights, a layer
  /// is quantized already, was trained for another mode, computes int8 in float16, or is one without products in float8
  /// that `filters` match, or a number isn't finite; a NameError for another mode.
  void quantize(const std::string& mode, const QuantizeOptions& options = {});

  /// Quantizes the kernels of dense layers and attention projections by GPTQ, block by block, as Keras'
  /// `model.quantize("gptq", config)`; `config` is a GPTQConfig with calibration data, see nn/gptq.hpp.
  template <class Config, std::enable_if_t<std::is_same_v<Config, GPTQConfig>, int> = 0>
  void quantize(const std::string& mode, const Config& config) {
    detail::quantize_by_gptq(*this, mode, config);
  }

  /// Adds low-rank adapters to the kernels of this layer and its sub-layers (Hu et al., 2021, "LoRA"):
  /// `model.enable_lora({.targets = "query|value", .rank = 8})`.
  void enable_lora(const LoraOptions& options);

  /// The same with the rank as first argument, as Keras' layers have it: `dense.enable_lora(8)`.
  void enable_lora(std::int64_t rank, LoraOptions options = {});

  /// Sets the flag of this layer and of all its sub-layers. False: training does not change their weights, and batch
  /// normalization runs as in inference.
  void set_trainable(bool trainable) { state_->set_trainable(trainable); }
  bool trainable() const { return state_->trainable; }

  /// True: the backward pass computes the layer's call again from its inputs, so that a training step doesn't keep the
  /// intermediate values (Chen et al., 2016, "Training Deep Nets with Sublinear Memory Cost"). Results have the same
  /// bits. In nested layers, only the outermost setting applies; the model that a Trainer runs is computed once. No
  /// effect in eager steps, which keep all values, and within loops. False: ends what a RematScope or an earlier call
  /// set.
  void set_remat(bool remat) {
    state_->remat.mode = remat ? detail::RematRule::Mode::full : detail::RematRule::Mode::none;
  }
  /// True if calls are computed again, or if a RematScope has made that depend on the size of the outputs.
  bool remat() const { return state_->remat.mode != detail::RematRule::Mode::none; }

  /// All weights of this layer and its sub-layers, each once, with paths from here: {"backbone/conv1/kernel", ...}.
  std::vector<std::pair<std::string, Variable>> named_weights() const;
  std::vector<Variable> weights() const;
  /// Weights that training updates: trainable themselves and in trainable layers only.
  std::vector<Variable> trainable_weights() const;
  /// The other weights: moving statistics, and weights of layers that are not trainable.
  std::vector<Variable> non_trainable_weights() const;

  /// Keras' other names of the same lists.
  std::vector<Variable> variables() const { return weights(); }
  std::vector<Variable> trainable_variables() const { return trainable_weights(); }
  std::vector<Variable> non_trainable_variables() const { return non_trainable_weights(); }

  /// Number of elements of all weights. A ValueError if the layer isn't built.
  std::int64_t count_params() const;

  /// Numbers of all weights, in the order of weights(). A ValueError while another thread runs a model with the layer.
  std::vector<Tensor> get_weights() const;

  /// Replaces the numbers of all weights, in the order of weights(), converted to their dtypes. A ValueError if the
  /// number of arrays differs, a ShapeError if a shape does; no weight changes then.
  void set_weights(const std::vector<Tensor>& arrays);

  /// Adds a loss to that of training and evaluation, inside call(): `add_loss(0.1 * mean(abs(y)))`. Elements are
  /// summed.
  void add_loss(const Value& loss);

  /// Losses of this layer and its sub-layers, each a scalar of at least float32: those that call() added in the running
  /// step (outside of a step: in the last call), then the penalties of trainable weights with a regularizer. A compiled
  /// Model adds them to its loss; a Module's training_step does so itself: `return mean(loss) + added_loss();`.
  Values losses() const;

  /// Sum of losses(); 0 if there are none.
  Value added_loss() const;

  /// Writes all weights of this layer and its sub-layers to a safetensors file, each once, with torch's names
  /// ("layer1.0.conv1.weight") and layouts (convolution OIHW, Dense (out, in)). Floats are written as float32, float64
  /// as float64, under any policy. The file is replaced as a whole: after a FileError the old one is still there. A
  /// ValueError if the layer isn't built, or while another thread runs a model with it. A FileError for a suffix of
  /// another format, such as ".h5" or ".pt". `save_weights("model.safetensors", {.max_shard_size = "5GB"})` writes
  /// shards and an index, as ShardOptions describes; load_weights() reads them by the same path. A path that ends in
  /// ".weights.h5" is written as Keras 3 does, in the order and layouts of Keras; that needs libhdf5.
  void save_weights(const std::string& path, const ShardOptions& shards = {}) const;

  /// Reads weights from such a file, from one with torch's state_dict, from a `.mezzo` file or a checkpoint of a
  /// training (without their other states), from the shards of a `model.safetensors.index.json`, from a `.pt` or
  /// `.bin` file of torch.save(), or from a `.weights.h5`, `.h5` or `.keras` file of Keras, which is read into built
  /// layers, with skip_mismatch as the only option; the kind of the file is recognized by its content. Converts them to
  /// each variable's dtype, one tensor after the other: it takes memory for the weights and one tensor. If the file is
  /// malformed, or tensors are missing, unexpected or of another shape, a FileError lists them all and no weight
  /// changes; if the file changes while it is read, the FileError says how many weights have its numbers. Before the
  /// layer is built they wait for its first call or step, which throws that error; names that none of its layers can
  /// have are an error at once. A ValueError while another thread runs a model with it, or for a `rename` that isn't a
  /// regular expression.
  LoadWeightsReport load_weights(const std::string& path, const LoadWeightsOptions& options = {});

  /// State that copies share, for graphs and models.
  const detail::Shared<detail::LayerState>& state() const { return state_; }

 protected:
  /// `kind` is the class name, for errors and automatic names. A NameError for a name that is a path. `options` has the
  /// fields `name`, `dtype` and optionally `trainable` and `activity_regularizer`.
  template <class Options>
  Layer(const char* kind, const Options& options)
      : state_(std::in_place,
               detail::ScopeInfo{kind, detail::name_of_layer(kind, options.name), options.dtype,
                                 detail::TrainableOf<Options>::get(options), detail::current_remat_rule()}) {
    state_->activity_regularizer = detail::ActivityRegularizerOf<Options>::get(options);
    state_->options = options;
  }
  explicit Layer(detail::Shared<detail::LayerState> state) : state_(std::move(state)) {}
  explicit Layer(const char* kind)
      : state_(std::in_place, detail::ScopeInfo{kind, "", Policy(), true, detail::current_remat_rule()}) {}
  Layer(const Layer&) = default;
  Layer(Layer&&) = default;
  Layer& operator=(const Layer&) = default;
  Layer& operator=(Layer&&) = default;

  /// Computes the output. Override call() for one input and one output, else call_many().
  virtual Value call(const Value& x);
  virtual Values call_many(const Values& xs);

  /// Arguments of the running call beside its inputs, as the text of a JSON object, for the configs of functional
  /// models; "": none.
  virtual std::string call_arguments() const { return {}; }

  /// Declares a sub-layer under a name, in a member's initializer: `Dense fc_ = sub("fc", Dense({.units = 10}));`. A
  /// ValueError after the first call, a NameError for a name that another sub-layer has or that is a path.
  template <class L>
  L sub(const std::string& name, L layer) {
    declare(name, layer.state());
    return layer;
  }

  /// Fills a variable. If it is filled already, only checks the shape: a ShapeError if that differs.
  void add_weight(Variable& variable, const WeightOptions& options);

  /// Sets rules for weight files; call it in the constructor. A ValueError for an invalid regular expression.
  void set_weight_files(const detail::WeightFileRules& rules);

  /// Assigns `value` to the variable at the end of a training step (moving statistics). Does nothing outside of
  /// training and in frozen layers.
  static void update(const Variable& variable, const Value& value);

  /// Start of error texts: `[Kind "name"]`.
  std::string label() const;

 private:
  friend class Model;
  friend class Sequential;
  Values masked(const Values& xs, const CallOptions& options) const;
  Values run(const Values& xs, const CallOptions& options);
  void set_masks(const Values& xs, Values& out);
  void note_call(const Values& xs, const Values& out, const CallOptions& options) const;
  void declare(const std::string& name, const detail::Shared<detail::LayerState>& child);
  void check_own_name(const detail::VariableState& added, const WeightOptions& options) const;
  void check_not_moved() const;

  detail::Shared<detail::LayerState> state_;
  detail::UnlessMoved usable_ = true;  // state_ is shared by moves, other members are not
  bool built_ = false;                 // not shared among copies, since build() also sets plain members
  bool building_ = false;
};

namespace detail {
/// Makes `root` the root of a run for its lifetime: layers called on this thread become its sub-layers.
class MEZZO_API RootScope {
 public:
  explicit RootScope(const Layer& root);
  ~RootScope();
  RootScope(const RootScope&) = delete;
  RootScope& operator=(const RootScope&) = delete;

 private:
  Scope scope_;
  LayerState* outer_;
};

/// Makes layers that are called on this thread sub-layers of that one, for its lifetime. The running layers stay: for
/// functions that call layers later, see defer().
class MEZZO_API CalledBy {
 public:
  explicit CalledBy(const Shared<LayerState>& layer);
  ~CalledBy();
  CalledBy(const CalledBy&) = delete;
  CalledBy& operator=(const CalledBy&) = delete;

 private:
  LayerState* outer_;
};

/// A weight with the policy that applies to it in a run.
struct WeightPolicy {
  std::string path;       ///< path from the root: "backbone/conv1/kernel"
  Variable variable;      ///< the weight
  Policy policy;          ///< policy of its layer
  bool trainable = true;  ///< true if the weight and all layers that contain it are trainable
};

/// All weights below `root`, each once. `base` is the Trainer's policy.
MEZZO_API std::vector<WeightPolicy> weight_policies(const Layer& root, const Policy& base);

/// Storage dtype of the weight under its policy.
MEZZO_API DType stored_dtype(const WeightPolicy& weight);
}  // namespace detail

}  // namespace mezzo
