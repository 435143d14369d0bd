#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/nn/functional.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/training/loops/loop_options.hpp>
#include <mezzo/training/model/compile_options.hpp>
#include <mezzo/training/model/predictor.hpp>
#include <mezzo/training/model/tensors.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/profilers/explain_options.hpp>

namespace mezzo {

/// Options of Model::fit on arrays or a Dataset, in Keras' order.
struct FitOptions {
  std::int64_t batch_size = 32;      ///< samples per step, 1 or more
  int epochs = 1;                    ///< number of the epoch at which fit ends, 0 or more
  detail::Verbose verbose = 1;       ///< 0: silent, 1 or "auto": progress bar, 2: a line per epoch
  Callbacks callbacks{};             ///< called between the steps
  double validation_split = 0;       ///< share of the samples, the last ones, to validate on: in [0, 1)
  ValidationData validation_data{};  ///< validated on after epochs; overrides validation_split
  bool shuffle = true;               ///< trains on a new order of the samples each epoch
  /// Factors of the losses of samples by class, finite and 0 or more, else a ValueError; 1 for other classes. For
  /// models with one output. The class of a sample is its target, or the position of the largest element of a one-hot
  /// target. Labels that have one axis less than the predictions, (batch, time), have a weight each. Validation is not
  /// weighted.
  std::map<std::int64_t, double> class_weight{};
  /// Factors of the losses: (samples,), or with more of the first axes of the targets. One for all outputs, a list, or
  /// by output name. Not for a Dataset, which has weights as fields of Role::weight, and not with class_weight.
  Tensors sample_weight{};
  int initial_epoch = 0;  ///< number of the first epoch, 0 or more
  /// Steps of an epoch, 1 or more. Epochs continue in the data where the last one stopped; after its last batch the
  /// data begins again, in a new order if shuffled (Keras ends that epoch early instead). Not given: all batches.
  std::optional<std::int64_t> steps_per_epoch{};
  std::optional<std::int64_t> validation_steps{};  ///< first batches to validate on, 1 or more; not given: all
  std::int64_t validation_batch_size = 0;          ///< samples per validation step; 0: batch_size
  /// Validates after every n epochs, or after the given epochs: `2`, `{1, 2, 10}`. Counted from 1.
  detail::ValidationFrequency validation_freq = 1;
};

/// Options of Model::fit on a loader, as in FitOptions.
struct FitLoaderOptions {
  int epochs = 1;                                   ///< number of the epoch at which fit ends, 0 or more
  detail::Verbose verbose = 1;                      ///< 0: silent, 1 or "auto": progress bar, 2: a line per epoch
  Callbacks callbacks{};                            ///< called between the steps
  ValidationData validation_data{};                 ///< validated on after epochs; empty: no validation
  std::map<std::int64_t, double> class_weight{};    ///< as in FitOptions
  int initial_epoch = 0;                            ///< number of the first epoch, 0 or more
  std::optional<std::int64_t> steps_per_epoch{};    ///< steps of an epoch, 1 or more; not given: all batches
  std::optional<std::int64_t> validation_steps{};   ///< first batches to validate on, 1 or more; not given: all
  detail::ValidationFrequency validation_freq = 1;  ///< epochs after which to validate
};

/// Options of Model::evaluate on arrays or a Dataset.
struct EvaluateOptions {
  std::int64_t batch_size = 32;         ///< samples per step, 1 or more
  detail::Verbose verbose = 0;          ///< 1: progress bar, 2: one line (Keras' default is 1)
  Tensors sample_weight{};              ///< as in FitOptions
  std::optional<std::int64_t> steps{};  ///< first batches to take, 1 or more; not given: all
  Callbacks callbacks{};                ///< called between the steps
};

/// Options of Model::predict on arrays or a Dataset.
struct PredictOptions {
  std::int64_t batch_size = 32;         ///< samples per step, 1 or more
  detail::Verbose verbose = 0;          ///< 1: progress bar, 2: one line (Keras' default is 1)
  std::optional<std::int64_t> steps{};  ///< first batches to take, 1 or more; not given: all
  Callbacks callbacks{};                ///< called between the steps
};

/// Options of Model::evaluate and Model::predict on a loader.
struct EvaluateLoaderOptions {
  detail::Verbose verbose = 0;          ///< 1: progress bar, 2: one line (Keras' default is 1)
  std::optional<std::int64_t> steps{};  ///< first batches to take, 1 or more; not given: all
  Callbacks callbacks{};                ///< called between the steps
};

/// Options of Model::train_on_batch.
struct TrainOnBatchOptions {
  Tensors sample_weight{};                        ///< as in FitOptions
  std::map<std::int64_t, double> class_weight{};  ///< as in FitOptions
};

/// Options of Model::test_on_batch.
struct TestOnBatchOptions {
  Tensors sample_weight{};  ///< as in FitOptions
};

/// Options of Model::save.
struct SaveOptions {
  bool overwrite = true;  ///< false: a FileError if the file exists
  bool compile = true;    ///< false: leaves out the options of compile() and the optimizer's state
};

namespace detail {
class ModelFile;
struct NamedLayers;
}  // namespace detail

namespace detail {
/// A layer inside a model, found by Model::get_layer.
class MEZZO_API LayerHandle : public Layer {
 public:
  LayerHandle(Shared<LayerState> state, std::string path, std::optional<Value> output, Any<Layer> layer = {})
      : Layer(std::move(state)), path_(std::move(path)), output_(std::move(output)), layer_(std::move(layer)) {}

