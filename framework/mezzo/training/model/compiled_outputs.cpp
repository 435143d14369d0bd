#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/model/compile_options.hpp>

namespace mezzo::detail {
namespace {

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// True for `{"name", ...}`, a pair with a string in front.
bool is_pair(const Metrics& item) {
  return item.is_list() && item.items().size() == 2 && !item.items().front().name().empty();
}

/// Values in the order of the outputs: `missing` for those that are not named.
template <class T>
std::vector<T> in_order(const PerOutput<T>& given, const std::vector<std::string>& names, const T& missing,
                        const std::string& where, const char* what) {
  if (given.for_all) return std::vector<T>(names.size(), given.list.front());
  if (given.named.empty()) {
    if (given.list.size() != names.size()) {
      fail<ValueError>(where, "compile: the number of {} must be that of the outputs, {}; got {}", what, names.size(),
                       given.list.size());
    }
    return given.list;
  }
  std::vector<T> out(names.size(), missing);
  for (const auto& [name, value] : given.named) {
    const std::size_t i = index_of(names, name);
    if (i == names.size()) fail_unknown(where, fmt::format("output in compile: {}:", what), name, names);
    out[i] = value;
  }
  return out;
}

}  // namespace

CompiledOutputs::CompiledOutputs(const CompileOptions& options, const std::vector<std::string>& outputs,
                                 const std::string& where)
    : names(outputs) {
  add_losses(options, where);
  loss_weights.assign(names.size(), 1);
  if (!options.loss_weights.empty()) {
    loss_weights = in_order(options.loss_weights, names, 1.0, where, "loss_weights");
  }
  add_metrics(options.metrics, false, where);
  add_metrics(options.weighted_metrics, true, where);
  require_apart_from_validation(where);
}

void CompiledOutputs::require_apart_from_validation(const std::string& where) const {
  std::vector<std::string> logged{"loss"};
  for (std::size_t i = 0; names.size() > 1 && i < names.size(); ++i) logged.push_back(names[i] + "_loss");
  for (const Tracked& metric : metrics) logged.push_back(metric.name);
  for (const std::string& name : logged) {
    const std::string validated = "val_" + name;
    if (std::find(logged.begin(), logged.end(), validated) == logged.end()) continue;
    fail<NameError>(where, "compile: \"{}\" must have a name other than that of \"{}\" in validations; rename {}",
                    validated, name, validated.ends_with("loss") ? "the output" : "the metric");
  }
}

void CompiledOutputs::add_losses(const CompileOptions& options, const std::string& where) {
  if (options.loss.empty()) {  // Model::compile reports the error, if any
    losses.assign(names.size(), Any<Loss>());
    return;
  }
  losses = in_order(options.loss, names, Any<Loss>(), where, "losses");
  const auto& named = options.loss.named;
  for (const std::string& name : names) {
    const auto is_name = [&](const auto& entry) { return entry.first == name; };
    if (!named.empty() && std::none_of(named.begin(), named.end(), is_name)) {
      fail<ValueError>(where,
                       "compile: losses by name must name every output; got none for \"{}\" (an empty one leaves it "
                       "untrained)",
                       name);
    }
  }
  if (std::none_of(losses.begin(), losses.end(), [](const auto& loss) { return static_cast<bool>(loss); })) {
    fail<ValueError>(where, "compile: loss is required; got none");
  }
  for (const Any<Loss>& loss : losses) {
    if (loss && loss->reduction() == "none") {
      fail<ValueError>(where, "compile: reduction of a loss must give one number; got \"none\" of {}", loss->name());
    }
  }
}

void CompiledOutputs::add_metrics(const Metrics& given, bool weighted, const std::string& where) {
  if (given.empty() && !given.is_metric()) return;
  const auto& items = given.items();
  const auto is_named = [&](const Metrics& item) {
    return is_pair(item) && index_of(names, item.items().front().name()) < names.size();
  };
  const bool count_fits = items.size() == names.size() || names.size() == 1;
  if (std::any_of(items.begin(), items.end(), is_named) ||
      (!count_fits && !items.empty() && std::all_of(items.begin(), items.end(), is_pair))) {
    for (const Metrics& item : items) {
      const std::string name = is_pair(item) ? item.items().front().name() : item.name();
      if (!is_named(item)) fail_unknown(where, "output in compile: metrics:", name, names);
      add_metrics_of(index_of(names, name), item.items().back(), weighted, where);
    }
    return;
  }
  if (names.size() == 1) {
    add_metrics_of(0, given, weighted, where);
    return;
  }
  if (!given.is_list() || items.size() != names.size()) {
    fail<ValueError>(
        where,
        "compile: metrics of a model with {} outputs must be a list with an entry for each, or by name ({}); "
        "got {} entries",
        names.size(), fmt::join(names, ", "), std::max<std::size_t>(items.size(), 1));
  }
  for (std::size_t i = 0; i < items.size(); ++i) add_metrics_of(i, items[i], weighted, where);
}

void CompiledOutputs::add_metrics_of(std::size_t output, const Metrics& given, bool weighted,
                                     const std::string& where) {
  if (!given.is_metric()) {
    for (std::size_t i = 0; i < given.items().size(); ++i) {
      const Metrics& item = given.items()[i];
      if (item.is_metric() && !item.metric()) {
        fail<ValueError>(where, "compile: metrics must not be empty; got an empty one at index {}", i);
      }
      add_metrics_of(output, item, weighted, where);
    }
    return;
  }
  const Any<Metric> metric = given.metric();
  const std::string prefix = names.size() > 1 ? names[output] + "_" : "";
  const auto taken = [&](const std::string& name) {
    const auto is_loss_of = [&](const std::string& of) { return names.size() > 1 && name == of + "_loss"; };
    return name == "loss" || std::any_of(names.begin(), names.end(), is_loss_of) ||
           std::any_of(metrics.begin(), metrics.end(), [&](const Tracked& other) { return other.name == name; });
  };
  std::string name = prefix + metric->name();
  if (weighted && taken(name)) name = prefix + "weighted_" + metric->name();
  if (taken(name)) {
    fail<NameError>(where, "compile: names of loss and metrics must differ; got \"{}\" twice", name);
  }
  metrics.push_back({name, metric, output, weighted});
}

bool CompiledOutputs::needs_target(std::size_t output) const {
  const auto of_output = [&](const Tracked& tracked) { return tracked.output == output; };
  return losses[output] || std::any_of(metrics.begin(), metrics.end(), of_output);
}

}  // namespace mezzo::detail
