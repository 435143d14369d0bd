#include <mezzo/regularizers/classes.hpp>

#include <mezzo/nn/saved_by.hpp>
#include <mezzo/regularizers/regularizers.hpp>

namespace mezzo {

static void describe(Fields& fields, L1L2Options& options) {
  fields("l1", options.l1);
  fields("l2", options.l2);
}

static void describe(Fields& fields, OrthogonalRegularizerOptions& options) {
  fields("factor", options.factor);
  fields("mode", options.mode);
}

namespace {

struct L1Config {
  double l1 = 0.01;
};
void describe(Fields& fields, L1Config& config) { fields("l1", config.l1); }

struct L2Config {
  double l2 = 0.01;
};
void describe(Fields& fields, L2Config& config) { fields("l2", config.l2); }

}  // namespace

std::vector<detail::NamedClass<Regularizer>> regularizer_classes() {
  using detail::keras_names;
  using detail::with_names;
  const auto both = [](const std::string&) -> Any<Regularizer> { return L1L2(0.01, 0.01); };
  return {with_names<L1>(detail::saved_by<Regularizer, L1, L1Config>(
                             "L1", [](const L1& object) { return L1Config{object.options().l1}; },
                             [](const L1Config& config) { return L1(config.l1); }),
                         keras_names("L1")),
          with_names<L2>(detail::saved_by<Regularizer, L2, L2Config>(
                             "L2", [](const L2& object) { return L2Config{object.options().l2}; },
                             [](const L2Config& config) { return L2(config.l2); }),
                         keras_names("L2")),
          {detail::saved_class<L1L2, L1L2Options, Regularizer>("L1L2"), {"L1L2", "l1_l2"}, both},
          with_names<OrthogonalRegularizer>(
              detail::saved_class<OrthogonalRegularizer, OrthogonalRegularizerOptions, Regularizer>(
                  "OrthogonalRegularizer"),
              keras_names("OrthogonalRegularizer"))};
}

}  // namespace mezzo
