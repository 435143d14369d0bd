#include <boost/test/unit_test.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<Shape> shapes{{1, 1},        {2, 3},     {5, 7, 8},  {65, 10},   {3, 5, 5, 16}, {2, 17},
                                {4, 6, 6, 64}, {130, 130}, {14000, 5}, {400, 200}, {67, 1027}};

Attributes norm_attributes(bool training) { return {{"epsilon", 1e-3}, {"momentum", 0.9}, {"training", training}}; }

std::vector<Tensor> operands(const Tensor& x) {
  const Shape channels{x.shape().back()};
  return {x, random_tensor(channels, DType::float32, 2, 0.5, 2), random_tensor(channels, DType::float32, 3),
          random_tensor(channels, DType::float32, 4), random_tensor(channels, DType::float32, 5, 0.5, 2)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_batch_norm)

BOOST_AUTO_TEST_CASE(forward) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : shapes) {
      for (const bool training : {true, false}) {
        check_xsimd("batch_norm", norm_attributes(training), operands(random_tensor(shape, dtype, 1, -2, 5)), 2e-6);
      }
    }
  }
}

// Two threads keep the last 8 MiB each in the caches.
BOOST_AUTO_TEST_CASE(large_arrays) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Shape shape{300000, dtype == DType::float32 ? 16 : 32};
    std::vector<Tensor> all = operands(random_tensor(shape, dtype, 1, -2, 5));
    check_past_caches("batch_norm", norm_attributes(true), all);
    all.push_back(random_tensor(shape, dtype, 6, -2, 2));
    check_past_caches("batch_norm", with_attribute(norm_attributes(true), "epilogue", detail::Epilogue::relu), all);
  }
}

BOOST_AUTO_TEST_CASE(mean_far_from_zero) {
  const Tensor x = random_tensor({5000, 20}, DType::float32, 1, 1000, 1001);
  check_xsimd("batch_norm", norm_attributes(true), operands(x), 1e-5);
}

BOOST_AUTO_TEST_CASE(all_of_the_variance_is_in_few_rows) {
  Tensor x = random_tensor({20000, 4}, DType::float32, 1);
  for (std::int64_t i = 0; i < 4; ++i) x.mutable_data<float>()[i] = 1e4F;
  check_xsimd("batch_norm", norm_attributes(true), operands(x), 1e-5);
}

BOOST_AUTO_TEST_CASE(gradient) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : shapes) {
      for (const bool training : {true, false}) {
        const Tensor x = random_tensor(shape, dtype, 1, -2, 5), g = random_tensor(shape, dtype, 2);
        const Shape channels{shape.back()};
        const double rows = static_cast<double>(x.size()) /
                            static_cast<double>(shape.back());  // number of terms of about 1 in the sums
        check_xsimd(
            "batch_norm_gradient", {{"training", training}},
            {g, x, random_tensor(channels, DType::float32, 3, 0.5, 2), random_tensor(channels, DType::float32, 4, 1, 2),
             random_tensor(channels, DType::float32, 5, 0.5, 1)},
            1e-5 + 1e-8 * rows);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
