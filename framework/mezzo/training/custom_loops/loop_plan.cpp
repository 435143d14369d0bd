#include <mezzo/training/custom_loops/loop_plan.hpp>

#include <algorithm>
#include <cstring>
#include <set>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/master_weights.hpp>

namespace mezzo::detail {
namespace {

std::uint64_t address(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

LoopSettings LoopSettings::now() {
  LoopSettings out{
      .threads = thread_count(), .policy = dtype_policy().name(), .float32_matmul = current_float32_matmul()};
  for (const CastRegion& region : outer_regions()) {
    out.regions.emplace_back(region.casts ? region.policy.name() : "", region.casts);
  }
  return out;
}

LoopPlan::LoopPlan(const Function& function, const std::vector<Tensor>& inputs, bool training,
                   const std::shared_ptr<Arena>& arena)
    : settings_(LoopSettings::now()) {
  Graph graph;
  bool guards = false;
  do {
    while (trace(function, inputs, training, guards, graph)) guards = true;
  } while (split_masters(graph));
  for (const auto& output : graph.outputs) {
    outputs_.push_back(Tensor::uninitialized(output.value.shape(), output.value.dtype()));
  }
  note_variables(graph);
  plan_ = std::make_unique<Plan>(run_passes(std::move(graph)), arena);
  numbers_.resize(plan_->runtime_keys().size());
  of_layers_ = layers_now();
  of_variables_ = variables_now();
  of_windows_ = windows_now();
}

/// Sets `graph`. True if the function must be traced once more, with guards.
bool LoopPlan::trace(const Function& function, const std::vector<Tensor>& inputs, bool training, bool guards,
                     Graph& graph) {
  // The trace hides those of the thread.
  const CastRegions regions = outer_regions();  // NOLINT(performance-unnecessary-copy-initialization)
  Trace trace(Trace::Mode::graph, training);
  const CastScope casts(regions);
  LoopUpdates updates(trace, guards);
  Values xs;
  for (const Tensor& x : inputs) {
    xs.push_back(trace.input(fmt::format("input_{}", xs.size()), Spec{x.shape(), x.dtype()}));
  }
  const CalledRoots roots;
  const Values ys = function(xs);
  for (std::size_t i = 0; i < ys.size(); ++i) {
    if (!ys[i].defined()) {
      fail<ValueError>("[compile_step]", "results of the function must be defined; got an undefined Value at {}", i);
    }
    trace.output(fmt::format("output_{}", i), ys[i]);
  }
  if (updates.wants_guards()) return true;
  for (const LoopOptimizer& one : updates.optimizers()) {
    if (!one.optimizer.common().split_master_weights) one.optimizer.require_effect(one.updated);
  }
  layers_ = roots.layers();
  optimizers_ = std::move(updates.optimizers());
  graph = std::move(trace.graph());
  return false;
}

/// Splits weights whose optimizer has split_master_weights and that the step reads in bfloat16. True if there were any.
bool LoopPlan::split_masters(const Graph& graph) {
  bool any = false;
  for (const LoopOptimizer& one : optimizers_) {
    if (!one.optimizer.common().split_master_weights) continue;
    const std::set<const VariableState*> copied = copied_to_bfloat16(graph, {});
    for (const auto& variable : one.updated) {
      if (variable->remainder || copied.count(variable.get()) == 0) continue;
      variable->split();
      any = true;
    }
    one.optimizer.require_effect(one.updated);
  }
  return any;
}

void LoopPlan::note_variables(const Graph& graph) {
  std::set<const VariableState*> seen;
  const auto add = [&](const std::shared_ptr<VariableState>& variable) {
    if (!seen.insert(variable.get()).second) return;
    variables_.push_back(variable);
    objects_.emplace_back(variable, &variable->usage);
  };
  for (const NodePtr& node : graph.nodes) {
    if (node->variable) add(node->variable);
  }
  for (const Graph::Update& update : graph.updates) add(update.variable);
}

bool LoopPlan::fits(const std::vector<Tensor>& inputs) const {
  const auto same = [](const Spec& spec, const Tensor& x) {
    return spec.shape == x.shape() && spec.dtype == x.dtype();
  };
  const std::vector<Spec>& specs = plan_->inputs();
  if (!std::equal(specs.begin(), specs.end(), inputs.begin(), inputs.end(), same)) return false;
  const CastRegions& regions = outer_regions();
  const auto same_region = [](const CastRegion& region, const std::pair<std::string, bool>& known) {
    return region.casts == known.second && (!region.casts || region.policy.name() == known.first);
  };
  return settings_.threads == thread_count() && settings_.policy == dtype_policy().name() &&
         settings_.float32_matmul == current_float32_matmul() &&
         std::equal(regions.begin(), regions.end(), settings_.regions.begin(), settings_.regions.end(), same_region) &&
         of_windows_ == windows_now() && of_variables_ == variables_now() && of_layers_ == layers_now();
}

/// Policies, trainable flags and weights of the layers.
std::uint64_t LoopPlan::layers_now() const {
  std::uint64_t hash = 0;
  for (const auto& layer : layers_) hash = mix(hash, layers_signature(*layer));
  return hash;
}

/// Dtypes and storage of the variables.
std::uint64_t LoopPlan::variables_now() const {
  std::uint64_t hash = 0;
  for (const auto& variable : variables_) {
    hash = mix(hash, static_cast<std::uint64_t>(variable->value.dtype()));
    hash = mix(hash, address(variable->remainder.get()));
  }
  return hash;
}

/// Windows of accumulated gradients, and moments, which reset() and a loaded checkpoint replace.
std::uint64_t LoopPlan::windows_now() const {
  std::uint64_t hash = 0;
  for (const LoopOptimizer& one : optimizers_) {
    hash = mix(hash, static_cast<std::uint64_t>(one.optimizer.accumulation_steps()));
    hash = mix(hash, one.optimizer.completes_window() ? 2 : 1);
    for (const Optimizer::Slots& slots : one.optimizer.state()->slots) {
      for (const auto& slot : slots.values) hash = mix(hash, address(slot.get()));
    }
  }
  return hash;
}

double LoopPlan::number(const RuntimeKey& key, const LoopNumbers& numbers) const {
  constexpr int bits_beyond_double = 11;  // of 64
  switch (key.scalar) {
    case RuntimeScalar::step:
      return static_cast<double>(numbers.steps);
    case RuntimeScalar::seed:
      return static_cast<double>(mix(seed(), numbers.stream) >> bits_beyond_double);
    case RuntimeScalar::learning_rate:
      return finite_learning_rate(optimizers_[key.optimizer].optimizer, static_cast<std::int64_t>(key.earlier));
    case RuntimeScalar::count:
      return static_cast<double>(optimizers_[key.optimizer].optimizer.state()->iterations + 1);
    case RuntimeScalar::batch:  // this and the next three: no batch is taken, and no other process runs
    case RuntimeScalar::epoch:
    case RuntimeScalar::first_sample:
      return 0;
    case RuntimeScalar::sample_share:
      return 1;
    case RuntimeScalar::loss_scale:
      break;
  }
  fail<ValueError>("[compile_step]", "the function must not read the {}: it exists only in a Trainer's steps",
                   to_string(key));
}

void LoopPlan::run(const std::vector<Tensor>& inputs, const LoopNumbers& numbers) {
  for (const LoopOptimizer& one : optimizers_) one.optimizer.require_trainable();
  const std::vector<RuntimeKey>& keys = plan_->runtime_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) numbers_[i] = number(keys[i], numbers);
  plan_->run(inputs, numbers_);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].bytes() > 0) {
      std::memcpy(outputs_[i].mutable_raw(), plan_->output_address(i), outputs_[i].bytes());
    }
  }
  for (LoopOptimizer& one : optimizers_) {
    for (const int group : one.groups) {
      if (plan_->committed(group)) one.optimizer.count_step();
    }
  }
}

}  // namespace mezzo::detail
