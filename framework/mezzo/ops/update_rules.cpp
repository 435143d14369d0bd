#include <mezzo/ops/update_rules.hpp>

namespace mezzo {

RuleNorms rule_norms(const std::string& rule) {
  // NOLINTBEGIN(readability-identifier-naming): words of update_rules.def
  constexpr RuleNorms NONE = RuleNorms::none, OF_GRADIENT = RuleNorms::of_gradient, OF_CHANGE = RuleNorms::of_change;
  // NOLINTEND(readability-identifier-naming)
#define MEZZO_UPDATE_RULE(name, Formula, norms) \
  if (rule == #name) return norms;
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  return NONE;
}

}  // namespace mezzo
