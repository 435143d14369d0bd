#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/nn/functional.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/training/callbacks/callback.hpp>
#include <mezzo/training/history.hpp>
#include <mezzo/training/loop_options.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

/// Options of Model::compile. Optimizer, loss and metrics are objects or Keras names.
struct CompileOptions {
  Any<Optimizer> optimizer = "adam";   ///< trains all trainable weights
  Any<Loss> loss{};                    ///< Required.
  std::vector<Any<Metric>> metrics{};  ///< logged beside "loss"; names must differ
  /// Scaling of gradients in steps that compute in float16; not given: the defaults of LossScaleOptions. A loss_scale
  /// of the Trainer overrides it.
  std::optional<LossScaleOptions> loss_scale{};
};

/// Options of Model::fit on arrays, in Keras' order.
struct FitOptions {
  std::int64_t batch_size = 32;  ///< samples per step, 1 or more
  int epochs = 1;                ///< number of the epoch at which fit ends, 0 or more
  Verbose verbose = 1;           ///< 0: silent, 1 or "auto": progress bar, 2: a line per epoch
  Callbacks callbacks{};         ///< called between the steps
  double validation_split = 0;   ///< share of the samples, the last ones, to validate on: in [0, 1)
  std::optional<std::pair<Tensor, Tensor>> validation_data{};  ///< x, y to validate on; overrides validation_split
  bool shuffle = true;                                         ///< trains on a new order of the samples each epoch
  std::optional<Tensor> sample_weight{};                       ///< (samples,): factors of the samples' losses
  int initial_epoch = 0;                                       ///< number of the first epoch, 0 or more
  /// Steps of an epoch, 1 or more. Epochs continue in the data where the last one stopped; after its last batch the
  /// data begins again, in a new order if shuffled (Keras ends that epoch early instead). Not given: all batches.
  std::optional<std::int64_t> steps_per_epoch{};
  std::optional<std::int64_t> validation_steps{};  ///< first batches to validate on, 1 or more; not given: all
  std::int64_t validation_batch_size = 0;          ///< samples per validation step; 0: batch_size
  /// Validates after every so many epochs, or after those epochs: `2`, `{1, 2, 10}`. Counted from 1.
  ValidationFrequency validation_freq = 1;
};

/// Options of Model::fit on a loader, as in FitOptions.
struct FitLoaderOptions {
  int epochs = 1;                                  ///< number of the epoch at which fit ends, 0 or more
  Verbose verbose = 1;                             ///< 0: silent, 1 or "auto": progress bar, 2: a line per epoch
  Callbacks callbacks{};                           ///< called between the steps
  DataLoader validation_data{};                    ///< validated on after each epoch; empty: no validation
  int initial_epoch = 0;                           ///< number of the first epoch, 0 or more
  std::optional<std::int64_t> steps_per_epoch{};   ///< steps of an epoch, 1 or more; not given: all batches
  std::optional<std::int64_t> validation_steps{};  ///< first batches to validate on, 1 or more; not given: all
  ValidationFrequency validation_freq = 1;         ///< epochs after which to validate
};

/// Options of Model::evaluate and Model::predict on arrays.
struct EvaluateOptions {
  std::int64_t batch_size = 32;         ///< samples per step, 1 or more
  Verbose verbose = 0;                  ///< 1: progress bar, 2: one line (Keras' default is 1)
  std::optional<std::int64_t> steps{};  ///< first batches to take, 1 or more; not given: all
  Callbacks callbacks{};                ///< called between the steps
};

/// Options of Model::evaluate and Model::predict on a loader.
struct EvaluateLoaderOptions {
  Verbose verbose = 0;                  ///< 1: progress bar, 2: one line (Keras' default is 1)
  std::optional<std::int64_t> steps{};  ///< first batches to take, 1 or more; not given: all
  Callbacks callbacks{};                ///< called between the steps
};

/// Options of Model::explain.
struct ExplainOptions {
  bool declined = false;  ///< adds the kernels that were not chosen, with the reason
  bool profile = false;   ///< adds times and rates; implies `declined`
};

/// A layer inside a model, found by Model::get_layer.
class MEZZO_API LayerHandle : public Layer {
 public:
  LayerHandle(Shared<LayerState> state, std::string path, std::optional<Value> output, Any<Layer> layer = {})
      : Layer(std::move(state)), path_(std::move(path)), output_(std::move(output)), layer_(std::move(layer)) {}

  /// Calls the layer, with its weights. A ValueError unless a Sequential holds the layer: other models keep the ops of
  /// their layers, not the layers.
  Value operator()(const Value& x, const CallOptions& options = {}) const { return called()(x, options); }
  Values operator()(const Values& xs, const CallOptions& options = {}) const { return called()(xs, options); }

  /// Symbol of the layer's output in the functional graph: of its last call, and of the first output if there are
  /// several. A ValueError if the model isn't functional or the layer computes nothing.
  Value output() const;

 private:
  const Any<Layer>& called() const;

  std::string path_;
  std::optional<Value> output_;
  Any<Layer> layer_;  // empty unless a Sequential holds it
};

/// Options of a functional Model.
struct ModelOptions {
  Values inputs{};     ///< Required. Symbols made by Input.
  Values outputs{};    ///< Required. Symbols that depend on `inputs` only.
  std::string name{};  ///< for error texts and paths; "": none
  Policy dtype{};      ///< policy of the layers without one of their own; not given: inherited
};

