#pragma once
#include <string>

namespace mezzo {

/// Norms that a rule of optimizer_update needs: those of the whole variable, and of its gradient or its change.
enum class RuleNorms { none, of_gradient, of_change };

/// The entry of the rule in update_rules.def; none for an unknown rule.
RuleNorms rule_norms(const std::string& rule);

}  // namespace mezzo
