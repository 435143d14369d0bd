#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class GlobalPolicy {
 public:
  explicit GlobalPolicy(const Policy& policy) { set_dtype_policy(policy); }
  ~GlobalPolicy() { set_dtype_policy({}); }
  GlobalPolicy(const GlobalPolicy&) = delete;
  GlobalPolicy& operator=(const GlobalPolicy&) = delete;
};

Tensor inputs() { return random_tensor({24, 6}, DType::float32, 3, -1, 1); }
Tensor targets() { return random_tensor({24, 1}, DType::float32, 4, -1, 1); }

DataLoader loader() {
  return DataLoader(Dataset::from_tensors({{"x", inputs()}, {"y", targets(), Role::target}}), {.batch_size = 8});
}

Sequential network(const Policy& policy = {}) {
  seed_everything(11);
  Sequential model({Dense({.units = 16, .activation = "tanh"}), Dense({.units = 1})}, {.dtype = policy});
  model.compile({.optimizer = SGD({.learning_rate = 0.1, .momentum = 0.9}), .loss = "mse", .metrics = {"mae"}});
  model.build({8, 6});
  return model;
}

Trainer quiet(Precision precision) {
  return Trainer({.max_epochs = 2, .precision = std::move(precision), .enable_progress_bar = false});
}

using Numbers = std::map<std::string, std::vector<double>>;

Numbers fitted(Sequential model) { return model.fit(loader(), {.epochs = 2, .verbose = false}).history; }
Numbers fitted(Sequential model, Precision precision) {
  return quiet(std::move(precision)).fit(model, loader()).history;
}

std::string dtypes_of(const Layer& layer) {
  std::string text;
  for (const Variable& weight : layer.weights()) text += std::string(dtype_name(weight.dtype())) + " ";
  return text;
}

const std::string float32s = "float32 float32 float32 float32 ", bfloat16s = "bfloat16 bfloat16 bfloat16 bfloat16 ";

}  // namespace

BOOST_AUTO_TEST_SUITE(policies_around_calls)

BOOST_AUTO_TEST_CASE(autocast_around_fit_is_the_policy_of_its_steps) {
  const Numbers float32 = fitted(network()), mixed = fitted(network(), "bf16");
  BOOST_TEST((float32 != mixed));
  {
    const auto lower = autocast("mixed_bfloat16");
    BOOST_TEST((fitted(network()) == mixed));
    BOOST_TEST((fitted(network(), Precision()) == mixed));  // by a Trainer without a precision
  }
  BOOST_TEST((fitted(network()) == float32));
}

BOOST_AUTO_TEST_CASE(one_model_has_a_plan_for_each_scope) {
  Sequential model = network(), lower = network();
  const Tensor float32 = model.predict(inputs(), {.batch_size = 8}), mixed = quiet("bf16").predict(lower, loader());
  const Logs logs = model.evaluate(loader());
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST(model.predict(inputs(), {.batch_size = 8}).equal(float32));
    {
      const auto scope = autocast("mixed_bfloat16");
      BOOST_TEST(model.predict(inputs(), {.batch_size = 8}).equal(mixed));
      BOOST_TEST((model.evaluate(loader()) != logs));
      const auto inner = autocast("float32");
      BOOST_TEST(model.predict(inputs(), {.batch_size = 8}).equal(float32));
    }
    BOOST_TEST((model.evaluate(loader()) == logs));
  }
}

BOOST_AUTO_TEST_CASE(autocast_leaves_variables_as_they_are) {
  Sequential model = network();
  const auto lower = autocast("bfloat16");
  model.fit(loader(), {.verbose = false});
  BOOST_TEST(dtypes_of(model) == float32s);
}

BOOST_AUTO_TEST_CASE(nearer_policies_override_autocast) {
  const Numbers float32 = fitted(network()), mixed = fitted(network("mixed_bfloat16"));
  const auto lower = autocast("mixed_bfloat16");
  BOOST_TEST((fitted(network(), 32) == float32));  // the Trainer's
  BOOST_TEST((fitted(network("float32")) == float32));
  const auto precise = autocast("float32");
  BOOST_TEST((fitted(network("mixed_bfloat16")) == mixed));
}