  /// Calls the layer, with its weights. A ValueError unless a Sequential or a functional model holds the layer. A
  /// functional model holds a class of your own if it is registered by register_layer().
  Value operator()(const Value& x, const CallOptions& options = {}) const { return called()(x, options); }
  Values operator()(const Values& xs, const CallOptions& options = {}) const { return called()(xs, options); }

  /// Symbol of the layer's output in the functional graph: of its last call, and of the first output if there are
  /// several. A ValueError if the model isn't functional or the layer computes nothing.
  Value output() const;

 private:
  const Any<Layer>& called() const;

  std::string path_;
  std::optional<Value> output_;
  Any<Layer> layer_;  // empty unless the model holds it
};
}  // namespace detail

/// Options of a functional Model.
struct ModelOptions {
  Values inputs{};     ///< Required. Symbols: Inputs, or values between layers.
  Values outputs{};    ///< Required. Symbols that depend on `inputs` only.
  std::string name{};  ///< name for error texts and paths; "": none
  Policy dtype{};      ///< policy of the layers without one of their own; not given: inherited
  /// Names of the outputs, as the keys of Keras' outputs in a dict; {}: those of the layers that make them.
  std::vector<std::string> output_names{};
};

/// A module with the verbs of Keras. Made from the inputs and outputs of a functional graph, by deriving and overriding
/// call(), or as a Sequential.
///
/// Several inputs and outputs. Lists of arrays are in the order of the model's inputs or outputs. Names, of arrays or
/// of the fields of a data set, must be those of the model: inputs have the names of their Input, outputs those of the
/// layers that make them (output_names()). In a data set, Inputs without a name take the other input fields in their
/// order. Sample weights of one output are the field `<output>_sample_weight`; a single field of Role::weight is for
/// all outputs. Logs have "loss", and for several outputs "<output>_loss" and "<output>_<metric>".
class MEZZO_API Model : public Module {
 public:
  /// Makes a functional model. A ValueError if there are no inputs or no outputs, if an output depends on an Input that
  /// isn't listed, or for output_names that are empty, equal or not one for each output.
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

  /// Limits the deleted functions to classes derived from Model.
  template <class D>
  using IfDerived =
      std::enable_if_t<std::is_base_of_v<Model, std::decay_t<D>> && !std::is_same_v<Model, std::decay_t<D>>>;
  template <class D, class = IfDerived<D>>
  Model(D&&) = delete;  // would slice  NOLINT(bugprone-forwarding-reference-overload)
  template <class D, class = IfDerived<D>>
  Model& operator=(D&&) = delete;

  /// Calls the model. A ValueError if it has several outputs, functional or with set_output_names(): `model(Values{x})`
  /// returns all. Of other classes of models it returns the first output.
  Value operator()(const Value& x, const CallOptions& options = {});
  using Module::operator();

  /// Sets optimizer, losses and metrics. Discards the optimizer state, counters and plans of earlier training. A
  /// ValueError if the optimizer, the loss or a metric is empty, if their number isn't that of the outputs, or if
  /// loss_scale is out of range; a NameError for an unknown output and if two names in logs are equal. The model is
  /// unchanged then. Models that aren't functional may have several outputs too; their losses and metrics are checked
  /// in the first step.
  void compile(CompileOptions options);

