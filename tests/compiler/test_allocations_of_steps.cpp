#include <boost/test/unit_test.hpp>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/allocations.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t batch = 4, size = 8, channels = 6, classes = 5;

struct Weights {
  explicit Weights(DType dtype) : dtype_(dtype) {}

  VariablePointer make(const std::string& name, const Shape& shape, double low = -1) {
    all.push_back(make_variable(name, random_tensor(shape, dtype_, all.size() + 1, low, 1)));
    return all.back();
  }

  VariablePointer slot(const std::string& name, const Shape& shape) {
    return make_variable(name, Tensor(shape, accumulation_dtype(dtype_)));
  }

  std::vector<VariablePointer> all;

 private:
  DType dtype_;
};

// Batch norm in training, relu, pooling, dropout.
Value blocks(const Value& x, DType statistics) {
  const auto c = [&](const char* name, double low) {
    return make_variable(name, random_tensor({channels}, statistics, 7, low, 1));
  };
  const auto mean = c("mean", -1), variance = c("variance", 0.5);
  const BatchNormResult norm = batch_norm(x, read_variable(c("gamma", 0.5)), read_variable(c("beta", -1)),
                                          read_variable(mean), read_variable(variance));
  update_in_training(mean, norm.moving_mean);
  update_in_training(variance, norm.moving_variance);
  return dropout(max_pool2d(relu(norm.y)), 0.25);
}

// A training step with all that comes in one: a net, a loss, a gate, a multiplier, two kinds of updates. `products`:
// with a convolution and a matmul, which are oneDNN's.
detail::Plan training_step(const std::string& policy_name, bool products) {
  const Policy policy(policy_name);
  Weights weights(policy.variable_dtype());
  return planned(traced([&](Trace& step) {
    const detail::PolicyScope scope(policy);
    Value x = step.input("x", Spec{{batch, size, size, channels}, DType::float32}).across_border();
    const Value labels = step.input("y", Spec{{batch}, DType::int32});
    x = x * read_variable(weights.make("scale", {channels}));
    if (products) x = conv2d(x, read_variable(weights.make("conv", {3, 3, channels, channels})), {.padding = "same"});
    x = reshape(blocks(x, accumulation_dtype(policy.compute_dtype())), {batch, -1});
    const Value scores =
        products
            ? matmul(x, read_variable(weights.make("dense", {x.shape().back(), classes})))
            : mean(reshape(x * read_variable(weights.make("rows", {x.shape().back()})), {batch, -1, 6}), {{1}, false});
    const Value loss = mean(sparse_crossentropy(labels, scores, true));
    Values leaves, operands{Value(float64_scalar(1))};
    for (const auto& variable : weights.all) leaves.push_back(step.read(variable));
    const Values gradients = mezzo::gradients(loss, leaves);
    operands.insert(operands.end(), gradients.begin(), gradients.end());
    const Values multiplier = insert(find_op("gradient_multiplier"), operands, {{"clipnorm", 1.0}});
    step.gate({.ok = insert_one(find_op("all_finite"), {loss}),
               .on_failure = Graph::OnFailure::error,
               .error = "the loss is not finite"});
    step.gate({.ok = multiplier[1]});
    for (std::size_t i = 0; i + 1 < weights.all.size(); ++i) {
      update_by_sgd(weights.all[i], gradients[i], weights.slot("momentum", weights.all[i]->value.shape()));
    }
    const VariablePointer last = weights.all.back();
    const auto m = weights.slot("m", last->value.shape()), v = weights.slot("v", last->value.shape());
    const Values out =
        insert(find_op("adam_update"),
               {read_variable(last), gradients.back(), read_variable(m), read_variable(v),
                detail::runtime_scalar(detail::RuntimeScalar::learning_rate),
                detail::runtime_scalar(detail::RuntimeScalar::count), multiplier[0]},
               {{"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.01}, {"clipvalue", 0.0}});
    update_variable(last, out[0]);
    update_variable(m, out[1]);
    update_variable(v, out[2]);
    step.output("loss", loss);
  }));
}

Tensor images() { return random_tensor({batch, size, size, channels}); }

// A convolution with a residual and a limit, and a dense layer.
detail::Plan frozen_network(const TensorList& inputs) {
  Weights weights(DType::float32);
  const auto network = [&](const Values& v) {
    const Value x = conv2d(v[0], read_variable(weights.make("conv", {3, 3, channels, channels})), {.padding = "same"});
    const Value rows = reshape(relu6(x + v[0]), {batch, -1});
    return Values{matmul(rows, read_variable(weights.make("dense", {rows.shape().back(), classes})))};
  };
  detail::FrozenConstants constants;
  return {run_passes(detail::freeze(trace_step(network, inputs), constants)), std::make_shared<Arena>()};
}

struct Costs {
  std::int64_t allocations = 0, bytes = 0, primitives = 0;
};

// Of ten runs after the first.
Costs costs_of(detail::Plan& plan) {
  const TensorList inputs{random_tensor({batch, size, size, channels}),
                          random_tensor({batch}, DType::int32, 1, 0, classes)};
  const std::vector<double> numbers(plan.runtime_keys().size(), 1);
  plan.run(inputs, numbers);
  const Costs before{allocations, allocated_bytes, onednn_primitives_created()};
  double losses = 0;
  for (int i = 0; i < 10; ++i) {
    plan.run(inputs, numbers);
    losses += plan.scalar(0);
  }
  const Costs after{allocations, allocated_bytes, onednn_primitives_created()};
  BOOST_TEST(losses > 0);
  BOOST_TEST(plan.profile().runs() == 10);
  return {after.allocations - before.allocations, after.bytes - before.bytes, after.primitives - before.primitives};
}

// How many kernels of a plan are oneDNN's, the ones inside of "widen" among them.
int products_in(const detail::Plan& plan) {
  int count = 0;
  for (const detail::Plan::Row& row : plan.rows())
    count += (row.kernel + row.detail).find("onednn") != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocations_of_steps)

BOOST_AUTO_TEST_CASE(the_counter_counts) {
  BOOST_TEST(allocations_of([] { const Tensor tensor({1000}); }) > 0);  // the library's own too
}

BOOST_AUTO_TEST_CASE(a_step_allocates_nothing) {
  for (const std::string& policy : policy_names) {
    BOOST_TEST_CONTEXT(policy) {
      detail::Plan plan = training_step(policy, false);
      BOOST_TEST(products_in(plan) == 0);
      BOOST_TEST(costs_of(plan).allocations == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_frozen_graph_allocates_nothing) {
  const TensorList inputs{images()};
  detail::Plan plan = frozen_network(inputs);
  for (const detail::Plan::Row& row : plan.rows()) BOOST_TEST(row.kernel == "packed");
  plan.run(inputs, {});
  BOOST_TEST(allocations_of([&] {
               for (int i = 0; i < 10; ++i) plan.run(inputs, {});
             }) == 0);
}

// Each execute() of oneDNN fills hash maps of a few arguments, in about seven small pieces; a kernel has up to three.
BOOST_AUTO_TEST_CASE(what_onednn_allocates_is_bounded_and_it_creates_nothing) {
  for (const std::string& policy : policy_names) {
    BOOST_TEST_CONTEXT(policy) {
      detail::Plan plan = training_step(policy, true);
      const int products = products_in(plan);
      if (policy != "float64") BOOST_TEST(products >= 4);
      const Costs costs = costs_of(plan);
      BOOST_TEST(costs.primitives == 0);
      BOOST_TEST(costs.allocations <= 10 * products * 24);
      BOOST_TEST(costs.bytes <= 10 * products * 2048);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
