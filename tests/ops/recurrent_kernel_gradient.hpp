#pragma once

#include "ops/products.hpp"
#include "ops/recurrence.hpp"

namespace mezzo_tests {

// The gradient of a recurrent kernel (units, width), with that of a kernel (features, width) if there are features.
struct RecurrentKernelCase {
  std::int64_t batch = 2, steps = 3, units = 4, width = 5, features = 0;
  bool initial = false;

  mezzo::Attributes attributes() const { return {{"initial", initial}, {"projected", features > 0}}; }

  std::vector<Argument> arguments() const {
    std::vector<Argument> out{{uniform({batch, steps, units}, -1, 1, 1)}, {uniform({batch, steps, width}, -1, 1, 2)}};
    if (initial) out.push_back({uniform({batch, units}, -1, 1, 3)});
    if (features > 0) out.push_back({uniform({batch, steps, features}, -1, 1, 4)});
    return out;
  }
};

inline OpRow recurrent_kernel_gradient_row(const RecurrentKernelCase& c, Role to) {
  const std::string op = "recurrent_kernel_gradient";
  const auto plain = [c](const TensorList& v) {
    const mezzo::Tensor none({c.batch, c.units}, mezzo::DType::float64);
    const auto rows = [&](const mezzo::Tensor& x) { return x.reshape({c.batch * c.steps, x.shape()[2]}); };
    const mezzo::Tensor before =
        states_before({.kind = "simple_rnn", .steps = c.steps, .units = c.units}, c.initial ? v[2] : none, v[0]);
    TensorList out{plain_matmul(rows(before), rows(v[1]), true, false)};
    if (c.features > 0) out.push_back(plain_matmul(rows(v.back()), rows(v[1]), true, false));
    return out;
  };
  return {.op = op,
          .note = c.attributes().to_string() + (to.is_varied() ? "" : ", to the accumulation dtype"),
          .call = inserted_with_dtype(op, c.attributes(), to),
          .arguments = c.arguments(),
          .outputs = std::vector<Role>(c.features > 0 ? 2 : 1, to),
          .plain = plain,
          .depth = static_cast<double>(c.batch * c.steps),
          .exact_on_integers = true,
          .internal = true};
}

inline std::vector<OpRow> recurrent_kernel_gradient_rows() {
  std::vector<OpRow> rows;
  for (const RecurrentKernelCase& c :
       {RecurrentKernelCase{}, RecurrentKernelCase{.initial = true}, RecurrentKernelCase{.features = 3},
        RecurrentKernelCase{.steps = 1, .width = 40, .features = 13, .initial = true},
        RecurrentKernelCase{.batch = 0}}) {
    rows.push_back(recurrent_kernel_gradient_row(c, Role::varied()));
    rows.push_back(recurrent_kernel_gradient_row(c, Role::accumulated()));
  }
  return rows;
}

inline std::vector<Refusal> recurrent_kernel_gradient_refusals() {
  using mezzo::Tensor;
  const auto call = [](bool initial, bool projected, const mezzo::Values& operands) {
    inserted("recurrent_kernel_gradient",
             {{"initial", initial}, {"projected", projected}, {"dtype", mezzo::DType::float32}})(operands);
  };
  const Tensor states({2, 3, 4}), d({2, 3, 5});
  const auto refused = [](const std::string& text, std::function<void()> check) {
    return refusal<mezzo::ShapeError>("recurrent_kernel_gradient", "[recurrent_kernel_gradient] " + text,
                                      std::move(check));
  };
  return {refused("d must have shape (2, 3, 5); got (2, 4, 5)",
                  [=] {
                    call(false, false, {states, Tensor({2, 4, 5})});
                  }),
          refused("initial_state must have shape (2, 4); got (2, 3)",
                  [=] {
                    call(true, false, {states, d, Tensor({2, 3})});
                  }),
          refused("x must have shape (2, 3, 6); got (2, 2, 6)", [=] {
            call(false, true, {states, d, Tensor({2, 2, 6})});
          })};
}

}  // namespace mezzo_tests
