#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/ops/index.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::FrozenConstants;

namespace {

// Variables of channels with numbers from 0.5 to 1.5, so that variances are positive.
struct Norm {
  explicit Norm(std::int64_t channels) {
    for (const char* name : {"gamma", "beta", "mean", "variance"}) {
      const auto seed = static_cast<std::uint64_t>(variables.size() + 7);
      variables.push_back(make_variable(name, random_tensor({channels}, DType::float32, seed, 0.5, 1.5)));
    }
  }

  Value operator()(const Value& x) const {
    Values operands;
    for (const VariablePointer& variable : variables) operands.push_back(read_variable(variable));
    return batch_norm(x, operands[0], operands[1], operands[2], operands[3], {.epsilon = 1e-3}).y;
  }

  std::vector<VariablePointer> variables;
};

VariablePointer random_variable(const Shape& shape, std::uint64_t seed = 3) {
  return make_variable("v", random_tensor(shape, DType::float32, seed));
}

// The step's outputs and those of its frozen graph are within `places` units of the last place of the largest number.
void check_frozen(const TestedStep& step, const TensorList& x, double places, FrozenConstants& constants) {
  const Graph graph = trace_step(step, x);
  const TensorList expected = run_compiled(graph, x), frozen = run_compiled(freeze(graph, constants), x);
  BOOST_REQUIRE(expected.size() == frozen.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST((expected[i].dtype() == frozen[i].dtype()));
    double largest = 0;
    for (const double number : expected[i].to_doubles()) largest = std::max(largest, std::abs(number));
    BOOST_TEST(largest_difference(expected[i], frozen[i]) <= places * ulp(expected[i].dtype(), std::max(largest, 1.0)));
  }
}

void check_frozen(const TestedStep& step, const TensorList& x, double places = 4) {
  FrozenConstants constants;
  check_frozen(step, x, places, constants);
}

Graph frozen_graph(const TestedStep& step, const TensorList& x) {
  FrozenConstants constants;
  return run_passes(freeze(trace_step(step, x), constants));
}

const TensorList images{random_tensor({2, 7, 6, 3}, DType::float32, 5)};
const TensorList rows{random_tensor({5, 6}, DType::float32, 5)};

}  // namespace

BOOST_AUTO_TEST_SUITE(freezing)

BOOST_AUTO_TEST_CASE(variables_become_constants) {
  const VariablePointer kernel = random_variable({6, 4});
  const auto step = [&](const Values& v) { return Values{matmul(v[0], read_variable(kernel))}; };
  FrozenConstants constants;
  const Graph graph = freeze(trace_step(step, rows), constants);
  BOOST_TEST(count_nodes(graph, "variable") == 0);
  const Tensor before = run_compiled(graph, rows)[0];
  kernel->assign(Tensor({6, 4}));
  BOOST_TEST(run_compiled(graph, rows)[0].equal(before));
  // Another graph of the same constants has the numbers of the first.
  BOOST_TEST(run_compiled(freeze(trace_step(step, rows), constants), rows)[0].equal(before));
  FrozenConstants later;
  BOOST_TEST(run_compiled(freeze(trace_step(step, rows), later), rows)[0].equal(Tensor({5, 4})));
}

BOOST_AUTO_TEST_CASE(what_depends_on_constants_alone_is_computed_once) {
  const VariablePointer kernel = random_variable({4, 6});
  const auto step = [&](const Values& v) {
    const detail::PolicyScope scope((Policy("mixed_bfloat16")));
    const Value turned = transpose(read_variable(kernel), {1, 0});
    return Values{matmul(v[0].across_border(), turned.across_border()) + exp(turned(0))};
  };
  FrozenConstants constants;
  const Graph graph = freeze(trace_step(step, rows), constants);
  for (const char* op : {"transpose", "exp"}) BOOST_TEST(count_nodes(graph, op) == 0, op);
  BOOST_TEST(count_nodes(graph, "cast") <= 1);  // of the input
  const std::size_t bytes = constants.bytes();
  const Graph other = freeze(trace_step(step, {random_tensor({3, 6})}), constants);
  BOOST_TEST(constants.bytes() == bytes);
  const detail::Node &one = *find_node(graph, "matmul"), &same = *find_node(other, "matmul");
  BOOST_TEST(detail::frozen_value(*one.inputs[1].node())->raw() == detail::frozen_value(*same.inputs[1].node())->raw());
  check_frozen(step, rows, 0);
}

BOOST_AUTO_TEST_CASE(large_results_of_small_constants_are_not_kept) {
  const VariablePointer small = random_variable({1, 64});
  const auto step = [&](const Values& v) { return Values{v[0] + broadcast_to(read_variable(small), {1024, 64})}; };
  BOOST_TEST(count_nodes(frozen_graph(step, {Tensor({1024, 64})}), "broadcast_to") == 1);
}

BOOST_AUTO_TEST_CASE(batch_norm_goes_into_convolutions) {
  const Norm norm(4), depthwise_norm(6);
  const VariablePointer kernel = random_variable({3, 3, 3, 4}), depthwise = random_variable({3, 3, 1, 6}),
                        bias = random_variable({4}, 9);
  const auto plain = [&](const Values& v) { return Values{norm(conv2d(v[0], read_variable(kernel)))}; };
  const auto active = [&](const Values& v) {
    const Value y = conv2d(v[0], read_variable(kernel), {.strides = 2, .padding = "same"}) + read_variable(bias);
    return Values{relu(norm(y))};
  };
  const auto grouped = [&](const Values& v) {
    return Values{depthwise_norm(conv2d(v[0], read_variable(depthwise), {.groups = 3}))};
  };
  for (const TestedStep& step : std::vector<TestedStep>{plain, active, grouped}) {
    const Graph graph = frozen_graph(step, images);
    BOOST_TEST(count_nodes(graph, "batch_norm") == 0);
    BOOST_TEST(find_node(graph, "conv2d")->inputs.size() == 3);
    check_frozen(step, images);
  }
  BOOST_TEST((find_node(frozen_graph(active, images), "conv2d")->attributes.has("epilogue")));
}

