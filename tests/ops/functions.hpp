#pragma once

#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/scan.hpp>

#include "ops/plain.hpp"

namespace mezzo_tests {

// Rows of the ops that call functions of the user's program.
inline std::vector<OpRow> function_rows() {
  using mezzo::Value;
  using mezzo::Values;
  const auto same = [](const TensorList& v) { return TensorList{v[0]}; };
  const auto passed_on = mezzo::custom_gradient([](const Values& x) {
    return mezzo::CustomGradientResult{x[0], [](const Value& upstream) { return Values{upstream}; }};
  });
  const auto on_host = [](const Values& x) {
    return Values{mezzo::host([](const mezzo::Tensor& numbers) { return numbers; }, x[0])};
  };
  const auto sums = [](const Values& x) {
    const mezzo::ScanResult result = mezzo::scan(
        [](const Values& carry, const Values& element) {
          const Value sum = carry[0] + element[0];
          return mezzo::ScanResult{{sum}, {sum}};
        },
        {x[0]}, {x[1]});
    return Values{result.carry[0], result.outputs[0]};
  };
  const auto plain_sums = [](const TensorList& v) {
    mezzo::Tensor sum = v[0].copy();
    mezzo::Shape shape{v[1].shape()[0]};
    shape.insert(shape.end(), sum.shape().begin(), sum.shape().end());
    mezzo::Tensor all(shape, sum.dtype());
    for (std::int64_t i = 0; i < all.size(); ++i) {
      double& place = sum.mutable_data<double>()[i % sum.size()];
      all.mutable_data<double>()[i] = place += v[1].data<double>()[i];
    }
    return TensorList{sum, all};
  };
  const std::vector<OpRow> rows{{.op = "custom_gradient",
                                 .call = [passed_on](const Values& x) { return Values{passed_on(x)}; },
                                 .arguments = {{uniform({2, 3}, -2, 2)}},
                                 .outputs = {Role::varied()},
                                 .plain = same,
                                 .differentiable = {0},
                                 .keeps = true},
                                {.op = "host",
                                 .call = on_host,
                                 .arguments = {{uniform({2, 3}, -2, 2)}},
                                 .outputs = {Role::varied()},
                                 .plain = same,
                                 .keeps = true},
                                {.op = "print",
                                 .call = [](const Values& x) { return Values{mezzo::print(x[0])}; },
                                 .arguments = {{uniform({2}, -2, 2)}},
                                 .outputs = {Role::varied()},
                                 .plain = same,
                                 .differentiable = {0},
                                 .keeps = true},
                                {.op = "scan",
                                 .call = sums,
                                 .arguments = {{uniform({3}, -2, 2)}, {uniform({4, 3}, -2, 2)}},
                                 .outputs = {Role::varied(), Role::varied()},
                                 .plain = plain_sums,
                                 .differentiable = {0, 1},
                                 .ulps = 8,  // rounded at each of 4 elements, of sums up to 4 times as large
                                 .keeps = true}};
  std::vector<OpRow> all = rows;
  for (const OpRow& row : rows) all.push_back(without_elements(row));
  return all;
}

inline std::vector<Refusal> function_refusals() {
  const mezzo::Tensor x({2});
  return {refusal<mezzo::ValueError>(
              "custom_gradient", "[custom_gradient] the function must return a value and a gradient; got no value",
              [x] { mezzo::custom_gradient([](const mezzo::Values&) { return mezzo::CustomGradientResult{}; })({x}); }),
          refusal<mezzo::ShapeError>("host", "[host] the function's result must be float32 (2,); got float32 (3,)",
                                     [x] { mezzo::host([](const mezzo::Tensor&) { return mezzo::Tensor({3}); }, x); }),
          refusal<mezzo::ShapeError>("scan", "[scan] carry 0 must keep shape (2,); the function returned shape (2, 2)",
                                     [x] {
                                       mezzo::scan(
                                           [](const mezzo::Values& carry, const mezzo::Values& element) {
                                             return mezzo::ScanResult{{carry[0] + element[0]}, {}};
                                           },
                                           {x}, {mezzo::Tensor({5, 2, 2})});
                                     })};
}

}  // namespace mezzo_tests
