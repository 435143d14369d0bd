#include <boost/test/unit_test.hpp>

#include <functional>
#include <type_traits>
#include <vector>

#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// Elements by index, arrays in braces, arithmetic of Tensors and gradients of functions.

namespace {

std::vector<double> numbers_in(const Tensor& x) { return x.to_doubles(); }

void check_array(const Tensor& x, const Shape& shape, const std::vector<double>& numbers) {
  BOOST_TEST(x.shape() == shape, boost::test_tools::per_element());
  BOOST_TEST(numbers_in(x) == numbers, boost::test_tools::per_element());
}

// 0 to 23 as (2, 3, 4).
Tensor counted() { return arange(24).reshape({2, 3, 4}); }

template <class T, class = void>
struct IsAssignable : std::false_type {};
template <class T>
struct IsAssignable<T, std::void_t<decltype(std::declval<T>()(0) = std::declval<T>())>> : std::true_type {};

}  // namespace

BOOST_AUTO_TEST_SUITE(values)

BOOST_AUTO_TEST_CASE(elements_by_index) {
  const Tensor x = counted();
  struct Row {
    std::function<Tensor(const Tensor&)> of_tensor;
    std::function<Value(const Value&)> of_value;
    Shape shape;
    std::vector<double> numbers;
  };
#define ROW(call, ...)                                                                                            \
  {                                                                                                               \
    [](const Tensor& t) -> Tensor { return t call; }, [](const Value& t) -> Value { return t call; }, __VA_ARGS__ \
  }
  const std::vector<Row> rows{
      ROW((1, 2, 3), {}, {23}),
      ROW((-1, -3, 0), {}, {12}),
      ROW((0, 1), {4}, {4, 5, 6, 7}),
      ROW((all, 1, 2), {2}, {6, 18}),
      ROW((ellipsis, -1), {2, 3}, {3, 7, 11, 15, 19, 23}),
      ROW((0, ellipsis, slice(1, 3)), {3, 2}, {1, 2, 5, 6, 9, 10}),
      ROW((1, slice(2), 0), {2}, {12, 16}),
      ROW((1, slice(1, std::nullopt), 0), {2}, {16, 20}),
      ROW((0, 0, slice(-2, std::nullopt)), {2}, {2, 3}),
      ROW((0, 0, slice(std::nullopt, std::nullopt, -1)), {4}, {3, 2, 1, 0}),
      ROW((0, 0, slice(std::nullopt, std::nullopt, 2)), {2}, {0, 2}),
      ROW((0, 0, slice(3, 0, -2)), {2}, {3, 1}),
      ROW((0, 0, slice(2, 100)), {2}, {2, 3}),
      ROW((0, 0, slice(3, 1)), {0}, {}),
      ROW((0, 0, slice(-100, -3)), {1}, {0}),
      ROW((newaxis, 0, newaxis, 1, slice(2)), {1, 1, 2}, {4, 5}),
      ROW((0, 1, newaxis), {1, 4}, {4, 5, 6, 7}),
      ROW((slice(1), array({2, 0}), 1), {1, 2}, {9, 1}),
      ROW((0, array({{-1, 0}, {1, 1}}), 3), {2, 2}, {11, 3, 7, 7}),
      ROW((), {2, 3, 4}, numbers_in(counted())),
      ROW((newaxis, ellipsis, newaxis), {1, 2, 3, 4, 1}, numbers_in(counted())),
  };
#undef ROW
  for (std::size_t i = 0; i < rows.size(); ++i) {
    BOOST_TEST_CONTEXT("row " << i) {
      check_array(rows[i].of_tensor(x), rows[i].shape, rows[i].numbers);
      check_array(rows[i].of_value(x).tensor(), rows[i].shape, rows[i].numbers);
      const auto step = [&](const Values& xs) { return Values{rows[i].of_value(xs[0])}; };
      check_array(run_compiled(trace_step(step, {x}), {x})[0], rows[i].shape, rows[i].numbers);
    }
  }
  BOOST_TEST(x(1, 2, 3).item() == 23);
  check_array(get_item(x, 0, 0, 0), {}, {0});
  static_assert(!IsAssignable<Tensor>::value && !IsAssignable<Value>::value, "x(0) = y would not change x");
  static_assert(!std::is_invocable_v<Tensor, double> && !std::is_invocable_v<Value, bool>, "not an index");
  static_assert(std::is_invocable_v<Tensor, int> && std::is_invocable_v<Value, long>, "an index");
}

BOOST_AUTO_TEST_CASE(gradients_of_elements) {
  const auto g = grad([](const Value& x) { return sum(x(slice(std::nullopt, std::nullopt, -2), 1) * 2) + x(0, 0); });
  check_array(g(Tensor({3, 2})).tensor(), {3, 2}, {1, 2, 0, 0, 0, 2});
}

BOOST_AUTO_TEST_CASE(wrong_indices) {
  const Tensor x = counted();
  check_throws<ValueError>("[get_item] index 2 is outside of axis 0, which has size 2; expected -2 to 1",
                           [&] { x(2); });
  check_throws<ValueError>("[get_item] index -4 is outside of axis 1, which has size 3; expected -3 to 2",
                           [&] { x(all, -4); });
  check_throws<ShapeError>("[get_item] takes at most 3 indices for shape (2, 3, 4); got 4", [&] { x(0, 0, 0, 0); });
  check_throws<ValueError>("[get_item] takes one ellipsis; got 2", [&] { x(ellipsis, ellipsis); });
  check_throws<ValueError>("[get_item] the step of a slice must not be 0; got 0", [&] { x(slice(0, 1, 0)); });
  check_throws<ValueError>("[get_item] takes one array of indices; got 2: use take_along_axis() or scatter()",
                           [&] { x(array({0}), array({1})); });
  check_throws<DTypeError>("[get_item] an array of indices must hold integers; got bool: use where()", [&] {
    x(array({true, false}));
  });
  check_throws<DTypeError>("[get_item] an array of indices must hold integers; got float32", [&] { x(array({0.0})); });
  check_throws<ValueError>("[get_item] the only function that is an index is all; got another one", [&] { x(any); });
}

