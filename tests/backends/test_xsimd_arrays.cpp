#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/core/finfo.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// Reductions other than sums, scans, and ops that move elements.
namespace {

struct ArrayCase {
  Shape shape, axes;
};

/// Leading, trailing, middle and all axes, with tails; shapes of several blocks, and of several strips of columns.
const std::vector<ArrayCase> fold_cases{{{1}, {0}},
                                        {{17}, {0}},
                                        {{70001}, {0}},
                                        {{5, 7}, {0}},
                                        {{1003, 3}, {0}},
                                        {{2, 5, 9, 16}, {0, 1, 2}},
                                        {{24, 3000}, {0}},
                                        {{150, 1030}, {0}},
                                        {{129, 10}, {1}},
                                        {{3, 1003}, {1}},
                                        {{2, 66001}, {1}},
                                        {{33, 65}, {0, 1}},
                                        {{3, 7, 7, 40}, {1, 2}},
                                        {{4, 1, 8}, {1}},
                                        {{6, 1, 1, 5}, {0, 2}},
                                        {{2, 3, 4}, {}}};

enum class Specials { none, zeros, all };

/// Random numbers, many of them equal, with zeros of both signs, denormals and infinities, and at last with NaN.
Tensor numbers(const Shape& shape, DType dtype, Specials specials) {
  Tensor x = small_integers(shape, DType::float32);
  const float infinity = std::numeric_limits<float>::infinity();
  const float some[] = {0, -0.0F, 1e-40F, -1e-40F, 6e-8F, infinity, -infinity, std::nanf(""), -std::nanf("")};
  const std::int64_t kinds = specials == Specials::none ? 0 : specials == Specials::zeros ? 5 : 9;
  for (std::int64_t i = 0; i < x.size() && kinds > 0; i += 13) x.mutable_data<float>()[i] = some[i / 13 % kinds];
  return x.cast(dtype);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_arrays)

BOOST_AUTO_TEST_CASE(extremes) {
  for (const ArrayCase& c : fold_cases) {
    for (const DType dtype : xsimd_dtypes) {
      for (const Specials specials : {Specials::none, Specials::zeros, Specials::all}) {
        const Tensor x = numbers(c.shape, dtype, specials);
        for (const char* op : {"max", "min"}) check_xsimd(op, {{"axes", c.axes}, {"keepdims", false}}, {x}, 0);
        if (c.axes.size() != 1) continue;
        for (const char* op : {"argmax", "argmin"}) check_xsimd(op, {{"axis", c.axes[0]}}, {x}, 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(products) {
  for (const ArrayCase& c : fold_cases) {
    for (const DType dtype : xsimd_dtypes) {
      const Attributes attributes{{"axes", c.axes}, {"keepdims", true}};
      if (element_count(c.shape) < 2000) {  // factors of a half precision are too far from 1 for more
        check_xsimd("prod", attributes, {random_tensor(c.shape, dtype, 1, 0.99, 1.01)}, 1e-6);
      }
      check_xsimd("prod", attributes, {numbers(c.shape, dtype, Specials::zeros)}, 1e-6);
      check_xsimd("prod", attributes, {numbers(c.shape, dtype, Specials::all)}, 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(truth) {
  for (const ArrayCase& c : fold_cases) {
    for (const double high : {0.9999, 1.0001, 1.5, 3.0}) {  // from none true to most
      Tensor x(c.shape, DType::boolean);
      const Tensor random = random_tensor(c.shape, DType::float32, 3, 0, high);
      for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<bool>()[i] = random.data<float>()[i] > 1;
      Tensor opposite(c.shape, DType::boolean);
      for (std::int64_t i = 0; i < x.size(); ++i) opposite.mutable_data<bool>()[i] = !x.data<bool>()[i];
      for (const Tensor& of : {x, opposite}) {
        for (const char* op : {"any", "all"}) check_xsimd(op, {{"axes", c.axes}, {"keepdims", false}}, {of}, 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(scans) {
  const std::pair<Shape, std::int64_t> cases[] = {{{7}, 0},       {{3, 5}, 1},       {{37, 41}, 1},   {{37, 41}, 0},
                                                  {{4, 9, 2}, 1}, {{2, 300, 70}, 1}, {{40, 1003}, 1}, {{33001}, 0}};
  for (const auto& [shape, axis] : cases) {
    for (const DType dtype : xsimd_dtypes) {
      for (const bool reverse : {false, true}) {
        for (const bool exclusive : {false, true}) {
          const Attributes attributes{{"axis", axis}, {"reverse", reverse}, {"exclusive", exclusive}};
          check_xsimd("cumsum", attributes, {random_tensor(shape, dtype, 1, 0, 1)}, 1e-6);
          check_xsimd("cumsum", attributes, {numbers(shape, DType::float32, Specials::all)}, 1e-6);
          if (element_count(shape) < 2000) {
            check_xsimd("cumprod", attributes, {random_tensor(shape, dtype, 1, 0.99, 1.01)}, 1e-6);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(softmaxes) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : {1, 3, 8, 17, 65, 1003}) {
      const Tensor x = random_tensor({3, size}, dtype, 1, -3, 3);
      for (const char* op : {"log_softmax", "sparsemax"}) check_xsimd(op, {{"axis", std::int64_t{1}}}, {x}, 1e-6);
    }
    const Tensor equal = random_tensor({2, 50}, dtype, 1, 2, 2.0001);
    check_xsimd("sparsemax", {{"axis", std::int64_t{1}}}, {equal}, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(replaced_numbers) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      const Tensor x = numbers({size}, dtype, Specials::all);
      check_xsimd("nan_to_num", {{"nan", 7.0}, {"posinf", 8.0}, {"neginf", -9.0}}, {x}, 0);
    }
    const float infinity = std::numeric_limits<float>::infinity();
    const Tensor x = Tensor({2}, std::vector<float>{infinity, -infinity}).cast(dtype);
    const double most = finfo(dtype).max;
    for_each_isa([&](Isa isa) {
      const KernelRequest request = kernel_request("nan_to_num", {{"nan", 0.0}}, {x});
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      const std::vector<double> expected{most, -most};
      BOOST_TEST(run_kernel(*kernel, request, {x})[0].to_doubles() == expected, boost::test_tools::per_element());
    });
  }
}

BOOST_AUTO_TEST_CASE(moved_elements) {
  const std::pair<Shape, Shape> transposes[] = {{{5}, {0}},
                                                {{3, 4}, {1, 0}},
                                                {{16, 16}, {1, 0}},
                                                {{33, 65}, {1, 0}},
                                                {{100, 3}, {1, 0}},
                                                {{3, 100}, {1, 0}},
                                                {{300, 290}, {1, 0}},
                                                {{2, 40, 50}, {0, 2, 1}},
                                                {{4, 5, 6}, {2, 1, 0}},
                                                {{2, 3, 4, 70}, {0, 2, 1, 3}},
                                                {{2, 34, 35, 3}, {0, 3, 1, 2}},
                                                {{2, 3, 34, 35}, {0, 2, 3, 1}},
                                                {{40, 1, 36}, {2, 1, 0}},
                                                {{1, 1}, {1, 0}},
                                                {{2, 3, 2, 3, 2, 3}, {5, 1, 3, 0, 4, 2}}};
  const std::pair<Shape, Shape> flips[] = {{{1}, {0}},        {{40}, {0}},       {{3, 129}, {1}},     {{129, 3}, {0}},
                                           {{5, 17}, {0, 1}}, {{2, 33, 3}, {1}}, {{4, 5, 6}, {0, 2}}, {{33001}, {0}}};
  const std::pair<Shape, Shape> broadcasts[] = {
      {{}, {7}},        {{5}, {40, 5}}, {{40, 1}, {40, 33}}, {{3, 1, 4}, {3, 5, 4}}, {{1, 5, 1}, {4, 5, 6}},
      {{2, 3}, {2, 3}}, {{1}, {33001}}};
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64, DType::uint8, DType::int64}) {
    const auto some = [&](const Shape& shape) { return random_tensor(shape, DType::float32, 1, 0, 200).cast(dtype); };
    for (const auto& [shape, permutation] : transposes) {
      check_xsimd("transpose", {{"permutation", permutation}}, {some(shape)}, 0);
    }
    for (const auto& [shape, axes] : flips) check_xsimd("flip", {{"axes", axes}}, {some(shape)}, 0);
    for (const auto& [shape, to] : broadcasts) check_xsimd("broadcast_to", {{"shape", to}}, {some(shape)}, 0);
  }
}

BOOST_AUTO_TEST_CASE(bits_of_moved_elements_are_kept) {
  Tensor x({64, 64}, DType::int16);
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<std::int16_t>()[i] = static_cast<std::int16_t>(i * 17);
  check_xsimd("transpose", {{"permutation", Shape{1, 0}}}, {x}, 0);
}

BOOST_AUTO_TEST_CASE(declines) {
  std::string reason;
  const auto declined = [&](const char* op, const Attributes& attributes, DType dtype) {
    const KernelRequest request = kernel_request(op, attributes, std::vector<Spec>{{{2, 3, 4}, dtype}});
    return !xsimd_kernel(request, Isa::sse2, reason);
  };
  BOOST_TEST(declined("max", {{"axes", Shape{0, 2}}, {"keepdims", false}}, DType::float32));
  BOOST_TEST(reason == "reduces neighbouring axes; got axes (0, 2) of (2, 3, 4)");
  reason.clear();
  BOOST_TEST(declined("argmax", {{"axis", std::int64_t{1}}}, DType::int32));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got int32");
  reason.clear();
  BOOST_TEST(declined("log_softmax", {{"axis", std::int64_t{1}}}, DType::float32));
  BOOST_TEST(reason == "takes the last axis, 2; got axis 1");
}

BOOST_AUTO_TEST_SUITE_END()
