// Layers that repeat, add and remove elements along spatial axes.
#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(shape_layers)

BOOST_AUTO_TEST_CASE(equal_keras) {
  const RecordedLayer rows[] = {
      {"up_sampling1d", [] { return UpSampling1D(3); }},
      {"up_sampling2d", [] { return UpSampling2D(); }},
      {"up_sampling2d_factors",
       [] {
         return UpSampling2D({3, 1});
       }},
      {"up_sampling2d_bilinear",
       [] {
         return UpSampling2D({2, 3}, {.interpolation = "bilinear"});
       }},
      {"up_sampling2d_bicubic",
       [] {
         return UpSampling2D({2, 3}, {.interpolation = "bicubic"});
       }},
      {"up_sampling2d_lanczos3",
       [] {
         return UpSampling2D({2, 3}, {.interpolation = "lanczos3"});
       }},
      {"up_sampling2d_lanczos5",
       [] {
         return UpSampling2D({2, 3}, {.interpolation = "lanczos5"});
       }},
      {"up_sampling3d", [] { return UpSampling3D(); }},
      {"up_sampling3d_factors",
       [] {
         return UpSampling3D({1, 3, 2});
       }},
      {"zero_padding1d", [] { return ZeroPadding1D(); }},
      {"zero_padding1d_pair",
       [] {
         return ZeroPadding1D({0, 2});
       }},
      {"zero_padding3d", [] { return ZeroPadding3D(); }},
      {"zero_padding3d_of_three",
       [] {
         return ZeroPadding3D({2, 0, 1});
       }},
      {"zero_padding3d_pairs",
       [] {
         return ZeroPadding3D({.padding = {{1, 0}, {0, 2}, {0, 0}}});
       }},
      {"cropping1d", [] { return Cropping1D(); }},
      {"cropping1d_pair",
       [] {
         return Cropping1D({0, 3});
       }},
      {"cropping2d", [] { return Cropping2D(); }},
      {"cropping2d_of_two",
       [] {
         return Cropping2D({2, 1});
       }},
      {"cropping2d_pairs",
       [] {
         return Cropping2D({{1, 0}, {0, 3}});
       }},
      {"cropping3d", [] { return Cropping3D(1); }},
      {"cropping3d_pairs",
       [] {
         return Cropping3D({{1, 2}, {0, 3}, {1, 0}});
       }},
      {"repeat_vector", [] { return RepeatVector(3); }},
  };
  for (const RecordedLayer& row : rows) check_recorded(row.name, row.make, "spatial_layers");
}

// Elements are copied or, by interpolation, weighted by numbers that add up to 1.
BOOST_AUTO_TEST_CASE(shapes_policies_and_empty_batches) {
  struct Row {
    std::function<Any<Layer>(const Policy&)> make;
    Shape input, expected;
  };
  const Row rows[] = {
      {[](const Policy& p) { return UpSampling1D(3, {.dtype = p}); }, {2, 4}, {6, 4}},
      {[](const Policy& p) {
         return UpSampling2D({1, 2}, {.dtype = p});
       },
       {3, 2, 4},
       {3, 4, 4}},
      {[](const Policy& p) { return UpSampling2D(2, {.interpolation = "bilinear", .dtype = p}); },
       {3, 2, 4},
       {6, 4, 4}},
      {[](const Policy& p) { return UpSampling3D(2, {.dtype = p}); }, {1, 2, 3, 2}, {2, 4, 6, 2}},
      {[](const Policy& p) {
         return ZeroPadding1D({{1, 2}}, {.dtype = p});
       },
       {3, 2},
       {6, 2}},
      {[](const Policy& p) { return ZeroPadding3D(1, {.dtype = p}); }, {1, 2, 3, 2}, {3, 4, 5, 2}},
      {[](const Policy& p) { return Cropping1D(1, {.dtype = p}); }, {4, 2}, {2, 2}},
      {[](const Policy& p) {
         return Cropping3D({0, 1, 0}, {.dtype = p});
       },
       {1, 3, 2, 2},
       {1, 1, 2, 2}},
      {[](const Policy& p) { return RepeatVector(2, {.dtype = p}); }, {5}, {2, 5}},
  };
  const auto batch = [](std::int64_t size, Shape shape) {
    shape.insert(shape.begin(), size);
    return shape;
  };
  for (const Row& row : rows) {
    const Value x(RandomNormal().make(batch(2, row.input), DType::float32, 1));
    const Value exact = row.make("float64")(x);
    BOOST_TEST((exact.shape() == batch(2, row.expected)));
    BOOST_TEST(largest_difference(row.make("mixed_bfloat16")(x).tensor(), exact.tensor()) <= 0.01);
    BOOST_TEST(largest_difference(row.make("mixed_float16")(x).tensor(), exact.tensor()) <= 0.002);
    BOOST_TEST((row.make("mixed_float16")(x).dtype() == DType::float16));
    BOOST_TEST((row.make("float32")(Input(row.input)).shape() == batch(-1, row.expected)));
    BOOST_TEST((row.make("float32")(Value(Tensor(batch(0, row.input)))).shape() == batch(0, row.expected)));
  }
}

