#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <mezzo/ops/image.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/numpy.hpp>

#include "ops/recorded_cases.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// Functions of <mezzo/ops/numpy.hpp> and <mezzo/ops/image.hpp>.

namespace {

const double missing = std::numeric_limits<double>::quiet_NaN();

// 9 stands for NaN in the recorded cases.
Value with_nan(const Value& x) { return where(equal(x, 9.0), missing, x); }

void add_reductions_without_nan(FunctionTable& t) {
  const std::map<std::string, Value (*)(const Value&, const ReduceOptions&)> reductions{
      {"nansum", nansum},   {"nanprod", nanprod}, {"nanmax", nanmax}, {"nanmin", nanmin},
      {"nanmean", nanmean}, {"nanvar", nanvar},   {"nanstd", nanstd}, {"nanmedian", nanmedian}};
  for (const auto& [name, reduce] : reductions) {
    const auto f = reduce;
    t[name] = of([f](const Value& x) { return f(with_nan(x), {}); });
    t[name + "_axis"] = of([f](const Value& x) { return f(with_nan(x), {{1}}); });
    t[name + "_axes_kept"] = of([f](const Value& x) { return f(with_nan(x), {{0, -1}, true}); });
  }
  t["nanargmax"] = of([](const Value& x) { return nanargmax(with_nan(x)); });
  t["nanargmax_axis"] = of([](const Value& x) { return nanargmax(with_nan(x), 1); });
  t["nanargmin"] = of([](const Value& x) { return nanargmin(with_nan(x)); });
  t["nanargmin_axis"] = of([](const Value& x) { return nanargmin(with_nan(x), 1); });
  for (const std::string method : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    t["nanquantile_" + method] = of([method](const Value& x) { return nanquantile(with_nan(x), 0.3, {{1}, method}); });
  }
  t["nanquantiles"] = of([](const Value& x) {
    return nanquantile(with_nan(x), std::vector<double>{0.1, 0.5, 1}, {{0}});
  });
  t["nanpercentile"] = of([](const Value& x) { return nanpercentile(with_nan(x), 70); });
  t["nancumsum"] = of([](const Value& x) { return nancumsum(with_nan(x), 1); });
  t["nancumprod"] = of([](const Value& x) { return nancumprod(with_nan(x), 0); });
}

void add_sets(FunctionTable& t) {
  t["moments"] = [](const Values& x) {
    const Moments out = moments(x[0], {{0}});
    return Values{out.mean, out.variance};
  };
  t["isin"] = of_two([](const Value& x, const Value& y) { return isin(x, y); });
  t["isin_invert"] = of_two([](const Value& x, const Value& y) { return isin(x, y, true); });
  t["unique"] = [](const Values& x) {
    const Unique out = unique(x[0]);
    return Values{out.values, out.indices, out.inverse, out.counts};
  };
  t["nonzero"] = [](const Values& x) { return nonzero(x[0]); };
  t["unravel_index"] = [](const Values& x) { return unravel_index(x[0], {3, 4, 5}); };
  t["argpartition_value"] = of([](const Value& x) {
    return reshape(take(x, slice(argpartition(x, 2), {{2}, {1}})), {});
  });
  t["segment_prod"] = of_two([](const Value& x, const Value& i) { return segment_prod(x, i, 5); });
  t["hsplit"] = [](const Values& x) { return hsplit(x[0], 3); };
  t["vsplit"] = [](const Values& x) { return vsplit(x[0], {1, 3}); };
  t["dsplit"] = [](const Values& x) { return dsplit(x[0], 2); };
  for (const char* mode : {"valid", "same", "full"}) {
    t["correlate_" + std::string(mode)] = t["correlate_swapped_" + std::string(mode)] =
        of_two([mode](const Value& x, const Value& y) { return correlate(x, y, mode); });
  }
  t["corrcoef"] = of(corrcoef);
  t["cdist"] = of_two(cdist);
  t["psnr"] = of_two([](const Value& x, const Value& y) { return psnr(x, y, 2); });
  t["unfold"] = of([](const Value& x) { return unfold(x, 2); });
  t["unfold_options"] = of([](const Value& x) { return unfold(x, {3, 2}, {{1, 2}, {1, 0}, {2, 1}}); });
  t["fold"] = of([](const Value& x) { return fold(x, {6, 5}, {3, 2}, {1, {1, 0}, 1}); });
  t["extract_sequences"] = of([](const Value& x) { return extract_sequences(x, 3, 2); });
  t["depth_to_space"] = of([](const Value& x) { return depth_to_space(x, 2); });
  t["space_to_depth"] = of([](const Value& x) { return space_to_depth(x, 2); });
  t["i0"] = of(i0);
  t["rms_normalization"] = of_two([](const Value& x, const Value& s) { return rms_normalization(x, s); });
  t["lu_factor"] = [](const Values& x) {
    const LU out = lu_factor(x[0]);
    return Values{out.lu, out.pivots};
  };
}

void add_images(FunctionTable& t) {
  t["rgb_to_grayscale"] = of(image::rgb_to_grayscale);
  t["rgb_to_hsv"] = of(image::rgb_to_hsv);
  t["hsv_to_rgb"] = of(image::hsv_to_rgb);
  for (const std::string method : {"bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"}) {
    t["resize_up_" + method] = of([method](const Value& x) { return image::resize(x, {7, 5}, {method}); });
    t["resize_down_" + method] = of([method](const Value& x) { return image::resize(x, {3, 11}, {method}); });
    t["resize_antialias_" + method] = of([method](const Value& x) { return image::resize(x, {2, 3}, {method, true}); });
  }
  t["resize_crop"] = of([](const Value& x) { return image::resize(x, {6, 3}, {"bilinear", false, true}); });
  t["resize_pad"] = of([](const Value& x) { return image::resize(x, {6, 3}, {"bilinear", false, false, true, 0.5}); });
  t["scale_and_translate"] = of([](const Value& x) {
    return image::scale_and_translate(x, {2, 4, 9, 3}, {0.7, 1.3}, {0.4, -0.8}, {1, 2}, {"cubic"});
  });
  t["crop_images"] = of([](const Value& x) {
    return image::crop_images(x, {.top_cropping = 1, .left_cropping = 2, .target_height = 3, .target_width = 4});
  });
  t["pad_images"] = of([](const Value& x) {
    return image::pad_images(x, {.top_padding = 1, .left_padding = 2, .target_height = 8, .target_width = 10});
  });
  t["extract_patches"] = of([](const Value& x) { return image::extract_patches(x, {2, 3}); });
  t["extract_patches_same"] =
      of([](const Value& x) { return image::extract_patches(x, 3, {.strides = 2, .padding = "same"}); });
  t["extract_patches_dilated"] =
      of([](const Value& x) { return image::extract_patches(x, 2, {.strides = 1, .dilation_rate = 2}); });
  t["extract_patches_3d"] = of([](const Value& x) { return image::extract_patches_3d(x, 2, {.strides = 1}); });
  for (const std::string mode : {"constant", "nearest", "wrap", "mirror", "reflect"}) {
    for (const std::int64_t order : {0, 1}) {
      t[(order == 1 ? "map_coordinates_" : "map_nearest_") + mode] = of_two([=](const Value& x, const Value& places) {
        return image::map_coordinates(x, places, order, {mode, 0.25});
      });
    }
  }
  // Coordinates are computed in float64, those of Keras too: near integers both round alike.
  const Tensor exact({2, 8},
                     std::vector<double>{0.9, 0.2, 0.3, -0.1, 1.1, -0.4, 0, 0, 1.2, -0.3, 1.0, 0.2, 0.8, 0.5, 0, 0});
  t["affine_transform"] = of([exact](const Value& x) { return image::affine_transform(x, exact); });
  t["affine_nearest"] = of([exact](const Value& x) {
    return image::affine_transform(x, exact(0), {"nearest", "reflect"});
  });
  const Tensor start = {{0, 0}, {6, 0}, {0, 4}, {6, 4}};
  const Tensor end = {{0.5, 0.3}, {5.7, 0.1}, {0.2, 3.6}, {5.5, 4.2}};
  t["perspective_transform"] = of([=](const Value& x) { return image::perspective_transform(x, start, end); });
  t["gaussian_blur"] = of([](const Value& x) { return image::gaussian_blur(x, {{3, 5}, {1.0, 0.7}}); });
  t["sobel_edges"] = of(image::sobel_edges);
  t["ssim"] = of_two([](const Value& x, const Value& y) { return image::ssim(x, y, {.filter_size = 3}); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(further_ops)

BOOST_AUTO_TEST_CASE(equal_keras) {
  FunctionTable all;
  add_reductions_without_nan(all);
  add_sets(all);
  add_images(all);
  check_recorded("further_ops", all, {{"perspective_transform", 1e-5}});  // Keras solves for the transform in float32
}

namespace {

Tensor numbers(const std::vector<double>& x) { return {{static_cast<std::int64_t>(x.size())}, x}; }

void check_numbers(const Value& x, const std::vector<double>& expected) {
  const std::vector<double> result = x.tensor().to_doubles();
  BOOST_TEST(result == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(compiled_steps_equal_eager_ones) {
  const auto step = [](const Values& x) {
    const Value y = image::resize(x[0], {3, 5}, {.interpolation = "bicubic"});
    const Value turned = image::affine_transform(y, array({0.9, 0.1, 0, 0.2, 1.1, 0, 0, 0}));
    const Value z = sum(nansum(turned) + mean(image::extract_patches(y, 2)) + sum(segment_prod(x[1], x[2], 3)));
    Values out = gradients(z, {x[0], x[1]});
    out.push_back(z);
    return out;
  };
  Tensor pixels = linspace(0.1, 0.9, {.num = 64}).reshape({2, 4, 4, 2});
  const TensorList arguments{pixels, array({0.5, 2.0, 3.0}), array({0, 2, 0})};
  const TensorList eager = run_in_eager_trace(step, arguments),
                   compiled = run_compiled(trace_step(step, arguments), arguments);
  BOOST_TEST_REQUIRE(eager.size() == compiled.size());
  for (std::size_t i = 0; i < eager.size(); ++i) check_equal(compiled[i], eager[i], 1e-6);
}

BOOST_AUTO_TEST_CASE(nan_infinity_and_integers) {
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(std::isnan(nanmax(numbers({missing, missing})).item()));
  BOOST_TEST(nanmax(numbers({missing, -infinity})).item() == -infinity);
  BOOST_TEST(nansum(numbers({missing, missing})).item() == 0);
  BOOST_TEST(nanprod(numbers({missing})).item() == 1);
  BOOST_TEST(std::isnan(nanmean(numbers({missing})).item()));
  BOOST_TEST(std::isnan(nanmedian(numbers({missing})).item()));
  BOOST_TEST(nanargmax(numbers({missing, missing})).item() == -1);
  BOOST_TEST(nanargmin(numbers({missing, 4, 2})).item() == 2);
  BOOST_TEST(nanmax(array({3, 7})).item() == 7);
  check_numbers(isin(numbers({missing, 1}), numbers({missing, 1})), {0, 1});
  check_numbers(nextafter(numbers({0, 1, -2, 2}), numbers({1, 0, -5, 2})),
                {std::nextafter(0.0, 1.0), std::nextafter(1.0, 0.0), std::nextafter(-2.0, -5.0), 2});
  check_numbers(nextafter(array({0.0, 1.0, -0.5}), array({-1.0, 2.0, 0.0})),
                {std::nextafter(0.0F, -1.0F), std::nextafter(1.0F, 2.0F), std::nextafter(-0.5F, 0.0F)});
  check_numbers(nextafter(array({1.0}, DType::bfloat16), array({2.0}, DType::bfloat16)), {1.0078125});
  BOOST_TEST(allclose(numbers({1, 2}), numbers({1, 2.000001})).item() == 1);
  BOOST_TEST(allclose(numbers({1, missing}), numbers({1, missing})).item() == 0);
  BOOST_TEST(allclose(numbers({missing}), numbers({missing}), 1e-5, 1e-8, true).item() == 1);
  BOOST_TEST((convert_to_tensor(1.5).dtype() == DType::float32));
  BOOST_TEST((convert_to_tensor(array({1, 2}), DType::float64).dtype() == DType::float64));
}

BOOST_AUTO_TEST_CASE(sizes_of_0) {
  const Tensor none({0, 3}, DType::float64);
  BOOST_TEST(nansum(none).item() == 0);
  BOOST_TEST((nanmean(none, {{1}}).shape() == Shape{0}));
  BOOST_TEST((isin(none, numbers({1})).shape() == Shape{0, 3}));
  check_numbers(isin(numbers({1, 2}), Tensor({0})), {0, 0});
  BOOST_TEST((unique(none).values.shape() == Shape{0}));
  BOOST_TEST((nonzero(none).at(1).shape() == Shape{0}));
  BOOST_TEST((cdist(none, Tensor({2, 3}, DType::float64)).shape() == Shape{0, 2}));
  check_numbers(segment_prod(none, Tensor({0}, DType::int32), 1), {1, 1, 1});
  BOOST_TEST((image::resize(Tensor({0, 4, 4, 1}), {2, 2}, {.antialias = true}).shape() == Shape{0, 2, 2, 1}));
  BOOST_TEST((image::extract_patches(Tensor({0, 4, 4, 1}), 2).shape() == Shape{0, 2, 2, 4}));
  BOOST_TEST((unfold(Tensor({0, 1, 3, 3}), 2).shape() == Shape{0, 4, 4}));
  BOOST_TEST((image::affine_transform(Tensor({0, 4, 4, 1}), Tensor({8})).shape() == Shape{0, 4, 4, 1}));
}

BOOST_AUTO_TEST_CASE(error_texts) {
  const Value images = Tensor({2, 4, 6, 3});
  check_throws<NameError>(
      "[resize] unknown interpolation \"cubic\"; valid names: bicubic, bilinear, lanczos3, lanczos5, nearest; nearest: "
      "\"bicubic\"",
      [&] {
        image::resize(images, {2, 2}, {.interpolation = "cubic"});
      });
  check_throws<ShapeError>("[rgb_to_hsv] images must have 3 channels; got shape (4, 4, 2)", [] {
    image::rgb_to_hsv(Tensor({4, 4, 2}));
  });
  check_throws<ShapeError>("[gaussian_blur] images must have 3 axes, or 4 with a batch; got shape (4, 4)", [] {
    image::gaussian_blur(Tensor({4, 4}));
  });
  check_throws<ValueError>(
      "[crop_images] two of three numbers must be given for the height: both sides, or one and the target; got 1",
      [&] { image::crop_images(images, {.top_cropping = 1}); });
  check_throws<ValueError>(
      "[crop_images] numbers for the height must be at least 0 and fit images of 4; got 3 and -1 at the sides",
      [&] { image::crop_images(images, {.top_cropping = 3, .target_height = 2}); });
  check_throws<NameError>(
      "[affine_transform] unknown fill_mode \"edge\"; valid names: constant, mirror, nearest, reflect, wrap",
      [&] { image::affine_transform(images, Tensor({8}), {.fill_mode = "edge"}); });
  check_throws<ShapeError>(
      "[map_coordinates] coordinates must have shape (2, ...), a row for each axis of (3, 3); got shape (3, 1)", [] {
        image::map_coordinates(Tensor({3, 3}), Tensor({3, 1}), 1);
      });
  check_throws<ValueError>("[segment_prod] segment_ids must be in [0, 2); got 2", [] {
    segment_prod(Tensor({1, 2}), array({2}), 2);
  });
  check_throws<ValueError>("[argpartition] kth must be in [-3, 3); got 3", [] { argpartition(Tensor({3}), 3); });
  check_throws<ShapeError>("[lu_factor] x must be square matrices (..., N, N); got shape (2, 3)", [] {
    lu_factor(Tensor({2, 3}));
  });
  check_throws<ShapeError>("[hsplit] axis 1 must have a multiple of 2 elements; got shape (2, 3)", [] {
    hsplit(Tensor({2, 3}), 2);
  });
  check_throws<NameError>("[correlate] unknown mode \"all\"; valid names: full, same, valid",
                          [] { correlate(Tensor({2}), Tensor({2}), "all"); });
  check_throws<ShapeError>("[fold] x must be (batch, a multiple of 4, 4) for images of 3 by 3; got shape (1, 4, 5)",
                           [] {
                             fold(Tensor({1, 4, 5}), 3, 2);
                           });
}

BOOST_AUTO_TEST_SUITE_END()
