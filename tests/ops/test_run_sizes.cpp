// Sizes of shapes: numbers, unknown ones of functional models, and the Values of shape().
#include <boost/test/unit_test.hpp>

#include <functional>
#include <sstream>

#include <mezzo/core/fail.hpp>
#include <mezzo/mezzo.hpp>

#include "support/kernels.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::string unknown_axis_1 =
    "[Size] the size of axis 1 must be known here; got ?, which only the run knows: compute with shape(x), the sizes "
    "as Values";

template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

using Compute = std::function<Value(const Value&)>;

// A model or a layer that calls the function.
template <class Base>
class Computes : public Base {
 public:
  explicit Computes(Compute compute) : Base("Computes"), compute_(std::move(compute)) {}

 protected:
  Value call(const Value& x) override { return compute_(x); }

 private:
  Compute compute_;
};

// Checks the result at once, in a step, in a functional model and in a layer of one.
void check(const std::string& what, const Compute& compute, const Compute& expected, const Shape& symbol) {
  BOOST_TEST_CONTEXT(what) {
    Computes<Model> subclassed(compute);
    const Input open({-1, 3});
    Model functional(Values{open}, Values{compute(open)});
    Model in_layer(Values{open}, Values{Computes<Layer>(compute)(open)});
    BOOST_TEST(compute(open).shape() == symbol, printed(compute(open).shape()));
    for (const Shape& shape : {Shape{2, 5, 3}, Shape{4, 2, 3}}) {
      BOOST_TEST_CONTEXT(to_string(shape)) {
        const Tensor x = random_tensor(shape), y = expected(x).tensor();
        BOOST_TEST(compute(x).tensor().equal(y));
        BOOST_TEST((compute(x).dtype() == y.dtype()));
        BOOST_TEST(subclassed.predict_on_batch(x).equal(y));
        BOOST_TEST(functional.predict_on_batch(x).equal(y));
        BOOST_TEST(in_layer.predict_on_batch(x).equal(y));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_sizes)

BOOST_AUTO_TEST_CASE(unknown_sizes_are_compared_printed_and_passed_on) {
  const Input x({-1, 3});
  const Value value = x;
  const ShapeView shape = value.shape();
  BOOST_TEST(printed(shape) == "(?, ?, 3)");
  BOOST_TEST(printed(shape[1]) == "?");
  BOOST_TEST(printed(shape[2]) == "3");
  BOOST_TEST(fmt::format("{} {} {}", shape, shape[1], shape[2]) == "(?, ?, 3) ? 3");
  BOOST_TEST(!shape[1].known());
  BOOST_TEST(shape[2].known());
  BOOST_TEST((shape[1] == -1));
  BOOST_TEST((shape[1] < 0));
  BOOST_TEST((shape[1] != shape[2]));
  BOOST_TEST((shape[2] >= 3));
  BOOST_TEST((shape.front() == shape[1]));
  BOOST_TEST((shape.back() == 3U));
  BOOST_TEST(reshape(x, {shape[0], 15}).shape() == (Shape{-1, 15}));
  BOOST_TEST(broadcast_to(x, {shape[0], shape[1], shape[2]}).shape() == (Shape{-1, -1, 3}));
}

BOOST_AUTO_TEST_CASE(arithmetic_with_an_unknown_size_is_an_error) {
  const Input x({-1, 3});
  const Value value = x;
  const ShapeView shape = value.shape();
  BOOST_TEST(shape[2] + 1 == 4);
  BOOST_TEST(shape[2] * shape[2] - 1 == 8);
  BOOST_TEST(7 / shape[2] == 2);
  BOOST_TEST(7 % shape[2] == 1);
  BOOST_TEST(1.5 / shape[2] == 0.5);
  BOOST_TEST(-shape[2] == -3);
  const std::vector<std::function<void()>> uses{
      [&] { static_cast<void>(shape[1] + 1); },
      [&] { static_cast<void>(2 - shape[1]); },
      [&] { static_cast<void>(shape[2] * shape[1]); },
      [&] { static_cast<void>(1.0 / shape[1]); },
      [&] { static_cast<void>(shape[1] % 2); },
      [&] { static_cast<void>(-shape[1]); },
      [&] { static_cast<void>(std::int64_t{shape[1]}); },
      [&] { static_cast<void>(static_cast<double>(shape[1])); },
      [&] { static_cast<void>(sum(value, {.axes = {1}}) / shape[1]); },
      [&] { static_cast<void>(arange(shape[1])); },
      [&] {
        static_cast<void>(zeros({shape[1], 3}));
      },
      [&] {
        static_cast<void>(ones({shape[1], 3}));
      },
      [&] {
        static_cast<void>(full({shape[1], 3}, 2));
      },
      [&] { static_cast<void>(eye(shape[1])); },
      [&] {
        static_cast<void>(tile(value, {1, shape[1], 1}));
      },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    BOOST_TEST_CONTEXT(i) { check_throws<ShapeError>(unknown_axis_1, uses[i]); }
  }
  check_throws<ValueError>(
      "[normal] shape must be known; got (?, 3): pass sizes of shape(x), or a Value of that shape, as in normal(x)",
      [&] {
        static_cast<void>(random::normal({shape[1], 3}));
      });
  check_throws<ShapeError>(
      "[Size] the size of an axis must be known here; got ?, which only the run knows: compute with shape(x), the "
      "sizes as Values",
      [&] { static_cast<void>(size(value) * 2); });
}

BOOST_AUTO_TEST_CASE(means_over_open_axes_use_the_size_of_the_call) {
  check(
      "mean over steps", [](const Value& x) { return sum(x, {.axes = {1}}) / shape(x)[1]; },
      [](const Value& x) { return sum(x, {.axes = {1}}) / static_cast<double>(x.shape()[1]); }, {-1, 3});
  check(
      "ones minus the mean of the batch",
      [](const Value& x) { return ones_like(x) - sum(ones_like(x), {.axes = {0}}) / shape(x)[0]; },
      [](const Value& x) { return zeros_like(x); }, {-1, -1, 3});
}

BOOST_AUTO_TEST_CASE(new_arrays_have_the_sizes_of_the_call) {
  const auto size = [](const Value& x, std::size_t axis) { return std::int64_t{x.shape()[axis]}; };
  check(
      "arange", [](const Value& x) { return x(all, all, 0) + arange(shape(x)[1]); },
      [&](const Value& x) { return x(all, all, 0) + arange(size(x, 1)); }, {-1, -1});
  check(
      "arange with start and step",
      [](const Value& x) { return x(all, 0, 0) + sum(arange(1, shape(x)[1] * 2, 2, DType::float32)); },
      [&](const Value& x) { return x(all, 0, 0) + sum(Value(arange(1, size(x, 1) * 2, 2, DType::float32))); }, {-1});
  check(
      "zeros",
      [](const Value& x) {
        return concat({x, zeros({shape(x)[0], 1, 3})}, 1);
      },
      [&](const Value& x) {
        return concat({x, zeros({size(x, 0), 1, 3})}, 1);
      },
      {-1, -1, 3});
  check(
      "ones",
      [](const Value& x) {
        return concat({x, ones({shape(x)[0], shape(x)[1], x.shape()[2]})}, 1);
      },
      [&](const Value& x) {
        return concat({x, ones({size(x, 0), size(x, 1), 3})}, 1);
      },
      {-1, -1, 3});
  check(
      "full of a whole shape", [](const Value& x) { return x + full(shape(x), 2.5); },
      [](const Value& x) { return x + 2.5; }, {-1, -1, 3});
  check(
      "eye", [](const Value& x) { return matmul(eye(shape(x)[1]), x); },
      [&](const Value& x) { return matmul(eye(size(x, 1)), x); }, {-1, -1, 3});
  check(
      "eye of two sizes", [](const Value& x) { return matmul(eye(shape(x)[1] + 1, shape(x)[1], -1), x); },
      [&](const Value& x) { return matmul(eye(size(x, 1) + 1, size(x, 1), -1), x); }, {-1, -1, 3});
  check(
      "causal mask", [](const Value& x) { return sum(tri(shape(x)[1])) + x; },
      [&](const Value& x) { return sum(Value(tri(size(x, 1)))) + x; }, {-1, -1, 3});
}

BOOST_AUTO_TEST_CASE(arrays_are_moved_by_the_sizes_of_the_call) {
  const auto size = [](const Value& x, std::size_t axis) { return std::int64_t{x.shape()[axis]}; };
  check(
      "reshape",
      [](const Value& x) {
        return reshape(x, {shape(x)[0], shape(x)[1] * 3});
      },
      [&](const Value& x) {
        return reshape(x, {size(x, 0), size(x, 1) * 3});
      },
      {-1, -1});
  check(
      "reshape with the rest",
      [](const Value& x) {
        return reshape(x, {-1, shape(x)[1], 1, 3});
      },
      [&](const Value& x) {
        return reshape(x, {-1, size(x, 1), 1, 3});
      },
      {-1, -1, 1, 3});
  check(
      "class token",
      [](const Value& x) {
        return concat({broadcast_to(array({1.0, 2.0, 3.0}), {shape(x)[0], 1, 3}), x}, 1);
      },
      [&](const Value& x) {
        return concat({broadcast_to(array({1.0, 2.0, 3.0}), {size(x, 0), 1, 3}), x}, 1);
      },
      {-1, -1, 3});
  check(
      "tile",
      [](const Value& x) {
        return tile(x, {1, shape(x)[1], 2});
      },
      [&](const Value& x) {
        return tile(x, {1, size(x, 1), 2});
      },
      {-1, -1, -1});
  check(
      "repeat", [](const Value& x) { return repeat(x, shape(x)[1], 2); },
      [&](const Value& x) { return repeat(x, size(x, 1), 2); }, {-1, -1, -1});
  check(
      "repeat of a vector",
      [](const Value& x) {
        return repeat(array({1.0, 2.0}), floor_divide(shape(x)[0], 2)) + 0.0 * sum(x);
      },
      [&](const Value& x) {
        return repeat(array({1.0, 2.0}), size(x, 0) / 2) + 0.0 * sum(x);
      },
      {-1});
}

BOOST_AUTO_TEST_CASE(operands_broadcast_to_open_sizes_of_the_other) {
  const Tensor square = random_tensor({4, 1, 3, 3});
  const Compute product = [square](const Value& x) { return matmul(expand_dims(x, 0), square); };
  check("matmul", product, product, {4, -1, -1, 3});
  const Tensor places = array({1, 0, 1}).reshape({1, 1, 3});
  const Compute taken = [places](const Value& x) { return take_along_axis(x, places, 1); };
  check("take_along_axis", taken, taken, {-1, 1, 3});
  const Compute next = [](const Value& x) { return nextafter(x, array({1.0, 2.0, 3.0})); };
  check("nextafter", next, next, {-1, -1, 3});
}

BOOST_AUTO_TEST_CASE(random_numbers_have_the_sizes_of_the_call) {
  const auto two = [](const Value& x) { return Shape{x.shape()[0], x.shape()[1]}; };
  check(
      "normal",
      [](const Value& x) {
        return random::normal({shape(x)[0], shape(x)[1]}, {.seed = 3});
      },
      [&](const Value& x) { return random::normal(two(x), {.seed = 3}); }, {-1, -1});
  check(
      "uniform beside a number",
      [](const Value& x) {
        return random::uniform({shape(x)[0], 2}, {.seed = 3});
      },
      [&](const Value& x) {
        return random::uniform({x.shape()[0], 2}, {.seed = 3});
      },
      {-1, 2});
  check(
      "bernoulli of a whole shape", [](const Value& x) { return random::bernoulli(shape(x), 0.5, {.seed = 3}); },
      [&](const Value& x) { return random::bernoulli(x.shape(), 0.5, {.seed = 3}); }, {-1, -1, 3});
}

BOOST_AUTO_TEST_CASE(arithmetic_of_sizes_gives_sizes) {
  const Tensor x({4, 7, 3}, DType::bfloat16);
  const Value half = floor_divide(shape(x)[1], 2);
  BOOST_TEST(half.weak());
  BOOST_TEST(half.item() == 3);
  BOOST_TEST(((x * shape(x)[1]).dtype() == DType::bfloat16));
  BOOST_TEST(((x * (shape(x)[1] + 1)).dtype() == DType::bfloat16));
  Computes<Model> model([](const Value& y) {
    const Value count = maximum(floor_divide(shape(y)[1] - 1, 2), 1);
    BOOST_TEST(!count.symbolic());
    return zeros({shape(y)[0], count});
  });
  BOOST_TEST(model.predict_on_batch(Tensor({4, 7, 3})).shape() == (Shape{4, 3}));
  BOOST_TEST(model.predict_on_batch(Tensor({2, 2, 3})).shape() == (Shape{2, 1}));
}

BOOST_AUTO_TEST_CASE(a_model_with_open_sizes_trains) {
  const Input x({-1, 3});
  const Value token = broadcast_to(array({1.0, 2.0, 3.0}), {shape(x)[0], 1, 3});
  const Value noise = random::normal({shape(x)[0], shape(x)[1], 3}, {.stddev = 0.1});
  const Value steps = concat({token, x + noise}, 1);
  const Value mean = sum(layers::Dense(4)(steps), {.axes = {1}}) / (shape(x)[1] + 1);
  Model model(Values{x}, Values{layers::Dense(1)(mean)});
  model.compile({.optimizer = Adam(0.05), .loss = "mse"});
  const Tensor first = random_tensor({8, 6, 3}), second = random_tensor({4, 9, 3});
  const Tensor first_targets = sum(first, {.axes = {1, 2}}).tensor().reshape({8, 1});
  const double before = model.evaluate(first, first_targets).at("loss");
  for (int i = 0; i < 200; ++i) {
    model.train_on_batch(first, first_targets);
    model.train_on_batch(second, sum(second, {.axes = {1, 2}}).tensor().reshape({4, 1}));
  }
  BOOST_TEST(model.evaluate(first, first_targets).at("loss") < 0.5 * before);
}

BOOST_AUTO_TEST_CASE(other_values_are_refused_as_sizes) {
  const Tensor x({2, 3});
  check_throws<ShapeError>("a shape must have less than 2^63 elements; got (4611686018427387904, 3, 1)", [&] {
    static_cast<void>(reshape(x, {std::int64_t{1} << 62, 3, -1}));
  });
  check_throws<DTypeError>("[zeros] a size must be an integer; got float32", [&] {
    static_cast<void>(zeros({sum(x), 3}));
  });
  check_throws<ShapeError>("[reshape] a size must be one number; got shape (2, 3)", [&] {
    static_cast<void>(reshape(x, {cast(x, DType::int32), -1}));
  });
  Computes<Model> model([](const Value& y) { return zeros({sum(cast(y, DType::int64)), 3}); });
  check_throws<ValueError>(
      "[Computes] a size must be a number or come from shape(x); got a result of sum, which is computed only when the "
      "step runs",
      [&] { static_cast<void>(model.predict_on_batch(x)); });
}

BOOST_AUTO_TEST_SUITE_END()
