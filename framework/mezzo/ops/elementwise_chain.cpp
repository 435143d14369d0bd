#include <fmt/format.h>

#include <unordered_set>

#include <mezzo/ops/elementwise_program.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

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
  static const std::unordered_set<const Op*> all{
      &ops::abs,           &ops::add,           &ops::arccos,        &ops::arccosh,      &ops::arcsin,
      &ops::arcsinh,       &ops::arctan,        &ops::arctan2,       &ops::arctanh,      &ops::cast,
      &ops::cbrt,          &ops::ceil,          &ops::cos,           &ops::cosh,         &ops::divide,
      &ops::equal,         &ops::erf,           &ops::erfc,          &ops::erfinv,       &ops::exp,
      &ops::exp2,          &ops::expm1,         &ops::floor,         &ops::floor_divide, &ops::fmod,
      &ops::gelu,          &ops::gelu_gradient, &ops::hypot,         &ops::less,         &ops::less_equal,
      &ops::log,           &ops::log10,         &ops::log1p,         &ops::log2,         &ops::logaddexp,
      &ops::logical_and,   &ops::logical_not,   &ops::logical_or,    &ops::maximum,      &ops::minimum,
      &ops::mod,           &ops::multiply,      &ops::negative,      &ops::power,        &ops::relu,
      &ops::relu_gradient, &ops::round,         &ops::rsqrt,         &ops::sigmoid,      &ops::sigmoid_gradient,
      &ops::sign,          &ops::silu,          &ops::silu_gradient, &ops::sin,          &ops::sinh,
      &ops::softplus,      &ops::sqrt,          &ops::subtract,      &ops::tan,          &ops::tanh,
      &ops::tanh_gradient, &ops::trunc,         &ops::where};
  return all.count(&op) != 0;
}

}  // namespace mezzo
