#include <mezzo/ops/deferred.hpp>

#include <algorithm>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo {
namespace {

/// A function that is called again for each call of a functional graph.
struct PostponedFunction final : AttributeFunction {
  std::function<Values(const Values&)> run;
  std::vector<Spec> outputs;
};

Values insert_postponed(const Values& inputs, const Attributes& attributes);

const Op& postponed_op() {
  static const Op op = [] {
    Op one;
    one.name = "function";
    one.reinsert = insert_postponed;
    return one;
  }();
  return op;
}

Values insert_postponed(const Values& inputs, const Attributes& attributes) {
  const auto& payload = attributes.get<std::shared_ptr<const AttributeFunction>>("function");
  const auto& function = static_cast<const PostponedFunction&>(*payload);
  const bool symbols = std::any_of(inputs.begin(), inputs.end(), [](const Value& x) { return x.symbolic(); });
  if (!in_functional_graph() && (Trace::current() != nullptr || !symbols)) return function.run(inputs);
  auto node = std::make_shared<Node>();
  node->op = &postponed_op();
  node->attributes = attributes;
  node->where = current_label("function");
  node->outputs = function.outputs;
  node->inputs = inputs;
  node->frames = current_frames();
  node->regions = outer_regions();
  Values out;
  for (std::size_t i = 0; i < node->outputs.size(); ++i) out.emplace_back(node, static_cast<int>(i));
  return out;
}

}  // namespace

Values detail::run_or_defer(std::function<Values(const Values&)> function, const Values& inputs,
                            const std::vector<Spec>& outputs) {
  auto payload = std::make_shared<PostponedFunction>();
  payload->run = std::move(function);
  payload->outputs = outputs;
  return insert_postponed(inputs, {{"function", std::shared_ptr<const AttributeFunction>(payload)}});
}

}  // namespace mezzo
