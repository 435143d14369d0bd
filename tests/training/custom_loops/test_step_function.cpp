#include <boost/test/unit_test.hpp>

#include <thread>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential perceptron(const Policy& policy = {}) {
  seed_everything(3);
  Sequential model({Dense(8, {.activation = "relu"}), BatchNormalization(), Dense(3)}, {.dtype = policy});
  model.build({-1, 4});
  return model;
}

const SparseCategoricalCrossentropy crossentropy({.from_logits = true});

Tensor labels(std::int64_t count) {
  Tensor out({count}, DType::int64);
  for (std::int64_t i = 0; i < count; ++i) out.mutable_data<std::int64_t>()[i] = i % 3;
  return out;
}

Tensor inputs(std::int64_t count, std::uint64_t seed = 1) { return random_tensor({count, 4}, DType::float32, seed); }

template <class O>
StepFunction step_of(Sequential& model, O& optimizer) {
  return compile_step([&](const Values& batch) {
    const auto [loss, gradients] = value_and_grad(model, [&] { return crossentropy(batch[1], model(batch[0])); });
    optimizer.apply(gradients);
    return loss;
  });
}

bool equal_weights(const Layer& a, const Layer& b) {
  for (std::size_t i = 0; i < a.weights().size(); ++i) {
    if (!a.weights()[i].value().equal(b.weights()[i].value())) return false;
  }
  return true;
}

/// A variable x with the loss a * x, in steps that count their traces.
struct Counted {
  Counted() { x.assign(Tensor({}, std::vector<float>{1})); }
  StepFunction step(const CompileStepOptions& options = {}) {
    return compile_step(
        [this](const Values& in) {
          ++traces;
          const auto [loss, gradients] = value_and_grad({x}, [&] { return sum(in[0] * x); });
          optimizer.apply(gradients);
          return loss;
        },
        options);
  }
  double number() const { return x.value().item(); }

  Variable x{"x"};
  SGD optimizer{0.5};
  int traces = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(step_function)

BOOST_AUTO_TEST_CASE(steps_have_the_bits_of_fit) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    for (const bool clips : {false, true}) {
      const AdamWOptions options{.learning_rate = CosineDecay({.initial_learning_rate = 0.01, .decay_steps = 5}),
                                 .weight_decay = 0.1,
                                 .global_clipnorm = clips ? 0.1 : 0};
      Sequential fitted = perceptron(policy), own = perceptron(policy);
      AdamW adamw(options);
      adamw.exclude_from_weight_decay({.var_names = {"bias"}});
      fitted.compile({.optimizer = adamw, .loss = crossentropy});
      fitted.fit(inputs(24), labels(24), {.batch_size = 8, .epochs = 2, .verbose = 0, .shuffle = false});
      AdamW optimizer(options);
      optimizer.exclude_from_weight_decay({.var_names = {"bias"}});
      StepFunction step = step_of(own, optimizer);
      for (int i = 0; i < 6; ++i) {
        const auto part = [&](const Tensor& all) { return Value(all)(slice(i % 3 * 8, i % 3 * 8 + 8)).tensor(); };
        step({part(inputs(24)), part(labels(24))});
      }
      BOOST_TEST(equal_weights(fitted, own));
      BOOST_TEST(optimizer.iterations() == 6);
    }
  }
}

BOOST_AUTO_TEST_CASE(eager_loops_compute_the_same) {
  Sequential compiled = perceptron(), eager = perceptron();
  Adam first(0.01, {.use_ema = true}), second(0.01, {.use_ema = true});
  StepFunction step = step_of(compiled, first);
  for (std::uint64_t i = 0; i < 4; ++i) {
    step({inputs(8, i), labels(8)});
    const Value x(inputs(8, i));
    second.apply(value_and_grad(eager, [&] { return crossentropy(labels(8), eager(x)); }).gradients);
  }
  for (std::size_t i = 0; i < eager.weights().size(); ++i) {
    BOOST_TEST(largest_difference(eager.weights()[i].value(), compiled.weights()[i].value()) < 1e-6);
  }
  first.finalize_variable_values();
  second.finalize_variable_values();
  BOOST_TEST(largest_difference(eager.weights()[0].value(), compiled.weights()[0].value()) < 1e-6);
}

