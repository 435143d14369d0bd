#include <fmt/format.h>

#include <unordered_map>

#include <mezzo/ops/elementwise_program.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/row_flags.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_chain(const OpCall& call) {
  const auto& shape = call.attributes.get<Shape>("shape");
  const auto& function = call.attributes.get<std::shared_ptr<const detail::AttributeFunction>>("program");
  const auto& program = dynamic_cast<const ElementwiseProgram&>(*function);
  for (const Spec& input : call.inputs) broadcast(input.shape, shape, call.where);
  std::vector<Spec> outputs;
  for (const std::size_t i : program.outputs) outputs.push_back({shape, program.steps[i].dtype});
  return outputs;
}

}  // namespace

Op detail::define_elementwise_chain() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_chain;
  return op;
}

std::vector<Spec> ElementwiseProgram::operands_of(const ElementwiseStep& step, const std::vector<Spec>& inputs_of_chain,
                                                  const Shape& shape) const {
  std::vector<Spec> specs;
  for (const std::size_t i : step.operands) {
    specs.push_back(i < inputs ? inputs_of_chain[i] : Spec{shape, steps[i - inputs].dtype});
  }
  return specs;
}

std::string ElementwiseProgram::text() const {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t i = 0; i < steps.size() && i < most; ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : " + ", steps[i].op->name);
  }
  return steps.size() > most ? fmt::format("{} + {} more", out, steps.size() - most) : out;
}

bool is_elementwise(const Op& op) {
  using namespace ops::row_flags;
#define MEZZO_OP(name, flags, ...) {&ops::name, flags},
#define MEZZO_UNARY_OP MEZZO_OP
#define MEZZO_ALIAS_OP MEZZO_OP
  static const std::unordered_map<const Op*, unsigned> all{
#include <mezzo/ops/rows/ops.def>
  };
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP
  const auto found = all.find(&op);
  return found != all.end() && (found->second & CHAIN) != 0;
}

}  // namespace mezzo
