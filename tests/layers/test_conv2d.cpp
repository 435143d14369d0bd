#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/convolutional/conv2d_transpose.hpp>
#include <mezzo/nn/input.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(conv2d)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("conv2d", [] { return Conv2D({.filters = 3, .kernel_size = 3}); });
  check_recorded("conv2d_same_strides_relu", [] {
    return Conv2D({.filters = 3, .kernel_size = 3, .strides = 2, .padding = "same", .activation = "relu"});
  });
  check_recorded("conv2d_rectangular", [] {
    return Conv2D({.filters = 2, .kernel_size = {2, 3}, .strides = {1, 2}, .padding = "same"});
  });
  check_recorded("conv2d_dilated", [] {
    return Conv2D({.filters = 2, .kernel_size = {3, 2}, .dilation_rate = {2, 3}});
  });
  check_recorded("conv2d_groups_without_bias",
                 [] { return Conv2D({.filters = 6, .kernel_size = 2, .groups = 2, .use_bias = false}); });
}

BOOST_AUTO_TEST_CASE(padding_takes_torchs_numbers) {
  check_recorded("conv2d_torch_padding",
                 [] { return Conv2D({.filters = 3, .kernel_size = 3, .strides = 2, .padding = 1}); });
}

BOOST_AUTO_TEST_CASE(computes_in_the_policys_dtype) {
  Conv2D layer({.filters = 2, .kernel_size = 3, .dtype = "mixed_bfloat16"});
  BOOST_TEST((layer(Value(Tensor({1, 4, 4, 3}))).dtype() == DType::bfloat16));
  BOOST_TEST((layer.weights()[0].dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Conv2D({.kernel_size = 3}); }) == "[Conv2D] filters must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { Conv2D({.filters = 4}); }) ==
             "[Conv2D] kernel_size must be one or two numbers of at least 1; got ()");
  BOOST_TEST(refused<ValueError>([] { Conv2D({.filters = 4, .kernel_size = 3, .strides = 0}); }) ==
             "[Conv2D] strides must be one or two numbers of at least 1; got (0,)");
  BOOST_TEST(refused<ValueError>([] { Conv2D({.filters = 4, .kernel_size = 3, .groups = 3}); }) ==
             "[Conv2D] filters must be a multiple of groups (3); got 4");
  BOOST_TEST(refused<NameError>([] { Conv2D({.filters = 4, .kernel_size = 3, .padding = "full"}); }) ==
             "unknown padding \"full\"; valid names: same, valid (or numbers of pixels)");

  Conv2D layer({.filters = 4, .kernel_size = 3, .name = "stem"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({28, 28, 3})));
             }) ==
             "[Conv2D \"stem\"] input must have rank 4 (batch, height, width, channels); got shape (28, 28, 3): add a "
             "batch axis if this is one sample");
  layer(Value(Tensor({2, 5, 5, 3})));
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({32, 28, 28, 1})));
             }) == "[Conv2D \"stem\"] input axis -1 must be 3 (kernel channels); got shape (32, 28, 28, 1)");
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({2, 5, 2, 3})));
             }) == "[Conv2D \"stem\"] input axis 2 must be at least 3 (kernel 3); got shape (2, 5, 2, 3)");

  Conv2D grouped({.filters = 4, .kernel_size = 1, .groups = 2});
  BOOST_TEST(refused<ShapeError>([&] {
               grouped(Value(Tensor({2, 5, 5, 3})));
             }) == "[Conv2D] input axis -1 must be a multiple of groups (2); got shape (2, 5, 5, 3)");
}

BOOST_AUTO_TEST_CASE(transposed_equals_keras) {
  check_recorded("conv2d_transpose", [] { return Conv2DTranspose(3, 3); });
  check_recorded("conv2d_transpose_same",
                 [] { return Conv2DTranspose(3, 3, {.strides = 2, .padding = "same", .activation = "relu"}); });
  check_recorded("conv2d_transpose_even", [] { return Conv2DTranspose(2, 4, {.strides = 2, .padding = "same"}); });
  check_recorded("conv2d_transpose_wide_strides",
                 [] { return Conv2DTranspose(2, 2, {.strides = 3, .use_bias = false}); });
  check_recorded("conv2d_transpose_wide_strides_same", [] {
    return Conv2DTranspose(2, {1, 2}, {.strides = {3, 4}, .padding = "same"});
  });
  check_recorded("conv2d_transpose_output_padding",
                 [] { return Conv2DTranspose(2, 3, {.strides = 2, .padding = "same", .output_padding = 1}); });
  check_recorded("conv2d_transpose_output_padding_valid", [] {
    return Conv2DTranspose(2, {2, 3}, {.strides = {3, 2}, .output_padding = {2, 0}});
  });
  check_recorded("conv2d_transpose_dilated", [] { return Conv2DTranspose(2, {3, 2}, {.dilation_rate = {2, 3}}); });
  const Value y = Conv2DTranspose(4, 3, {.strides = 2, .padding = "same"})(Input({5, 6, 2}));
  BOOST_TEST((y.shape() == Shape{-1, 10, 12, 4}));
  BOOST_TEST(refused<ValueError>([] { Conv2DTranspose(2, 3, {.strides = 2, .output_padding = 2}); }) ==
             "[Conv2DTranspose] output_padding must be less than strides, (2, 2); got (2, 2)");
  BOOST_TEST(refused<NameError>([] { Conv2DTranspose(2, 3, {.padding = "full"}); }) ==
             "[Conv2DTranspose] unknown padding \"full\"; valid names: same, valid");
  BOOST_TEST((Conv2DTranspose(2, 3)(Input({-1, 6, 2})).shape() == Shape{-1, -1, 8, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
