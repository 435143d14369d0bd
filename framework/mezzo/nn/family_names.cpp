#include <mezzo/nn/family_names.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/registered_names.hpp>
#include <mezzo/nn/loss_metric.hpp>

namespace mezzo {
void register_names(const NameTable<Constraint>& names) { detail::registered_names<Constraint>() = &names; }
void register_names(const NameTable<Initializer>& names) { detail::registered_names<Initializer>() = &names; }
void register_names(const NameTable<Loss>& names) { detail::registered_names<Loss>() = &names; }
void register_names(const NameTable<Metric>& names) { detail::registered_names<Metric>() = &names; }
void register_names(const NameTable<Optimizer>& names) { detail::registered_names<Optimizer>() = &names; }
void register_names(const NameTable<Regularizer>& names) { detail::registered_names<Regularizer>() = &names; }

Any<Initializer> Initializer::from_name(const std::string& name) {
  return detail::names_of<Initializer>("initializer", name).at(name);
}

Any<Constraint> Constraint::from_name(const std::string& name) {
  return detail::names_of<Constraint>("constraint", name).at(name);
}

Any<Regularizer> Regularizer::from_name(const std::string& name) {
  return detail::names_of<Regularizer>("regularizer", name).at(name);
}

Any<Loss> Loss::from_name(const std::string& name) { return detail::names_of<Loss>("loss", name).at(name); }

Any<Optimizer> Optimizer::from_name(const std::string& name) {
  return detail::names_of<Optimizer>("optimizer", name).at(name);
}

Any<Metric> Metric::from_name(const std::string& name) {
  const NameTable<Metric>& metrics = detail::names_of<Metric>("metric", name);
  const NameTable<Loss>& losses = detail::names_of<Loss>("loss", name);
  if (Any<Metric> metric = metrics.find(name)) return metric;
  if (Any<Loss> loss = losses.find(name)) return of_loss(std::move(loss));
  std::vector<std::string> all = metrics.list();
  for (std::string& loss : losses.list()) all.push_back(std::move(loss));
  fail_unknown("", "metric", name, all);
}

Any<Metric> Metric::of_loss(Any<Loss> loss) { return detail::LossMetric({.loss = std::move(loss)}); }

namespace detail {
namespace {

const std::string& name_of(const Any<Loss>& loss) {
  if (!loss) fail<ValueError>("[Metric]", "a loss must be given to make a metric of it; got an empty Any<Loss>");
  return loss->name();
}

}  // namespace

LossMetric::LossMetric(const LossMetricOptions& options) : Metric(name_of(options.loss)), loss_(options.loss) {
  keep_options(options);
}

}  // namespace detail

}  // namespace mezzo