BOOST_AUTO_TEST_CASE(it_is_traced_once_for_each_signature_and_plans_are_bounded) {
  Counted f;
  StepFunction step = f.step({.plans = 2});
  for (const std::int64_t size : {1, 2, 1, 2}) step({Tensor({size})});
  BOOST_TEST(f.traces == 2);
  step({Tensor({1}, DType::float64)});
  BOOST_TEST(f.traces == 3);
  step({Tensor({1})});  // that plan was dropped
  BOOST_TEST(f.traces == 4);
  BOOST_TEST(step.plans() == 2U);
  BOOST_TEST(step.steps() == 6);
}

BOOST_AUTO_TEST_CASE(numbers_are_inputs) {
  Counted f;
  StepFunction step = f.step();
  step({2});
  BOOST_TEST(f.number() == 0);
  step({-4.0});
  BOOST_TEST(f.number() == 2);
  BOOST_TEST(f.traces == 1);
  f.optimizer.set_learning_rate(1);
  step({1.0F});
  BOOST_TEST(f.number() == 1);
  BOOST_TEST(f.traces == 1);
}

BOOST_AUTO_TEST_CASE(changes_of_layers_make_another_plan) {
  Sequential model = perceptron();
  SGD optimizer(0.1);
  StepFunction step = step_of(model, optimizer);
  const auto run = [&] { step({inputs(4), labels(4)}); };
  run();
  BOOST_TEST(step.plans() == 1U);
  model.layers()[0]->set_trainable(false);
  const Tensor kernel = model.weights()[0].value();
  run();
  BOOST_TEST(model.weights()[0].value().equal(kernel));
  BOOST_TEST(step.plans() == 2U);
  {
    const auto low = autocast("mixed_bfloat16");
    run();
  }
  BOOST_TEST(step.plans() == 3U);
  run();
  BOOST_TEST(step.plans() == 3U);
  model.to("float64");
  run();
  BOOST_TEST(step.plans() == 4U);
}

BOOST_AUTO_TEST_CASE(dropout_differs_from_run_to_run_and_depends_on_the_count) {
  seed_everything(1);
  Dropout dropout(0.5);
  StepFunction step = compile_step([&](const Values& x) { return dropout(x[0]); });
  const Tensor ones({1, 64}, std::vector<float>(64, 1));
  const Tensor first = step({ones})[0].copy(), second = step({ones})[0].copy();
  BOOST_TEST(!first.equal(second));
  step.set_steps(0);
  BOOST_TEST(step({ones})[0].equal(first));
  StepFunction inference = compile_step([&](const Values& x) { return dropout(x[0]); }, {.training = false});
  BOOST_TEST(inference({ones})[0].equal(ones));
  BOOST_TEST(refused<ValueError>([&] { step.set_steps(-1); }) ==
             "[compile_step] set_steps: steps must be at least 0; got -1");
}

BOOST_AUTO_TEST_CASE(the_number_of_the_run_is_a_value) {
  StepFunction count = compile_step([](const Values&) { return step() * 2; });
  BOOST_TEST(count({})[0].item() == 0);
  BOOST_TEST(count({})[0].item() == 2);
}

BOOST_AUTO_TEST_CASE(variables_are_updated_at_the_end_of_a_run) {
  Variable total("total");
  total.assign(Tensor(Shape{}));
  StepFunction add = compile_step([&](const Values& x) {
    const Value before = total;
    update_variable(total.state().pointer(), before + x[0]);
    return Values{before, Value(total)};
  });
  const auto& out = add({2.5});
  BOOST_TEST(out[0].item() == 0);
  BOOST_TEST(out[1].item() == 2.5);
  BOOST_TEST(total.value().item() == 2.5);
}

BOOST_AUTO_TEST_CASE(a_kept_result_stays) {
  StepFunction twice = compile_step([](const Values& x) { return x[0] * 2; });
  const Tensor kept = twice({1.0})[0];
  twice({5.0});
  BOOST_TEST(kept.item() == 2);
}

BOOST_AUTO_TEST_CASE(gradients_that_are_not_finite_change_nothing) {
  Sequential model = perceptron();
  const Sequential before = clone(model);
  Adam optimizer(0.1);
  StepFunction step = step_of(model, optimizer);
  Tensor x = inputs(4);
  x.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
  BOOST_TEST(refused<ValueError>([&] {
               step({x, labels(4)});
             }) ==
             "[Adam] apply: gradients must be finite; got NaN or infinity: input \"input_0\" holds a value that is not "
             "finite (float32); no weight was changed by this step");
  BOOST_TEST(equal_weights(model, before));
  BOOST_TEST(optimizer.iterations() == 0);
  BOOST_TEST(step.steps() == 0);
  step({inputs(4), labels(4)});
  BOOST_TEST(optimizer.iterations() == 1);
}

