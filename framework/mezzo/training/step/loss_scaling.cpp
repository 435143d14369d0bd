#include <mezzo/training/step/loss_scaling.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>

namespace mezzo::detail {
namespace {

/// True if the next skip causes a warning: skips 1, 2, 3, 4, 8, 16, ... of the optimizer do, counted over all epochs. A
/// warning at each skip would be noise, since the first steps of a dynamic scale often overflow.
bool warns_at_next_skip(const LossScale& scale) {
  const std::int64_t count = scale.skipped() + 1;
  return count <= 3 || (count & (count - 1)) == 0;
}

std::string named(const std::string& name) { return name.empty() ? "" : fmt::format(" of optimizer \"{}\"", name); }

}  // namespace

bool StepRunner::seeks_overflow(const std::vector<AppliedOptimizer>& applied) const {
  return !options_.silent && std::any_of(applied.begin(), applied.end(), [&](const AppliedOptimizer& one) {
    const LossScale& scale = state_.optimizers[one.optimizer].optimizer->state()->loss_scale;
    return warns_at_next_skip(scale) || scale.at_floor();
  });
}

void StepRunner::count_updates(const AppliedOptimizer& applied, const std::function<bool(int)>& is_committed,
                               const std::function<std::optional<Overflow>(int)>& overflow_in) {
  const OptimizerConfig& config = state_.optimizers[applied.optimizer];
  Optimizer::State& state = *config.optimizer->state();
  const UpdateGroups groups(state_.optimizers.size());
  std::optional<int> skipped;  // first group
  for (std::size_t call = 0; call < applied.calls; ++call) {
    const int group = groups.of(applied.optimizer, call);
    if (!is_committed(group)) {
      if (!skipped) skipped = group;
      continue;
    }
    updated_ |= config.optimizer->completes_window();
    config.optimizer->count_step();
  }
  skipped_ |= skipped.has_value();
  scaled_.resize(state_.optimizers.size());
  scaled_[applied.optimizer] = applied.scaled;
  if (!applied.scaled) return;
  const bool committed = !skipped;
  // Before update(), which changes the scale and the number of skips.
  const double before = state.loss_scale.scale();
  const bool warns = !committed && !options_.silent && warns_at_next_skip(state.loss_scale);
  std::string origin;
  if (warns || (!committed && !options_.silent && state.loss_scale.at_floor()))
    origin = origin_of(overflow_in(*skipped));
  if (!state.loss_scale.update(committed) && !options_.silent) {
    failure_ = fmt::format(
        "[Trainer] loss and gradients of step {}{} must be finite at the smallest loss scale, {:.8g}; got: {}",
        state_.step, named(config.name), before, origin);
    return;
  }
  if (!warns || (part_ && options_.communicator->rank() > 0)) return;
  const bool dynamic = state.loss_scale.options().dynamic;
  warn(fmt::format("[Trainer] step {}{} was skipped: {}; loss scale {:.8g}{}", state_.step, named(config.name), origin,
                   before, dynamic ? fmt::format(" -> {:.8g}", state.loss_scale.scale()) : " is fixed"));
}

std::string StepRunner::origin_of(const std::optional<Overflow>& overflow) const {
  std::string text = describe(overflow);
  if (!part_) return text;
  // The value that was computed first caused those of the other ranks, which share gradients and statistics.
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t first = never;
  for (const std::string& of_rank :
       options_.communicator->gather_texts(fmt::format("{} {}", overflow ? overflow->step : never, text))) {
    const std::size_t end = of_rank.find(' ');
    const std::size_t step = std::stoull(of_rank.substr(0, end));
    if (step >= first) continue;
    first = step;
    text = of_rank.substr(end + 1);
  }
  return text;
}

void StepRunner::resume_scaling() {
  scaled_.clear();
  for (const OptimizerConfig& config : state_.optimizers) {
    const LossScaleState& counted = config.optimizer->state()->loss_scale.state();
    scaled_.push_back(counted.finite_steps > 0 || counted.skipped > 0);
  }
}

Overflows overflows_in(const Graph& graph) {
  Overflows found;
  const auto look = [&](const NodePtr& node, const std::string& reader) {
    for (std::size_t i = 0; i < node->results.size(); ++i) {
      const Tensor& result = node->results[i];
      if (!all_finite(result.raw(), {result.shape(), result.dtype()})) found.note({node, static_cast<int>(i)}, reader);
    }
  };
  for (const NodePtr& node : graph.nodes) {
    for (const Value& input : node->inputs) {
      if (input.node()->op->infer == nullptr) look(input.node(), node->path);
    }
    if (node->op->infer != nullptr) look(node, {});
  }
  return found;
}

std::optional<Overflow> overflow_of(const Graph& graph, int group) {
  const Overflows found = overflows_in(graph);
  const Graph::Gate* loss = nullptr;
  for (const auto& gate : graph.gates) {
    if (gate.group != group) continue;
    if (loss == nullptr) loss = &gate;
    if (gate.ok.item() != 0) continue;
    if (auto overflow = found.behind(gate.ok, loss->ok)) return overflow;
  }
  return {};
}

ScalingLog::ScalingLog(const StepRunner& runner) : runner_(runner) {
  for (const OptimizerConfig& config : runner.optimizers()) {
    skipped_.push_back(config.optimizer->state()->loss_scale.skipped());
  }
  add_names();
}

void ScalingLog::add_names() {
  const OptimizerConfigs& all = runner_.optimizers();
  for (const OptimizerConfig& config : all) {
    const std::string suffix = all.size() > 1 ? "_" + config.name : "";
    names_.push_back({"loss_scale" + suffix, "skipped_steps" + suffix});
  }
}

std::vector<std::pair<std::string, double>> ScalingLog::numbers() const {
  std::vector<std::pair<std::string, double>> out;
  const OptimizerConfigs& all = runner_.optimizers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!runner_.scaled(i)) continue;
    const LossScale& scale = all[i].optimizer->state()->loss_scale;
    out.emplace_back(names_[i].scale, scale.scale());
    out.emplace_back(names_[i].skipped, static_cast<double>(scale.skipped() - skipped_[i]));
  }
  return out;
}

void ScalingLog::write(Logs& logs, const Means& logged) const {
  const OptimizerConfigs& all = runner_.optimizers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!runner_.scaled(i)) continue;
    const LossScale& scale = all[i].optimizer->state()->loss_scale;
    if (!logged.has(names_[i].scale)) logs.set(names_[i].scale, scale.scale());
    if (logged.has(names_[i].skipped)) continue;
    logs.set(names_[i].skipped, static_cast<double>(scale.skipped() - skipped_[i]));
  }
}

}  // namespace mezzo::detail
