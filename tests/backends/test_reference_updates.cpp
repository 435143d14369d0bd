#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t size = 37;

struct Sgd {
  double momentum = 0, weight_decay = 0, clipvalue = 0;
  bool nesterov = false;
  Attributes attributes() const {
    return {{"momentum", momentum}, {"weight_decay", weight_decay}, {"clipvalue", clipvalue}, {"nesterov", nesterov}};
  }
};

struct Adam {
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7, weight_decay = 0, clipvalue = 0;
  Attributes attributes() const {
    return {{"beta_1", beta_1},
            {"beta_2", beta_2},
            {"epsilon", epsilon},
            {"weight_decay", weight_decay},
            {"clipvalue", clipvalue}};
  }
};

double clip(double g, double limit) { return limit == 0 ? g : std::clamp(g, -limit, limit); }

double rate_at(int step) { return 0.1 / step; }

Tensor gradient_at(int step, DType dtype) {
  return random_tensor({size}, dtype, 100 + static_cast<std::uint64_t>(step), -8, 8);
}

/// Five steps by the kernel and by the formulas of docs/ops.md, in double, on what the kernel's dtype holds.
void check_sgd(const Sgd& sgd, DType dtype, DType gradient_dtype, double tolerance) {
  Tensor w = random_tensor({size}, dtype, 1), b({size}, dtype);
  std::vector<double> expected = w.to_doubles(), buffer(size, 0.0);
  for (int step = 1; step <= 5; ++step) {
    const Tensor gradient = gradient_at(step, gradient_dtype);
    const double lr = rate_at(step), multiplier = 0.5;
    std::vector<Tensor> inputs{w, gradient};
    if (sgd.momentum > 0) inputs.push_back(b);
    inputs.insert(inputs.end(), {float64_scalar(lr), float64_scalar(multiplier)});
    const auto out = run_reference("sgd_update", sgd.attributes(), inputs);
    w = out[0];
    if (sgd.momentum > 0) b = out[1];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double g = clip(gradient.to_doubles()[i] * multiplier, sgd.clipvalue);
      expected[i] -= lr * sgd.weight_decay * expected[i];
      buffer[i] = sgd.momentum * buffer[i] - lr * g;
      expected[i] += sgd.momentum == 0 ? -lr * g : sgd.nesterov ? sgd.momentum * buffer[i] - lr * g : buffer[i];
    }
  }
  BOOST_TEST(largest_difference(w, Tensor({size}, expected)) < tolerance);
  if (sgd.momentum > 0) BOOST_TEST(largest_difference(b, Tensor({size}, buffer)) < tolerance);
}

void check_adam(const Adam& adam, DType dtype, DType gradient_dtype, double tolerance) {
  Tensor w = random_tensor({size}, dtype, 1), m({size}, dtype), v({size}, dtype);
  std::vector<double> expected = w.to_doubles(), ms(size, 0.0), vs(size, 0.0);
  for (int t = 1; t <= 5; ++t) {
    const Tensor gradient = gradient_at(t, gradient_dtype);
    const double lr = rate_at(t), multiplier = 0.25;
    const auto out =
        run_reference("adam_update", adam.attributes(),
                      {w, gradient, m, v, float64_scalar(lr), float64_scalar(t), float64_scalar(multiplier)});
    w = out[0];
    m = out[1];
    v = out[2];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double g = clip(gradient.to_doubles()[i] * multiplier, adam.clipvalue);
      expected[i] -= lr * adam.weight_decay * expected[i];
      ms[i] = adam.beta_1 * ms[i] + (1 - adam.beta_1) * g;
      vs[i] = adam.beta_2 * vs[i] + (1 - adam.beta_2) * g * g;
      const double alpha = lr * std::sqrt(1 - std::pow(adam.beta_2, t)) / (1 - std::pow(adam.beta_1, t));
      expected[i] -= alpha * ms[i] / (std::sqrt(vs[i]) + adam.epsilon);
    }
  }
  BOOST_TEST(largest_difference(w, Tensor({size}, expected)) < tolerance);
  BOOST_TEST(largest_difference(m, Tensor({size}, ms)) < tolerance);
  BOOST_TEST(largest_difference(v, Tensor({size}, vs)) < tolerance);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_updates)

