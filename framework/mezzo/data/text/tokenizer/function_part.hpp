#pragma once
#include <memory>
#include <utility>

namespace mezzo::detail {

/// Part of a tokenizer whose apply(value) calls a function.
template <class Part, class Value, class Function>
class FunctionPart final : public Part {
 public:
  explicit FunctionPart(Function function) : function_(std::move(function)) {}
  void apply(Value& value) const override { function_(value); }

 private:
  Function function_;
};

/// A part of the class Part, which applies to a Value.
template <class Part, class Value, class Function>
std::unique_ptr<Part> part_of_function(Function function) {
  return std::make_unique<FunctionPart<Part, Value, Function>>(std::move(function));
}

}  // namespace mezzo::detail
