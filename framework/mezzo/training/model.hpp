#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/nn/functional.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/training/history.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

/// What a compiled model is trained by: each a value or a Keras name.
struct CompileOptions {
  Any<Optimizer> optimizer = "adam";
  Any<Loss> loss{};
  std::vector<Any<Metric>> metrics{};
  /// How gradients are scaled in steps that compute in float16; a Trainer's own loss_scale goes before it.
  std::optional<LossScaleOptions> loss_scale{};
};

/// Training on arrays.
struct FitOptions {
  int epochs = 1;
  std::int64_t batch_size = 32;
  bool verbose = true;          ///< shows a progress bar
  double validation_split = 0;  ///< this share of the samples, the last ones, is validated on
  std::optional<std::pair<Tensor, Tensor>> validation_data{};  ///< x, y; instead of a split
  bool shuffle = true;
  std::optional<Tensor> sample_weight{};  ///< (samples,): factors of the samples' losses
};

/// Training on a loader.
struct FitLoaderOptions {
  int epochs = 1;
  bool verbose = true;
  DataLoader validation_data{};
};

struct EvaluateOptions {
  std::int64_t batch_size = 32;
};

/// What explain() shows beside the kernels.
struct ExplainOptions {
  bool declined = false;  ///< the kernels that were passed over, and why
  bool profile = false;   ///< where the time goes, and `declined` with it
};

/// A layer inside a model.
class LayerHandle : public Layer {
 public:
  LayerHandle(Shared<LayerState> state, std::string path, std::optional<Value> output)
      : Layer(std::move(state)), path_(std::move(path)), output_(std::move(output)) {}

  /// What it gives in the functional graph, as a symbol (of its last call, and the first if there are several
  /// outputs). A ValueError if the model isn't functional or the layer computes nothing.
  Value output() const;

 private:
  std::string path_;
  std::optional<Value> output_;
};

struct ModelOptions {
  Values inputs{};
  Values outputs{};
  std::string name{};
  Policy dtype{};
};

/// A module with Keras' verbs. Made from inputs and outputs of a functional graph, or by deriving and overriding
/// call(), or as a Sequential.
class Model : public Module {
 public:
  /// Functional: a ValueError if there are no inputs or outputs, or an output depends on an Input that isn't listed.
  explicit Model(const ModelOptions& options);
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

  /// Says what to train by. Forgets the state of an optimizer compiled before.
  void compile(CompileOptions options);

  /// Trains, under the model's own policy. Called again it goes on with the same optimizer state. A ValueError if the
  /// model isn't compiled or the arrays are empty, a ShapeError if they don't fit.
  History fit(const Tensor& x, const Tensor& y, const FitOptions& options = {});
  History fit(const DataLoader& loader, const FitLoaderOptions& options = {});

  /// Loss and metrics: {"loss": ..., "accuracy": ...}.
  Logs evaluate(const Tensor& x, const Tensor& y, const EvaluateOptions& options = {});
  Logs evaluate(const DataLoader& loader);

  /// Outputs for all samples, float32 (float64 where the output is).
  Tensor predict(const Tensor& x, const EvaluateOptions& options = {});
  Tensor predict(const DataLoader& loader);

  /// Writes a table of layers to std::cout: output shapes, dtypes, parameters, and bytes of weights, of the states that
  /// the compiled optimizer keeps for them (after the first step) and of activations. Those are what a layer gave last,
  /// for one sample, in the dtype in which it leaves the layer, views too; the total leaves out containers, which give
  /// what a layer of theirs gave, and layers' intermediate values.
  void summary() const;

  /// The same as text.
  std::string summary_text() const;

  /// The plan of the last training step (or else evaluation), a kernel a line: op, layer, implementation, outputs,
  /// bytes. With `profile` also, as means over all steps of that plan but the first: time, share of the step, GFLOP/s
  /// (products and convolutions, 1e9 multiplications and additions a second), GB/s (operands and results, each counted
  /// once); sums by op; and the share of the step's wall time that the lines account for. A ValueError if nothing has
  /// run yet or, for a profile, only one step.
  std::string explain(const ExplainOptions& options = {});

  /// The layer of that path ("backbone/conv1"); a NameError that lists the names otherwise.
  LayerHandle get_layer(const std::string& path) const;

  /// Symbols of a functional model's graph, for models on parts of it:
  /// `Model({.inputs = model.inputs(), .outputs = {model.get_layer("conv2").output()}})`. A ValueError if the model
  /// isn't functional.
  Values inputs() const;
  Values outputs() const;

  Value training_step(const Batch& batch) override;
  void validation_step(const Batch& batch) override;
  OptimizerConfigs configure_optimizers() override;
  bool prefixes_validation() const override { return true; }

 protected:
  using Module::Module;
  Values call_many(const Values& xs) override;

 private:
  Value loss_of(const Value& y_true, const Value& y_pred, const Batch& batch) const;
  void log_metrics(const Value& y_true, const Value& y_pred) const;
  std::pair<Value, Value> targets_and_predictions(const Batch& batch);
  void require_compiled(const std::string& verb) const;
  void require_functional(const std::string& what) const;

  CompileOptions compiled_{Any<Optimizer>(), {}, {}, {}};
  FunctionalGraph graph_;
};

}  // namespace mezzo
