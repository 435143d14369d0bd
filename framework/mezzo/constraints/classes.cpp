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

std::vector<detail::SavedClass<Constraint>> constraint_classes() {
  return {detail::saved_class<MaxNorm, MaxNormOptions, Constraint>("MaxNorm"),
          detail::saved_class<MinMaxNorm, MinMaxNormOptions, Constraint>("MinMaxNorm"),
          detail::saved_plain<Constraint, NonNeg>("NonNeg"),
          detail::saved_class<UnitNorm, UnitNormOptions, Constraint>("UnitNorm")};
}

}  // namespace mezzo
