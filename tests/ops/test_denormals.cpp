#include <boost/test/unit_test.hpp>

#include <cfloat>
#include <cmath>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/float_order.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/sorting.hpp>

#include "support/runs.hpp"
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

/// Signs of the numbers; those of denormals too if they are not flushed.
std::vector<double> signs_of(const Tensor& x, bool flush) {
  std::vector<double> out = x.to_doubles();
  const double least = !flush ? 0 : x.dtype() == DType::float64 ? DBL_MIN : x.dtype() == DType::float16 ? 0 : FLT_MIN;
  for (double& number : out) number = std::abs(number) < least ? 0 : number > 0 ? 1 : number < 0 ? -1 : 0;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(denormals)

BOOST_AUTO_TEST_CASE(have_a_sign_on_every_instruction_set_unless_flushed) {
  const Restore restore;
  const Tensor x = denormals_first();
  for (const bool flush : {true, false}) {
    set_flush_denormals(flush);
    const auto expected = signs_of(x, flush);
    BOOST_TEST(sign(x).tensor().to_doubles() == expected, boost::test_tools::per_element());
    BOOST_TEST(sign(x.cast(DType::float64)).tensor().to_doubles() == signs_of(x.cast(DType::float64), flush),
               boost::test_tools::per_element());
    {
      const detail::ComputeScope computing;
      BOOST_TEST(run_reference("sign", {}, {x})[0].to_doubles() == expected, boost::test_tools::per_element());
    }
    for (const DType dtype : xsimd_dtypes) {
      const Tensor numbers = x.cast(dtype);
      const KernelRequest request = kernel_request("sign", {}, {numbers});
      for_each_isa([&](Isa isa) {
        std::string reason;
        const auto kernel = xsimd_kernel(request, isa, reason);
        Tensor result;
        {
          const detail::ComputeScope computing;
          result = run_kernel(*kernel, request, {numbers})[0];
        }
        BOOST_TEST(result.to_doubles() == signs_of(numbers, flush), boost::test_tools::per_element());
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

BOOST_AUTO_TEST_CASE(are_zero_to_comparisons_or_compared_exactly) {
  const Restore restore;
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const double tiny = dtype == DType::float64 ? 1e-310 : 1e-39;
    const Tensor x = Tensor({5}, std::vector<double>{tiny, -tiny, 0, 1, std::nan("")}).cast(dtype);
    for (const bool flush : {true, false}) {
      set_flush_denormals(flush);
      const double seen = flush ? 0 : 1;
      const auto check = [&](const Value& y, const std::vector<double>& expected) {
        BOOST_TEST(y.tensor().to_doubles() == expected, boost::test_tools::per_element());
      };
      check(equal(x, 0), {1 - seen, 1 - seen, 1, 0, 0});
      check(not_equal(x, 0), {seen, seen, 0, 1, 1});
      check(greater(x, 0), {seen, 0, 0, 1, 0});
      check(less(x, 0), {0, seen, 0, 0, 0});
      check(greater_equal(x, 0), {1, 1 - seen, 1, 1, 0});
      check(less_equal(x, 0), {1 - seen, 1, 1, 0, 0});
      check(cast(x, DType::boolean), {seen, seen, 0, 1, 1});
      check(equal(x(slice(0, 1)), x(slice(1, 2))), {1 - seen});
    }
  }
}

BOOST_AUTO_TEST_CASE(are_ties_of_zero_to_argmax_and_argsort) {
  const Restore restore;
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const double tiny = dtype == DType::float64 ? 1e-310 : 1e-39;
    const Tensor x = Tensor({4}, std::vector<double>{0, tiny, 3 * tiny, 2 * tiny}).cast(dtype);
    set_flush_denormals(true);
    BOOST_TEST(argmax(x).item() == 0);
    BOOST_TEST(argmin(x).item() == 0);
    BOOST_TEST(argsort(-Value(x)).tensor().to_doubles() == (std::vector<double>{0, 1, 2, 3}));
    set_flush_denormals(false);
    BOOST_TEST(argmax(x).item() == 2);
    BOOST_TEST(argsort(-Value(x)).tensor().to_doubles() == (std::vector<double>{2, 3, 1, 0}));
    BOOST_TEST(argmax(floats({-0.0F, 0, -1}).cast(dtype)).item() == 0);
    BOOST_TEST(argmax(floats({5, std::nanf(""), INFINITY}).cast(dtype)).item() == 1);
  }
}

// Outside of steps the caller's settings hold.
BOOST_AUTO_TEST_CASE(are_true_in_casts_of_tensors) {
  const Tensor x = floats({1e-39F, -1e-45F, 0, -0.0F, std::nanf(""), 1});
  BOOST_TEST(x.cast(DType::boolean).to_doubles() == (std::vector<double>{1, 1, 0, 0, 1, 1}),
             boost::test_tools::per_element());
}

namespace {

struct Elementary {
  const char* name;
  Value (*function)(const Value&);
};

const Elementary functions[] = {
    {"abs", abs},
    {"arccos", arccos},
    {"arccosh", arccosh},
    {"arcsin", arcsin},
    {"arcsinh", arcsinh},
    {"arctan", arctan},
    {"arctanh", arctanh},
    {"cbrt", cbrt},
    {"ceil", ceil},
    {"cos", cos},
    {"cosh", cosh},
    {"erf", erf},
    {"erfc", erfc},
    {"erfinv", erfinv},
    {"exp", exp},
    {"exp2", exp2},
    {"expm1", expm1},
    {"floor", floor},
    {"log", log},
    {"log10", log10},
    {"log1p", log1p},
    {"log2", log2},
    {"negative", negative},
    {"reciprocal", reciprocal},
    {"relu", relu},
    {"rsqrt", rsqrt},
    {"sigmoid", sigmoid},
    {"sign", sign},
    {"silu", silu},
    {"sin", sin},
    {"sinh", sinh},
    {"softplus", softplus},
    {"sqrt", sqrt},
    {"square", square},
    {"tan", tan},
    {"tanh", tanh},
    {"trunc", trunc},
    {"mish", mish},
    {"sinc", sinc},
    {"times 1", [](const Value& x) { return x * 1; }},
    {"gelu", [](const Value& x) { return gelu(x); }},
    {"round", [](const Value& x) { return round(x); }},
};

struct OfTwo {
  const char* name;
  Value (*function)(const Value&, const Value&);
};

const OfTwo functions_of_two[] = {
    {"arctan2", arctan2},
    {"divide", divide},
    {"divide_no_nan", divide_no_nan},
    {"floor_divide", floor_divide},
    {"fmod", fmod},
    {"hypot", hypot},
    {"logaddexp", logaddexp},
    {"maximum", maximum},
    {"minimum", minimum},
    {"mod", mod},
    {"power", power},
    {"add", add},
    {"subtract", subtract},
    {"multiply", multiply},
    {"heaviside", heaviside},
};

/// Equal numbers, where denormals count as 0, and NaN equals NaN.
void check_same(const Value& got, const Value& expected, const std::string& name) {
  const double least = got.dtype() == DType::float64 ? DBL_MIN : FLT_MIN;
  const auto a = got.tensor().to_doubles(), b = expected.tensor().to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool zeros = std::abs(a[i]) < least && std::abs(b[i]) < least;
    const bool same = zeros || a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    BOOST_TEST(same, name << " " << dtype_name(got.dtype()) << " " << i << ": " << a[i] << ", of zeros " << b[i]);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(are_zero_to_every_elementary_function) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const double tiny = dtype == DType::float64 ? 1e-310 : 1e-39, less = dtype == DType::float64 ? 5e-324 : 1.2e-40;
    const Tensor x = Tensor({6}, std::vector<double>{tiny, -tiny, less, -less, tiny, 2}).cast(dtype);
    const Tensor zeros = Tensor({6}, std::vector<double>{0, -0.0, 0, -0.0, 0, 2}).cast(dtype);
    for (const Elementary& each : functions) check_same(each.function(x), each.function(zeros), each.name);
    const Tensor others = Tensor({6}, std::vector<double>{1, 2, -1, 0, less, -tiny}).cast(dtype);
    const Tensor other_zeros = Tensor({6}, std::vector<double>{1, 2, -1, 0, 0, -0.0}).cast(dtype);
    for (const OfTwo& each : functions_of_two) {
      check_same(each.function(x, others), each.function(zeros, other_zeros), each.name);
      check_same(each.function(others, x), each.function(other_zeros, zeros), std::string(each.name) + " reversed");
    }
  }
}

BOOST_AUTO_TEST_CASE(are_zero_to_chains_of_functions) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Tensor x = Tensor({5}, std::vector<double>{1e-39, -1e-39, 1.2e-40, -2e-39, 2}).cast(dtype);
    const Tensor zeros = Tensor({5}, std::vector<double>{0, -0.0, 0, -0.0, 2}).cast(dtype);
    for (const Elementary& each : functions) {
      const TestedStep step = [&](const Values& v) {
        const Value y = each.function(v[0]);
        return Values{y * 2, where(y > 0, y, v[0]) * 3, cast(v[0], DType::boolean)};
      };
      const TensorList got = run_compiled(trace_step(step, {x}), {x});
      const TensorList expected = run_compiled(trace_step(step, {zeros}), {zeros});
      for (std::size_t i = 0; i < got.size(); ++i) check_same(got[i], expected[i], each.name);
    }
  }
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
