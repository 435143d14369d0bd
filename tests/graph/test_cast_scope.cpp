#include <boost/test/unit_test.hpp>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Body = std::function<Value(const Value&)>;

struct BodyOptions {
  Body body;
  std::string name{};
  Policy dtype{};
};

/// A layer whose call is given.
class Calls : public Layer {
 public:
  explicit Calls(BodyOptions options) : Layer("Calls", options), body_(std::move(options.body)) {}

 protected:
  Value call(const Value& x) override { return body_(x); }

 private:
  Body body_;
};

/// Adds a variable that isn't to be cast, within a scope.
class Exempt : public Layer {
 public:
  Exempt() : Layer("Exempt", BodyOptions{}) {}
  void build(const Shape& input) override { add_weight(bias_, {.shape = {input.back()}, .autocast = false}); }

 protected:
  Value call(const Value& x) override {
    const auto lower = autocast("mixed_bfloat16");
    return exp(x) + bias_;
  }

 private:
  Variable bias_{"bias"};
};

/// What a layer of that call and policy gives for a float32 input, as a graph, eagerly, and as a functional model.
std::string result(const Policy& policy, const Body& body) {
  const auto make = [&] { return Calls({.body = body, .dtype = policy}); };
  const std::string eager = dtype_name(make()(Tensor({2, 3})).dtype());
  std::string traced, functional;
  {
    Trace trace(Trace::Mode::graph);
    traced = dtype_name(make()(trace.input("x", Spec{{2, 3}, DType::float32})).dtype());
  }
  const Value input = Input({.shape = {3}});
  Model model({.inputs = {input}, .outputs = {make()(input)}});
  {
    Trace trace(Trace::Mode::graph);
    functional = dtype_name(model(trace.input("x", Spec{{2, 3}, DType::float32})).dtype());
  }
  BOOST_TEST(traced == eager);
  BOOST_TEST(functional == eager);
  return eager;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cast_scope)

BOOST_AUTO_TEST_CASE(autocast_holds_for_a_part_of_a_call) {
  BOOST_TEST(result("bfloat16", [](const Value& x) { return exp(x); }) == "bfloat16");
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const auto precise = autocast("float32");
               return exp(x);
             }) == "float32");
  BOOST_TEST(result("float32", [](const Value& x) {
               const auto lower = autocast("mixed_bfloat16");
               return exp(x);
             }) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(what_was_computed_outside_is_cast_too) {
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const Value y = relu(x);
               const auto precise = autocast("float32");
               return exp(y);
             }) == "float32");
}

BOOST_AUTO_TEST_CASE(what_leaves_it_is_cast_by_whoever_computes_with_it) {
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               Value y;
               {
                 const auto precise = autocast("float32");
                 y = exp(x);
               }
               BOOST_TEST(dtype_name(y.dtype()) == (y.region() == 0 ? "bfloat16" : "float32"));
               return y * x;
             }) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(what_was_computed_inside_keeps_its_dtype) {
  BOOST_TEST(result("float32", [](const Value& x) {
               const auto lower = autocast("bfloat16");
               return cast(exp(x), DType::float32) * 2;
             }) == "float32");
}

BOOST_AUTO_TEST_CASE(variables_exempt_from_casts_stay_so) {
  BOOST_TEST(dtype_name(Exempt()(Tensor({2, 3})).dtype()) == "float32");
}

BOOST_AUTO_TEST_CASE(the_innermost_holds) {
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const auto outer = autocast("float64");
               Value y;
               {
                 const auto inner = autocast("float32");
                 y = exp(x);
               }
               return relu(y);
             }) == "float64");
}

BOOST_AUTO_TEST_CASE(layers_within_follow_unless_they_have_their_own) {
  const auto inner = [](const Policy& policy) {
    return [policy](const Value& x) {
      const auto wide = autocast("float64");
      return Calls({.body = [](const Value& y) { return exp(y); }, .dtype = policy})(x);
    };
  };
  BOOST_TEST(result("bfloat16", inner({})) == "float64");
  BOOST_TEST(result("bfloat16", inner("float32")) == "float32");
}

BOOST_AUTO_TEST_CASE(quantized_policies_are_refused) {
  for (const std::string name : {"int8_from_float32", "int4/64_from_mixed_bfloat16", "float8_from_float32"}) {
    check_throws<ValueError>(
        "[autocast] the policy must not be quantized, since that is a form of a layer's weights; got " + name,
        [&] { [[maybe_unused]] const auto scope = autocast(name); });
  }
  const auto products = autocast("mixed_int8");  // a format of products
  BOOST_TEST(dtype_name(exp(Value(Tensor({2}))).dtype()) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(outside_of_all_layers_it_is_what_layers_inherit) {
  const auto lower = autocast("bfloat16");
  const Value y = Calls({.body = [](const Value& x) { return exp(x); }})(Tensor({2, 3}));
  BOOST_TEST(dtype_name(y.dtype()) == "bfloat16");
  const Value input = Input({.shape = {3}});
  const Value output = exp(input);
  Model model({.inputs = {input}, .outputs = {output}});
  Trace trace(Trace::Mode::graph);  // forgets this scope, which the functional graph remembers
  BOOST_TEST(dtype_name(exp(trace.input("z", Spec{{2, 3}, DType::float32})).dtype()) == "float32");
  BOOST_TEST(dtype_name(model(trace.input("x", Spec{{2, 3}, DType::float32})).dtype()) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(an_inheriting_policy_does_nothing) {
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const auto none = autocast({});
               return exp(x);
             }) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(disabled_casts_leave_operands_alone) {
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const auto as_is = disable_casts();
               return exp(x);
             }) == "float32");
  BOOST_TEST(result("bfloat16", [](const Value& x) {
               const Value y = relu(x);
               const auto as_is = disable_casts();
               return exp(y);
             }) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(disabled_casts_hold_in_layers_within_until_an_autocast) {
  BOOST_TEST(result("float32", [](const Value& x) {
               const auto as_is = disable_casts();
               return Calls({.body = [](const Value& y) { return exp(y); }, .dtype = "p=f32,c=bf16,o=f64"})(x);
             }) == "float32");
  BOOST_TEST(result("float32", [](const Value& x) {
               const auto as_is = disable_casts();
               const auto again = autocast("bfloat16");
               return exp(x);
             }) == "bfloat16");
}

// HMP's precedence: no-cast scope, op list, layer policy.
BOOST_AUTO_TEST_CASE(op_lists_lie_between_scopes_and_layers) {
  const detail::PolicyScope trainer{OpLists()};
  const Policy none;
  BOOST_TEST(result(none, [](const Value& x) { return relu(x); }) == "bfloat16");
  BOOST_TEST(result(none, [](const Value& x) { return exp(x); }) == "float32");
  BOOST_TEST(result("float64", [](const Value& x) { return relu(x); }) == "bfloat16");
  BOOST_TEST(result(none, [](const Value& x) {
               const auto as_is = disable_casts();
               return relu(x);
             }) == "float32");
  BOOST_TEST(result(none, [](const Value& x) {
               const auto wide = autocast("float64");
               return relu(x);
             }) == "float64");
}

BOOST_AUTO_TEST_CASE(gradients_within_keep_the_dtypes_of_their_values) {
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", Spec{{3}, DType::float32});
  const auto lower = autocast("bfloat16");
  const Value y = sum(exp(x));
  const Value dx = gradients(y, {x}).front();
  BOOST_TEST(dtype_name(y.dtype()) == "bfloat16");
  BOOST_TEST(dtype_name(dx.dtype()) == "float32");
}

BOOST_AUTO_TEST_SUITE_END()
