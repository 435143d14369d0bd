#include <mezzo/metrics/names.hpp>

#include <mezzo/metrics/accuracy.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>

namespace mezzo {
namespace {

/// The metric of the name "accuracy": picks its kind when shapes are known.
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

}  // namespace

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

}  // namespace mezzo
