#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/spatial.hpp>
#include <mezzo/training/model/model.hpp>

#include "ops/recorded_cases.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// Functions of <mezzo/ops/spatial.hpp>.

namespace {

void add_convolutions(FunctionTable& t) {
  const auto of_conv = [&t](const std::string& name, const ConvOpOptions& options = {}) {
    t[name] = [name, options](const Values& x) {
      const auto is = [&](const char* start) { return name.rfind(start, 0) == 0; };
      return Values{is("separable") ? separable_conv(x[0], x[1], x[2], options)
                    : is("depth")   ? depthwise_conv(x[0], x[1], options)
                                    : conv(x[0], x[1], options)};
    };
  };
  const auto of_transpose = [&t](const std::string& name, const ConvTransposeOpOptions& options) {
    t[name] = of_two([options](const Value& x, const Value& kernel) { return conv_transpose(x, kernel, options); });
  };
  of_conv("conv_1", {2, "same"});
  of_conv("conv_1_groups", {.dilation_rate = 3});
  of_conv("conv_2", {{2, 1}, "same"});
  of_conv("conv_2_groups", {.dilation_rate = {3, 2}});
  of_conv("conv_3");
  of_conv("conv_3_same", {{2, 3, 1}, "same"});
  of_conv("conv_3_groups", {.dilation_rate = {3, 2, 1}});
  of_conv("conv_3_strides", {{2, 1, 2}});
  of_conv("depthwise_conv_1", {1, "same"});
  of_conv("depthwise_conv_2", {2});
  of_conv("depthwise_conv_3", {1, "same"});
  of_conv("separable_conv_1", {.dilation_rate = 2});
  of_conv("separable_conv_2", {2, "same"});
  of_conv("separable_conv_3");
  of_transpose("conv_transpose_1", {2, "same"});
  of_transpose("conv_transpose_1_valid", {3});
  of_transpose("conv_transpose_1_added", {3, "same", 2});
  of_transpose("conv_transpose_2", {{1, 2}, "valid", detail::Ints(), {2, 1}});
  of_transpose("conv_transpose_3", {{2, 1, 2}, "same"});
  of_transpose("conv_transpose_3_valid", {{3, 2, 2}});
  of_transpose("conv_transpose_3_added", {{2, 3, 2}, "valid", {1, 2, 0}});
  of_transpose("conv_transpose_3_added_same", {{3, 3, 2}, "same", {1, 2, 0}});
  of_transpose("conv_transpose_3_dilated", {.dilation_rate = {2, 3, 1}});
}

void add_pooling(FunctionTable& t) {
  const auto add = [&t](const std::string& name, Value (*pool)(const Value&, const detail::Ints&, const PoolOpOptions&),
                        Value (*adaptive)(const Value&, const detail::Ints&)) {
    const auto of_pool = [&](const char* end, const detail::Ints& size, const PoolOpOptions& options) {
      t[name + end] = of([=](const Value& x) { return pool(x, size, options); });
    };
    of_pool("_1", 3, {2, "same"});
    of_pool("_1_valid", 2, {});
    of_pool("_2", {3, 2}, {{1, 3}, "same"});
    of_pool("_3", {2, 3, 1}, {});
    of_pool("_3_same", {3, 2, 3}, {{2, 3, 1}, "same"});
    const auto of_adaptive = [&](const char* end, const detail::Ints& size) {
      t["adaptive_" + name + end] = of([=](const Value& x) { return adaptive(x, size); });
    };
    of_adaptive("_1", 5);
    of_adaptive("_1_more", 5);
    of_adaptive("_2", {7, 4});
    of_adaptive("_2_even", 2);
    of_adaptive("_3", {3, 2, 3});
  };
  add("average_pool", average_pool, adaptive_average_pool);
  add("max_pool", max_pool, adaptive_max_pool);
}

Tensor line_of(const std::vector<double>& x) { return {{1, static_cast<std::int64_t>(x.size()), 1}, x}; }

void check_line(const Value& x, const std::vector<double>& expected) {
  const std::vector<double> result = x.tensor().to_doubles();
  BOOST_TEST(result == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial)

BOOST_AUTO_TEST_CASE(equal_keras) {
  FunctionTable all;
  add_convolutions(all);
  add_pooling(all);
  check_recorded("spatial", all);
}

// torch gives the gradient to the first of equal elements in row-major order of the window.
BOOST_AUTO_TEST_CASE(ties_of_adaptive_max_pool_are_taken_in_row_major_order) {
  const auto gradient = [](const Tensor& x, const detail::Ints& size) {
    return grad([&](const Value& v) { return sum(adaptive_max_pool(v, size)); })(x).tensor().to_doubles();
  };
  // Of a window of 2 x 2 x 2, (0, 1, 0) comes before (1, 0, 0).
  Tensor x({1, 2, 2, 2, 1});
  x.mutable_data<float>()[2] = x.mutable_data<float>()[4] = 1;
  BOOST_TEST(gradient(x, {1, 1, 1}) == (std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0}));
  // Windows of two sizes: 3 rows to 2, so that row 1 is in both. (0, 1) comes before (1, 0).
  const Tensor plane({1, 3, 2, 1}, std::vector<float>{0, 1, 1, 0, 0, 0});
  BOOST_TEST(gradient(plane, {2, 1}) == (std::vector<double>{0, 1, 1, 0, 0, 0}));
  BOOST_TEST(gradient(Tensor({1, 3, 3, 3, 1}), {2, 2, 2})[0] == 1);
}

// Batches of 2, of 0 and, in a trace of symbols, of unknown size.
BOOST_AUTO_TEST_CASE(shapes_for_known_unknown_and_empty_batches) {
  struct Row {
    const char* name;
    Shape input, expected;  // without the batch
    std::function<Value(const Value&)> function;
  };
  const auto kernel = [](const Shape& shape) { return Value(Tensor(shape)); };
  const Row rows[] = {
      {"conv 1",
       {7, 2},
       {4, 3},
       [&](const Value& x) {
         return conv(x, kernel({2, 2, 3}), {2, "same"});
       }},
      {"conv 3",
       {4, 5, 6, 2},
       {3, 3, 2, 4},
       [&](const Value& x) {
         return conv(x, kernel({2, 3, 2, 1, 4}), {{1, 1, 3}});
       }},
      {"strided",
       {7, 3, 3, 2},
       {3, 3, 3, 2},
       [&](const Value& x) {
         return conv(x, kernel({3, 1, 1, 2, 2}), {{2, 1, 1}});
       }},
      {"depthwise",
       {5, 3},
       {5, 6},
       [&](const Value& x) {
         return depthwise_conv(x, kernel({3, 3, 2}), {1, "same"});
       }},
      {"separable",
       {5, 4, 3},
       {4, 3, 5},
       [&](const Value& x) {
         return separable_conv(x, kernel({2, 2, 3, 2}), kernel({1, 1, 6, 5}));
       }},
      {"transpose 1",
       {5, 3},
       {11, 2},
       [&](const Value& x) {
         return conv_transpose(x, kernel({3, 2, 3}), {2});
       }},
      {"transpose 3",
       {3, 2, 4, 3},
       {6, 4, 8, 2},
       [&](const Value& x) {
         return conv_transpose(x, kernel({3, 2, 3, 2, 3}), {2, "same"});
       }},
      {"average", {7, 2}, {3, 2}, [](const Value& x) { return average_pool(x, 3, {2}); }},
      {"maximum",
       {4, 5, 6, 2},
       {2, 3, 3, 2},
       [](const Value& x) {
         return max_pool(x, 2, {2, "same"});
       }},
      {"adaptive average",
       {4, 5, 6, 2},
       {3, 2, 3, 2},
       [](const Value& x) {
         return adaptive_average_pool(x, {3, 2, 3});
       }},
      {"adaptive maximum",
       {7, 5, 2},
       {3, 5, 2},
       [](const Value& x) {
         return adaptive_max_pool(x, {3, 5});
       }},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto with_batch = [](std::int64_t batch, Shape shape) {
        shape.insert(shape.begin(), batch);
        return shape;
      };
      for (const std::int64_t batch : {2, 0}) {
        const Value y = row.function(Tensor(with_batch(batch, row.input)));
        BOOST_TEST(y.shape() == with_batch(batch, row.expected), boost::test_tools::per_element());
      }
      const Value x = Input(row.input);
      const Value y = row.function(x);
      BOOST_TEST(y.shape() == with_batch(-1, row.expected), boost::test_tools::per_element());
      const Value numbers = Model({x}, {y})(Value(Tensor(with_batch(3, row.input))));
      BOOST_TEST(numbers.shape() == with_batch(3, row.expected), boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(pooling_keeps_nan_and_infinity_in_their_windows) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value x = line_of({1, 2, infinity, 4, 5, 6, -8});
  check_line(adaptive_average_pool(x, 3), {infinity, infinity, 1});
  check_line(adaptive_max_pool(x, 3), {infinity, infinity, 6});
  check_line(adaptive_max_pool(line_of({-infinity, -infinity, 3}), 2), {-infinity, 3});
  const Value lowest = line_of({-3, -5, -4});
  check_line(max_pool(lowest, 2, {2, "same"}), {-3, -4});
  check_line(average_pool(lowest, 2, {2, "same"}), {-4, -4});
}

BOOST_AUTO_TEST_CASE(error_texts) {
  const Value lines = Tensor({2, 5, 4}), volumes = Tensor({2, 3, 4, 5, 2});
  check_throws<ShapeError>("[conv] x must have 1, 2 or 3 axes between batch and channels; got shape (2, 5)", [] {
    conv(Tensor({2, 5}), Tensor({1, 5, 1}));
  });
  check_throws<ShapeError>("[max_pool] length must be known, and at least 1; got shape (2, 0, 4)", [] {
    max_pool(Tensor({2, 0, 4}), 2);
  });
  check_throws<ShapeError>("[conv] kernel must have rank 3; got shape (1, 1, 4, 2)", [&] {
    conv(lines, Tensor({1, 1, 4, 2}));
  });
  check_throws<ShapeError>("[conv] sizes of kernel must be at least 1; got shape (0, 4, 2)", [&] {
    conv(lines, Tensor({0, 4, 2}));
  });
  check_throws<ShapeError>("[conv] input axis -1 must be a multiple of 3 (channels of kernel); got shape (2, 5, 4)",
                           [&] {
                             conv(lines, Tensor({2, 3, 2}));
                           });
  check_throws<ShapeError>("[conv] filters must be a multiple of groups (2); got 3", [&] {
    conv(lines, Tensor({2, 2, 3}));
  });
  check_throws<ShapeError>("[conv] input axis 1 must be at least 5 (kernel 3); got shape (2, 3, 4, 5, 2)", [&] {
    conv(volumes, Tensor({3, 1, 1, 2, 2}), {.dilation_rate = {2, 1, 1}});
  });
  check_throws<ValueError>("[conv] strides must be one or three numbers of at least 1; got (1, 2)", [&] {
    conv(volumes, Tensor({1, 1, 1, 2, 2}), {.strides = {1, 2}});
  });
  check_throws<ValueError>("[average_pool] pool_size must be one number of at least 1; got (0,)",
                           [&] { average_pool(lines, 0); });
  check_throws<ValueError>("[adaptive_max_pool] output_size must be one number of at least 1; got (2, 2)", [&] {
    adaptive_max_pool(lines, {2, 2});
  });
  check_throws<ShapeError>("[average_pool] input axis 1 must be at least 6 (pool_size 6); got shape (2, 5, 4)",
                           [&] { average_pool(lines, 6); });
  check_throws<NameError>("[max_pool] unknown padding \"full\"; valid names: same, valid",
                          [&] { max_pool(lines, 2, {.padding = "full"}); });
  check_throws<ShapeError>("[depthwise_conv] input axis -1 must be 3 (channels of kernel); got shape (2, 5, 4)", [&] {
    depthwise_conv(lines, Tensor({2, 3, 1}));
  });
  check_throws<ShapeError>("[separable_conv] pointwise_kernel must have shape (1, 8, 5); got (1, 4, 5)", [&] {
    separable_conv(lines, Tensor({2, 4, 2}), Tensor({1, 4, 5}));
  });
  check_throws<ShapeError>("[conv_transpose] input axis -1 must be 3 (channels of kernel); got shape (2, 5, 4)", [&] {
    conv_transpose(lines, Tensor({2, 4, 3}));
  });
  check_throws<ValueError>("[conv_transpose] output_padding must be less than strides, (2,); got (2,)", [&] {
    conv_transpose(lines, Tensor({2, 3, 4}), {.strides = 2, .output_padding = 2});
  });
}

BOOST_AUTO_TEST_SUITE_END()
