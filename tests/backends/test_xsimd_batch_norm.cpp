#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/ops/creation.hpp>

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
        std::vector<Tensor> all{g, x, random_tensor(channels, DType::float32, 3, 0.5, 2),
                                random_tensor(channels, DType::float32, 4, 1, 2),
                                random_tensor(channels, DType::float32, 5, 0.5, 1)};
        const double tolerance = 1e-5 + 1e-8 * rows;
        check_xsimd("batch_norm_gradient", {{"training", training}}, all, tolerance);
        all.push_back(random_tensor(channels, DType::float32, 6, -1, 1));
        Attributes masked{{"training", training}, {"epilogue", detail::Epilogue::relu}, {"shift", true}};
        check_xsimd("batch_norm_gradient", masked, all, tolerance);
        masked.set("max_value", 1.5);
        check_xsimd("batch_norm_gradient", masked, all, tolerance);
      }
    }
  }
}

// y is 5.9995, which is 6 in 16 bits.
BOOST_AUTO_TEST_CASE(mask_is_that_of_the_output_before_it_is_rounded) {
  const Attributes relu6{
      {"training", false}, {"epilogue", detail::Epilogue::relu}, {"shift", true}, {"max_value", 6.0}};
  const Tensor zeros({40}), ones = full({40}, 1.0), shift = full({40}, 5.9995);
  for (const DType dtype : xsimd_dtypes) {
    BOOST_TEST((dtype == DType::float32) == (shift.cast(dtype).to_doubles()[0] < 6));
    const std::vector<Tensor> inputs{full({3, 40}, 0.25, dtype), Tensor({3, 40}, dtype), ones, zeros, ones, shift};
    const KernelRequest request = kernel_request("batch_norm_gradient", relu6, inputs);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      BOOST_TEST(run_kernel(*kernel, request, inputs)[0].equal(inputs[0]));
    });
  }
}

BOOST_AUTO_TEST_CASE(nan_stays_where_it_is) {
  for (const DType dtype : xsimd_dtypes) {
    Tensor x = random_tensor({4, 40}, DType::float32, 1);
    for (const int place : {0, 37, 55, 159}) x.mutable_data<float>()[place] = std::nanf("");  // also behind pairs
    const std::vector<double> numbers = x.to_doubles();
    const std::vector<Tensor> inputs = operands(x.cast(dtype));
    const KernelRequest request = kernel_request("batch_norm", norm_attributes(false), inputs);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      const std::vector<double> y = run_kernel(*kernel, request, inputs)[0].to_doubles();
      for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(std::isnan(y[i]) == std::isnan(numbers[i]), "number " << i);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
