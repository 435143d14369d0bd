// optimizer_step(): updates that a condition of the module leaves out.
#include <boost/test/unit_test.hpp>

#include "support/captured.hpp"
#include "support/rank_threads.hpp"
#include "support/refused.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Condition of the update, by the index of the batch.
using Condition = std::function<Value(const Value& batch_idx)>;

class Conditional : public HookedLine {
 public:
  explicit Conditional(Condition condition) : condition_(std::move(condition)) {}
  Value optimizer_step(const OptimizerHandle&) override { return condition_(batch_idx()); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = adam}}; }

  const Adam adam{{.learning_rate = 0.1}};

 private:
  Condition condition_;
};

Value every_third(const Value& batch_idx) { return batch_idx % 3 == 0; }

// Batches of one sample, all different.
DataLoader samples(std::int64_t count) {
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(1 + 0.25 * static_cast<double>(i));
    y.push_back(4 - static_cast<double>(i));
  }
  return DataLoader(pairs(x, y), {.batch_size = 1});
}

// Weight of a line that Adam has trained on these samples alone.
double trained_on(const std::vector<double>& x, const std::vector<double>& y, const TrainerOptions& options) {
  Conditional module([](const Value&) { return Value(); });
  Trainer(options).fit(module, DataLoader(pairs(x, y), {.batch_size = 1}));
  return module.weight();
}

// A critic that learns in each batch, and a generator that reads it afterwards and learns in every second one.
class Adversaries : public Module {
 public:
  Value training_step(const Batch& batch) override {
    const Value critic_loss = mean(square(critic_(batch["x"]) - batch["y"]));
    minimize(critic_loss, optimizer("critic"));
    minimize(mean(square(generator_(critic_(batch["x"])) - 1.0F)), optimizer("generator"));
    log("critic_after", mean(critic_(batch["x"])));
    return critic_loss;
  }
  Value optimizer_step(const OptimizerHandle& optimizer) override {
    return optimizer.index() == rare ? batch_idx() % 2 == 1 : Value();
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = critic_sgd, .weights = critic_.weights(), .name = "critic"},
            {.optimizer = generator_sgd, .weights = generator_.weights(), .name = "generator"}};
  }

  std::size_t rare = 1;  // the optimizer that updates in every second batch
  const SGD critic_sgd{0.1}, generator_sgd{0.1};

 private:
  Dense critic_ = sub("critic", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
  Dense generator_ = sub("generator", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(2)}));
};

// Statistics of batches beside a weight.
class Normalized : public Conditional {
 public:
  using Conditional::Conditional;
  Value training_step(const Batch& batch) override {
    norm_(batch["x"]);
    return Conditional::training_step(batch);
  }

 private:
  BatchNormalization norm_ = sub("norm", BatchNormalization({.center = false, .scale = false}));
};

