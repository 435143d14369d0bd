#include <mezzo/report/suggest_policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/precision_probe.hpp>

namespace mezzo {
namespace {

constexpr const char* where = "[suggest_policy]";

struct Effect {
  std::string path;
  double error = 0;
};

void check(const SuggestPolicyOptions& options) {
  if (!(options.max_error > 0)) {
    throw ValueError(fmt::format("{} max_error must be greater than 0; got {}", where, options.max_error));
  }
  if (options.steps < 0) throw ValueError(fmt::format("{} steps must be 0 or more; got {}", where, options.steps));
  const Policy& policy = options.precision.policy();
  if (policy.inherits() || policy.map() != nullptr || policy.by_op() != nullptr) {
    throw ValueError(fmt::format("{} precision must be one policy, neither a map nor op lists; got {}", where,
                                 policy.inherits() ? "none" : policy.name()));
  }
  check_loss_scale({.initial_scale = options.loss_scale}, "[suggest_policy] loss_scale as ");
}

/// Finds how many of the layers, ranked by their effects, are kept in float32.
class Search {
 public:
  Search(Module& copy, const HostBatch& batch, const SuggestPolicyOptions& options)
      : options_(options), low_(options.precision.policy()), probe_(copy, batch, options.loss_scale, where) {}

  PolicySuggestion run() {
    const detail::StepRun lowest = probe_.run(low_);
    const detail::ModelErrors lowest_errors = probe_.errors(lowest);
    const bool all = meets(lowest_errors);
    find_layers(lowest);
    if (!all) rank();
    const std::size_t kept = all ? 0 : least_kept();
    PolicySuggestion out;
    out.map = map(kept);
    for (const Effect& effect : effects_) {
      (out.float32.size() < kept ? out.float32 : out.lowered).push_back(effect.path);
    }
    out.max_error = options_.max_error;
    const detail::ModelErrors errors = probe_.errors(probe_.run(out.map));
    out.output_error = errors.output;
    out.gradient_error = errors.gradient;
    out.precision = low_.name();
    out.lowest_output_error = lowest_errors.output;
    out.lowest_gradient_error = lowest_errors.gradient;
    if (options_.steps > 0) {
      const auto microseconds = [](const std::shared_ptr<const Plan>& plan) {
        return plan->profile().wall_time() / 1e3;
      };
      out.time = microseconds(probe_.time(out.map, options_.steps));
      out.lowest_time = microseconds(probe_.time(low_, options_.steps));
      out.float32_time = microseconds(probe_.time_float32(options_.steps));
    }
    return out;
  }

 private:
  bool meets(const detail::ModelErrors& errors) const {
    return errors.output <= options_.max_error && errors.gradient <= options_.max_error;
  }

  bool meets(std::size_t kept) { return meets(probe_.errors(probe_.run(map(kept)))); }

  /// The layers that the policy reaches.
  void find_layers(const detail::StepRun& lowest) {
    const auto places = probe_.places();
    for (const detail::LayerRun& layer : lowest.layers) {
      if (places.at(layer.path).policy == low_) effects_.push_back({layer.path});
    }
  }

  /// Puts the worst first.
  void rank() {
    for (Effect& effect : effects_) {
      effect.error = probe_.errors(probe_.run_alone(effect.path, low_)).worst();
    }
    std::stable_sort(effects_.begin(), effects_.end(),
                     [](const Effect& a, const Effect& b) { return detail::is_worse(a.error, b.error); });
  }

  /// By bisection, as if one more layer in float32 never did harm; what is found was measured all the same.
  std::size_t least_kept() {
    std::size_t fails = 0;
    std::size_t works = effects_.size();
    const detail::ModelErrors errors = probe_.errors(probe_.run(map(works)));
    if (!meets(errors)) {
      throw ValueError(fmt::format(
          "{} max_error {} can't be met: with all layers in float32 that a Trainer's precision reaches, the output "
          "error is {} and the gradient error {}; others have a dtype of their own",
          where, options_.max_error, detail::error_text(errors.output), detail::error_text(errors.gradient)));
    }
    while (works - fails > 1) {
      const std::size_t middle = fails + (works - fails) / 2;
      (meets(middle) ? works : fails) = middle;
    }
    return works;
  }

  /// With the first `kept` layers in float32. What the model computes outside of layers has the default.
  PolicyMap map(std::size_t kept) const {
    const auto end = effects_.begin() + static_cast<std::ptrdiff_t>(kept);
    const bool root = std::any_of(effects_.begin(), end, [](const Effect& effect) { return effect.path.empty(); });
    PolicyMapOptions options;
    options.default_policy = root ? Policy("float32") : low_;
    for (auto at = root ? end : effects_.begin(); at != (root ? effects_.end() : end); ++at) {
      options.policies.emplace_back(at->path, root ? low_ : Policy("float32"));
    }
    return PolicyMap(options);
  }

  const SuggestPolicyOptions& options_;
  const Policy low_;
  detail::PrecisionProbe probe_;
  std::vector<Effect> effects_;
};

}  // namespace

PolicySuggestion detail::suggest_policy(Module& copy, const HostBatch& batch, const SuggestPolicyOptions& options) {
  check(options);
  return Search(copy, batch, options).run();
}

}  // namespace mezzo
