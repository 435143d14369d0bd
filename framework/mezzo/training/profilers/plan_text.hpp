#pragma once
#include <array>
#include <string>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/profilers/explain_options.hpp>

namespace mezzo::detail {

/// Model::explain() of any module. Errors start with `where`.
std::string explain_text(const Module& module, const std::string& where, const ExplainOptions& options);

/// Texts of Plan::Chore, in its order.
constexpr std::array<const char*, Plan::chores> chore_names{"(binding)", "(compute copies)", "(gates)", "(commits)"};

}  // namespace mezzo::detail
