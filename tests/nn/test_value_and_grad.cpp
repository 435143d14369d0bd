#include <boost/test/unit_test.hpp>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Dense line(double weight, const std::string& name = "line") {
  Dense dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(weight), .name = name});
  dense.build({-1, 1});
  return dense;
}

const Tensor threes({1, 1}, std::vector<float>{3});

double number(const Gradient& gradient) { return gradient.value.tensor().to_doubles().at(0); }

}  // namespace

BOOST_AUTO_TEST_SUITE(value_and_grad)

BOOST_AUTO_TEST_CASE(gradients_are_those_of_the_trainable_weights_by_path) {
  Sequential model({line(2, "a"), BatchNormalization({.momentum = 0.5, .name = "n"}), line(5, "b")});
  model.build({-1, 1});
  const auto [loss, gradients] = mezzo::value_and_grad(model, [&] { return sum(square(model(threes))); });
  BOOST_TEST(loss.item() == 0);
  BOOST_REQUIRE_EQUAL(gradients.size(), 4U);
  BOOST_TEST(gradients[0].path == "a/kernel");
  BOOST_TEST(gradients[1].path == "n/gamma");
  BOOST_TEST(gradients[3].path == "b/kernel");
  BOOST_TEST(gradients[3].weight.id() == model.trainable_weights()[3].id());
  BOOST_TEST((gradients[3].value.shape() == Shape{1, 1}));
  const auto moving = model.non_trainable_weights();  // the function trained: 0.5 * 0 + 0.5 * 6
  BOOST_TEST(moving[0].value().item() == 3);
}

BOOST_AUTO_TEST_CASE(a_layer_is_built_by_the_function) {
  Dense dense({.units = 1, .use_bias = false, .kernel_initializer = "ones"});
  const auto [loss, gradients] = mezzo::value_and_grad(dense, [&] { return sum(square(dense(threes))); });
  BOOST_TEST(loss.item() == 9);
  BOOST_TEST(number(gradients.at(0)) == 18);
}

BOOST_AUTO_TEST_CASE(further_results_are_not_differentiated) {
  Dense dense = line(2);
  const auto [loss, gradients, aux] = mezzo::value_and_grad(dense, [&] {
    const Value y = dense(threes);
    return std::pair(sum(y), Values{square(y), y});
  });
  BOOST_TEST(loss.item() == 6);
  BOOST_TEST(number(gradients[0]) == 3);
  BOOST_TEST(aux[0].item() == 36);
  BOOST_TEST(aux[1].item() == 6);
}

