#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/implementations.hpp>

#include "support/onednn.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const char* const needed = "needs bfloat16 in hardware";

Attributes product(bool transpose_a, bool transpose_b, DType out = DType::float16,
                   detail::Epilogue epilogue = detail::Epilogue::none) {
  Attributes attributes{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"dtype", out}};
  if (epilogue != detail::Epilogue::none) attributes.set("epilogue", epilogue);
  return attributes;
}

/// Runs the split product on any machine with bfloat16 in hardware, and checks that it writes only to its own memory.
Tensor split(const Attributes& attributes, const std::vector<Tensor>& inputs) {
  const KernelRequest request = kernel_request("matmul", attributes, inputs);
  std::string reason;
  const auto kernel = onednn::make_split_matmul(request, reason);
  BOOST_TEST_REQUIRE(kernel != nullptr, reason);
  const Tensor first = run_between_margins(*kernel, request, inputs);
  const Tensor again = run_between_margins(*kernel, request, inputs);  // on other addresses
  BOOST_TEST(first.equal(again));
  return first;
}

struct Sizes {
  std::int64_t rows, columns, depth;
};

std::vector<Tensor> operands(const Sizes& s, const Shape& stack, bool shared, bool transpose_a, bool transpose_b,
                             bool integers) {
  Shape a = stack, b = shared ? Shape{} : stack;
  a.insert(a.end(), {transpose_a ? s.depth : s.rows, transpose_a ? s.rows : s.depth});
  b.insert(b.end(), {transpose_b ? s.columns : s.depth, transpose_b ? s.depth : s.columns});
  if (integers) return {small_integers(a, DType::float16, 1), small_integers(b, DType::float16, 2)};
  return {random_tensor(a, DType::float16, 1), random_tensor(b, DType::float16, 2)};
}

/// Compares with "widen". Both sum the same exact products in float32, but in a different order. With positive operands
/// nothing cancels, so the sums differ by a relative 1e-6. Neighbouring float16 are 5e-4 to 1e-3 apart: the sums round
/// to the same float16 or, less often than once in a hundred, to neighbours.
void check_against_widen(bool transpose_a, bool transpose_b, const Shape& a, const Shape& b) {
  const Attributes attributes = product(transpose_a, transpose_b);
  const std::vector<Tensor> inputs{random_tensor(a, DType::float16, 1, 0, 1),
                                   random_tensor(b, DType::float16, 2, 0, 1)};
  const Tensor got = split(attributes, inputs);
  const Tensor wide = run_kernel("widen", "matmul", attributes, inputs).outputs.at(0);
  std::int64_t same = 0, neighbours = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const int steps = std::abs(got.data<float16>()[i].bits - wide.data<float16>()[i].bits);
    same += steps == 0 ? 1 : 0;
    neighbours += steps == 1 ? 1 : 0;
  }
  BOOST_TEST(same + neighbours == got.size());
  BOOST_TEST(neighbours * 100 < got.size(), neighbours << " of " << got.size() << " differ");
}

/// Compares with float64, within the rounding error of float32 sums of numbers below 1.
void check_against_exact(const Attributes& attributes, const std::vector<Tensor>& inputs, std::int64_t depth) {
  const Tensor got = split(with_attribute(attributes, "dtype", DType::float32), inputs);
  const double difference = largest_difference(got, exact_result("matmul", attributes, inputs));
  BOOST_TEST(difference <= 1e-6 * std::sqrt(static_cast<double>(depth)), "differs by " << difference);
}

Tensor halves(const Shape& shape, const std::vector<float>& numbers) {
  return Tensor(shape, numbers).cast(DType::float16);
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_split_matmul)

