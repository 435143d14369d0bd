#include <boost/test/unit_test.hpp>

#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_both(const Tensor& x) {
  const Attributes attributes{{"axis", static_cast<std::int64_t>(x.shape().size()) - 1}};
  check_xsimd("softmax", attributes, {x}, 1e-6);
  const Tensor y = widened_reference("softmax", attributes, {x}, {{x.shape(), x.dtype()}}).at(0);
  check_xsimd("softmax_gradient", attributes, {y, random_tensor(x.shape(), x.dtype(), 3)}, 1e-6);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_softmax)

BOOST_AUTO_TEST_CASE(values) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t columns : {1, 2, 3, 7, 8, 16, 17, 64, 100, 1003}) {
      for (const std::int64_t rows : {1, 5, 17}) check_both(random_tensor({rows, columns}, dtype, 1, -10, 10));
    }
  }
}

BOOST_AUTO_TEST_CASE(shared_by_threads) {
  for (const DType dtype : xsimd_dtypes) check_both(random_tensor({7, 70, 130}, dtype, 1, -10, 10));
}

BOOST_AUTO_TEST_CASE(extremes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x({3, 3}, std::vector<float>{3e38F, -3e38F, 0, -1e4F, -1e4F, -1e4F, -infinity, 0, 1});
  check_xsimd("softmax", {{"axis", std::int64_t{1}}}, {x}, 1e-6);
}

BOOST_AUTO_TEST_CASE(declines) {
  std::string reason;
  const auto request = [](DType dtype, std::int64_t axis) {
    return kernel_request("softmax", {{"axis", axis}}, std::vector<Spec>{{{2, 3}, dtype}});
  };
  BOOST_TEST(!xsimd_kernel(request(DType::float64, 1), Isa::sse2, reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
  reason.clear();
  BOOST_TEST(!xsimd_kernel(request(DType::float32, 0), Isa::sse2, reason));
  BOOST_TEST(reason == "takes the last axis, 1; got axis 0");
}

BOOST_AUTO_TEST_SUITE_END()