  /// Options of compile(); null before it.
  const CompileOptions* compile_options() const { return compiled_ ? &*compiled_ : nullptr; }

  /// Trains under the model's own policy. A second call continues with the same optimizer state. A ValueError if the
  /// model isn't compiled, the arrays are empty or an option is out of range; a ShapeError if the arrays don't fit; a
  /// NameError for names that the model doesn't have.
  History fit(const Tensors& x, const Tensors& y, const FitOptions& options = {});
  History fit(const Dataset& data, const FitOptions& options = {});
  History fit(const DataLoader& loader, const FitLoaderOptions& options = {});

  /// Loss and metrics: {"loss": ..., "accuracy": ...}.
  Logs evaluate(const Tensors& x, const Tensors& y, const EvaluateOptions& options = {});
  Logs evaluate(const Dataset& data, const EvaluateOptions& options = {});
  Logs evaluate(const DataLoader& loader, const EvaluateLoaderOptions& options = {});

  /// Outputs for all samples, as float32, or float64 if the model's output is. A ValueError if the model has several
  /// outputs.
  Tensor predict(const Tensors& x, const PredictOptions& options = {});
  Tensor predict(const Dataset& data, const PredictOptions& options = {});
  Tensor predict(const DataLoader& loader, const EvaluateLoaderOptions& options = {});

  /// All outputs by position and name: `auto [mean, variance] = model.predict_all(x).unpack<2>();`.
  Tensors predict_all(const Tensors& x, const PredictOptions& options = {});
  Tensors predict_all(const Dataset& data, const PredictOptions& options = {});
  Tensors predict_all(const DataLoader& loader, const EvaluateLoaderOptions& options = {});

  /// One training step, or one step of evaluation or prediction, on a batch. Metrics are reset first.
  Logs train_on_batch(const Tensors& x, const Tensors& y, const TrainOnBatchOptions& options = {});
  Logs test_on_batch(const Tensors& x, const Tensors& y, const TestOnBatchOptions& options = {});
  Tensor predict_on_batch(const Tensors& x);

  /// A compiled snapshot of the model, which any number of threads call at once: see Predictor, whose constructor also
  /// copies objects of classes of your own.
  Predictor predictor(const PredictorOptions& options = {});

  /// Writes layers, weights and policy and, if the model is compiled, the optimizer with its state, losses and metrics
  /// to one file, which load_model() reads: `model.save("x.mezzo")`. A path that ends in ".keras" is written for Keras
  /// 3, which needs libhdf5; a ValueError names what Keras lacks. The formats are described in docs/saving.md. The file
  /// is replaced as a whole: after a FileError the old one is still there. A ValueError if the model isn't built, while
  /// another thread runs it, or if a part can't be saved, such as a Lambda: the text names the part and the reason, and
  /// no file is written.
  void save(const std::string& path, const SaveOptions& options = {});

  /// The layers of the model as JSON, for model_from_json(); without weights and the options of compile(). Errors as
  /// save().
  std::string to_json() const;

  /// Names of the inputs of a functional model, "" for an Input without one. For a class of models, those of
  /// set_input_names(); a ValueError if there are none.
  std::vector<std::string> input_names() const;

  /// Names of the outputs of a functional model: ModelOptions::output_names, or those of the layers that make them. For
  /// a class of models, those of set_output_names(); a ValueError if there are none.
  std::vector<std::string> output_names() const;

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
  detail::LayerHandle get_layer(const std::string& path) const;
  detail::LayerHandle get_layer(std::nullptr_t) const =
      delete;  // also a literal 0: layers are found by path, not by index

  /// The model's own layers, in the order in which they were declared or called; without Inputs.
  std::vector<detail::LayerHandle> layers() const;

  /// Symbols of a functional model's graph, for models on parts of it:
  /// `Model({.inputs = model.inputs(), .outputs = {model.get_layer("conv2").output()}})`. A ValueError if the model
  /// isn't functional.
  Values inputs() const;
  Values outputs() const;

  /// Loss that training_step minimizes and validation_step logs, a scalar: the sum of the losses of compile(), times
  /// loss_weights. Override it to add terms. The vectors have one Value for each output; absent targets and sample
  /// weights are undefined.
  virtual Value compute_loss(const Values& x, const Values& y, const Values& y_pred, const Values& sample_weight);

