#include <boost/test/unit_test.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape shape, axes;
};

/// Leading, trailing, middle and all axes, with tails; small shapes and shapes of several blocks.
const std::vector<Case> cases{{{1}, {0}},         {{17}, {0}},
                              {{70001}, {0}},     {{5, 7}, {0}},
                              {{1003, 3}, {0}},   {{2, 5, 9, 16}, {0, 1, 2}},
                              {{520, 130}, {0}},  {{14000, 5}, {0}},
                              {{24, 3000}, {0}},  {{129, 10}, {1}},
                              {{3, 1003}, {1}},   {{2, 66001}, {1}},
                              {{33, 65}, {0, 1}}, {{3, 7, 7, 40}, {1, 2}},
                              {{4, 1, 8}, {1}},   {{6, 1, 1, 5}, {0, 2}},
                              {{2, 3, 4}, {}}};

Attributes attributes(const Shape& axes, DType dtype, bool keepdims = false) {
  return {{"axes", axes}, {"keepdims", keepdims}, {"dtype", dtype}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_reduce)

BOOST_AUTO_TEST_CASE(values) {
  for (const Case& c : cases) {
    for (const DType dtype : xsimd_dtypes) {
      const Tensor x = random_tensor(c.shape, dtype, 1, 0, 1);
      for (const DType out : {DType::float32, dtype}) {
        check_xsimd("mean", attributes(c.axes, out), {x}, 1e-6);
        check_xsimd("sum", attributes(c.axes, out, true), {x}, 1e-6);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(integers_are_exact) {
  for (const Case& c : cases) {
    for (const DType dtype : xsimd_dtypes) {
      check_xsimd("sum", attributes(c.axes, DType::float32), {small_integers(c.shape, dtype)}, 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(declines) {
  std::string reason;
  const auto declined = [&](const Shape& axes, DType dtype) {
    const KernelRequest request = kernel_request("sum", attributes(axes, dtype), std::vector<Spec>{{{2, 3, 4}, dtype}});
    return !xsimd_kernel(request, Isa::sse2, reason);
  };
  BOOST_TEST(declined({0, 2}, DType::float32));
  BOOST_TEST(reason == "sums over neighbouring axes; got axes (0, 2) of (2, 3, 4)");
  BOOST_TEST(declined({0}, DType::float64));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
}

BOOST_AUTO_TEST_SUITE_END()
