#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const char* const loss_op = "sparse_categorical_crossentropy";
const char* const gradient_op = "sparse_categorical_crossentropy_gradient";

Attributes loss_attributes(bool from_logits) { return {{"from_logits", from_logits}}; }

/// softmax(x)[i] of one row, in long double.
long double softmax(const double* x, std::size_t classes, std::size_t i) {
  long double total = 0;
  for (std::size_t k = 0; k < classes; ++k) total += std::exp(static_cast<long double>(x[k]) - x[i]);
  return 1 / total;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_crossentropy)

BOOST_AUTO_TEST_CASE(logits) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const double tolerance = dtype == DType::float32 ? 2e-7 : 1e-14;
    const Tensor scores = random_tensor({4, 5, 7}, dtype, 1, -10, 10);
    const Tensor labels = random_tensor({4, 5}, DType::int64, 2, 0, 7), g = random_tensor({4, 5}, dtype, 3);
    const auto losses = run_reference(loss_op, loss_attributes(true), {labels, scores}).front().to_doubles();
    const auto dx = run_reference(gradient_op, loss_attributes(true), {labels, scores, g}).front().to_doubles();
    const std::vector<double> x = scores.to_doubles(), l = labels.to_doubles(), gs = g.to_doubles();
    for (std::size_t row = 0; row < 20; ++row) {
      const auto label = static_cast<std::size_t>(l[row]);
      const auto expected = static_cast<double>(-std::log(softmax(&x[row * 7], 7, label)));
      BOOST_TEST(std::abs(losses[row] - expected) <= tolerance * (1 + expected));
      for (std::size_t i = 0; i < 7; ++i) {
        const double p = static_cast<double>(softmax(&x[row * 7], 7, i));
        BOOST_TEST(std::abs(dx[row * 7 + i] - gs[row] * (p - (i == label ? 1 : 0))) <= tolerance);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(large_logits_do_not_overflow) {
  const Tensor scores({2, 2}, std::vector<float>{3e38F, -3e38F, -1e4F, -1e4F});
  const Tensor labels({2}, std::vector<std::uint8_t>{0, 1});
  const auto losses = run_reference(loss_op, loss_attributes(true), {labels, scores}).front().to_doubles();
  BOOST_TEST(losses[0] == 0);
  BOOST_TEST(losses[1] == static_cast<float>(std::log(2.0)));
}

BOOST_AUTO_TEST_CASE(not_a_number_comes_through) {
  const Tensor scores({1, 3}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 2});
  const Tensor labels({1}, std::vector<std::int32_t>{0});
  for (const bool from_logits : {true, false}) {
    BOOST_TEST(std::isnan(run_reference(loss_op, loss_attributes(from_logits), {labels, scores}).front().item()));
  }
}

BOOST_AUTO_TEST_CASE(probabilities_are_scaled_and_clipped) {
  const Tensor scores({4, 2}, std::vector<double>{1, 3, 0, 1, 1, 0, 0.5, 0.5});
  const Tensor labels({4}, std::vector<std::int32_t>{0, 0, 0, 1});
  const auto losses = run_reference(loss_op, loss_attributes(false), {labels, scores}).front().to_doubles();
  const double expected[] = {-std::log(0.25), -std::log(1e-7), -std::log(1 - 1e-7), -std::log(0.5)};
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(std::abs(losses[i] - expected[i]) < 1e-15);
  const Tensor g({4}, std::vector<double>{2, 2, 2, 2});
  const auto dx = run_reference(gradient_op, loss_attributes(false), {labels, scores, g}).front().to_doubles();
  BOOST_TEST((dx == std::vector<double>{2 * (0.25 - 1), 2 * 0.25, 0, 0, 0, 0, 2, -2}));
}

BOOST_AUTO_TEST_CASE(gradient_of_probabilities_matches_finite_differences) {
  const Tensor scores = random_tensor({3, 4}, DType::float64, 1, 0.1, 2);
  const Tensor labels({3}, std::vector<std::int64_t>{2, 0, 3}), g = random_tensor({3}, DType::float64, 2);
  const auto dx = run_reference(gradient_op, loss_attributes(false), {labels, scores, g}).front().to_doubles();
  for (std::int64_t i = 0; i < scores.size(); ++i) {
    double side[2];
    for (const int k : {0, 1}) {
      Tensor moved = scores;
      moved.mutable_data<double>()[i] += k == 0 ? -1e-6 : 1e-6;
      side[k] = dot(run_reference(loss_op, loss_attributes(false), {labels, moved}).front(), g);
    }
    BOOST_TEST(std::abs(dx[static_cast<std::size_t>(i)] - (side[1] - side[0]) / 2e-6) < 1e-8);
  }
}

BOOST_AUTO_TEST_CASE(labels_out_of_range_are_an_error_before_anything_is_written) {
  const Tensor scores = random_tensor({4, 10}, DType::float32), g = random_tensor({4}, DType::float32);
  for (const std::int32_t label : {12, -1, 10}) {
    const std::string text = "] labels must be in [0, 10); got " + std::to_string(label) + " at index 3";
    const Tensor labels({4}, std::vector<std::int32_t>{0, 9, 3, label});
    for (const std::string& op : {std::string(loss_op), std::string(gradient_op)}) {
      std::vector<Tensor> inputs{labels, scores};
      if (op == gradient_op) inputs.push_back(g);
      const KernelRequest request = kernel_request(op, loss_attributes(true), inputs);
      std::string reason;
      const auto kernel = create_kernel("reference", request, reason);
      BOOST_REQUIRE(kernel);
      Tensor out = garbage(request.outputs[0].shape, request.outputs[0].dtype);
      const Tensor untouched = out.copy();
      std::vector<const void*> in;
      for (const Tensor& input : inputs) in.push_back(input.raw());
      void* to = out.mutable_raw();
      BOOST_CHECK_EXCEPTION(kernel->run({in.data(), &to, nullptr}), ValueError, [&](const ValueError& e) {
        return e.what() == request.where.substr(0, op.size() + 1) + text;
      });
      BOOST_TEST(out.equal(untouched));
    }
  }
}

BOOST_AUTO_TEST_CASE(gradient_in_place) {
  const Tensor scores = random_tensor({4, 10}, DType::float32, 1, 0.1, 1), g = random_tensor({4}, DType::float32);
  const Tensor labels({4}, std::vector<std::int16_t>{0, 9, 3, 5});
  for (const bool from_logits : {true, false}) {
    BOOST_TEST(count_safe_overwrites("reference", gradient_op, loss_attributes(from_logits), {labels, scores, g}) == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
