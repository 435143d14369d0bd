// Several minimize() of one optimizer in a training step: the critic of a Wasserstein GAN.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

constexpr std::int64_t critic_updates = 5, wgan_steps = 4;

Sequential wgan_network(std::int64_t units, double clamp) {
  DenseOptions hidden{.units = 4, .activation = "tanh"};
  if (clamp > 0) hidden.kernel_constraint = [clamp](const Value& weight) { return clip(weight, -clamp, clamp); };
  return Sequential({Dense(hidden), Dense({.units = units})});
}

// The GAN of parity/wgan.py.
class Wgan : public Module {
 public:
  explicit Wgan(std::vector<Any<Optimizer>> optimizers, double clamp = 0)
      : Module("Wgan"), optimizers_(std::move(optimizers)), clamp_(clamp) {}

  Value training_step(const Batch& batch) override {
    Value critic_loss;
    for (int i = 0; i < critic_updates; ++i) {
      const Value fake = stop_gradient(generator_(batch["z"]));
      critic_loss = mean(critic_(fake)) - mean(critic_(batch["real"]));
      minimize(critic_loss, optimizer("critic"));
    }
    const Value generator_loss = -mean(critic_(generator_(batch["z"])));
    minimize(generator_loss, optimizer("generator"));
    log("critic_loss", critic_loss, {.reduce_fx = "max"});
    return generator_loss;
  }
  void on_after_backward(Gradients& gradients) override { seen += static_cast<int>(gradients.size()); }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = optimizers_[0], .weights = generator_.weights(), .name = "generator"},
            {.optimizer = optimizers_[1], .weights = critic_.weights(), .name = "critic"}};
  }

  int seen = 0;  // gradients, in all traces

 private:
  std::vector<Any<Optimizer>> optimizers_;
  double clamp_;
  Sequential generator_ = sub("generator", wgan_network(2, 0));
  Sequential critic_ = sub("critic", wgan_network(1, clamp_));
};

Tensor wgan_data(const char* name, int step, DType dtype) {
  std::vector<double> all;
  for (const auto& row : recorded("wgan").at(name).at(static_cast<std::size_t>(step))) {
    for (const auto& x : row) all.push_back(x.get<double>());
  }
  return Tensor({6, 2}, all).cast(dtype);
}

HostBatch wgan_batch(int step, DType dtype) {
  return {{{"z", wgan_data("z", step, dtype)}, {"real", wgan_data("real", step, dtype)}}, 6};
}

std::vector<Any<Optimizer>> wgan_optimizers(const std::string& name, bool use_ema = false) {
  std::vector<Any<Optimizer>> out;
  for (int i = 0; i < 2; ++i) {
    const auto rate = [](double initial) {
      return ExponentialDecay({.initial_learning_rate = initial, .decay_steps = 1, .decay_rate = 0.95});
    };
    if (name == "adam") {
      out.emplace_back(
          Adam({.learning_rate = rate(0.02), .beta_1 = 0.5, .beta_2 = 0.9, .epsilon = 1e-3, .use_ema = use_ema}));
    } else {
      out.emplace_back(SGD({.learning_rate = rate(0.2)}));
    }
  }
  return out;
}

// Weights after the recorded steps, and the numbers that the last step logged.
struct WganRun {
  std::vector<double> weights, losses;
  std::vector<std::int64_t> iterations;
};

