#include <mezzo/nn/input.hpp>

#include <fmt/format.h>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo {
namespace {

Value symbol(const InputOptions& options) {
  detail::check_text_name("[Input]", options.name);
  Shape shape{options.batch_size};
  shape.insert(shape.end(), options.shape.begin(), options.shape.end());
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = options.name.empty() ? "[Input]" : fmt::format("[Input \"{}\"]", options.name);
  node->attributes.set("name", options.name);
  node->outputs = {Spec{.shape = shape, .dtype = options.dtype}};
  return {node, 0};
}

}  // namespace

InputLayer::InputLayer(Value symbol) : Layer("InputLayer"), symbol_(std::move(symbol)) {}

Input::Input(const InputOptions& options) : Value(symbol(options)) {}

}  // namespace mezzo
