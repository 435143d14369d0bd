#include <boost/test/unit_test.hpp>

#include "support/captured.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Calls = std::vector<std::string>;

// Writes down the hooks of a callback, under Lightning's names.
class Watcher : public Callback {
 public:
  explicit Watcher(Calls* calls) : calls_(calls) {}
  void setup(const std::string&) override { note("setup"); }
  void teardown(const std::string&) override { note("teardown"); }
  void on_fit_start() override { note("on_fit_start"); }
  void on_fit_end() override { note("on_fit_end"); }
  void on_sanity_check_start() override { note("on_sanity_check_start"); }
  void on_sanity_check_end() override { note("on_sanity_check_end"); }
  void on_train_begin(Logs&) override { note("on_train_start"); }
  void on_train_end(Logs&) override { note("on_train_end"); }
  void on_epoch_begin(int, Logs&) override { note("on_train_epoch_start"); }
  void on_epoch_end(int, Logs&) override { note("on_train_epoch_end"); }
  void on_train_batch_begin(std::int64_t, Logs&) override { note("on_train_batch_start"); }
  void on_train_batch_end(std::int64_t, Logs&) override { note("on_train_batch_end"); }
  void on_test_begin(Logs&) override { note("on_" + kind() + "_start"); }
  void on_test_end(Logs&) override { note("on_" + kind() + "_epoch_end"); }
  void on_test_batch_begin(std::int64_t, Logs&) override { note("on_" + kind() + "_batch_start"); }
  void on_test_batch_end(std::int64_t, Logs&) override { note("on_" + kind() + "_batch_end"); }
  void on_predict_begin(Logs&) override { note("on_predict_start"); }
  void on_predict_end(Logs&) override { note("on_predict_epoch_end"); }
  void on_predict_batch_begin(std::int64_t, Logs&) override { note("on_predict_batch_start"); }
  void on_predict_batch_end(std::int64_t, Logs&) override { note("on_predict_batch_end"); }

 private:
  std::string kind() const { return session().stage() == Stage::test ? "test" : "validation"; }
  void note(const std::string& hook) { calls_->push_back("callback." + hook); }

  Calls* calls_;
};

// y = w x, which writes down its hooks. A run without plans calls those inside of steps at each step.
class Line : public Module {
 public:
  Line(Calls* calls, int fails_at, int stops_at)
      : Module("Line"), calls_(calls), fails_at_(fails_at), stops_at_(stops_at) {}

  Value training_step(const Batch& batch) override { return loss(batch); }
  void validation_step(const Batch& batch) override { log("val_loss", loss(batch)); }
  Value predict_step(const Batch& batch) override { return dense_(batch["x"]); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }
  std::vector<detail::CallbackHandle> configure_callbacks() override {
    note("configure_callbacks");
    return {};
  }
  void setup(const std::string&) override { note("setup"); }
  void teardown(const std::string&) override { note("teardown"); }
  void on_fit_start() override { note("on_fit_start"); }
  void on_fit_end() override { note("on_fit_end"); }
  void on_train_start() override { note("on_train_start"); }
  void on_train_end() override { note("on_train_end"); }
  void on_train_epoch_start() override { note("on_train_epoch_start"); }
  void on_train_epoch_end() override { note("on_train_epoch_end"); }
  void on_train_batch_start(const HostBatch&, std::int64_t) override {
    note("on_train_batch_start");
    if (total_ == fails_at_) throw ValueError("planned");
  }
  void on_train_batch_end(const Logs& outputs, const HostBatch& batch, std::int64_t) override {
    note("on_train_batch_end");
    BOOST_TEST(outputs.contains("loss"));
    BOOST_TEST(batch.size == 1);
    if (total_++ == stops_at_) stop_training();
  }
  void on_validation_start() override { note("on_validation_start"); }
  void on_validation_end() override { note("on_validation_end"); }
  void on_validation_epoch_start() override { note("on_validation_epoch_start"); }
  void on_validation_epoch_end() override { note("on_validation_epoch_end"); }
  void on_validation_batch_start(const HostBatch&, std::int64_t) override { note("on_validation_batch_start"); }
  void on_validation_batch_end(const HostBatch&, std::int64_t) override { note("on_validation_batch_end"); }
  void on_test_start() override { note("on_test_start"); }
  void on_test_end() override { note("on_test_end"); }
  void on_test_epoch_start() override { note("on_test_epoch_start"); }
  void on_test_epoch_end() override { note("on_test_epoch_end"); }
  void on_test_batch_start(const HostBatch&, std::int64_t) override { note("on_test_batch_start"); }
  void on_test_batch_end(const HostBatch&, std::int64_t) override { note("on_test_batch_end"); }
  void on_predict_start() override { note("on_predict_start"); }
  void on_predict_end() override { note("on_predict_end"); }
  void on_predict_epoch_start() override { note("on_predict_epoch_start"); }
  void on_predict_epoch_end() override { note("on_predict_epoch_end"); }
  void on_predict_batch_start(const HostBatch&, std::int64_t) override { note("on_predict_batch_start"); }
  void on_predict_batch_end(const HostBatch&, std::int64_t) override { note("on_predict_batch_end"); }
  void on_before_backward(const Value&) override { note("on_before_backward"); }
  void on_after_backward(Gradients&) override { note("on_after_backward"); }
  void on_before_optimizer_step(Gradients&, const OptimizerHandle&) override { note("on_before_optimizer_step"); }