std::string refusal(const Condition& condition, const std::function<void(TrainerOptions&)>& change = {}) {
  Conditional module(condition);
  TrainerOptions options = quiet(1);
  if (change) change(options);
  return refused<Error>([&] { Trainer(options).fit(module, samples(4)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizer_step)

BOOST_AUTO_TEST_CASE(updates_without_their_condition_leave_no_trace) {
  for (const char* precision : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    for (const bool eager : {false, true}) {
      BOOST_TEST_CONTEXT(precision << (eager ? " eager" : " traced")) {
        const CapturedOutput captured;
        TrainerOptions options = quiet(1);
        options.precision = precision;
        options.eager = eager;
        options.loss_scale = {{.initial_scale = 256}};
        Conditional module(every_third);
        const History history = Trainer(options).fit(module, samples(7));
        BOOST_TEST(module.weight() == trained_on({1, 1.75, 2.5}, {4, 1, -2}, options));
        BOOST_TEST(module.adam.iterations() == 3);
        BOOST_TEST(module.hooks.find("6}") != std::string::npos);
        BOOST_TEST(history.history.at("loss").size() == 1U);
        BOOST_TEST(captured.text() == "");  // nothing was skipped by loss scaling
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_condition_may_depend_on_the_numbers_of_a_batch) {
  for (const bool eager : {false, true}) {
    TrainerOptions options = quiet(1);
    options.eager = eager;
    class Chosen : public Conditional {
     public:
      Chosen() : Conditional([this](const Value&) { return first_ > 2.0F; }) {}
      Value training_step(const Batch& batch) override {
        first_ = mean(batch["x"]);
        return Conditional::training_step(batch);
      }

     private:
      Value first_;
    } module;
    Trainer(options).fit(module, samples(7));
    BOOST_TEST(module.adam.iterations() == 2);
    BOOST_TEST(module.weight() == trained_on({2.25, 2.5}, {-1, -2}, options));
  }
}

BOOST_AUTO_TEST_CASE(optimizers_have_frequencies_of_their_own) {
  for (const bool eager : {false, true}) {
    TrainerOptions options = quiet(1);
    options.eager = eager;
    Adversaries module;
    Trainer(options).fit(module, samples(4));
    double critic = 0.5, generator = 2;
    for (int i = 0; i < 4; ++i) {
      const double x = 1 + 0.25 * i, y = 4 - i;
      critic = stepped(critic, 0.1, {x}, {y});
      if (i % 2 == 1) generator = stepped(generator, 0.1, {critic * x}, {1});
    }
    BOOST_CHECK_CLOSE_FRACTION(module.weights()[0].value().item(), critic, 1e-5);
    BOOST_CHECK_CLOSE_FRACTION(module.weights()[1].value().item(), generator, 1e-5);
    BOOST_TEST(module.critic_sgd.iterations() == 4);
    BOOST_TEST(module.generator_sgd.iterations() == 2);
  }
}

BOOST_AUTO_TEST_CASE(later_losses_read_weights_that_were_not_updated) {
  for (const bool eager : {false, true}) {
    TrainerOptions options = quiet(1);
    options.eager = eager;
    Adversaries module;
    module.rare = 0;
    const History history = Trainer(options).fit(module, samples(4));
    double critic = 0.5, generator = 2, after = 0;
    for (int i = 0; i < 4; ++i) {
      const double x = 1 + 0.25 * i, y = 4 - i;
      if (i % 2 == 1) critic = stepped(critic, 0.1, {x}, {y});
      generator = stepped(generator, 0.1, {critic * x}, {1});
      after += critic * x / 4;
    }
    BOOST_CHECK_CLOSE_FRACTION(module.weights()[0].value().item(), critic, 1e-5);
    BOOST_CHECK_CLOSE_FRACTION(module.weights()[1].value().item(), generator, 1e-5);
    BOOST_CHECK_CLOSE_FRACTION(history.history.at("critic_after").back(), after, 1e-5);
    BOOST_TEST(module.critic_sgd.iterations() == 2);
  }
}

BOOST_AUTO_TEST_CASE(statistics_of_batches_are_kept) {
  for (const bool eager : {false, true}) {
    TrainerOptions options = quiet(1);
    options.eager = eager;
    Normalized never([](const Value& batch_idx) { return batch_idx < 0; });
    Trainer(options).fit(never, samples(1));
    BOOST_TEST(never.weight() == 0.5);
    BOOST_TEST(never.adam.iterations() == 0);
    BOOST_CHECK_CLOSE_FRACTION(never.weights()[1].value().item(), 0.01, 1e-5);  // (1 - momentum) * 1
  }
}

BOOST_AUTO_TEST_CASE(ranks_update_together) {
  // Both ranks want the updates 0 and 3, rank 1 alone wants the others.
  std::vector<double> weights(2);
  std::vector<std::int64_t> counts(2);
  const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    const int rank = ranks->rank();
    Conditional module([rank](const Value& batch_idx) { return rank == 1 ? batch_idx >= 0 : batch_idx % 3 == 0; });
    TrainerOptions options = quiet(1);
    options.strategy = ranks;
    Trainer(options).fit(module, samples(8));
    weights[static_cast<std::size_t>(rank)] = module.weight();
    counts[static_cast<std::size_t>(rank)] = module.adam.iterations();
  });
  for (const std::string& error : errors) BOOST_TEST(error == "");
  BOOST_TEST(weights[0] == weights[1]);
  BOOST_TEST(counts == (std::vector<std::int64_t>{2, 2}));
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  BOOST_TEST(refusal([](const Value& batch_idx) { return cast(batch_idx, DType::float32); }) ==
             "[Trainer] optimizer_step must return bool of shape (); got float32 of shape ()");
  BOOST_TEST(refusal([](const Value&) { return Value(Tensor({2}, DType::boolean)); }) ==
             "[Trainer] optimizer_step must return bool of shape (); got bool of shape (2,)");
  BOOST_TEST(refusal(every_third, [](TrainerOptions& options) { options.accumulate_grad_batches = 2; }) ==
             "[Trainer] optimizer_step must return {} with accumulated gradients; got a condition");
  const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    Conditional module(every_third);
    TrainerOptions options = quiet(1);
    options.strategy = ranks;
    options.shard_optimizer_states = true;
    Trainer(options).fit(module, samples(4));
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error == "[Trainer] optimizer_step must return {} with shard_optimizer_states; got a condition");
  }
}

BOOST_AUTO_TEST_SUITE_END()