/// A module with the verbs of Keras. Made from the inputs and outputs of a functional graph, by deriving and overriding
/// call(), or as a Sequential. fit, evaluate and predict need a model with one output, and are a ValueError for others:
/// derive from Module for several losses. A functional model with several inputs takes for each named Input the input
/// field of that name; Inputs without a name take the other fields in the order of the data set.
class MEZZO_API Model : public Module {
 public:
  /// Makes a functional model. A ValueError if there are no inputs or no outputs, or if an output depends on an Input
  /// that isn't listed.
  explicit Model(const ModelOptions& options);

  /// Positional: `Model(in, out)`, `Model({a, b}, {y, z})`.
  Model(const Values& inputs, const Values& outputs, ModelOptions options = {});
  Model(const Value& input, const Value& output, const ModelOptions& options = {})
      : Model(Values{input}, Values{output}, options) {}
  Model(const Values& inputs, const Value& output, const ModelOptions& options = {})
      : Model(inputs, Values{output}, options) {}
  Model(const Value& input, const Values& outputs, const ModelOptions& options = {})
      : Model(Values{input}, outputs, options) {}
  Model(const Model&) = default;
  Model(Model&&) = default;
  Model& operator=(const Model&) = default;
  Model& operator=(Model&&) = default;
  template <class D>
  using IfDerived =
      std::enable_if_t<std::is_base_of_v<Model, std::decay_t<D>> && !std::is_same_v<Model, std::decay_t<D>>>;
  template <class D, class = IfDerived<D>>
  Model(D&&) = delete;  // would slice  NOLINT(bugprone-forwarding-reference-overload)
  template <class D, class = IfDerived<D>>
  Model& operator=(D&&) = delete;

  /// Sets optimizer, loss and metrics. Discards the optimizer state, counters and plans of earlier training. A
  /// ValueError if the optimizer, the loss or a metric is empty, or if loss_scale is out of range; a NameError if two
  /// of loss and metrics have one name. The model is unchanged then.
  void compile(CompileOptions options);

  /// Trains under the model's own policy. A second call continues with the same optimizer state. A ValueError if the
  /// model isn't compiled, the arrays are empty or an option is out of range; a ShapeError if the arrays don't fit.
  History fit(const Tensor& x, const Tensor& y, const FitOptions& options = {});
  History fit(const DataLoader& loader, const FitLoaderOptions& options = {});

  /// Loss and metrics: {"loss": ..., "accuracy": ...}.
  Logs evaluate(const Tensor& x, const Tensor& y, const EvaluateOptions& options = {});
  Logs evaluate(const DataLoader& loader, const EvaluateLoaderOptions& options = {});

  /// Outputs for all samples, as float32, or float64 if the model's output is.
  Tensor predict(const Tensor& x, const EvaluateOptions& options = {});
  Tensor predict(const DataLoader& loader, const EvaluateLoaderOptions& options = {});

  /// Writes summary_text() to std::cout.
  void summary() const;

  /// Table of layers: output shapes, dtypes, parameters, and bytes of weights, of optimizer states and of activations.
  /// Optimizer states exist after the first step. Activations are the size of a layer's last output for one sample, in
  /// the dtype in which it leaves the layer; views count as well. Their total leaves out containers, whose output is
  /// the output of one of their layers, and intermediate values inside layers.
  std::string summary_text() const;

  /// Plan of the last training step, or of the last step if the model was never trained. One line per kernel: op,
  /// layer, implementation, outputs, bytes. With `profile` each line also has time, share of the step, GFLOP/s (1e9
  /// multiplications and additions of products and convolutions per second) and GB/s (operands and results, each
  /// counted once), as means over all runs of that plan except the first; sums by op and the share of the step's wall
  /// time that the lines cover follow. A ValueError before the first step, and with `profile` before the second.
  std::string explain(const ExplainOptions& options = {});

  /// Layer of that path ("backbone/conv1"). A NameError that lists the names if there is none.
  LayerHandle get_layer(const std::string& path) const;
  LayerHandle get_layer(std::nullptr_t) const = delete;  // also a literal 0: layers are found by path, not by index

  /// The model's own layers, in the order in which they were declared or called; without Inputs.
  std::vector<LayerHandle> layers() const;

  /// Symbols of a functional model's graph, for models on parts of it:
  /// `Model({.inputs = model.inputs(), .outputs = {model.get_layer("conv2").output()}})`. A ValueError if the model
  /// isn't functional.
  Values inputs() const;
  Values outputs() const;

  Value training_step(const Batch& batch) override;
  void validation_step(const Batch& batch) override;
  Value predict_step(const Batch& batch) override;
  OptimizerConfigs configure_optimizers() override;
  bool prefixes_validation() const override { return true; }

 protected:
  using Module::Module;
  Values call_many(const Values& xs) override;

  /// Layer object with that state; empty if the model doesn't hold layer objects.
  virtual Any<Layer> find_layer(const LayerState&) const { return {}; }
  static Any<Layer> inside(const Model& model, const LayerState& wanted) { return model.find_layer(wanted); }

 private:
  /// Mean of the loss plus added_loss(), if layers add losses; otherwise `loss`.
  Value with_added_losses(const Value& loss) const;
  LayerHandle handle_of(const Shared<LayerState>& layer, const std::string& path) const;
  Value loss_of(const Value& y_true, const Value& y_pred, const Batch& batch) const;
  void log_metrics(const Value& y_true, const Value& y_pred) const;
  std::pair<Value, Value> targets_and_predictions(const Batch& batch);

  /// Input fields of a batch in the order of the model's inputs: for several inputs by name, the unnamed ones in the
  /// order of the data set. A NameError if there is no field for a named Input.
  Values inputs_of(const Batch& batch) const;
  void require_compiled(const std::string& verb) const;
  void require_functional(const std::string& what) const;

  std::optional<CompileOptions> compiled_;
  FunctionalGraph graph_;
};

}  // namespace mezzo