BOOST_AUTO_TEST_CASE(calls_that_would_be_frozen_are_refused) {
  Counted f;
  const auto text = [&](const std::function<void()>& call) {
    StepFunction step = compile_step([&](const Values& x) {
      call();
      return x[0];
    });
    return refused<ValueError>([&] { step({1.0}); });
  };
  const std::string frozen =
      " must be called between steps; got a call inside the function of compile_step, which runs "
      "only when a plan is made: ";
  BOOST_TEST(text([&] { f.optimizer.set_learning_rate(0.1); }) ==
             "[SGD] set_learning_rate()" + frozen + "the plan reads the rate of each run");
  BOOST_TEST(text([&] { (void)f.optimizer.learning_rate(); }) ==
             "[SGD] learning_rate()" + frozen + "apply() reads the rate of each run");
  BOOST_TEST(text([&] { (void)f.optimizer.iterations(); }) ==
             "[SGD] iterations()" + frozen + "use step(), a Value of the run");
  StepFunction inner = f.step();
  BOOST_TEST(text([&] { inner({1.0}); }) ==
             "[compile_step] a step must be called outside of other steps and of differentiated functions; got a call "
             "inside of one: call the function itself there");
}

BOOST_AUTO_TEST_CASE(updates_in_a_wrong_place_are_refused) {
  Counted f;
  const auto inside = [&] {
    f.optimizer.apply({{"x", f.x, Value(Tensor(Shape{}))}});
    return Value(f.x) * 1.0;
  };
  const std::string expected =
      "[SGD] apply must be called after value_and_grad; got a call in its function (an update that is differentiated "
      "is "
      "weights - rate * gradients, for functional_call)";
  BOOST_TEST(refused<ValueError>([&] { value_and_grad({f.x}, inside); }) == expected);
  BOOST_TEST(refused<ValueError>([&] {
               compile_step([&](const Values&) { return value_and_grad({f.x}, inside).loss; })({});
             }) == expected);
  struct Predicting : Model {
    explicit Predicting(Counted& counted) : f(counted) {}
    Value call(const Value& x) override {
      f.optimizer.apply({{"x", f.x, Value(Tensor(Shape{}))}});
      return x;
    }
    Counted& f;
  };
  Predicting model(f);
  BOOST_TEST(refused<ValueError>([&] {
               model.predict(Tensor({1, 1}));
             }) == "[SGD] apply must be called outside of a step; got a call inside of one, which has minimize()");
}

BOOST_AUTO_TEST_CASE(an_optimizer_trains_the_weights_of_its_first_update) {
  Counted f, g;
  f.step()({1.0});
  const auto gradients = value_and_grad({g.x}, [&] { return Value(g.x) * 2.0; }).gradients;
  BOOST_TEST(
      refused<ValueError>([&] { f.optimizer.apply(gradients); }) ==
      "[SGD] an optimizer trains one model; got gradients of other weights (\"x\") than it has updated: make a new "
      "optimizer for them");
  f.optimizer.reset();
  f.optimizer.apply(gradients);
  BOOST_TEST(g.number() == 0);
}

BOOST_AUTO_TEST_CASE(bad_functions_and_results_are_refused) {
  BOOST_TEST(refused<ValueError>([] { compile_step(std::function<Values(const Values&)>()); }) ==
             "[compile_step] function must be callable; got an empty one");
  BOOST_TEST(refused<ValueError>([] { compile_step([](const Values& x) { return x[0]; }, {.plans = -1}); }) ==
             "[compile_step] plans must be at least 0; got -1");
  StepFunction none = compile_step([](const Values&) { return Value(); });
  BOOST_TEST(refused<ValueError>([&] { none({}); }) ==
             "[compile_step] results of the function must be defined; got an undefined Value at 0");
}

BOOST_AUTO_TEST_CASE(a_step_runs_on_one_thread_at_a_time) {
  std::string text;
  StepFunction* self = nullptr;
  StepFunction step = compile_step([&](const Values& x) {
    std::thread([&] { text = refused<ValueError>([&] { (*self)({1.0}); }); }).join();
    return x[0];
  });
  self = &step;
  step({1.0});
  BOOST_TEST(text == "[compile_step] a step must be idle; got a call while it runs: make a step for each thread");
}

BOOST_AUTO_TEST_SUITE_END()
