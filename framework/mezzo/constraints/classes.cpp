#include <mezzo/constraints/classes.hpp>

#include <mezzo/constraints/constraints.hpp>
#include <mezzo/nn/saved_by.hpp>

namespace mezzo {

static void describe(Fields& fields, MinMaxNormOptions& options) {
  fields("min_value", options.min_value);
  fields("max_value", options.max_value);
  fields("rate", options.rate);
  fields("axis", options.axis);
}

static void describe(Fields& fields, MaxNormOptions& options) {
  fields("max_value", options.max_value);
  fields("axis", options.axis);
}

static void describe(Fields& fields, UnitNormOptions& options) { fields("axis", options.axis); }

namespace {

template <class C>
detail::NamedClass<Constraint> named(detail::SavedClass<Constraint> saved) {
  const std::string name = saved.name;
  return detail::with_names<C>(std::move(saved), detail::keras_names(name));
}

}  // namespace

std::vector<detail::NamedClass<Constraint>> constraint_classes() {
  return {named<MaxNorm>(detail::saved_class<MaxNorm, MaxNormOptions, Constraint>("MaxNorm")),
          named<MinMaxNorm>(detail::saved_class<MinMaxNorm, MinMaxNormOptions, Constraint>("MinMaxNorm")),
          named<NonNeg>(detail::saved_plain<Constraint, NonNeg>("NonNeg")),
          named<UnitNorm>(detail::saved_class<UnitNorm, UnitNormOptions, Constraint>("UnitNorm"))};
}

}  // namespace mezzo
