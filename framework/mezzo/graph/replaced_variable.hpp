#pragma once
#include <memory>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

/// For its lifetime, reads of a variable on this thread return another value of its shape: for layers that change the
/// weights of a layer that they hold. Gradients flow through that value.
class MEZZO_API ReplacedVariable {
 public:
  ReplacedVariable(const std::shared_ptr<detail::VariableState>& variable, const Value& value);
  ~ReplacedVariable();
  ReplacedVariable(const ReplacedVariable&) = delete;
  ReplacedVariable& operator=(const ReplacedVariable&) = delete;

  /// The value of the innermost one for this variable; undefined if there is none.
  static Value find(const detail::VariableState& variable);

 private:
  const detail::VariableState* variable_;
  Value value_;
  ReplacedVariable* outer_;
};

}  // namespace mezzo
