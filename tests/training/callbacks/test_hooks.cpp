#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <memory>

#include "support/captured.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

// Writes down the hooks that run.
class Recorder : public Callback {
 public:
  explicit Recorder(std::string* text, std::string name = {}, bool saves = false)
      : text_(text), name_(std::move(name)), saves_(saves) {}
  bool saves() const override { return saves_; }
  void on_train_begin(Logs&) override { note("train{"); }
  void on_train_end(Logs&) override { note("}train"); }
  void on_epoch_begin(int epoch, Logs&) override { note("epoch" + std::to_string(epoch) + "{"); }
  void on_epoch_end(int epoch, Logs& logs) override {
    note("}epoch" + std::to_string(epoch) + (logs.count("val_loss") == 1 ? "+val" : ""));
  }
  void on_train_batch_begin(std::int64_t batch, Logs&) override { note("batch" + std::to_string(batch) + "{"); }
  void on_train_batch_end(std::int64_t batch, Logs&) override { note("}" + std::to_string(batch)); }
  void on_test_begin(Logs&) override { note("test{"); }
  void on_test_end(Logs&) override { note("}test"); }
  void on_test_batch_begin(std::int64_t batch, Logs&) override { note("t" + std::to_string(batch) + "{"); }
  void on_test_batch_end(std::int64_t batch, Logs&) override { note("}" + std::to_string(batch)); }
  void on_predict_begin(Logs&) override { note("predict{"); }
  void on_predict_end(Logs&) override { note("}predict"); }
  void on_predict_batch_begin(std::int64_t batch, Logs&) override { note("p" + std::to_string(batch) + "{"); }
  void on_predict_batch_end(std::int64_t batch, Logs&) override {
    note("}" + std::to_string(batch) + ":" + std::to_string(session().outputs()[0].shape()[0]));
  }
  void on_exception(const std::exception& error) override { note(std::string("error: ") + error.what()); }

 private:
  void note(const std::string& hook) { *text_ += name_ + hook + " "; }

  std::string* text_;
  std::string name_;
  bool saves_;
};

