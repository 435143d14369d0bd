// configure_gradient_clipping(): clipping by a module in place of the Trainer.
#include <boost/test/unit_test.hpp>

#include "support/rank_threads.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Clip = std::function<bool(Gradients&, std::optional<double>, const std::string&)>;

class Clipping : public HookedLine {
 public:
  explicit Clipping(Clip clip) : clip_(std::move(clip)) {}
  bool configure_gradient_clipping(Gradients& gradients, const OptimizerHandle&, std::optional<double> val,
                                   const std::string& algorithm) override {
    return clip_(gradients, val, algorithm);
  }
  static void clip(Gradients& gradients, double val, const std::string& algorithm) {
    clip_gradients(gradients, val, algorithm);
  }

 private:
  Clip clip_;
};

// Weight after one step on y = 4 x at x = 1 from 0.5, whose gradient is -7.
double trained(Module& module, TrainerOptions options) {
  options.max_epochs = 1;
  options.enable_progress_bar = false;
  Trainer(options).fit(module, DataLoader(pairs({1}, {4})));
  return weight_of(module);
}

void check(double weight, double gradient) { BOOST_CHECK_CLOSE_FRACTION(weight, 0.5 - 0.01 * gradient, 1e-6); }

}  // namespace

BOOST_AUTO_TEST_SUITE(gradient_clipping)

BOOST_AUTO_TEST_CASE(a_module_clips_in_place_of_the_trainer) {
  for (const char* precision : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    for (const bool eager : {false, true}) {
      const TrainerOptions options{
          .gradient_clip_val = 2.0, .precision = precision, .eager = eager, .loss_scale = {{.initial_scale = 1024}}};
      Clipping none([](Gradients&, std::optional<double>, const std::string&) { return true; });
      check(trained(none, options), -7);
      Clipping left([](Gradients&, std::optional<double>, const std::string&) { return false; });
      check(trained(left, options), -2);
      Clipping narrower([](Gradients& gradients, std::optional<double> val, const std::string& algorithm) {
        Clipping::clip(gradients, *val / 2, algorithm);
        return true;
      });
      check(trained(narrower, options), -1);
    }
  }
}

BOOST_AUTO_TEST_CASE(it_gets_the_options_of_the_trainer) {
  std::optional<double> val = 7;
  std::string algorithm;
  Clipping module([&](Gradients& gradients, std::optional<double> given, const std::string& by) {
    BOOST_TEST(gradients.size() == 1U);
    val = given;
    algorithm = by;
    return false;
  });
  trained(module, {});
  BOOST_TEST(!val.has_value());
  Clipping by_value([&](Gradients& gradients, std::optional<double> given, const std::string& by) {
    val = given;
    algorithm = by;
    Clipping::clip(gradients, 3, "value");
    return true;
  });
  check(trained(by_value, {.gradient_clip_val = 2.0, .gradient_clip_algorithm = "value"}), -3);
  BOOST_TEST(*val == 2);
  BOOST_TEST(algorithm == "value");
}

BOOST_AUTO_TEST_CASE(values_are_clipped_before_accumulated_ones_are_applied) {
  Clipping module([](Gradients& gradients, std::optional<double>, const std::string&) {
    Clipping::clip(gradients, 1, "norm");
    return true;
  });
  TrainerOptions options = quiet(1);
  options.accumulate_grad_batches = 2;
  Trainer(options).fit(module, DataLoader(pairs({1, 1}, {4, 4}), {.batch_size = 1}));
  check(module.weight(), -1);
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  const auto message = [](double val, const std::string& algorithm) {
    Clipping module([=](Gradients& gradients, std::optional<double>, const std::string&) {
      Clipping::clip(gradients, val, algorithm);
      return true;
    });
    try {
      trained(module, {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  BOOST_TEST(message(0, "norm") == "[Module] clip_gradients: gradient_clip_val must be a finite number above 0; got 0");
  BOOST_TEST(message(1, "max") ==
             "[Module] clip_gradients: unknown gradient_clip_algorithm \"max\"; valid names: norm, value");
  const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    Clipping module([](Gradients&, std::optional<double>, const std::string&) { return true; });
    TrainerOptions options = quiet(1);
    options.strategy = ranks;
    options.shard_optimizer_states = true;
    Trainer(options).fit(module, DataLoader(pairs({1, 1}, {4, 4}), {.batch_size = 1}));
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error ==
               "[Trainer] on_before_optimizer_step and configure_gradient_clipping must not replace gradients with "
               "shard_optimizer_states, where a rank has a part of them; got the result true");
  }
}

BOOST_AUTO_TEST_SUITE_END()
