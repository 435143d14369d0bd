#include <mezzo/core/name_table.hpp>
#include <mezzo/losses/names.hpp>
#include <mezzo/metrics/accuracy.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/loss_metric.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>

namespace mezzo {
namespace {

/// What the name "accuracy" stands for: its kind is picked when shapes are known.
class FittingAccuracy : public Metric {
 public:
  using Metric::Metric;
  Value call(const Value& y_true, const Value& y_pred) const override { return accuracy(y_true, y_pred); }
};

Any<Metric> create_fitting(const std::string& name) { return FittingAccuracy(name); }

template <class M>
Any<Metric> create(const std::string& name) {
  return M({.name = name});
}

const NameTable<Metric>& metric_names() {
  static const NameTable<Metric> table("metric", {{"BinaryAccuracy", create<BinaryAccuracy>},
                                                  {"CategoricalAccuracy", create<CategoricalAccuracy>},
                                                  {"SparseCategoricalAccuracy", create<SparseCategoricalAccuracy>},
                                                  {"acc", create_fitting},
                                                  {"accuracy", create_fitting},
                                                  {"binary_accuracy", create<BinaryAccuracy>},
                                                  {"categorical_accuracy", create<CategoricalAccuracy>},
                                                  {"sparse_categorical_accuracy", create<SparseCategoricalAccuracy>}});
  return table;
}

}  // namespace

Any<Metric> Metric::from_name(const std::string& name) {
  if (Any<Metric> metric = metric_names().find(name)) return metric;
  if (Any<Loss> loss = loss_names().find(name)) return of_loss(std::move(loss));
  throw NameError("no metric \"" + name + "\"; there are: " + metric_names().names() + ", and the losses " +
                  loss_names().names());
}

Any<Metric> Metric::of_loss(Any<Loss> loss) {
  if (!loss) throw ValueError("[Metric] the loss is empty");
  return metrics::LossMetric(std::move(loss));
}

}  // namespace mezzo
