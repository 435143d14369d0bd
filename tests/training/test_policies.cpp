#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>

#include "mixed_module.hpp"

using namespace mezzo;

namespace {

using Numbers = std::map<std::string, std::vector<double>>;

constexpr double rate = 0.1;

Numbers numbers_of(const Module& module) {
  Numbers out;
  for (const auto& entry : module.named_weights()) out[entry.first] = entry.second.value().to_doubles();
  return out;
}

/// Weights after one step from the initial weights of seed 7.
Numbers after_step(const std::string& precision, bool eager, double learning_rate = rate) {
  seed_everything(7);
  mezzo_tests::MixedModule module(learning_rate);
  Trainer({.max_epochs = 1, .precision = precision, .enable_progress_bar = false, .eager = eager})
      .fit(module, mezzo_tests::mixed_data());
  return numbers_of(module);
}

bool starts_with(const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; }

/// True if the loss of that name trains this weight.
bool belongs_to(const std::string& loss, const std::pair<std::string, Variable>& weight) {
  if (starts_with(weight.first, "frozen/") || !weight.second.trainable()) return false;
  return starts_with(weight.first, "critic/") == (loss == "error");
}

double norm(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

struct Bound {
  const char* precision;
  double update;  ///< error of an update, relative to its norm
  double weight;  ///< error of storing a weight, relative to the norm of the weights
};

// Mixed policies keep float32 weights: errors are those of gradients after a few roundings (2^-9, 2^-12). Pure policies
// also round the weights, once when they are made and once when they are updated.
const Bound bounds[] = {{"64", 1e-12, 1e-14},     {"32", 2e-5, 2e-7},          {"bf16", 3e-2, 2e-7},
                        {"16-mixed", 4e-3, 2e-7}, {"bf16-true", 6e-2, 0x1p-8}, {"16-true", 8e-3, 0x1p-11}};

}  // namespace

BOOST_AUTO_TEST_SUITE(policies)

BOOST_AUTO_TEST_CASE(one_step_equals_the_float64_reference) {
  Numbers start = after_step("64", false, 0);
  start["norm/moving_mean"].assign(8, 0);  // moving statistics change even at a learning rate of 0
  start["norm/moving_variance"].assign(8, 1);
  const Numbers reference = after_step("64", false);
  for (const Bound& bound : bounds) {
    for (const bool eager : {false, true}) {
      const Numbers actual = after_step(bound.precision, eager);
      BOOST_REQUIRE_EQUAL(actual.size(), reference.size());
      for (const auto& entry : reference) {
        BOOST_TEST_CONTEXT(bound.precision << (eager ? " eager " : " traced ") << entry.first) {
          const std::vector<double> zero(entry.second.size());
          const double update = norm(entry.second, start.at(entry.first));
          const double allowed = bound.update * update + bound.weight * norm(entry.second, zero);
          BOOST_TEST(norm(actual.at(entry.first), entry.second) <= allowed);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_is_trained_moves) {
  const Numbers start = after_step("64", false, 0);
  const Numbers moved = after_step("64", false);
  for (const auto& entry : start) {
    const bool still = starts_with(entry.first, "frozen/") || starts_with(entry.first, "norm/moving");
    BOOST_TEST_CONTEXT(entry.first) { BOOST_TEST((norm(entry.second, moved.at(entry.first)) == 0) == still); }
  }
}

BOOST_AUTO_TEST_CASE(float64_gradients_match_finite_differences) {
  const Numbers before = after_step("64", false, 0);
  const Numbers after = after_step("64", false, 1);
  seed_everything(7);
  mezzo_tests::MixedModule module(0);
  const DataLoader data = mezzo_tests::mixed_data();
  const Trainer trainer({.max_epochs = 1, .precision = 64, .enable_progress_bar = false});
  trainer.fit(module, data);
  const auto loss_at = [&](const std::string& name, double distance, std::uint64_t direction) {
    std::uint64_t index = 0;
    for (const auto& entry : module.named_weights()) {
      std::vector<double> moved = before.at(entry.first);
      const bool moves = belongs_to(name, entry);
      for (double& number : moved) {
        const double d = 2.0 * unit_float(philox(direction, index++)[0]) - 1;
        if (moves) number += distance * d;
      }
      entry.second.assign(Tensor(entry.second.shape(), moved));
    }
    return trainer.fit(module, data).history.at(name).front();
  };
  const double step = 1e-6;
  for (const std::string name : {"loss", "error"}) {
    for (std::uint64_t direction = 0; direction < 4; ++direction) {
      double expected = 0;
      std::uint64_t index = 0;
      for (const auto& entry : module.named_weights()) {
        const bool moves = belongs_to(name, entry);
        for (std::size_t i = 0; i < before.at(entry.first).size(); ++i) {
          const double d = 2.0 * unit_float(philox(direction, index++)[0]) - 1;
          const double gradient = before.at(entry.first)[i] - after.at(entry.first)[i];
          if (moves) expected += gradient * d;
        }
      }
      const double difference = (loss_at(name, step, direction) - loss_at(name, -step, direction)) / (2 * step);
      BOOST_TEST_CONTEXT(name << " direction " << direction) {
        BOOST_TEST(std::abs(difference - expected) <= 1e-7 * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
