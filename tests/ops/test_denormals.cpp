#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/float_order.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Restore {
  ~Restore() { set_flush_denormals(true); }
};

Tensor floats(const std::vector<float>& numbers) { return {{static_cast<std::int64_t>(numbers.size())}, numbers}; }

// More numbers than a register holds, which begin with denormals.
Tensor denormals_first() {
  std::vector<float> numbers{1e-39F, -1e-39F, 1e-45F, -1e-45F, 0, -0.0F};
  for (int i = 0; i < 35; ++i) numbers.push_back(i % 2 == 0 ? 1e-39F : -2.0F);
  return floats(numbers);
}

std::vector<double> signs_of(const Tensor& x) {
  std::vector<double> out = x.to_doubles();
  for (double& number : out) number = number > 0 ? 1 : number < 0 ? -1 : 0;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(denormals)

BOOST_AUTO_TEST_CASE(have_a_sign_on_every_instruction_set) {
  const Restore restore;
  const Tensor x = denormals_first();
  for (const bool flush : {true, false}) {
    set_flush_denormals(flush);
    const auto expected = signs_of(x);
    BOOST_TEST(sign(x).tensor().to_doubles() == expected, boost::test_tools::per_element());
    BOOST_TEST(sign(x.cast(DType::float64)).tensor().to_doubles() == expected, boost::test_tools::per_element());
    BOOST_TEST(run_reference("sign", {}, {x})[0].to_doubles() == expected, boost::test_tools::per_element());
    for (const DType dtype : xsimd_dtypes) {
      const KernelRequest request = kernel_request("sign", {}, {x.cast(dtype)});
      for_each_isa([&](Isa isa) {
        std::string reason;
        const auto kernel = xsimd_kernel(request, isa, reason);
        Tensor result;
        {
          const detail::ComputeScope computing;
          result = run_kernel(*kernel, request, {x.cast(dtype)})[0];
        }
        BOOST_TEST(result.to_doubles() == signs_of(x.cast(dtype)), boost::test_tools::per_element());
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(signs_of_zeros_and_nans_are_kept) {
  const std::vector<float> numbers{0, -0.0F, std::nanf(""), INFINITY, -INFINITY};
  for_each_isa([&](Isa isa) {
    const KernelRequest request = kernel_request("sign", {}, {floats(numbers)});
    std::string reason;
    const Tensor result = run_kernel(*xsimd_kernel(request, isa, reason), request, {floats(numbers)})[0];
    const float* y = result.data<float>();
    BOOST_TEST((y[0] == 0 && !std::signbit(y[0]) && y[1] == 0 && std::signbit(y[1])));
    BOOST_TEST((std::isnan(y[2]) && y[3] == 1 && y[4] == -1));
  });
}

BOOST_AUTO_TEST_CASE(are_neither_equal_to_zero_nor_to_one_another) {
  const std::vector<double> expected{0, 0, 1, 1, 0};
  const Tensor a = floats({1e-39F, 1e-39F, 1e-39F, 0, std::nanf("")});
  const Tensor b = floats({0, 2e-39F, 1e-39F, -0.0F, std::nanf("")});
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    BOOST_TEST(equal(a.cast(dtype), b.cast(dtype)).tensor().to_doubles() == expected, boost::test_tools::per_element());
  }
  const Tensor tiny({2}, std::vector<double>{5e-324, 5e-324}), other({2}, std::vector<double>{0, 5e-324});
  BOOST_TEST(equal(tiny, other).tensor().to_doubles() == (std::vector<double>{0, 1}));
}

BOOST_AUTO_TEST_CASE(are_ordered_by_argmax) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    BOOST_TEST(argmax(floats({0, 1e-39F, 3e-39F, 2e-39F}).cast(dtype)).item() == 2);
    BOOST_TEST(argmax(floats({-2e-39F, -1e-39F, -3e-39F}).cast(dtype)).item() == 1);
    BOOST_TEST(argmax(floats({-0.0F, 0, -1}).cast(dtype)).item() == 0);
    BOOST_TEST(argmax(floats({5, std::nanf(""), INFINITY}).cast(dtype)).item() == 1);
  }
}

BOOST_AUTO_TEST_CASE(are_true_as_bools) {
  const Tensor x = floats({1e-39F, -1e-45F, 0, -0.0F, std::nanf(""), 1});
  const std::vector<double> expected{1, 1, 0, 0, 1, 1};
  BOOST_TEST(cast(x, DType::boolean).tensor().to_doubles() == expected, boost::test_tools::per_element());
  BOOST_TEST(x.cast(DType::boolean).to_doubles() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(order_of_bits_is_the_order_of_numbers) {
  const std::vector<float> ascending{-INFINITY, -3e38F, -1, -1e-39F, -1e-45F, 0, 1e-45F, 1e-39F, 1, 3e38F, INFINITY};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    BOOST_TEST(detail::float_order(ascending[i - 1]) < detail::float_order(ascending[i]));
    BOOST_TEST(detail::float_order(static_cast<double>(ascending[i - 1])) <
               detail::float_order(static_cast<double>(ascending[i])));
  }
  BOOST_TEST(detail::float_order(-0.0F) == detail::float_order(0.0F));
}

BOOST_AUTO_TEST_SUITE_END()
