#include <mezzo/training/model/predictor.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/training/model/predictor_setup.hpp>
#include <mezzo/training/module/inference_graph.hpp>
#include <mezzo/training/module/traced_step.hpp>
#include <mezzo/training/predictor/replayed_step.hpp>
#include <mezzo/training/predictor/request_joiner.hpp>
#include <mezzo/training/step/int8_policy.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo {
namespace {

void copy_output(const Spec& output, const void* address, Tensor& y, std::size_t index) {
  const bool fits = y.shape() == output.shape && y.dtype() == output.dtype;
  if (!fits && y.size() > 0) {
    fail<ShapeError>("[Predictor]", "output {} must be {}; got {}", index, to_string(output), y.describe());
  }
  if (!fits || y.shared()) y = Tensor::uninitialized(output.shape, output.dtype);
  if (y.bytes() > 0) std::memcpy(y.mutable_raw(), address, y.bytes());
}

class IntoTensor final : public detail::OutputReceiver {
 public:
  explicit IntoTensor(Tensor& y) : y_(y) {}
  void receive(const std::vector<Spec>& outputs, const void* const* addresses) override {
    detail::require_one_output(outputs.size(), "[Predictor]", "predict");
    copy_output(outputs.front(), addresses[0], y_, 0);
  }

 private:
  Tensor& y_;
};

class IntoMemory final : public detail::OutputReceiver {
 public:
  IntoMemory(void* y, std::size_t bytes) : y_(y), bytes_(bytes) {}
  void receive(const std::vector<Spec>& outputs, const void* const* addresses) override {
    detail::require_one_output(outputs.size(), "[Predictor]", "predict");
    const std::size_t bytes = bytes_of(outputs.front());
    if (bytes != bytes_) {
      fail<ValueError>("[Predictor]", "the memory must have the {} bytes of {}; got {}", bytes,
                       to_string(outputs.front()), bytes_);
    }
    if (bytes > 0) std::memcpy(y_, addresses[0], bytes);
  }

 private:
  void* y_;
  std::size_t bytes_;
};

class IntoTensors final : public detail::OutputReceiver {
 public:
  explicit IntoTensors(std::vector<Tensor>& ys) : ys_(ys) {}
  void receive(const std::vector<Spec>& outputs, const void* const* addresses) override {
    if (ys_.empty()) ys_.resize(outputs.size());
    if (ys_.size() != outputs.size()) {
      fail<ValueError>("[Predictor]", "number of output arrays must be {}; got {}", outputs.size(), ys_.size());
    }
    for (std::size_t i = 0; i < ys_.size(); ++i) copy_output(outputs[i], addresses[i], ys_[i], i);
  }

 private:
  std::vector<Tensor>& ys_;
};

/// True if the layers are built and no weights wait for that.
bool is_built(const Module& module) {
  return (module.state()->called || !module.weights().empty()) && !detail::weights_wait(*module.state());
}

/// Builds the layers for the example, and reads weights that wait for that.
void build(Module& module, const PredictorOptions& options, const Policy& policy,
           const detail::PredictorInputs& inputs) {
  if (options.examples.empty()) {
    fail<ValueError>("[Predictor]", "the model must be built; got one that was never called, and no examples");
  }
  const std::vector<Tensor> example = inputs.ordered(options.examples.front());
  detail::check_rows({example.data(), example.size()});
  HostBatch batch;
  for (std::size_t i = 0; i < example.size(); ++i) {
    batch.fields.push_back({.name = inputs.fields[i], .tensor = example[i], .role = Role::input});
  }
  batch.size = example.front().shape().front();
  detail::StepRunner(module, {.policy = policy}, detail::StepRunner::Use::between_steps)
      .rehearse(Stage::predict, batch);
}

/// The compiled snapshot. Ends `running`, the module's run, as soon as it has a copy of the module.
std::unique_ptr<detail::Engine> make_engine(Module& module, const PredictorOptions& options, const Policy& policy,
                                            const detail::PredictorInputs& inputs,
                                            std::shared_ptr<Module> (*copier)(const Module&),
                                            std::optional<detail::RunningScope>& running) {
  detail::require_reach(module, policy);
  detail::SnapshotOptions snapshot{.setting = {.policy = policy, .regions = {}, .fields = inputs.fields}};
  if (policy.inherits()) {
    snapshot.setting.policy = dtype_policy();
    snapshot.setting.regions = detail::outer_regions();
  }
  const detail::EngineOptions engine = detail::engine_options(options);
  const std::vector<Spec> built = detail::input_specs(*module.state());
  snapshot.ahead = detail::inputs_ahead(options, inputs, built);
  snapshot.further = engine.further;
  const detail::Progress& progress = detail::training_state(module);
  snapshot.step = static_cast<double>(progress.step);
  snapshot.epoch = static_cast<double>(progress.epoch);
  std::shared_ptr<Module> copy = copier(module);
  if (!copy) {
    copy = detail::replayed_step(module, snapshot.setting, snapshot.ahead.empty() ? built : snapshot.ahead.front());
  }
  if (copy) {
    running.reset();
  } else if (snapshot.ahead.empty()) {
    fail<ValueError>("[Predictor]",
                     "an object of the class {} can't be copied by model.predictor(): make a Predictor(model), which "
                     "copies it, or give batch_sizes or examples",
                     module.state()->kind);
  }
  return std::make_unique<detail::Engine>(
      std::make_unique<detail::Snapshot>(module, std::move(copy), std::move(snapshot)), engine);
}

}  // namespace