// Values: test_open_sizes.cpp.
BOOST_AUTO_TEST_CASE(unknown_sizes) {
  const Input x({-1, 3});
  for (const Value& y : {ZeroPadding1D(2)(x), Cropping1D({2, 0})(x), Cropping1D(1)(x), UpSampling1D(2)(x)}) {
    BOOST_TEST((y.shape() == Shape{-1, -1, 3}));
  }
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { UpSampling1D(0); }) ==
             "[UpSampling1D] size must be one number of at least 1; got (0,)");
  BOOST_TEST(refused<ValueError>([] {
               UpSampling3D({2, 2});
             }) == "[UpSampling3D] size must be one or three numbers of at least 1; got (2, 2)");
  BOOST_TEST(refused<NameError>([] { UpSampling2D(2, {.interpolation = "linear"}); }) ==
             "[UpSampling2D] unknown interpolation \"linear\"; valid names: bicubic, bilinear, lanczos3, lanczos5, "
             "nearest; nearest: \"bilinear\"");
  BOOST_TEST(refused<ValueError>([] {
               ZeroPadding1D({1, 2, 3});
             }) == "[ZeroPadding1D] padding must be one number or a pair of numbers of at least 0; got (1, 2, 3)");
  BOOST_TEST(refused<ValueError>([] {
               ZeroPadding3D({1, 2});
             }) == "[ZeroPadding3D] padding must be one, three or three pairs of numbers of at least 0; got (1, 2)");
  BOOST_TEST(refused<ValueError>([] {
               Cropping2D({.cropping = {{1, 2}}});
             }) == "[Cropping2D] cropping must be one, two or two pairs of numbers of at least 0; got (1, 2)");
  BOOST_TEST(refused<ValueError>([] { Cropping2D(-1); }) ==
             "[Cropping2D] cropping must be one, two or two pairs of numbers of at least 0; got (-1,)");
  BOOST_TEST(refused<ValueError>([] { RepeatVector(); }) == "[RepeatVector] n must be at least 1; got 0");
  const auto text = [](const Any<Layer>& layer, const Shape& shape) {
    return refused<ShapeError>([&] { (*layer)(Value(Tensor(shape))); });
  };
  BOOST_TEST(text(Cropping1D({1, 2}, {.name = "cut"}), {2, 3, 4}) ==
             "[Cropping1D \"cut\"] input axis 1 must be larger than cropping, 1 + 2; got shape (2, 3, 4)");
  BOOST_TEST(text(RepeatVector(2), {2, 3, 4}) ==
             "[RepeatVector] input must have rank 2 (batch, features); got shape (2, 3, 4)");
  BOOST_TEST(text(ZeroPadding1D(1), {2, 3}) ==
             "[ZeroPadding1D] input must have rank 3 (batch, steps, channels); got shape (2, 3): add a batch axis if "
             "this is one sample");
  BOOST_TEST(text(UpSampling2D(), {2, 3, 4}) ==
             "[UpSampling2D] input must have rank 4 (batch, height, width, channels); got shape (2, 3, 4): add a batch "
             "axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