WganRun run_wgan(const std::string& name, const Policy& policy, detail::RunOptions options = {}) {
  const detail::PolicyScope scope{policy};
  const DType dtype = policy.variable_dtype();
  const std::vector<Any<Optimizer>> optimizers = wgan_optimizers(name == "adam" || name == "clipnorm" ? "adam" : "sgd");
  Wgan gan(optimizers, name == "clamp" ? 0.75 : 0);
  if (name == "clipnorm") options.clip = detail::GradientClip{0.3, false};
  detail::StepRunner runner(gan, options);
  runner.rehearse(Stage::fit, wgan_batch(0, dtype));
  const std::vector<Variable> weights = gan.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto start = recorded("wgan").at("start").at(i).get<std::vector<double>>();
    weights[i].assign(Tensor(weights[i].shape(), start).cast(dtype));
  }
  runner.configure(true);
  WganRun out;
  for (int step = 0; step < wgan_steps; ++step) runner.run(Stage::fit, wgan_batch(step, dtype));
  for (std::size_t i = 0; i < runner.logged().size(); ++i) out.losses.push_back(runner.value(i));
  for (const Variable& weight : weights) {
    for (const double x : weight.value().to_doubles()) out.weights.push_back(x);
  }
  for (const auto& optimizer : optimizers) out.iterations.push_back(optimizer->iterations());
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}

std::vector<double> recorded_weights(const std::string& name) {
  std::vector<double> out;
  for (const auto& weight : recorded("wgan").at(name).at("weights")) {
    for (const auto& x : weight) out.push_back(x.get<double>());
  }
  return out;
}

// A line that is fitted by several updates in a step. Each loss is (w x - y)^2.
class Repeated : public Module {
 public:
  Repeated(Any<Optimizer> optimizer, int updates, bool anew = true)
      : Module("Repeated"), optimizer_(std::move(optimizer)), updates_(updates), anew_(anew) {}

  Value training_step(const Batch& batch) override {
    Value loss = loss_of(batch, 0);
    const Value first = loss;
    for (int i = 0; i < updates_; ++i) {
      if (anew_ && i > 0) loss = loss_of(batch, i);
      minimize(loss, optimizer("it"));
    }
    return mixes ? first : loss;
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = optimizer_, .name = "it"}}; }

  bool mixes = false;             // later losses add the first one
  std::vector<double> factors{};  // of the losses, one for each update

 private:
  Value loss_of(const Batch& batch, int i) {
    Value loss = mean_squared_error(batch["y"], line_(batch["x"]));
    if (!factors.empty()) loss = mean(loss) * factors[static_cast<std::size_t>(i)];
    if (i == 0) first_ = loss;
    return mixes && i > 0 ? loss + first_ : loss;
  }

  Any<Optimizer> optimizer_;
  int updates_;
  bool anew_;
  Value first_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

Trainer silent_trainer(TrainerOptions options = {}) {
  options.max_epochs = 1;
  options.enable_progress_bar = false;
  return Trainer(std::move(options));
}

