#include <mezzo/training/step/compiled_function.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo {
namespace {

/// The number that a run of the function reads for `key`. Counters are those of the model. Each run takes a new stream
/// of random numbers, so that draws differ from run to run.
double value_outside_steps(const detail::RuntimeKey& key, const detail::Progress& progress) {
  switch (key.scalar) {
    case detail::RuntimeScalar::step:
      return static_cast<double>(progress.step);
    case detail::RuntimeScalar::epoch:
      return static_cast<double>(progress.epoch);
    case detail::RuntimeScalar::seed:
      return detail::next_seed();
    case detail::RuntimeScalar::batch:  // this and the next two: no batch is taken, and no other process runs
    case detail::RuntimeScalar::first_sample:
      return 0;
    case detail::RuntimeScalar::sample_share:
      return 1;
    default:
      fail<ValueError>("[CompiledFunction]", "the function must not read the {}: it exists only in training steps",
                       to_string(key));
  }
}

}  // namespace

/// A plan for inputs of certain shapes and dtypes.
struct CompiledFunction::Call {
  std::unique_ptr<detail::Plan> plan;
  std::vector<Tensor> outputs;  // of the last run

  bool takes(const std::vector<Tensor>& inputs) const {
    const auto fits = [](const Spec& spec, const Tensor& x) {
      return spec.shape == x.shape() && spec.dtype == x.dtype();
    };
    return std::equal(plan->inputs().begin(), plan->inputs().end(), inputs.begin(), inputs.end(), fits);
  }

  void run(const std::vector<Tensor>& inputs, const std::vector<double>& numbers) {
    plan->run(inputs, numbers);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].bytes() > 0) std::memcpy(outputs[i].mutable_raw(), plan->output_address(i), outputs[i].bytes());
    }
  }
};

struct CompiledFunction::State {
  explicit State(Function traced) : function(std::move(traced)) {}

  Call compile(const std::vector<Tensor>& inputs, const detail::CastRegions& regions) const {
    Trace trace(Trace::Mode::graph);
    const detail::CastScope casts(regions);
    Values xs;
    for (const Tensor& x : inputs) {
      xs.push_back(trace.input(fmt::format("input_{}", xs.size()), Spec{x.shape(), x.dtype()}));
    }
    Call call;
    for (const Value& y : function(xs)) {
      trace.output(fmt::format("output_{}", call.outputs.size()), y);
      call.outputs.push_back(Tensor::uninitialized(y.shape(), y.dtype()));
    }
    call.plan = std::make_unique<detail::Plan>(run_passes(std::move(trace.graph())), arena);
    return call;
  }

  Function function;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::string signature;    // what all plans depend on beside their inputs
  std::vector<Call> calls;  // in the order of their last use
};

CompiledFunction::CompiledFunction(Function function) : state_(std::make_unique<State>(std::move(function))) {}
CompiledFunction::~CompiledFunction() = default;

std::size_t CompiledFunction::plans() const { return state_->calls.size(); }

struct CompiledFunction::Session::State {
  State(CompiledFunction::State& compiled, Module& model)
      : function(compiled), running(model, false), progress(detail::training_state(model)) {
    if (detail::current_frames().empty()) regions = detail::outer_regions();
    std::string signature = fmt::format("{} {} {} {}", detail::layers_signature(*model.state()), thread_count(),
                                        dtype_policy().name(), static_cast<int>(detail::current_float32_matmul()));
    for (const detail::CastRegion& region : regions)
      signature += region.casts ? " " + region.policy.name() : " no casts";
    if (function.signature != signature) function.calls.clear();
    function.signature = signature;
  }

  CompiledFunction::State& function;
  detail::RunningScope running;
  const detail::Progress& progress;
  detail::CastRegions regions;
};

CompiledFunction::Session::Session(CompiledFunction& function, Module& model)
    : state_(std::make_unique<State>(*function.state_, model)) {}
CompiledFunction::Session::~Session() = default;

const std::vector<Tensor>& CompiledFunction::Session::operator()(const std::vector<Tensor>& inputs) {
  CompiledFunction::State& function = state_->function;
  auto& calls = function.calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& call) { return call.takes(inputs); });
  if (found != calls.end()) {
    std::rotate(found, found + 1, calls.end());
  } else {
    CompiledFunction::Call call = function.compile(inputs, state_->regions);
    state_->running.add_weights();
    while (!calls.empty() && calls.size() >= static_cast<std::size_t>(plan_cache_size())) calls.erase(calls.begin());
    calls.push_back(std::move(call));
  }
  std::vector<double> numbers;
  for (const detail::RuntimeKey& key : calls.back().plan->runtime_keys())
    numbers.push_back(value_outside_steps(key, state_->progress));
  calls.back().run(inputs, numbers);
  return calls.back().outputs;
}

}  // namespace mezzo
