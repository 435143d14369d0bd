#include <mezzo/nn/family_names.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/loss_metric.hpp>

namespace mezzo {
namespace {

/// The registered table of a family, or null.
template <class Base>
const NameTable<Base>*& registered() {
  static const NameTable<Base>* names = nullptr;
  return names;
}

template <class Base>
const NameTable<Base>& table_of(const char* family, const std::string& name) {
  if (registered<Base>() != nullptr) return *registered<Base>();
  fail<NameError>("", "unknown {} \"{}\"; no names are registered: link mezzo with -Wl,--undefined=mezzo_register",
                  family, name);
}

}  // namespace

void register_names(const NameTable<Constraint>& names) { registered<Constraint>() = &names; }
void register_names(const NameTable<Initializer>& names) { registered<Initializer>() = &names; }
void register_names(const NameTable<Loss>& names) { registered<Loss>() = &names; }
void register_names(const NameTable<Metric>& names) { registered<Metric>() = &names; }
void register_names(const NameTable<Optimizer>& names) { registered<Optimizer>() = &names; }
void register_names(const NameTable<Regularizer>& names) { registered<Regularizer>() = &names; }

Any<Initializer> Initializer::from_name(const std::string& name) {
  return table_of<Initializer>("initializer", name).at(name);
}

Any<Constraint> Constraint::from_name(const std::string& name) {
  return table_of<Constraint>("constraint", name).at(name);
}

Any<Regularizer> Regularizer::from_name(const std::string& name) {
  return table_of<Regularizer>("regularizer", name).at(name);
}

Any<Loss> Loss::from_name(const std::string& name) { return table_of<Loss>("loss", name).at(name); }

Any<Optimizer> Optimizer::from_name(const std::string& name) { return table_of<Optimizer>("optimizer", name).at(name); }

Any<Metric> Metric::from_name(const std::string& name) {
  const NameTable<Metric>& metrics = table_of<Metric>("metric", name);
  const NameTable<Loss>& losses = table_of<Loss>("loss", name);
  if (Any<Metric> metric = metrics.find(name)) return metric;
  if (Any<Loss> loss = losses.find(name)) return of_loss(std::move(loss));
  fail<NameError>("", "unknown metric \"{}\"; valid names: {}, and the losses {}", name, metrics.names(),
                  losses.names());
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