std::string update_refusal(Repeated& module, TrainerOptions options = {}) {
  return refused<Error>([&] { silent_trainer(std::move(options)).fit(module, DataLoader(pairs({1, 2}, {3, 4}))); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(several_updates)

BOOST_AUTO_TEST_CASE(a_critic_of_five_updates_is_that_of_torch) {
  for (const char* name : {"adam", "clipnorm", "clamp", "sgd"}) {
    for (const bool eager : {false, true}) {
      for (const DType dtype : {DType::float64, DType::float32}) {
        BOOST_TEST_CONTEXT(name << (eager ? " eager " : " traced ")
                                << (dtype == DType::float64 ? "float64" : "float32")) {
          const WganRun run = run_wgan(name, Policy(dtype), {.eager = eager});
          const double bound = dtype == DType::float64 ? 1e-9 : 2e-5;
          BOOST_TEST(distance(run.weights, recorded_weights(name)) < bound);
          const auto losses = recorded("wgan").at(name).at("losses").back().get<std::vector<double>>();
          BOOST_TEST(distance(run.losses, losses) < bound);
          BOOST_TEST(run.iterations == (std::vector<std::int64_t>{wgan_steps, wgan_steps * critic_updates}));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(in_low_precision_it_is_near) {
  const CapturedOutput captured;
  for (const char* policy : {"mixed_bfloat16", "bfloat16", "mixed_float16", "float16"}) {
    for (const char* name : {"adam", "sgd"}) {
      for (const bool eager : {false, true}) {
        BOOST_TEST_CONTEXT(policy << " " << name << (eager ? " eager" : " traced")) {
          const WganRun run =
              run_wgan(name, Policy(policy),
                       {.eager = eager, .loss_scale = LossScaleOptions{.dynamic = false, .initial_scale = 64}});
          BOOST_TEST(distance(run.weights, recorded_weights(name)) < (policy[0] == 'm' ? 0.02 : 0.1));
          BOOST_TEST(run.iterations == (std::vector<std::int64_t>{wgan_steps, wgan_steps * critic_updates}));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(storage_options_and_averages_take_part) {
  // Plans and eager runs store the same halves, compensations and averages.
  for (const auto& common : {OptimizerCommon{.split_master_weights = true}, OptimizerCommon{.use_ema = true}}) {
    std::vector<double> ends;
    for (const bool eager : {false, true}) {
      SGDOptions options{.learning_rate = 0.05, .momentum = 0.8};
      options.split_master_weights = common.split_master_weights;
      options.use_ema = common.use_ema;
      const SGD optimizer(options);
      Repeated module(optimizer, 3);
      Trainer({.max_epochs = 3,
               .precision = common.split_master_weights ? "bf16-mixed" : "32",
               .enable_progress_bar = false,
               .eager = eager})
          .fit(module, DataLoader(pairs({1, 2}, {3, 4})));
      BOOST_TEST(optimizer.iterations() == 9);
      ends.push_back(module.weights()[0].value().item());
      for (const Variable& slot : optimizer.variables()) ends.push_back(slot.value().to_doubles()[0]);
    }
    BOOST_TEST_REQUIRE(ends.size() % 2 == 0U);
    for (std::size_t i = 0; i < ends.size() / 2; ++i) BOOST_TEST(ends[i] == ends[i + ends.size() / 2]);
  }
}

BOOST_AUTO_TEST_CASE(a_skipped_update_leaves_the_others_right) {
  const CapturedOutput captured;
  // Losses of a factor of 1e5 overflow float16 at that scale, those of 1 don't.
  for (const std::vector<double>& factors : {std::vector<double>{1e5, 1, 1}, std::vector<double>{1, 1e5, 1},
                                             std::vector<double>{1, 1, 1e5}, std::vector<double>{1e5, 1e5, 1e5}}) {
    for (const bool eager : {false, true}) {
      const auto rate = ExponentialDecay({.initial_learning_rate = 0.0625, .decay_steps = 1, .decay_rate = 0.5});
      const SGD optimizer({.learning_rate = rate, .momentum = 0.5});
      Repeated module(optimizer, 3);
      module.factors = factors;
      detail::StepRunner runner(
          module, {.policy = "mixed_float16", .eager = eager, .loss_scale = LossScaleOptions{.initial_scale = 1024}});
      const HostBatch batch{{{"x", column({1})}, {"y", column({2}), Role::target}}, 1};
      runner.rehearse(Stage::fit, batch);
      runner.configure(true);
      runner.run(Stage::fit, batch);
      double weight = 0.5, moment = 0;
      std::int64_t made = 0;
      for (const double factor : factors) {
        if (factor > 1) continue;
        moment = 0.5 * moment - 0.0625 * std::pow(0.5, made++) * 2 * (weight - 2);
        weight += moment;
      }
      BOOST_TEST_CONTEXT(factors[0] << " " << factors[1] << " " << factors[2] << (eager ? " eager" : " traced")) {
        BOOST_TEST(module.weights()[0].value().item() == weight, tolerance(1e-3));
        BOOST_TEST(optimizer.iterations() == made);
        BOOST_TEST(runner.skipped());
        BOOST_TEST(optimizer.state()->loss_scale.scale() == 512);  // once for a step
        BOOST_TEST(optimizer.state()->loss_scale.skipped() == 1);
        BOOST_TEST(optimizer.learning_rate() == 0.0625 * std::pow(0.5, made));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_skip_of_one_optimizer_leaves_the_weights_to_another) {
  const CapturedOutput captured;
  // The critic's loss overflows; the generator's is computed from the critic's weights.
  class Pair : public Module {
   public:
    Pair() : Module("Pair") {}
    Value training_step(const Batch& batch) override {
      minimize(mean(critic_(batch["x"])) * 1e3 * 1e3, optimizer("critic"));
      const Value loss = mean(critic_(generator_(batch["x"])));
      minimize(loss, optimizer("generator"));
      return loss;
    }
    OptimizerConfigs configure_optimizers() override {
      return {{.optimizer = SGD({.learning_rate = 0.125}), .weights = generator_.weights(), .name = "generator"},
              {.optimizer = SGD({.learning_rate = 0.125}), .weights = critic_.weights(), .name = "critic"}};
    }

   private:
    Dense generator_ = sub("g", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
    Dense critic_ = sub("d", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(2)}));
  };
  for (const bool eager : {false, true}) {
    Pair module;
    detail::StepRunner runner(
        module, {.policy = "mixed_float16", .eager = eager, .loss_scale = LossScaleOptions{.initial_scale = 1024}});
    const HostBatch batch{{{"x", column({1})}}, 1};
    runner.rehearse(Stage::fit, batch);
    runner.configure(true);
    runner.run(Stage::fit, batch);
    BOOST_TEST(module.weights()[0].value().item() == 0.5 - 0.125 * 2);
    BOOST_TEST(module.weights()[1].value().item() == 2);
    BOOST_TEST(runner.optimizers()[0].optimizer->state()->loss_scale.scale() == 1024);
    BOOST_TEST(runner.optimizers()[1].optimizer->state()->loss_scale.scale() == 512);
  }
}

BOOST_AUTO_TEST_CASE(hooks_see_the_gradients_of_each_call) {
  Wgan gan(wgan_optimizers("sgd"));
  const DataLoader loader(
      Dataset::from_tensors({{"z", wgan_data("z", 0, DType::float32)}, {"real", wgan_data("real", 0, DType::float32)}}),
      {.batch_size = 6});
  const History history = silent_trainer({.eager = true}).fit(gan, loader);
  BOOST_TEST(gan.seen == 4 * (critic_updates + 1));  // of an eager run that is traced once
  BOOST_TEST(history.history.at("critic_loss").size() == 1U);
}

BOOST_AUTO_TEST_CASE(losses_of_earlier_weights_are_refused) {
  const SGD sgd({.learning_rate = 0.01});
  Repeated stale(sgd, 2, false);
  BOOST_TEST(update_refusal(stale) ==
             "[Trainer] minimize() of optimizer \"it\": the loss must be computed after the call before, from the "
             "weights that it has updated; got one that reads \"line/kernel\" before");
  Repeated mixed(sgd, 2);
  mixed.mixes = true;
  BOOST_TEST(update_refusal(mixed) ==
             "[Trainer] minimize() of optimizer \"it\": the loss must be computed from one value of each weight; got "
             "one that reads \"line/kernel\" before and after an update");
}

BOOST_AUTO_TEST_CASE(windows_count_steps) {
  Repeated module(SGD({.learning_rate = 0.01}), 2);
  const std::string start = "[Trainer] minimize() of optimizer \"it\" must be called once per step ";
  BOOST_TEST(update_refusal(module, {.accumulate_grad_batches = 4}) ==
             start +
                 "if gradients are accumulated, since windows count steps; got a second call and windows of 4 steps");
  Repeated overwrites(SGD({.learning_rate = 0.01, .use_ema = true, .ema_overwrite_frequency = 2}), 2);
  BOOST_TEST(update_refusal(overwrites) ==
             start + "with ema_overwrite_frequency, which acts between steps; got a second call");
  Repeated once(SGD({.learning_rate = 0.01}), 1);
  BOOST_TEST(update_refusal(once, {.accumulate_grad_batches = 4}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