BOOST_AUTO_TEST_CASE(batch_norm_goes_into_matrix_products) {
  const Norm norm(4);
  const VariablePointer kernel = random_variable({6, 4}), turned = random_variable({4, 6});
  const auto plain = [&](const Values& v) { return Values{norm(matmul(v[0], read_variable(kernel)))}; };
  const auto transposed = [&](const Values& v) {
    return Values{norm(matmul(v[0], read_variable(turned), {.transpose_b = true}))};
  };
  for (const TestedStep& step : std::vector<TestedStep>{plain, transposed}) {
    BOOST_TEST(count_nodes(frozen_graph(step, rows), "batch_norm") == 0);
    check_frozen(step, rows);
  }
}

BOOST_AUTO_TEST_CASE(kernels_of_lower_precision_are_scaled_as_float32) {
  const Norm norm(4);
  const VariablePointer kernel = random_variable({3, 3, 3, 4});
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const auto step = [&](const Values& v) {
      const detail::PolicyScope scope((Policy(policy)));
      return Values{norm(conv2d(v[0].across_border(), read_variable(kernel)))};
    };
    BOOST_TEST(count_nodes(frozen_graph(step, images), "batch_norm") == 0);
    check_frozen(step, images, 4);
  }
}

BOOST_AUTO_TEST_CASE(an_array_that_others_read_stays) {
  const Norm norm(4);
  const VariablePointer kernel = random_variable({3, 3, 3, 4});
  const auto step = [&](const Values& v) {
    const Value y = conv2d(v[0], read_variable(kernel));
    return Values{norm(y), exp(y)};
  };
  BOOST_TEST(count_nodes(frozen_graph(step, images), "batch_norm") == 1);
  check_frozen(step, images);
}

BOOST_AUTO_TEST_CASE(constant_scales_and_shifts_go_into_products) {
  const VariablePointer kernel = random_variable({3, 3, 3, 4}), scale = random_variable({4}, 5),
                        shift = random_variable({1, 1, 1, 4}, 6), of_input = random_variable({3}, 7);
  const auto behind = [&](const Values& v) {
    const Value y = conv2d(v[0], read_variable(kernel), {.padding = "same"});
    return Values{(y * read_variable(scale) - 0.25) + read_variable(shift)};
  };
  const auto before = [&](const Values& v) {
    return Values{conv2d((v[0] - 0.5) * read_variable(of_input), read_variable(kernel))};
  };
  for (const TestedStep& step : std::vector<TestedStep>{behind, before}) {
    const Graph graph = frozen_graph(step, images);
    for (const char* op : {"multiply", "add", "subtract", "elementwise_chain"}) {
      BOOST_TEST(count_nodes(graph, op) == 0, op);
    }
    check_frozen(step, images);
  }
  // At a border, the kernel's sum lacks terms.
  const auto padded = [&](const Values& v) {
    return Values{conv2d(v[0] + 0.5, read_variable(kernel), {.padding = "same"})};
  };
  BOOST_TEST(count_nodes(frozen_graph(padded, images), "add") == 1);
  check_frozen(padded, images);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_not_folded) {
  const Norm norm(4);
  norm.variables[0]->assign(Tensor({4}, std::vector<float>{1e6F, 1, 1, 1}));
  const VariablePointer kernel = random_variable({6, 4});
  const auto step = [&](const Values& v) {
    const detail::PolicyScope scope((Policy("mixed_float16")));
    return Values{norm(matmul(v[0].across_border(), read_variable(kernel)))};
  };
  BOOST_TEST(count_nodes(frozen_graph(step, rows), "batch_norm") == 1);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_reach_the_same_outputs) {
  const Norm norm(4);
  const VariablePointer kernel = random_variable({3, 3, 3, 4});
  Tensor x = images[0];
  x.mutable_data<float>()[4] = std::nanf("");
  x.mutable_data<float>()[100] = INFINITY;
  check_frozen([&](const Values& v) { return Values{relu(norm(conv2d(v[0], read_variable(kernel))))}; }, {x});
}

BOOST_AUTO_TEST_CASE(sizes_of_0) {
  const Norm norm(4);
  const VariablePointer kernel = random_variable({3, 3, 3, 4}), empty = random_variable({0, 4});
  check_frozen([&](const Values& v) { return Values{norm(conv2d(v[0], read_variable(kernel)))}; },
               {Tensor({0, 7, 6, 3})});
  check_frozen([&](const Values& v) { return Values{norm(matmul(v[0], read_variable(empty)))}; }, {Tensor({5, 0})});
}

BOOST_AUTO_TEST_CASE(training_steps_are_refused) {
  const DenseStep step;
  FrozenConstants constants;
  check_throws<ValueError>("[freeze] the graph must not update variables; got 3 updates, the first of \"kernel\"",
                           [&] { freeze(step.trace("float32"), constants); });
}

BOOST_AUTO_TEST_SUITE_END()
