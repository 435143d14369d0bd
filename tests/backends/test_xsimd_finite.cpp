#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

Tensor with_one(std::int64_t size, DType dtype, std::int64_t at, float value) {
  Tensor x = random_tensor({size});
  x.mutable_data<float>()[at] = value;
  return x.cast(dtype);
}

void check_all(const std::vector<Tensor>& gradients) {
  check_xsimd("all_finite", {}, gradients, 0);
  std::vector<Tensor> inputs{float64_scalar(1024)};
  inputs.insert(inputs.end(), gradients.begin(), gradients.end());
  for (const double clipnorm : {0.0, 1e-3, 1e6}) {
    check_xsimd("gradient_multiplier", {{"clipnorm", clipnorm}}, inputs, 1e-12);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_finite)

BOOST_AUTO_TEST_CASE(finite) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) check_all({random_tensor({size}, dtype)});
    check_all({with_one(33, dtype, 5, 6e4F), random_tensor({shared_size}, dtype)});
  }
}

BOOST_AUTO_TEST_CASE(not_finite) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      for (const float value : {infinity, -infinity, not_a_number}) {
        check_all({random_tensor({7}), with_one(size, dtype, size - 1, value)});
        check_all({with_one(size, dtype, 0, value), random_tensor({7})});
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(all_dtypes_at_once) {
  check_all({random_tensor({1003}), random_tensor({65}, DType::bfloat16), random_tensor({7}, DType::float16)});
}

BOOST_AUTO_TEST_CASE(squares_beyond_float32) {
  for (const float value : {3e38F, 1e-30F}) check_all({with_one(17, DType::float32, 3, value)});
  check_all({Tensor({100}), Tensor({3}, std::vector<float>{1e-30F, 1e-30F, 0})});
}

BOOST_AUTO_TEST_CASE(float64_is_declined) {
  std::string reason;
  const KernelRequest request = kernel_request("all_finite", {}, std::vector<Spec>{{{3}, DType::float64}});
  BOOST_TEST(!xsimd_kernel(request, Isa::sse2, reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
}

BOOST_AUTO_TEST_SUITE_END()