const FitOptions two_epochs{.batch_size = 2, .epochs = 2, .verbose = 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_AUTO_TEST_CASE(run_in_keras_order_in_fit_evaluate_and_predict) {
  Sequential model = compiled_line();
  std::string text;
  model.fit(column({1, 2, 3}), column({1, 2, 3}),
            {.batch_size = 2,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {Recorder(&text)},
             .validation_data = {{column({1, 2, 3}), column({1, 2, 3})}},
             .validation_freq = 2});
  const std::string batches = "batch0{ }0 batch1{ }1 ";
  BOOST_TEST(text == "train{ epoch0{ " + batches + "}epoch0 epoch1{ " + batches +
                         "test{ t0{ }0 t1{ }1 }test }epoch1+val }train ");
  text.clear();
  model.evaluate(column(xs), column(ys), {.batch_size = 3, .callbacks = {Recorder(&text)}});
  BOOST_TEST(text == "test{ t0{ }0 t1{ }1 }test ");
  text.clear();
  model.predict(column(xs), {.batch_size = 3, .callbacks = {Recorder(&text)}});
  BOOST_TEST(text == "predict{ p0{ }0:3 p1{ }1:2 }predict ");

  text.clear();
  const DataLoader loader(pairs({1}, {1}));
  const Trainer trainer({.max_epochs = 1,
                         .callbacks = {Recorder(&text, "s", true), Recorder(&text, "a"), Recorder(&text, "b")},
                         .enable_progress_bar = false});
  trainer.fit(model, loader);
  BOOST_TEST(text ==
             "atrain{ btrain{ strain{ aepoch0{ bepoch0{ sepoch0{ abatch0{ bbatch0{ sbatch0{ a}0 b}0 s}0 a}epoch0 "
             "b}epoch0 s}epoch0 a}train b}train s}train ");
  text.clear();
  trainer.validate(model, loader);
  trainer.predict(model, loader);
  BOOST_TEST(text ==
             "atest{ btest{ stest{ at0{ bt0{ st0{ a}0 b}0 s}0 a}test b}test s}test apredict{ bpredict{ spredict{ ap0{ "
             "bp0{ sp0{ a}0:1 b}0:1 s}0:1 a}predict b}predict s}predict ");
}

BOOST_AUTO_TEST_CASE(get_running_means_and_may_add_to_the_logs_of_epochs) {
  class Reader : public Callback {
   public:
    void on_train_batch_end(std::int64_t, Logs& logs) override { means.push_back(logs.at("loss")); }
    void on_epoch_end(int epoch, Logs& logs) override {
      BOOST_TEST(session().current_epoch() == epoch);
      BOOST_TEST(session().history().epoch.size() == static_cast<std::size_t>(epoch));
      BOOST_TEST((&session().module() == &model()));
      seen.push_back(logs.at("extra"));
    }
    std::vector<double> means, seen;
  };
  Sequential model = compiled_line(0);
  Reader reader;
  const History history = model.fit(
      column(xs), column(ys),
      {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {Feeder("extra", {7, 8}), reader}, .shuffle = false});
  BOOST_TEST(reader.seen == (std::vector<double>{7, 8}), boost::test_tools::per_element());
  BOOST_TEST(history.history.at("extra") == reader.seen, boost::test_tools::per_element());
  BOOST_TEST(reader.means.size() == 6U);
  BOOST_TEST(reader.means[0] == squared_error(0.5, {1, 2}, {2, 3}), tolerance(1e-6));
  BOOST_TEST(reader.means[1] == squared_error(0.5, {1, 2, 3, 4}, {2, 3, 7, 7}), tolerance(1e-6));
  BOOST_TEST(reader.means[2] == history.history.at("loss")[0]);
}

BOOST_AUTO_TEST_CASE(stop_a_training_after_its_batch_or_epoch) {
  const DataLoader loader(pairs(xs, ys), {.batch_size = 2});
  Sequential model = compiled_line();
  std::string text;
  const LambdaCallback at_batch({.on_train_batch_end = [&](std::int64_t batch, Logs&) {
    if (batch == 1) model.stop_training();
  }});
  const History history = model.fit(loader, {.epochs = 3,
                                             .verbose = 0,
                                             .callbacks = {LambdaCallback(at_batch), Recorder(&text)},
                                             .validation_data = DataLoader(pairs({1}, {1}))});
  BOOST_TEST(text == "train{ epoch0{ batch0{ }0 batch1{ }1 test{ t0{ }0 }test }epoch0+val }train ");
  BOOST_TEST(history.epoch.size() == 1U);
  const History second = model.fit(
      loader, {.epochs = 9, .verbose = 0, .callbacks = {LambdaCallback({.on_epoch_end = [&](int epoch, const Logs&) {
                                            if (epoch == 1) model.stop_training();
                                          }})}});
  BOOST_TEST(second.epoch.size() == 2U);
  BOOST_TEST(refused<ValueError>([&] { model.stop_training(); }) ==
             "[Sequential] stop_training: a callback must call it during fit; got a call outside of fit");
}

BOOST_AUTO_TEST_CASE(that_throw_end_the_call_and_the_history_is_kept) {
  class Thrower : public Callback {
   public:
    void on_epoch_end(int epoch, Logs&) override {
      if (epoch == 2) throw std::runtime_error("too late");
    }
    void on_exception(const std::exception&) override { throw ValueError("worse"); }
  };
  Sequential model = compiled_line();
  std::string text;
  const CapturedOutput captured;
  const auto fit = [&](const Callbacks& callbacks) {
    model.fit(column({1}), column({1}), {.epochs = 9, .verbose = 0, .callbacks = callbacks});
  };
  BOOST_TEST(refused<std::runtime_error>([&] { fit({Thrower(), Recorder(&text)}); }) == "too late");
  BOOST_TEST(text.find("error: too late") != std::string::npos);
  BOOST_TEST(text.find("}train") == std::string::npos);
  BOOST_TEST(model.history().epoch.size() == 2U);
  BOOST_TEST(model.history().history.at("loss").size() == 2U);
  BOOST_TEST(captured.text() == "mezzo: warning: [Callback] on_exception: worse\n");
  text.clear();
  class Failing : public Callback {
    void on_test_batch_end(std::int64_t, Logs&) override { throw ValueError("failed"); }
  };
  BOOST_TEST(refused<ValueError>([&] {
               model.evaluate(column({1}), column({1}), {.callbacks = {Recorder(&text), Failing()}});
             }) == "failed");
  BOOST_TEST(text == "test{ t0{ }0 error: failed ");
  BOOST_CHECK_NO_THROW(fit({}));
}

BOOST_AUTO_TEST_CASE(use_the_model_between_steps_but_do_not_train_it) {
  Sequential model = compiled_line(), twin = compiled_line();
  std::vector<double> predictions;
  std::vector<std::string> refusals;
  const auto use = [&] {
    predictions.push_back(model.predict(column({1})).item());
    BOOST_TEST(predictions.back() == weight_of(model));
    BOOST_TEST(model.evaluate(column({1}), column({0})).at("loss") == predictions.back() * predictions.back(),
               tolerance(1e-6));
  };
  const LambdaCallback user({.on_epoch_begin = [&](int, Logs&) { use(); },
                             .on_train_begin =
                                 [&](Logs&) {
                                   refusals = {refused<ValueError>([&] { model.fit(column({1}), column({1})); }),
                                               refused<ValueError>([&] { model.compile({.loss = "mse"}); })};
                                 },
                             .on_train_batch_end = [&](std::int64_t, Logs&) { use(); }});
  FitOptions options = two_epochs;
  options.callbacks = {LambdaCallback(user)};
  const History history = model.fit(column(xs), column(ys), options);
  const History plain = twin.fit(column(xs), column(ys), two_epochs);
  BOOST_TEST(weight_of(model) == weight_of(twin));
  BOOST_TEST(history.history.at("loss")[1] == plain.history.at("loss")[1]);
  BOOST_TEST(predictions.size() == 8U);
  for (const std::string& text : refusals) {
    BOOST_TEST(text ==
               "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
               "call it in a callback, or predict by model.predictor()");
  }
}

BOOST_AUTO_TEST_CASE(compute_in_the_precision_of_the_running_call) {
  Sequential model = compiled_line();
  DType seen = DType::float32;
  const LambdaCallback user({.on_epoch_end = [&](int, Logs&) {
    model.predict(column({1}));
    seen = model.weights().at(0).dtype();
  }});
  const Trainer trainer(
      {.max_epochs = 2, .precision = "bf16-true", .callbacks = {LambdaCallback(user)}, .enable_progress_bar = false});
  trainer.fit(model, DataLoader(pairs(xs, ys), {.batch_size = 2}));
  BOOST_TEST((seen == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(inside_of_a_step_the_model_is_still_refused) {
  class Nested : public Module {
   public:
    Value training_step(const Batch& batch) override {
      const Value y = line_(batch["x"]);
      const Value checked = stop_gradient(host(
          [this](const Tensor& x) {
            text = refused<ValueError>(
                [&] { Trainer({.enable_progress_bar = false}).predict(*this, DataLoader(pairs({1}, {1}))); });
            return x;
          },
          y));
      return mean_squared_error(batch["y"], y) + 0 * mean(checked);
    }
    OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }
    std::string text;

   private:
    Dense line_ = sub("line", Dense({.units = 1, .use_bias = false}));
  };
  Nested module;
  std::string text;
  Trainer({.max_epochs = 1, .callbacks = {Recorder(&text)}, .enable_progress_bar = false})
      .fit(module, DataLoader(pairs({1}, {1})));
  BOOST_TEST(module.text ==
             "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
             "call it in a callback, or predict by model.predictor()");
}

BOOST_AUTO_TEST_CASE(handles_refer_to_variables_and_own_temporaries) {
  Sequential model = compiled_line();
  const auto text = [&](const Callbacks& callbacks) {
    return refused<ValueError>([&] { model.fit(column({1}), column({1}), {.verbose = 0, .callbacks = callbacks}); });
  };
  Callbacks dangling;
  {
    Callback gone;
    dangling.emplace_back(gone);
  }
  BOOST_TEST(text(dangling) ==
             "[Callback] callbacks must exist during the call; got one that was destroyed, or an empty one");
  Callback one;
  BOOST_TEST(text({one, one}) ==
             "[Callback] a callback must belong to one running call and be listed once; got one that is listed twice");
  BOOST_TEST(text({one}).empty());
  const LambdaCallback other({.on_train_begin = [&](Logs&) { model.predict(column({1}), {.callbacks = {one}}); }});
  BOOST_TEST(
      text({one, LambdaCallback(other)}) ==
      "[Callback] a callback must belong to one running call and be listed once; got one that another call uses");
  BOOST_TEST(
      refused<ValueError>([&] { one.session(); }) ==
      "[Callback] a hook must run to use session() and model(); got a call outside of fit, evaluate and predict");
  const auto shared = std::make_shared<EarlyStopping>(EarlyStoppingOptions{.monitor = "loss"});
  BOOST_TEST(text({shared}).empty());
  BOOST_TEST(shared->best().has_value());
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite_may_end_the_training_without_an_error) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = column({1, 2, nan, 4}), y = column({1, 2, 3, 4});
  const auto options = [](const Callbacks& callbacks) {
    return FitOptions{.batch_size = 1, .epochs = 3, .verbose = 0, .callbacks = callbacks, .shuffle = false};
  };
  for (const bool eager : {false, true}) {
    Sequential model = compiled_line(), twin = compiled_line();
    const CapturedOutput captured;
    const Trainer trainer(
        {.max_epochs = 3, .callbacks = {TerminateOnNaN()}, .enable_progress_bar = false, .eager = eager});
    const DataLoader loader(Dataset::from_tensors({{"x", x}, {"y", y, Role::target}}), {.batch_size = 1});
    const History history = trainer.fit(model, loader);
    twin.fit(column({1, 2}), column({1, 2}), {.batch_size = 1, .verbose = 0, .shuffle = false});
    BOOST_TEST(history.epoch.size() == 1U);
    BOOST_TEST(std::isnan(history.history.at("loss").at(0)));
    BOOST_TEST(weight_of(model) == weight_of(twin));
    BOOST_TEST(captured.text().rfind("[TerminateOnNaN] ended the training at batch 2: ", 0) == 0U);
  }
  Sequential model = compiled_line();
  const std::string text =
      refused<ValueError>([&] { model.fit(x, y, options({TerminateOnNaN({.raise_error = true})})); });
  BOOST_TEST(text.rfind("[TerminateOnNaN] the loss must be finite; at batch 2: ", 0) == 0U);
  BOOST_TEST(refused<ValueError>([&] { model.fit(x, y, options({Callback()})); }).find("not finite") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
