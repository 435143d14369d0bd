#include <mezzo/report/suggest_policy.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/precision_probe.hpp>
#include <mezzo/training/step/int8_policy.hpp>

namespace mezzo {
namespace {

constexpr const char* where = "[suggest_policy]";

/// A layer and the worse error of the model if that layer alone is lowered.
struct Effect {
  std::string path{};
  double error = 0;
};

void check(const SuggestPolicyOptions& options) {
  if (!(options.max_error > 0)) {
    fail<ValueError>(where, "max_error must be greater than 0; got {}", options.max_error);
  }
  if (options.steps < 0) fail<ValueError>(where, "steps must be 0 or more; got {}", options.steps);
  const Policy& policy = options.precision.policy();
  if (policy.inherits() || policy.map() != nullptr || policy.by_op() != nullptr) {
    fail<ValueError>(where, "precision must be one policy, neither a map nor op lists; got {}",
                     policy.inherits() ? "none" : policy.name());
  }
  detail::check_loss_scale({.initial_scale = options.loss_scale}, fmt::format("{} loss_scale as ", where));
}

/// Search for the smallest number of layers, ranked by their effects, that must stay in float32 or, under a policy with
/// products of int8, without these.
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
    if (!all && low_.products() != ProductFormat::same) keep_in_16_bits();
    const std::size_t kept = all ? 0 : least_kept();
    PolicySuggestion out;
    out.map = map(kept);
    std::vector<std::string>& high = high_ == Policy("float32") ? out.float32 : out.without_int8;
    for (const Effect& effect : effects_) (high.size() < kept ? high : out.lowered).push_back(effect.path);
    out.max_error = options_.max_error;
    const detail::ModelErrors errors = probe_.errors(probe_.run(out.map));
    out.output_error = errors.output;
    out.gradient_error = errors.gradient;
    out.precision = low_.name();
    out.lowest_output_error = lowest_errors.output;
    out.lowest_gradient_error = lowest_errors.gradient;
    if (options_.steps > 0) {
      constexpr double second = 1e6;  // in microseconds
      const std::vector<StepTimes> times = probe_.time({out.map, low_}, options_.steps);
      out.float32_time = times[0].seconds * second;
      out.time = times[1].seconds * second;
      out.lowest_time = times[2].seconds * second;
    }
    return out;
  }

 private:
  bool meets(const detail::ModelErrors& errors) const {
    return errors.output <= options_.max_error && errors.gradient <= options_.max_error;
  }

  bool meets(std::size_t kept) { return meets(probe_.errors(probe_.run(map(kept)))); }

  /// Finds the layers that the policy applies to.
  void find_layers(const detail::StepRun& lowest) {
    const auto places = probe_.places();
    for (const detail::LayerRun& layer : lowest.layers) {
      if (places.at(layer.path).policy == low_) effects_.push_back({.path = layer.path});
    }
  }

  /// Measures the effects and sorts the layers by them, the worst first.
  void rank() {
    for (Effect& effect : effects_) {
      effect.error = probe_.errors(probe_.run_alone(effect.path, low_)).worst();
    }
    std::stable_sort(effects_.begin(), effects_.end(),
                     [](const Effect& a, const Effect& b) { return detail::is_worse(a.error, b.error); });
  }

  /// Keeps layers in the dtypes of the policy without products of int8, if the bound holds then.
  void keep_in_16_bits() {
    high_ = detail::without_int8(low_);
    if (!meets(effects_.size())) high_ = "float32";
  }

  /// Bisection. It assumes that errors don't grow with the number of layers in float32; the result is measured.
  std::size_t least_kept() {
    std::size_t fails = 0;
    std::size_t works = effects_.size();
    const detail::ModelErrors errors = probe_.errors(probe_.run(map(works)));
    if (!meets(errors)) {
      fail<ValueError>(
          where,
          "max_error must be at least the errors with every layer in float32 that has no dtype of its own: "
          "output {}, gradient {}; got {}",
          detail::error_text(errors.output), detail::error_text(errors.gradient), options_.max_error);
    }
    while (works - fails > 1) {
      const std::size_t middle = fails + (works - fails) / 2;
      (meets(middle) ? works : fails) = middle;
    }
    return works;
  }

  /// Map with the first `kept` layers under high_. Ops of the model outside of its layers follow the default policy.
  PolicyMap map(std::size_t kept) const {
    const auto end = effects_.begin() + static_cast<std::ptrdiff_t>(kept);
    const bool root = std::any_of(effects_.begin(), end, [](const Effect& effect) { return effect.path.empty(); });
    PolicyMapOptions options;
    options.default_policy = root ? high_ : low_;
    for (auto at = root ? end : effects_.begin(); at != (root ? effects_.end() : end); ++at) {
      options.policies.emplace_back(at->path, root ? low_ : high_);
    }
    return PolicyMap(options);
  }

  const SuggestPolicyOptions& options_;
  const Policy low_;
  Policy high_ = "float32";  ///< of the layers that are kept from low_
  detail::PrecisionProbe probe_;
  std::vector<Effect> effects_;
};

std::string paths_text(const std::vector<std::string>& paths) {
  if (paths.empty()) return "none";
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.empty() ? "(outside of layers)" : path);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

PolicySuggestion detail::suggest_policy(Module& copy, const HostBatch& batch, const SuggestPolicyOptions& options) {
  check(options);
  return Search(copy, batch, options).run();
}

std::string PolicySuggestion::text() const {
  const auto cells = [](const std::string& name, double output, double gradient, double microseconds) {
    return std::vector<std::string>{name, detail::error_text(output), detail::error_text(gradient),
                                    microseconds > 0 ? fmt::format("{:.1f}", microseconds) : "-"};
  };
  const auto lines = detail::table_lines(
      {{"Policy"}, {"Output error", true}, {"Gradient error", true}, {"us a step", true}},
      {cells("float32", 0, 0, float32_time), cells("suggested map", output_error, gradient_error, time),
       cells(precision, lowest_output_error, lowest_gradient_error, lowest_time)});
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const std::size_t layers = float32.size() + without_int8.size() + lowered.size();
  if (!without_int8.empty()) {
    return text + fmt::format("max_error {}; without products of int8 stay {} of {} layers: {}\n", max_error,
                              without_int8.size(), layers, paths_text(without_int8));
  }
  return text + fmt::format("max_error {}; in float32 stay {} of {} layers: {}\n", max_error, float32.size(), layers,
                            paths_text(float32));
}

}  // namespace mezzo
