#include <mezzo/graph/replaced_variable.hpp>

#include <mezzo/core/execution_context.hpp>

namespace mezzo {
namespace {

/// The part of a thread's ExecutionContext for replaced variables.
struct ReplacedContext {
  ReplacedVariable* innermost = nullptr;
};

ReplacedVariable*& innermost_replaced() {
  return detail::ExecutionContext::current().part<ReplacedContext>().innermost;
}

}  // namespace

ReplacedVariable::ReplacedVariable(const std::shared_ptr<detail::VariableState>& variable, const Value& value)
    : variable_(variable.get()), value_(value), outer_(innermost_replaced()) {
  innermost_replaced() = this;
}

ReplacedVariable::~ReplacedVariable() { innermost_replaced() = outer_; }

Value ReplacedVariable::find(const detail::VariableState& variable) {
  for (const ReplacedVariable* one = innermost_replaced(); one != nullptr; one = one->outer_) {
    if (one->variable_ == &variable) return one->value_;
  }
  return {};
}

}  // namespace mezzo