BOOST_AUTO_TEST_CASE(autocast_takes_op_lists_and_maps) {
  const PolicyMap map({.policies = {{"dense", "mixed_bfloat16"}}});
  const Numbers listed = fitted(network(), OpLists()), mapped = fitted(network(), map);
  {
    const auto scope = autocast(OpLists());
    BOOST_TEST((fitted(network()) == listed));
  }
  const auto scope = autocast(map);
  BOOST_TEST((fitted(network()) == mapped));
}

BOOST_AUTO_TEST_CASE(disabled_casts_hold_in_runs) {
  const Tensor float32 = network().predict(inputs());
  Sequential model = network("mixed_bfloat16");
  BOOST_TEST(!model.predict(inputs()).equal(float32));
  const auto as_is = disable_casts();
  BOOST_TEST(model.predict(inputs()).equal(float32));
}

BOOST_AUTO_TEST_CASE(autocast_holds_without_plans_too) {
  const Trainer eager({.max_epochs = 1, .enable_progress_bar = false, .eager = true});
  Sequential one = network(), other = network();
  const Tensor expected = Trainer({.precision = "bf16", .eager = true}).predict(other, loader());
  const auto lower = autocast("mixed_bfloat16");
  BOOST_TEST(eager.predict(one, loader()).equal(expected));
}

BOOST_AUTO_TEST_CASE(a_later_global_policy_converts_variables_when_a_run_begins) {
  Sequential model = network(), expected = network();
  const Tensor low = quiet("bf16-true").predict(expected, loader());
  model.predict(inputs());
  {
    const GlobalPolicy global("bfloat16");
    BOOST_TEST(dtypes_of(model) == float32s);
    BOOST_TEST(model.predict(inputs(), {.batch_size = 8}).equal(low));
    BOOST_TEST(dtypes_of(model) == bfloat16s);
    model.fit(loader(), {.verbose = false});
    BOOST_TEST(dtypes_of(model) == bfloat16s);
  }
  model.evaluate(loader());
  BOOST_TEST(dtypes_of(model) == float32s);
}

BOOST_AUTO_TEST_CASE(a_global_policy_leaves_layers_with_a_policy_alone) {
  Sequential model = network("mixed_bfloat16");
  const GlobalPolicy global("bfloat16");
  model.fit(loader(), {.verbose = false});
  BOOST_TEST(dtypes_of(model) == float32s);
}

BOOST_AUTO_TEST_CASE(conversions_of_a_trainer_last) {
  Sequential model = network();
  quiet("bf16-true").fit(model, loader());
  BOOST_TEST(dtypes_of(model) == bfloat16s);
  model.fit(loader(), {.verbose = false});
  model.predict(inputs());
  BOOST_TEST(dtypes_of(model) == bfloat16s);
  BOOST_TEST(dtypes_of(clone(model)) == bfloat16s);
}

BOOST_AUTO_TEST_CASE(setting_the_same_global_policy_again_changes_nothing) {
  Sequential model = network();
  quiet("bf16-true").fit(model, loader());
  set_dtype_policy("float32");
  model.predict(inputs());
  BOOST_TEST(dtypes_of(model) == bfloat16s);
}

BOOST_AUTO_TEST_CASE(autocast_around_a_gradient_holds_in_the_function) {
  const Tensor x = random_tensor({4, 4}, DType::float32, 5, -1, 1);
  const auto loss = [](const Value& at) { return sum(cast(matmul(at, at), DType::float32)); };
  const auto exact = value_and_grad(loss)(x);
  const auto scope = autocast("bfloat16");
  const auto rounded = value_and_grad(loss)(x);
  BOOST_TEST(!rounded.value.tensor().equal(exact.value.tensor()));
  BOOST_TEST(rounded.value.tensor().equal(loss(x).tensor()));
  BOOST_TEST(!rounded.gradient.tensor().equal(exact.gradient.tensor()));
  BOOST_TEST((rounded.gradient.dtype() == DType::float32));
}

BOOST_AUTO_TEST_SUITE_END()