BOOST_AUTO_TEST_CASE(gradients_by_variables_that_a_layer_reads_in_lower_precision_are_float32) {
  Dense dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(2), .dtype = "mixed_bfloat16"});
  dense.build({-1, 1});
  const Variable kernel = dense.weights()[0];
  const auto [loss, gradients] = mezzo::value_and_grad(
      {kernel}, [&] { return sum(cast(dense(threes) + dense(threes), DType::float32)) + sum(square(Value(kernel))); });
  BOOST_TEST(loss.item() == 16);
  BOOST_TEST(number(gradients[0]) == 10);
  BOOST_TEST((gradients[0].value.dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(a_weight_that_the_loss_does_not_depend_on_is_named) {
  Dense a = line(2, "a"), b = line(3, "b");
  const std::vector<Variable> both{a.weights()[0], b.weights()[0]};
  const Value outside = b(threes);
  const auto loss = [&] { return sum(a(threes) * outside); };
  BOOST_TEST(refused<ValueError>([&] { mezzo::value_and_grad(both, loss); }) ==
             "[value_and_grad] the loss must depend on each weight, by what the function computes; got none of "
             "\"kernel\": call the layer inside the function, leave the weight out of the list, freeze it by "
             "set_trainable(false), or set allow_unused");
  const auto [value, gradients] = mezzo::value_and_grad(both, loss, {.allow_unused = true});
  BOOST_TEST(value.item() == 54);
  BOOST_TEST(number(gradients[0]) == 27);
  BOOST_TEST(!gradients[1].value.defined());
}

BOOST_AUTO_TEST_CASE(only_what_the_function_computes_counts_in_a_step_too) {
  Dense a = line(2, "a"), b = line(3, "b");
  StepFunction step = compile_step([&](const Values& x) {
    const Value outside = b(x[0]);
    const auto [loss, gradients] = mezzo::value_and_grad(a, [&] { return sum(a(outside)); });
    return Values{gradients[0].value};
  });
  BOOST_TEST(step({threes})[0].to_doubles()[0] == 9);
  StepFunction wrong = compile_step([&](const Values& x) {
    const Value outside = b(x[0]);
    return Values{mezzo::value_and_grad(b, [&] { return sum(outside); }).loss};
  });
  BOOST_TEST(refused<ValueError>([&] { wrong({threes}); }).find("got none of \"kernel\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(frozen_weights_have_no_gradient) {
  Sequential model({line(2, "a"), line(5, "b")});
  model.build({-1, 1});
  model.layers()[0]->set_trainable(false);
  const auto gradients = mezzo::value_and_grad(model, [&] { return sum(model(threes)); }).gradients;
  BOOST_REQUIRE_EQUAL(gradients.size(), 1U);
  BOOST_TEST(gradients[0].path == "b/kernel");
  model.set_trainable(false);
  BOOST_TEST(refused<ValueError>([&] { mezzo::value_and_grad(model, [&] { return sum(model(threes)); }); }) ==
             "[value_and_grad] there must be a trainable weight; got none");
}

BOOST_AUTO_TEST_CASE(layers_train_unless_told_otherwise) {
  Sequential model({line(1, "a"), Dropout(0.5)});
  model.build({-1, 1});
  const Tensor ones({64, 1}, std::vector<float>(64, 1));
  const auto loss = [&] { return sum(model(ones)); };
  BOOST_TEST(mezzo::value_and_grad(model, loss).loss.item() != 64);
  BOOST_TEST(mezzo::value_and_grad(model, loss, {.training = false}).loss.item() == 64);
  BOOST_TEST(mezzo::value_and_grad(model, [&] { return sum(model(ones, {.training = false})); }).loss.item() == 64);
  StepFunction step =
      compile_step([&](const Values&) { return mezzo::value_and_grad(model, loss, {.training = false}).loss; });
  BOOST_TEST(refused<ValueError>([&] { step({}); }) ==
             "[value_and_grad] training must be that of the running step, true; got false (a layer's call takes a mode "
             "of its own: model(x, {.training = false}))");
}

BOOST_AUTO_TEST_CASE(calls_can_be_nested) {
  Dense dense = line(2);
  const auto [loss, gradients] = mezzo::value_and_grad(dense, [&] {  // d/dw (d/dw (3 w)^2)^2 = 2 (18 w) 18
    const auto inner = mezzo::value_and_grad(dense, [&] { return sum(square(dense(threes))); });
    return sum(square(inner.gradients[0].value));
  });
  BOOST_TEST(loss.item() == 36 * 36);
  BOOST_TEST(number(gradients[0]) == 2 * 36 * 18);
}

BOOST_AUTO_TEST_CASE(scopes_of_autocast_hold_in_the_function) {
  Dense dense = line(1);
  const Tensor fine({1, 1}, std::vector<float>{1 + 0x1p-10F});
  const auto loss = [&] { return sum(cast(dense(fine), DType::float32)); };
  BOOST_TEST(mezzo::value_and_grad(dense, loss).loss.item() == 1 + 0x1p-10);
  const auto low = autocast("mixed_bfloat16");
  BOOST_TEST(mezzo::value_and_grad(dense, loss).loss.item() == 1);
}

BOOST_AUTO_TEST_CASE(losses_of_another_form_are_refused) {
  Dense dense = line(2);
  const auto text = [&](const std::function<Value()>& f) {
    return refused<Error>([&] { mezzo::value_and_grad(dense, f); });
  };
  BOOST_TEST(text([&] { return dense(threes); }) ==
             "[value_and_grad] the loss must be a number, of shape (); got shape (1, 1)");
  BOOST_TEST(text([&] { return cast(sum(dense(threes)), DType::int32); }) ==
             "[value_and_grad] the loss must be a float; got int32");
  BOOST_TEST(text([] { return Value(); }) ==
             "[value_and_grad] the function must return a loss; got an undefined Value");
  BOOST_TEST(text({}) == "[value_and_grad] function must be callable; got an empty one");
  BOOST_TEST(refused<ValueError>([&] { mezzo::value_and_grad({Variable("empty")}, [] { return Value(1.0); }); }) ==
             "[value_and_grad] variable \"empty\" must have numbers; got none");
}

BOOST_AUTO_TEST_CASE(gradients_by_a_variable_that_is_not_read_are_refused_elsewhere_too) {
  Variable w("w");
  w.assign(Tensor({2}));
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", Spec{{2}, DType::float32}), before = w;
  BOOST_TEST(
      refused<ValueError>([&] { gradients(sum(x), {w}); }) ==
      "[gradients] the loss must depend on variable \"w\", as it was read; got a loss that doesn't (it is computed "
      "from other variables, or from the value before an update)");
  const Value loss = sum(before * x);
  update_variable(w.state().pointer(), before + x);
  BOOST_TEST(refused<ValueError>([&] { gradients(loss, {w}); }).find("variable \"w\"") != std::string::npos);
  BOOST_TEST(gradients(loss, {before})[0].same_as(gradients(loss, {before})[0]) == false);
}

BOOST_AUTO_TEST_CASE(an_argument_that_is_a_variable_must_be_used) {
  Dense dense = line(2);
  BOOST_TEST(refused<ValueError>([&] { grad([](const Value&) { return Value(1.0F) * 2.0; })(dense.weights()[0]); }) ==
             "[grad] the function must compute with its argument 0, the variable \"kernel\"; it doesn't");
}

BOOST_AUTO_TEST_SUITE_END()