 private:
  Value loss(const Batch& batch) { return mean_squared_error(batch["y"], dense_(batch["x"])); }
  void note(const std::string& hook) { calls_->push_back("module." + hook); }

  Dense dense_ = sub("dense", Dense({.units = 1}));
  Calls* calls_;
  int fails_at_, stops_at_, total_ = 0;
};

Calls calls_of(const std::string& verb, TrainerOptions options, bool validates = true, int fails_at = -1,
               int stops_at = -1) {
  Calls calls;
  Line module(&calls, fails_at, stops_at);
  options.eager = true;
  options.enable_progress_bar = false;
  options.callbacks = {Watcher(&calls)};
  const Trainer trainer(std::move(options));
  const DataLoader loader(pairs({0, 1, 2}, {0, 1, 2}), {.batch_size = 1});
  try {
    if (verb == "fit") trainer.fit(module, loader, validates ? loader : DataLoader());
    if (verb == "validate") trainer.validate(module, loader);
    if (verb == "test") trainer.test(module, loader);
    if (verb == "predict") trainer.predict(module, loader);
  } catch (const ValueError& error) {
    calls.emplace_back(std::string("error: ") + error.what());
  }
  return calls;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hook_order)

BOOST_AUTO_TEST_CASE(is_that_of_lightning) {
  const auto& lightning = recorded("lightning_hooks");
  const auto expect = [&](const char* name, const Calls& calls) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(calls == lightning.at(name).get<Calls>(), boost::test_tools::per_element()); }
  };
  const TrainerOptions plain{.limit_val_batches = 1, .num_sanity_val_steps = 0};
  TrainerOptions options = plain;
  options.max_epochs = 2;
  options.num_sanity_val_steps = 1;
  expect("fit", calls_of("fit", options));
  expect("accumulation", calls_of("fit", {.max_epochs = 1, .accumulate_grad_batches = 2}, false));
  options = plain;
  options.max_epochs = 3;
  expect("early_stop", calls_of("fit", options, true, -1, 1));
  options = plain;
  options.max_steps = 2;
  expect("max_steps", calls_of("fit", options));
  options = plain;
  options.max_epochs = 1;
  options.val_check_interval = 1;
  expect("val_check_interval", calls_of("fit", options));
  options = plain;
  options.max_epochs = 2;
  options.limit_train_batches = 1;
  options.check_val_every_n_epoch = 2;
  expect("every_second_epoch", calls_of("fit", options));
  expect("validate", calls_of("validate", {.limit_val_batches = 2}));
  expect("test", calls_of("test", {.limit_test_batches = 2}));
  expect("predict", calls_of("predict", {.limit_predict_batches = 2}));
}

BOOST_AUTO_TEST_CASE(after_an_error_teardown_comes_last) {
  const Calls calls = calls_of("fit", {.max_epochs = 1}, false, 1);
  BOOST_TEST(calls.back() == "error: planned");
  BOOST_TEST(calls.at(calls.size() - 2) == "module.teardown");
  BOOST_TEST(calls.at(calls.size() - 3) == "callback.teardown");
  Calls expected = recorded("lightning_hooks").at("exception").get<Calls>();
  expected.pop_back();
  BOOST_TEST(Calls(calls.begin(), calls.end() - 3) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