BOOST_AUTO_TEST_CASE(sgd_follows_the_formulas) {
  const std::vector<Sgd> kinds{{}, {0, 0.1, 0, false}, {0.9, 0, 0, false}, {0.9, 0, 0, true}, {0.8, 0.01, 1.5, true}};
  for (const Sgd& sgd : kinds) {
    check_sgd(sgd, DType::float64, DType::float64, 1e-14);
    check_sgd(sgd, DType::float32, DType::float32, 1e-6);
    check_sgd(sgd, DType::float32, DType::float64, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(adam_follows_the_formulas) {
  for (const Adam& adam : std::vector<Adam>{{}, {0.9, 0.999, 1e-7, 0.004, 0}, {0.5, 0.9, 1e-3, 0.1, 0.5}}) {
    check_adam(adam, DType::float64, DType::float64, 1e-13);
    check_adam(adam, DType::float64, DType::float32, 1e-13);
    check_adam(adam, DType::float32, DType::float32, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(the_first_step_of_adam_is_the_learning_rate) {
  const Tensor w({2}, std::vector<float>{1, 1}), g({2}, std::vector<float>{0.5F, -1e3F}), zero({2});
  const auto out = run_reference("adam_update", Adam{}.attributes(),
                                 {w, g, zero, zero, float64_scalar(0.01), float64_scalar(1), float64_scalar(1)});
  BOOST_TEST(std::abs(out[0].to_doubles()[0] - 0.99) < 1e-5);
  BOOST_TEST(std::abs(out[0].to_doubles()[1] - 1.01) < 1e-5);
}

BOOST_AUTO_TEST_CASE(the_copy_is_the_new_variable) {
  const Tensor w = random_tensor({size}, DType::float64, 1), g = random_tensor({size}, DType::float64, 2);
  const Tensor zero({size}, DType::float64);
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Attributes sgd = with_attribute(Sgd{0.9}.attributes(), "copy_dtype", dtype);
    const Attributes adam = with_attribute(Adam{}.attributes(), "copy_dtype", dtype);
    const auto a = run_reference("sgd_update", sgd, {w, g, zero, float64_scalar(0.1), float64_scalar(1)});
    BOOST_TEST(a.at(2).equal(a[0].cast(dtype)));
    const auto b = run_reference("adam_update", adam,
                                 {w, g, zero, zero, float64_scalar(0.1), float64_scalar(1), float64_scalar(1)});
    BOOST_TEST(b.at(3).equal(b[0].cast(dtype)));
  }
}

BOOST_AUTO_TEST_CASE(not_a_number_is_not_clipped_away) {
  const Tensor w({1}, std::vector<float>{1}), g({1}, std::vector<float>{std::nanf("")});
  const auto out =
      run_reference("sgd_update", Sgd{0, 0, 1, false}.attributes(), {w, g, float64_scalar(0.1), float64_scalar(1)});
  BOOST_TEST(std::isnan(out[0].item()));
}

BOOST_AUTO_TEST_CASE(in_place) {
  const Tensor w = random_tensor({size}, DType::float32, 1), g = random_tensor({size}, DType::float32, 2);
  const Tensor m = random_tensor({size}, DType::float32, 3), v = random_tensor({size}, DType::float32, 4, 0, 1);
  BOOST_TEST(count_safe_overwrites("reference", "sgd_update", Sgd{0.9, 0.1, 0, true}.attributes(),
                                   {w, g, m, float64_scalar(0.1), float64_scalar(1)}) == 3);
  BOOST_TEST(count_safe_overwrites("reference", "adam_update", Adam{}.attributes(),
                                   {w, g, m, v, float64_scalar(0.1), float64_scalar(3), float64_scalar(1)}) == 4);
}

BOOST_AUTO_TEST_SUITE_END()
