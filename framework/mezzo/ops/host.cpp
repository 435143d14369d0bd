#include <mezzo/ops/host.hpp>

#include <iostream>
#include <utility>

#include <fmt/ranges.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host_function.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_host(const OpCall& call) {
  return {{call.attributes.get_or("shape", call.inputs[0].shape), call.attributes.get<DType>("dtype")}};
}

std::vector<Spec> infer_print(const OpCall& call) { return {call.inputs[0]}; }

Values refuse_gradient(const GradientContext& context) {
  fail<ValueError>(context.where(),
                   "host() has no gradient; expected stop_gradient() around it, or custom_gradient(); got a loss that "
                   "depends on it");
}

Values print_gradient(const GradientContext& context) { return {detail::cotangent_for(context, 0)}; }

}  // namespace

Op detail::define_host() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_host;
  op.gradient = refuse_gradient;
  op.effect = true;
  return op;
}

Op detail::define_print() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_print;
  op.gradient = print_gradient;
  op.effect = true;
  return op;
}

Value host(std::function<Tensor(const std::vector<Tensor>& xs)> function, const Values& xs,
           const HostOptions& options) {
  return detail::described_host(std::move(function), xs, options, {});
}

Value detail::described_host(std::function<Tensor(const std::vector<Tensor>& xs)> function, const Values& xs,
                             const HostOptions& options, const Attributes& description) {
  const std::string where = detail::current_label("host");
  if (!function) fail<ValueError>(where, "function must be callable; got an empty one");
  if (xs.empty()) fail<ValueError>(where, "at least one argument must be given; got none");
  auto payload = std::make_shared<HostFunction>();
  payload->function = std::move(function);
  Attributes attributes{{"function", std::shared_ptr<const detail::AttributeFunction>(payload)},
                        {"dtype", options.dtype.value_or(xs[0].dtype())}};
  if (options.shape) attributes.set("shape", *options.shape);
  for (const auto& [name, value] : description.entries()) attributes.set(name, value);
  return insert_one(ops::host, xs, std::move(attributes));
}

Value host(std::function<Tensor(const Tensor& x)> function, const Value& x, const HostOptions& options) {
  if (!function) return host(std::function<Tensor(const std::vector<Tensor>&)>(), Values{x}, options);
  return host([function = std::move(function)](const std::vector<Tensor>& xs) { return function(xs[0]); }, Values{x},
              options);
}

Value print(const Value& x, const PrintOptions& options) {
  return insert_one(ops::print, {x}, {{"message", options.message}}).across_border(x.crosses_border());
}

void detail::print_text(const std::string& text, const PrintOptions& options) {
  std::cout << options.message << (options.message.empty() ? "" : " ") << text << std::endl;
}

void print(const std::vector<std::string>& texts, const PrintOptions& options) {
  detail::print_text(fmt::format("{}", texts), options);
}

}  // namespace mezzo