BOOST_AUTO_TEST_CASE(arrays_in_braces) {
  const Tensor x = {{1, 2}, {3, 4}};
  check_array(x, {2, 2}, {1, 2, 3, 4});
  BOOST_TEST((x.dtype() == DType::int32));
  const Tensor y = {{1, 2.5}, {3, 4}};
  BOOST_TEST((y.dtype() == DType::float32));
  const Tensor z = {{{true, false}}, {{false, true}}};
  check_array(z, {2, 1, 2}, {1, 0, 0, 1});
  BOOST_TEST((z.dtype() == DType::boolean));
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const Tensor w = {{large, 1}};
  BOOST_TEST((w.dtype() == DType::int64));
  BOOST_TEST(w.data<std::int64_t>()[0] == large);
  check_array(array({1, 2, 3}), {3}, {1, 2, 3});
  check_array(array({{1, 2}, {3, 4}}, DType::float64), {2, 2}, {1, 2, 3, 4});
  check_array(array(0.5), {}, {0.5});
  check_array(Tensor({2, 3}), {2, 3}, {0, 0, 0, 0, 0, 0});  // one level is a shape
  check_array(Tensor({2, 1}, DType::int32), {2, 1}, {0, 0});
  const Tensor none = {{}, {}};
  check_array(none, {2, 0}, {});
  check_throws<ShapeError>(
      "[Tensor] lists in braces must have equal lengths; got shape (2,) at position 0 and (1,) at 1", [] {
        const Tensor t = {{1, 2}, {3}};
      });
  check_throws<ShapeError>("[Tensor] lists in braces must have equal lengths; got shape () at position 0 and (2,) at 1",
                           [] {
                             array({1, {2, 3}});
                           });
}

BOOST_AUTO_TEST_CASE(functions_of_tensors) {
  const Tensor x = {{1.0, -4.0}, {9.0, 16.0}};
  const Tensor scaled = x / 2 + 1;  // a Value, which converts
  check_array(scaled, {2, 2}, {1.5, -1, 5.5, 9});
  check_array(1 - x, {2, 2}, {0, 5, -8, -15});
  check_array(x * x, {2, 2}, {1, 16, 81, 256});
  check_array(-x, {2, 2}, {-1, 4, -9, -16});
  check_array(x > 0, {2, 2}, {1, 0, 1, 1});
  check_array(sqrt(abs(x)), {2, 2}, {1, 2, 3, 4});
  check_array(where(x < 0, 0, x), {2, 2}, {1, 0, 9, 16});
  check_array(mean(x, {.axes = {0}}), {2}, {5, 6});
  check_array(concatenate({x, x}, 1)(0), {4}, {1, -4, 1, -4});
  Tensor y = x;
  y = y + 1;
  check_array(y, {2, 2}, {2, -3, 10, 17});
  const auto step = [](const Values& xs) {
    const Tensor t = xs[0] + 1;
    return Values{t};
  };
  check_throws<ValueError>(
      "[add] a symbolic Value (output of add) has no numbers while the step is traced: log() it, or return it",
      [&] { trace_step(step, {x}); });
  // A Tensor's elements are numbers also while a step is traced.
  const auto with_constant = [&](const Values& xs) { return Values{xs[0] * x(0, 1).item()}; };
  check_array(run_compiled(trace_step(with_constant, {x}), {x})[0], {2, 2}, {-4, 16, -36, -64});
}

BOOST_AUTO_TEST_CASE(gradients_of_functions) {
  const auto cube = grad([](const Value& x) { return sum(x * x * x); });
  BOOST_TEST(cube(2.0).item() == 12);
  BOOST_TEST((cube(2.0).dtype() == DType::float32));
  check_array(cube(array({1.0, -2.0}, DType::float64)).tensor(), {2}, {3, 12});
  const auto second = grad([&](const Value& x) { return sum(cube(x)); });
  check_array(second(array({1.0, -2.0})).tensor(), {2}, {6, -12});
  const auto both = grad([](const Values& x) { return sum(x[0] * x[1]); })({array({1.0, 2.0}), array({3.0, 4.0})});
  check_array(both[0].tensor(), {2}, {3, 4});
  check_array(both[1].tensor(), {2}, {1, 2});
  const ValueAndGrad all_of = value_and_grad([](const Value& x) { return sum(x * x); })(array({3.0}));
  BOOST_TEST(all_of.value.item() == 9);
  BOOST_TEST(all_of.gradient.item() == 6);
  const Tensor outside = array({5.0});
  const auto step = [&](const Values& x) {
    // x itself is a constant of the function; y isn't.
    return Values{grad([&](const Value& y) { return sum(y * y * x[0] * outside); })(x[0])};
  };
  check_array(run_compiled(trace_step(step, {array({2.0})}), {array({2.0})})[0], {1}, {40});
  check_array(run_in_eager_trace(step, {array({2.0})})[0], {1}, {40});
  BOOST_TEST(grad([](const Value&) { return Value(array(1.0)); })(2.0).item() == 0);
  check_throws<ShapeError>("[grad] the function must return a number, of shape (); got shape (2,)", [] {
    grad([](const Value& x) { return x * 2; })(array({1.0, 2.0}));
  });
  check_throws<DTypeError>("[grad] argument 0 must be floating; got int32", [] {
    grad([](const Value& x) { return sum(x); })(array({1, 2}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
