// Pooling of 1 to 3 spatial axes. The layers of 2 axes with windows have files of their own.
#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(poolings)

BOOST_AUTO_TEST_CASE(equal_keras) {
  const RecordedLayer rows[] = {
      {"average_pooling1d", [] { return AveragePooling1D(); }},
      {"average_pooling1d_same", [] { return AveragePooling1D(3, {.strides = 2, .padding = "same"}); }},
      {"average_pooling3d", [] { return AvgPool3D(2); }},
      {"average_pooling3d_same",
       [] {
         return AveragePooling3D({3, 2, 1}, {.strides = {1, 2, 1}, .padding = "same"});
       }},
      {"max_pooling1d", [] { return MaxPool1D(); }},
      {"max_pooling1d_same", [] { return MaxPooling1D({.pool_size = 3, .strides = 2, .padding = "same"}); }},
      {"max_pooling3d", [] { return MaxPooling3D(); }},
      {"max_pooling3d_same",
       [] {
         return MaxPool3D({3, 2, 1}, {.strides = {1, 2, 1}, .padding = "same"});
       }},
      {"adaptive_average_pooling1d", [] { return AdaptiveAveragePooling1D(3); }},
      {"adaptive_average_pooling2d",
       [] {
         return AdaptiveAveragePooling2D({4, 5});
       }},
      {"adaptive_average_pooling3d", [] { return AdaptiveAveragePooling3D({.output_size = 2}); }},
      {"adaptive_max_pooling1d", [] { return AdaptiveMaxPooling1D(3); }},
      {"adaptive_max_pooling2d",
       [] {
         return AdaptiveMaxPooling2D({4, 5});
       }},
      {"adaptive_max_pooling3d", [] { return AdaptiveMaxPooling3D(2); }},
      {"global_average_pooling3d", [] { return GlobalAvgPool3D(); }},
      {"global_average_pooling3d_keepdims", [] { return GlobalAveragePooling3D({.keepdims = true}); }},
      {"global_max_pooling1d", [] { return GlobalMaxPooling1D(); }},
      {"global_max_pooling1d_keepdims", [] { return GlobalMaxPool1D({.keepdims = true}); }},
      {"global_max_pooling2d", [] { return GlobalMaxPooling2D(); }},
      {"global_max_pooling2d_keepdims", [] { return GlobalMaxPool2D({.keepdims = true}); }},
      {"global_max_pooling3d", [] { return GlobalMaxPooling3D(); }},
      {"global_max_pooling3d_keepdims", [] { return GlobalMaxPool3D({.keepdims = true}); }},
  };
  for (const RecordedLayer& row : rows) check_recorded(row.name, row.make, "spatial_layers");
}

BOOST_AUTO_TEST_CASE(shapes_policies_and_empty_batches) {
  struct Row {
    std::function<Any<Layer>(const Policy&)> make;
    Shape input, expected;
  };
  const Row rows[] = {
      {[](const Policy& p) { return AvgPool1D(3, {.strides = 2, .padding = "same", .dtype = p}); }, {7, 4}, {4, 4}},
      {[](const Policy& p) { return AvgPool2D(2, {.dtype = p}); }, {5, 6, 4}, {2, 3, 4}},
      {[](const Policy& p) { return AveragePooling3D(2, {.dtype = p}); }, {5, 6, 4, 2}, {2, 3, 2, 2}},
      {[](const Policy& p) { return MaxPool2D(2, {.dtype = p}); }, {5, 6, 4}, {2, 3, 4}},
      {[](const Policy& p) { return MaxPooling3D(2, {.dtype = p}); }, {5, 6, 4, 2}, {2, 3, 2, 2}},
      {[](const Policy& p) { return AdaptiveAveragePooling2D(3, {.dtype = p}); }, {5, 6, 4}, {3, 3, 4}},
      {[](const Policy& p) { return AdaptiveMaxPooling1D(5, {.dtype = p}); }, {3, 4}, {5, 4}},
      {[](const Policy& p) { return GlobalAvgPool1D({.dtype = p}); }, {6, 4}, {4}},
      {[](const Policy& p) { return GlobalAvgPool2D({.keepdims = true, .dtype = p}); }, {5, 6, 4}, {1, 1, 4}},
      {[](const Policy& p) { return GlobalAveragePooling3D({.dtype = p}); }, {5, 6, 4, 2}, {2}},
      {[](const Policy& p) { return GlobalMaxPooling3D({.keepdims = true, .dtype = p}); }, {5, 6, 4, 2}, {1, 1, 1, 2}},
  };
  const auto batch = [](std::int64_t size, Shape shape) {
    shape.insert(shape.begin(), size);
    return shape;
  };
  for (const Row& row : rows) {
    const Value x(RandomNormal().make(batch(2, row.input), DType::float32, 1));
    const Value exact = row.make("float64")(x);
    BOOST_TEST((exact.shape() == batch(2, row.expected)));
    // The input is rounded, means are accumulated in float32, and the result is rounded.
    BOOST_TEST(largest_difference(row.make("mixed_bfloat16")(x).tensor(), exact.tensor()) <= 0.01);
    BOOST_TEST(largest_difference(row.make("mixed_float16")(x).tensor(), exact.tensor()) <= 0.002);
    BOOST_TEST((row.make("mixed_float16")(x).dtype() == DType::float16));
    BOOST_TEST((row.make("float32")(Input(row.input)).shape() == batch(-1, row.expected)));
    BOOST_TEST((row.make("float32")(Value(Tensor(batch(0, row.input)))).shape() == batch(0, row.expected)));
  }
}