BOOST_AUTO_TEST_CASE(all_layouts) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  for (int bits = 0; bits < 4; ++bits) {
    const bool ta = (bits & 1) != 0, tb = (bits & 2) != 0;
    for (const Sizes& s : {Sizes{5, 18, 33}, Sizes{1, 1, 1}, Sizes{3, 1, 7}, Sizes{1, 9, 65}, Sizes{64, 96, 128}}) {
      for (const Shape& stack : {Shape{}, Shape{2, 3}}) {
        for (const bool shared : {false, true}) {
          if (shared && (stack.empty() || ta)) continue;
          BOOST_TEST_CONTEXT(s.rows << " x " << s.depth << " x " << s.columns << " layout " << bits << " stack "
                                    << to_string(stack) << " shared " << shared) {
            const auto integers = operands(s, stack, shared, ta, tb, true);
            for (const DType out : {DType::float16, DType::float32}) {
              const Tensor exact = exact_result("matmul", product(ta, tb), integers).cast(out);
              BOOST_TEST(split(product(ta, tb, out), integers).equal(exact), dtype_name(out));
            }
            check_against_exact(product(ta, tb), operands(s, stack, shared, ta, tb, false), s.depth);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(epilogues) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  for (const DType bias : {DType::float16, DType::float32}) {
    for (const DType out : {DType::float16, DType::float32}) {
      for (const detail::Epilogue epilogue : {detail::Epilogue::none, detail::Epilogue::relu}) {
        auto inputs = operands({7, 19, 33}, {}, false, false, false, true);
        inputs.push_back(small_integers({19}, bias, 3));
        const Attributes attributes = product(false, false, out, epilogue);
        BOOST_TEST(
            split(attributes, inputs).equal(exact_result("matmul", attributes, inputs).cast(out)),
            dtype_name(bias) << " bias, " << dtype_name(out) << (epilogue == detail::Epilogue::relu ? " relu" : ""));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(equals_widen_to_the_last_place) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  check_against_widen(false, false, {61, 384}, {384, 130});
  check_against_widen(true, false, {511, 130}, {511, 61});
  check_against_widen(false, true, {2, 33, 1024}, {65, 1024});
}

BOOST_AUTO_TEST_CASE(every_finite_number_is_multiplied_exactly) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  const Tensor one = halves({1, 1}, {1.0F});
  Tensor all({63488, 1}, DType::float16);
  float16* numbers = all.mutable_data<float16>();
  for (std::uint32_t i = 0, at = 0; i < 65536; ++i) {
    if ((i & 0x7c00U) != 0x7c00U) numbers[at++].bits = static_cast<std::uint16_t>(i);
  }
  const Tensor exact =
      exact_result("matmul", product(false, false), {all, one}).cast(DType::float32);  // without the sign of -0
  BOOST_TEST(split(product(false, false, DType::float32), {all, one}).equal(exact));
  BOOST_TEST(split(product(false, false), {all, one}).cast(DType::float32).equal(exact));
  const Tensor row = all.reshape({1, 63488});
  BOOST_TEST(split(product(false, false, DType::float32), {one, row}).equal(exact.reshape({1, 63488})));
  // Every number times one that also needs both halves: the product has 22 bits, which float32 holds.
  const Tensor odd = halves({1, 1}, {0x1.ffcp3F});
  BOOST_TEST(split(product(false, false, DType::float32), {all, odd})
                 .equal(exact_result("matmul", product(false, false), {all, odd}).cast(DType::float32)));
}

BOOST_AUTO_TEST_CASE(overflow_infinity_and_nan) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  // 65519.99 rounds to 65504, 65520 to infinity.
  const auto sums = split(product(false, false), {halves({1, 2}, {65504, 1}), halves({2, 4}, {1, 1, 1, -2,  //
                                                                                              15, 16, 17, -60})});
  BOOST_TEST((sums.to_doubles() == std::vector<double>{65504, infinity, infinity, -infinity}));
  // Infinity times numbers of each kind: with low half 0, positive or negative; infinity; and a sum of finite terms.
  const Tensor b = halves({2, 7}, {1, 0.3F, 0.7F, -0.3F, infinity, -infinity, 65504,  //
                                   1, 1, 1, 1, 1, 1, 1});
  for (const float x : {infinity, -infinity}) {
    const Tensor a = halves({1, 2}, {x, 0.3F});
    const Tensor left = split(product(false, false), {a, b});
    const Tensor right = split(product(true, true), {b, a});
    const std::vector<double> expected{x, x, x, -x, x, -x, x};
    BOOST_TEST((left.to_doubles() == expected));
    BOOST_TEST((right.to_doubles() == expected));
  }
  const auto nans = split(product(false, false),
                          {halves({3, 1}, {infinity, std::nanf(""), 1}), halves({1, 3}, {0, std::nanf(""), 3})})
                        .to_doubles();
  for (std::size_t i = 0; i < 9; ++i) {
    const bool expected = i == 0 || i == 1 || i == 3 || i == 4 || i == 5 || i == 7;
    BOOST_TEST(std::isnan(nans[i]) == expected, i);
  }
}

BOOST_AUTO_TEST_CASE(outputs_may_overwrite_operands) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  const auto overwritable = [](std::int64_t rows, DType bias, DType out) {
    auto inputs = operands({rows, 32, 32}, {}, false, false, false, false);
    inputs.push_back(random_tensor({32}, bias, 3));
    const KernelRequest request = kernel_request("matmul", product(false, false, out), inputs);
    std::string reason;
    const auto kernel = onednn::make_split_matmul(request, reason);
    BOOST_REQUIRE(kernel);
    const Tensor apart = run_kernel(*kernel, request, inputs)[0];
    std::vector<int> which;
    for (int i = 0; i < 3; ++i) {
      if (!kernel->may_overwrite(static_cast<std::size_t>(i), 0)) continue;
      which.push_back(i);
      if (inputs[static_cast<std::size_t>(i)].bytes() != apart.bytes()) continue;
      BOOST_TEST(run_kernel(*kernel, request, inputs, i)[0].equal(apart), "over input " << i);
    }
    return which;
  };
  BOOST_TEST((overwritable(32, DType::float16, DType::float16) == std::vector<int>{0, 1, 2}));
  BOOST_TEST((overwritable(1, DType::float16, DType::float16) == std::vector<int>{0, 1, 2}));
  BOOST_TEST((overwritable(1, DType::float32, DType::float32) == std::vector<int>{0, 1}));
}

BOOST_AUTO_TEST_CASE(creates_primitives_once) {
  if (!onednn_has_native_bfloat16()) return skip(needed);
  const auto inputs = operands({16, 48, 64}, {}, false, false, false, true);
  const KernelRequest request = kernel_request("matmul", product(false, false), inputs);
  std::string reason;
  const std::int64_t before = onednn_primitives_created();
  const auto kernel = onednn::make_split_matmul(request, reason);
  BOOST_REQUIRE(kernel);
  BOOST_TEST(kernel->detail().find("bfloat16 onednn ") == 0U);
  const std::int64_t after = onednn_primitives_created();
  BOOST_TEST(after > before);
  for (int i = 0; i < 3; ++i) run_kernel(*kernel, request, inputs);
  BOOST_TEST(onednn_primitives_created() == after);
}

BOOST_AUTO_TEST_CASE(declines_with_a_reason) {
  const auto request = [](const Shape& a, const Shape& b, DType dtype) {
    return kernel_request("matmul", product(false, false, dtype), std::vector<Spec>{{a, dtype}, {b, dtype}});
  };
  const auto refusal = [](const KernelRequest& of) {
    std::string reason;
    return onednn::make_split_matmul(of, reason) ? "" : reason;
  };
  BOOST_TEST(refusal(request({4, 8}, {8, 4}, DType::bfloat16)) == "takes float16 operands; got bfloat16");
  BOOST_TEST(refusal(request({4, 8}, {8, 4}, DType::float32)) == "takes float16 operands; got float32");
  if (onednn_has_native_bfloat16()) {
    BOOST_TEST(refusal(request({0, 8}, {8, 4}, DType::float16)) == "takes operands with elements; got shape (0, 4)");
  } else {
    BOOST_TEST(refusal(request({4, 8}, {8, 4}, DType::float16)) ==
               "needs bfloat16 in hardware (AVX512_CORE_BF16); this CPU or its ISA limit has none");
  }
  const std::string no_amx = "needs AMX with bfloat16; this CPU or its ISA limit has none";
  const KernelRequest large = request({2048, 384}, {384, 1536}, DType::float16);
  BOOST_TEST(onednn::prefers_widening(large, false) == no_amx);
  BOOST_TEST(onednn::prefers_widening(large, true) == "");
  BOOST_TEST(onednn::prefers_widening(request({128, 784}, {784, 512}, DType::float16), true) == "");
  BOOST_TEST(onednn::prefers_widening(request({2048, 32}, {32, 1536}, DType::float16), true) ==
             "splits products with sums of at least 64 terms; got 32");
  const std::string few = "splits products with more than 128 operations an operand element; got ";
  BOOST_TEST(onednn::prefers_widening(request({32, 784}, {784, 512}, DType::float16), true) == few + "60.24");
  BOOST_TEST(onednn::prefers_widening(request({2048, 384}, {384, 10}, DType::float16), true) == few + "19.9");
  BOOST_TEST(onednn::prefers_widening(request({4, 8}, {8, 4}, DType::bfloat16), false) == "");  // for float16 only
}

BOOST_AUTO_TEST_CASE(is_chosen_with_amx) {
  const detail::ChosenKernel chosen = choose_kernel(kernel_request(
      "matmul", product(false, false), std::vector<Spec>{{{256, 384}, DType::float16}, {{384, 256}, DType::float16}}));
  if (onednn::has_amx_bfloat16()) {
    BOOST_TEST(chosen.implementation == "split");
    BOOST_TEST(chosen.kernel->detail().find("amx") != std::string::npos);
    return;
  }
  BOOST_TEST(chosen.implementation == "widen");
  BOOST_TEST((chosen.declined ==
              std::vector<std::string>{"onednn: takes float32 and bfloat16; got float16",
                                       "split: needs AMX with bfloat16; this CPU or its ISA limit has none"}));
}

BOOST_AUTO_TEST_SUITE_END()