  Value training_step(const Batch& batch) override;
  void validation_step(const Batch& batch) override;
  Value predict_step(const Batch& batch) override;
  OptimizerConfigs configure_optimizers() override;
  bool prefixes_validation() const override { return true; }

  Model* as_model() override { return this; }
  detail::FieldNames field_names() const override { return {names_of_inputs(0), names_of_outputs(output_count(0))}; }

 protected:
  using Module::Module;
  Values call_many(const Values& xs) override;

  /// Names of the inputs of a class of models, in the order of call's inputs. fit, evaluate and predict then take
  /// arrays by name, and steps take the fields of these names. For its constructor. A ValueError if the model is
  /// functional, or for names that are empty or equal.
  void set_input_names(std::vector<std::string> names);

  /// The same for outputs: names of targets, sample weights, losses and metrics.
  void set_output_names(std::vector<std::string> names);

  /// Layer object with that state, also inside of other models; empty if the model doesn't hold it.
  virtual Any<Layer> find_layer(const detail::LayerState& wanted) const;
  static Any<Layer> inside(const Model& model, const detail::LayerState& wanted) { return model.find_layer(wanted); }

 private:
  friend class detail::ModelFile;
  friend struct detail::NamedLayers;
  /// A functional model whose layers have given names in it, in a given order.
  Model(const ModelOptions& options, const detail::NamedLayers& layers);
  detail::LayerHandle handle_of(const detail::Shared<detail::LayerState>& layer, const std::string& path) const;

  /// Arguments and results of a step, one Value for each output; undefined for absent ones.
  struct StepValues {
    Values x, y, y_pred, sample_weight;
  };
  StepValues step_values(const Batch& batch);
  /// Selects the weights of the labels or those of the scores as sample weights, if the batch has both.
  void choose_class_weights(const Batch& batch, StepValues& step) const;
  Value log_loss_and_metrics(const Batch& batch);

  void require_names(const std::vector<std::string>& names, const char* what) const;

  /// Names of the inputs, "" for those without one; for a class without names, `given` empty ones.
  std::vector<std::string> names_of_inputs(std::size_t given) const;

  /// True if a class of models without such names takes the arrays as fields of their own names. A NameError for
  /// several arrays, whose order in the model is not known.
  bool takes_any_name(const Tensors& arrays, const std::vector<std::string>& names, const char* setter,
                      const char* what) const;

  /// Names of `count` outputs: "output_1", ... if the model has no names.
  std::vector<std::string> names_of_outputs(std::size_t count) const;
  /// Outputs of a functional model, else `given`, the number of arrays.
  std::size_t output_count(std::size_t given) const;

  /// Losses and metrics for this number of outputs, made at the first call.
  const detail::CompiledOutputs& compiled_for(std::size_t outputs);

  /// Target and weight fields of a batch in the order of the outputs.
  Values targets_of(const Batch& batch, const detail::CompiledOutputs& compiled) const;
  Values weights_of(const Batch& batch, const detail::CompiledOutputs& compiled) const;

  /// Input fields of a batch in the order of the model's inputs: for several inputs by name, the unnamed ones in the
  /// order of the data set. A NameError if there is no field for a named Input.
  Values inputs_of(const Batch& batch) const;

  /// Data sets of arrays. `y` and `sample_weight` may be null.
  Dataset dataset_of(const Tensors& x, const Tensors* y, const Tensors* sample_weight);
  void add_inputs(std::vector<detail::NamedTensor>& fields, const Tensors& x) const;
  void add_targets(std::vector<detail::NamedTensor>& fields, const Tensors& y);
  void add_weights(std::vector<detail::NamedTensor>& fields, const Tensors& weights, const Tensors& y) const;
  DataLoader validation_of(const ValidationData& data, std::int64_t batch_size);
  HostBatch batch_of(const Tensors& x, const Tensors& y, const Tensors& sample_weight,
                     const std::map<std::int64_t, double>& class_weight, const std::string& verb);

  void require_compiled(const std::string& verb) const;
  void require_functional(const std::string& what) const;

  bool marked_ = state()->is_model = true;  // by all constructors
  std::optional<CompileOptions> compiled_;
  std::optional<detail::CompiledOutputs> outputs_;
  std::vector<std::pair<std::string, Value>> loss_parts_;  // losses of the outputs, while a step is traced
  detail::FunctionalGraph graph_;
  std::vector<std::string> input_names_, output_names_;  // of classes of models; empty: none
};

}  // namespace mezzo