BOOST_AUTO_TEST_CASE(global_pooling_takes_unknown_lengths) {
  BOOST_TEST((GlobalMaxPooling1D()(Input({-1, 3})).shape() == Shape{-1, 3}));
  BOOST_TEST((GlobalAveragePooling3D()(Input({-1, -1, -1, 3})).shape() == Shape{-1, 3}));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { MaxPooling1D(0); }) ==
             "[MaxPooling1D] pool_size must be one number of at least 1; got (0,)");
  BOOST_TEST(refused<ValueError>([] {
               AveragePooling3D(2, {.strides = {1, 2}});
             }) == "[AveragePooling3D] strides must be one or three numbers of at least 1; got (1, 2)");
  BOOST_TEST(refused<NameError>([] { MaxPooling3D(2, {.padding = "full"}); }) ==
             "[MaxPooling3D] unknown padding \"full\"; valid names: same, valid");
  BOOST_TEST(refused<ValueError>([] { MaxPooling1D(3, {.pool_size = 3}); }) ==
             "[MaxPooling1D] pool_size is given twice: once without a name and once as .pool_size");
  BOOST_TEST(refused<ValueError>([] { AdaptiveMaxPooling2D(); }) ==
             "[AdaptiveMaxPooling2D] output_size must be one or two numbers of at least 1; got ()");
  BOOST_TEST(refused<ValueError>([] {
               AdaptiveAveragePooling3D({2, 0, 1});
             }) == "[AdaptiveAveragePooling3D] output_size must be one or three numbers of at least 1; got (2, 0, 1)");
  const auto text = [](const Any<Layer>& layer, const Shape& shape) {
    return refused<ShapeError>([&] { (*layer)(Value(Tensor(shape))); });
  };
  BOOST_TEST(text(MaxPooling1D(3), {2, 2, 4}) ==
             "[MaxPooling1D] input axis 1 must be at least 3 (pool_size 3); got shape (2, 2, 4)");
  BOOST_TEST(text(AveragePooling3D(2, {.name = "p"}), {2, 2, 4}) ==
             "[AveragePooling3D \"p\"] input must have rank 5 (batch, depth, height, width, channels); got shape "
             "(2, 2, 4)");
  BOOST_TEST(text(GlobalMaxPooling2D(), {2, 2, 4}) ==
             "[GlobalMaxPooling2D] input must have rank 4 (batch, height, width, channels); got shape (2, 2, 4): add a "
             "batch axis if this is one sample");
  BOOST_TEST(text(AdaptiveAveragePooling1D(2), {2, 4}) ==
             "[AdaptiveAveragePooling1D] input must have rank 3 (batch, steps, channels); got shape (2, 4): add a "
             "batch axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