struct Predictor::State {
  detail::PredictorInputs inputs;
  std::vector<std::string> output_names;
  std::unique_ptr<detail::Engine> engine;
  std::unique_ptr<detail::RequestJoiner> joiner;  // null: calls are computed alone

  void run(const detail::CallInputs& xs, detail::OutputReceiver& receiver) const {
    if (xs.count != inputs.fields.size()) {
      fail<ValueError>("[Predictor]", "number of input arrays must be {}; got {}", inputs.fields.size(), xs.count);
    }
    detail::check_rows(xs);
    if (joiner) {
      joiner->run(xs, receiver);
    } else {
      engine->run(xs, receiver);
    }
  }
};

std::shared_ptr<Module> Predictor::copy_of_registered(const Module& module) {
  const detail::CloneScope deep;
  Any<Layer> copy = detail::copy_of_layer(module);
  if (!copy || dynamic_cast<Module*>(&*copy) == nullptr) return nullptr;
  const auto kept = std::make_shared<Any<Layer>>(std::move(copy));
  return {kept, dynamic_cast<Module*>(&**kept)};
}

Predictor::Predictor(Module& module, const PredictorOptions& options, Copier copier) {
  detail::check_options(options);
  Policy policy = options.precision.automatic() ? detail::training_state(module).chosen : options.precision.policy();
  const detail::FieldNames names = module.field_names();
  std::optional<detail::RunningScope> running(std::in_place, module, false);
  auto state = std::make_shared<State>();
  const std::size_t known =
      options.examples.empty() ? detail::input_specs(*module.state()).size() : options.examples.front().size();
  const std::size_t count = names.inputs.empty() ? std::max<std::size_t>(known, 1) : names.inputs.size();
  state->inputs = detail::name_inputs(options, names.inputs, count);
  state->output_names = names.outputs;
  if (!is_built(module)) {
    running.reset();
    build(module, options, policy, state->inputs);
    running.emplace(module, false);
  }
  policy = detail::completed_policy(policy, options.precision.int8_inside(), module);
  detail::require_quantized(*module.state(), policy, "[Predictor] precision:");
  state->engine = make_engine(module, options, policy, state->inputs, copier, running);
  if (options.max_batch_size > 0) {
    state->joiner = std::make_unique<detail::RequestJoiner>(*state->engine, detail::joined_sizes(options),
                                                            detail::joining_delay(options));
  }
  state_ = std::move(state);
}

Tensor Predictor::operator()(const Tensors& x) const {
  const std::vector<Tensor> xs = state_->inputs.ordered(x);
  Tensor y;
  IntoTensor receiver(y);
  state_->run({xs.data(), xs.size()}, receiver);
  return y;
}

void Predictor::operator()(const Tensor& x, Tensor& y) const {
  IntoTensor receiver(y);
  state_->run({&x, 1}, receiver);
}

void Predictor::operator()(const Tensor& x, void* y, std::size_t bytes) const {
  IntoMemory receiver(y, bytes);
  state_->run({&x, 1}, receiver);
}

void Predictor::operator()(const std::vector<Tensor>& xs, std::vector<Tensor>& ys) const {
  IntoTensors receiver(ys);
  state_->run({xs.data(), xs.size()}, receiver);
}

Tensors Predictor::predict_all(const Tensors& x) const {
  std::vector<Tensor> outputs;
  (*this)(state_->inputs.ordered(x), outputs);
  const std::vector<std::string>& names = state_->output_names;
  if (names.size() != outputs.size()) return outputs;
  std::vector<Tensors::Entry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.emplace_back(names[i], std::move(outputs[i]));
  return Tensors(std::move(entries));
}

int Predictor::workers() const { return static_cast<int>(state_->engine->options().workers); }
int Predictor::threads() const { return state_->engine->options().threads; }

}  // namespace mezzo
