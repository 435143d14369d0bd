// Training of a frozen and unfrozen backbone, compared with tests/parity/recorded/lightning_finetuning.json.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;
using boost::test_tools::tolerance;
using Json = nlohmann::json;

namespace {

Dense factor(double value) { return Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(value)}); }

// y = head * backbone * x.
class Finetuned : public Module {
 public:
  explicit Finetuned(bool head_only = false) : head_only_(head_only) {}

  Value training_step(const Batch& batch) override {
    ++*traces;
    return mean_squared_error(batch["y"], head_(backbone_(batch["x"])));
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD(0.01, {.momentum = momentum}), .weights = head_only_ ? head_.weights() : Variables{}}};
  }
  double momentum = 0;
  std::shared_ptr<int> traces = std::make_shared<int>(0);

 private:
  using Variables = std::vector<Variable>;
  Value call(const Value& x) override { return head_(backbone_(x)); }

  bool head_only_;
  Dense backbone_ = sub("backbone", factor(0.5)), head_ = sub("head", factor(1.5));
};

// Notes rates of the steps, and weights and traces at the ends of epochs.
class FinetuningNotes : public Callback {
 public:
  void on_train_batch_begin(std::int64_t, Logs&) override {
    std::vector<double>& now = rates.emplace_back();
    now.push_back(session().learning_rate());
    for (const ParamGroup& group : session().param_groups()) now.push_back(group.learning_rate);
  }
  void on_epoch_end(int, Logs&) override {
    std::vector<double>& now = weights.emplace_back();
    for (const Variable& weight : module().weights()) now.push_back(weight.value().item());
    traces.push_back(*static_cast<Finetuned&>(module()).traces);
  }
  std::vector<std::vector<double>> rates, weights;
  std::vector<int> traces;
};

DataLoader line_data() { return DataLoader(pairs(xs, ys), {.batch_size = 2}); }

struct FinetuningRun {
  Callbacks callbacks;
  std::string checkpoint{};
  bool eager = false;
  Loggers loggers{};
};

FinetuningNotes finetune(Finetuned& model, const FinetuningRun& run, int epochs = 5) {
  FinetuningNotes notes;
  Callbacks all = run.callbacks;
  all.emplace_back(notes);
  Trainer({.max_epochs = epochs,
           .callbacks = all,
           .logger = run.loggers,
           .log_every_n_steps = 1,
           .enable_progress_bar = false,
           .eager = run.eager})
      .fit(model, line_data(), {}, {.ckpt_path = run.checkpoint});
  return notes;
}

void check_finetuning(const std::string& name, const BackboneFinetuningOptions& options, Callbacks before = {}) {
  const Json& record = recorded("lightning_finetuning").at(name);
  before.emplace_back(BackboneFinetuning(options));
  for (const bool head_only : {false, true}) {
    for (const bool eager : {false, true}) {
      Finetuned model(head_only);
      const FinetuningNotes notes = finetune(model, {.callbacks = before, .eager = eager});
      BOOST_TEST_CONTEXT(name << ", weights of the head: " << head_only << ", eager: " << eager) {
        BOOST_TEST_REQUIRE(notes.rates.size() == record.at("rates").size());
        for (std::size_t i = 0; i < notes.rates.size(); ++i) {
          const auto rates = record.at("rates")[i].get<std::vector<double>>();
          BOOST_TEST(notes.rates[i] == rates, tolerance(1e-6) << per_element());
        }
        BOOST_TEST_REQUIRE(notes.weights.size() == record.at("weights").size());
        for (std::size_t i = 0; i < notes.weights.size(); ++i) {
          const auto weights = record.at("weights")[i].get<std::vector<double>>();
          BOOST_TEST(notes.weights[i] == weights, tolerance(1e-4) << per_element());
        }
      }
    }
  }
}

// Saves a checkpoint after a step.
class SaverAt : public Callback {
 public:
  SaverAt(std::int64_t step, std::string path) : step_(step), path_(std::move(path)) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (session().global_step() == step_) session().save_checkpoint(path_);
  }

 private:
  std::int64_t step_;
  std::string path_;
};

// A backbone with a batch normalization inside of a block.
class Normalized : public Module {
 public:
  Value training_step(const Batch& batch) override {
    return mean_squared_error(batch["y"], head_(backbone_(batch["x"])));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.01)}}; }

 private:
  Value call(const Value& x) override { return head_(backbone_(x)); }

  Sequential backbone_ =
      sub("backbone", Sequential({Dense(2, {.name = "first"}),
                                  Sequential({BatchNormalization({.name = "norm"}), Dense(1, {.name = "second"})},
                                             {.name = "block"})}));
  Dense head_ = sub("head", Dense(1));
};

// Notes the trainable weights at the start of each epoch, after the callbacks before it.
class TrainableNotes : public Callback {
 public:
  void on_train_batch_begin(std::int64_t batch, Logs&) override {
    if (batch > 0) return;
    std::string& now = names.emplace_back();
    for (const Variable& weight : module().trainable_weights()) {
      for (const auto& [path, other] : module().named_weights()) {
        if (other.id() == weight.id()) now += path + " ";
      }
    }
    groups.push_back(session().param_groups().empty() ? 0 : session().param_groups()[0].weights.size());
  }
  std::vector<std::string> names;
  std::vector<std::size_t> groups;
};

// Calls one function of BaseFinetuning in an epoch.
class Stages : public BaseFinetuning {
 public:
  using Stage = std::function<void(Stages&, int epoch)>;
  explicit Stages(Stage stage) : stage_(std::move(stage)) {}
  using BaseFinetuning::freeze;
  using BaseFinetuning::make_trainable;
  using BaseFinetuning::unfreeze_and_add_param_group;

 private:
  void freeze_before_training() override { freeze("backbone"); }
  void finetune_function(int epoch, const std::string&) override { stage_(*this, epoch); }
  Stage stage_;
};

std::string stage_refusal(const Stages::Stage& stage) {
  Finetuned model;
  return refused<Error>([&] { finetune(model, {.callbacks = {Stages(stage)}}); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(backbone_finetuning)

BOOST_AUTO_TEST_CASE(rates_and_weights_are_those_of_lightning) {
  const auto constant = [](int) { return 1.5; };
  check_finetuning("doubled", {.unfreeze_backbone_at_epoch = 2});
  check_finetuning("initial", {.unfreeze_backbone_at_epoch = 1,
                               .lambda_func = [](int epoch) { return 1 + epoch / 10.0; },
                               .backbone_initial_lr = 0.004});
  check_finetuning("aligned",
                   {.unfreeze_backbone_at_epoch = 1, .lambda_func = constant, .backbone_initial_ratio_lr = 0.5},
                   {LearningRateScheduler([](int epoch) { return 0.01 * std::pow(0.7, epoch); })});
  check_finetuning("not_aligned", {.unfreeze_backbone_at_epoch = 0,
                                   .lambda_func = constant,
                                   .backbone_initial_ratio_lr = 0.5,
                                   .should_align = false});
}

BOOST_AUTO_TEST_CASE(only_unfreezing_compiles_steps) {
  Finetuned model;
  const FinetuningNotes notes = finetune(model, {.callbacks = {BackboneFinetuning({.unfreeze_backbone_at_epoch = 2})}});
  BOOST_TEST(notes.traces == (std::vector<int>{3, 3, 5, 5, 5}), per_element());
}

BOOST_AUTO_TEST_CASE(a_resumed_training_is_equal) {
  const Folder folder;
  const auto finetuning = [] { return BackboneFinetuning({.unfreeze_backbone_at_epoch = 2}); };
  for (const std::int64_t step : {2, 6, 7, 9, 10, 14}) {  // of 15; epoch 2 begins after step 6
    const std::string path = folder.path(std::to_string(step) + ".ckpt");
    Finetuned whole, resumed(true);
    whole.momentum = resumed.momentum = 0.5;
    const FinetuningNotes expected = finetune(whole, {.callbacks = {finetuning(), SaverAt(step, path)}});
    const FinetuningNotes found = finetune(resumed, {.callbacks = {finetuning()}, .checkpoint = path});
    BOOST_TEST_CONTEXT("after step " << step) {
      BOOST_TEST(found.weights.back() == expected.weights.back(), per_element());
      BOOST_TEST(found.rates.back() == expected.rates.back(), per_element());
      BOOST_TEST(found.rates.size() == 15 - static_cast<std::size_t>(step));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_training_begins_frozen) {
  Finetuned model;
  BackboneFinetuning callback({.unfreeze_backbone_at_epoch = 1});
  finetune(model, {.callbacks = {callback}}, 2);
  const FinetuningNotes again = finetune(model, {.callbacks = {callback}}, 2);
  BOOST_TEST(again.rates[0].size() == 1U);
  BOOST_TEST(again.rates[3].size() == 2U);
}

BOOST_AUTO_TEST_CASE(batch_normalizations_train_with_train_bn) {
  const std::string head = "head/kernel head/bias ", first = "backbone/first/kernel backbone/first/bias ",
                    norm = "backbone/block/norm/gamma backbone/block/norm/beta ",
                    second = "backbone/block/second/kernel backbone/block/second/bias ";
  for (const bool train_bn : {true, false}) {
    Normalized model;
    TrainableNotes notes;
    Trainer({.max_epochs = 2,
             .callbacks = {BackboneFinetuning({.unfreeze_backbone_at_epoch = 1, .train_bn = train_bn}), notes},
             .enable_progress_bar = false})
        .fit(model, line_data());
    BOOST_TEST(notes.names[0] == (train_bn ? norm : "") + head);
    BOOST_TEST(notes.names[1] == first + (train_bn ? norm : "") + second + head);
    BOOST_TEST(notes.groups == (std::vector<std::size_t>{0, 4}), per_element());
  }
}

BOOST_AUTO_TEST_CASE(rates_are_told_and_logged) {
  const Folder folder;
  const CapturedOutput captured;
  Finetuned model;
  LearningRateMonitor monitor({.logging_interval = "epoch"});
  finetune(model,
           {.callbacks = {BackboneFinetuning({.unfreeze_backbone_at_epoch = 1,
                                              .backbone_initial_ratio_lr = 0.1234,
                                              .verbose = true,
                                              .rounding = 4}),
                          monitor},
            .loggers = {loggers::CSVLogger(folder.path())}},
           3);
  BOOST_TEST(captured.text() ==
             "[BackboneFinetuning] learning rates: module 0.01, backbone 0.0012\n"
             "[BackboneFinetuning] learning rates: module 0.01, backbone 0.0025\n");
  BOOST_TEST(monitor.lrs().at("lr-SGD").size() == 1U);
  BOOST_TEST(monitor.lrs().at("lr-SGD/pg1").size() == 2U);
  BOOST_TEST(monitor.lrs().at("lr-SGD/pg2")[1] == 2 * 0.001234, tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(stages_of_ones_own) {
  Finetuned model;
  BOOST_TEST(stage_refusal([](Stages& self, int epoch) {
               if (epoch == 2) self.freeze("");
             }).find("depends on none") != std::string::npos);
  const FinetuningNotes notes = finetune(model, {.callbacks = {Stages([](Stages& self, int epoch) {
                                                   if (epoch == 1) self.unfreeze_and_add_param_group("backbone");
                                                   if (epoch == 2) self.freeze("head");
                                                   if (epoch == 3) self.make_trainable("head");
                                                 })}},
                                         4);
  BOOST_TEST(notes.rates[3][1] == 0.001, tolerance(1e-6));  // a tenth of the optimizer's
  BOOST_TEST(notes.weights[0][0] == 0.5);
  BOOST_TEST(notes.weights[1][0] != 0.5);
  BOOST_TEST(notes.weights[2][1] == notes.weights[1][1]);
  BOOST_TEST(notes.weights[3][1] != notes.weights[2][1]);
}

BOOST_AUTO_TEST_CASE(mistakes) {
  BOOST_TEST(refused<ValueError>([] { BackboneFinetuning({.unfreeze_backbone_at_epoch = -1}); }) ==
             "[BackboneFinetuning] unfreeze_backbone_at_epoch must be 0 or more; got -1");
  BOOST_TEST(refused<ValueError>([] { BackboneFinetuning({.backbone_initial_ratio_lr = 0}); }) ==
             "[BackboneFinetuning] backbone_initial_ratio_lr must be above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { BackboneFinetuning({.backbone_initial_lr = -0.5}); }) ==
             "[BackboneFinetuning] backbone_initial_lr must be above 0; got -0.5");
  BOOST_TEST(refused<ValueError>([] { BackboneFinetuning({.rounding = -1}); }) ==
             "[BackboneFinetuning] rounding must be 0 or more; got -1");
  Finetuned model;
  BOOST_TEST(refused<NameError>([&] {
               finetune(model, {.callbacks = {BackboneFinetuning({.backbone = "backbone/layer4"})}});
             }).find("[BaseFinetuning] unknown layer \"backbone/layer4\"") == 0U);
  BOOST_TEST(stage_refusal([](Stages& self, int) {
               self.unfreeze_and_add_param_group("backbone", {.initial_denom_lr = 0});
             }) == "[BaseFinetuning] initial_denom_lr must be above 0; got 0");
  BOOST_TEST(stage_refusal([](Stages& self, int) {
               self.session().add_param_group({.weights = self.module().weights(), .learning_rate = -1});
             }) == "[Callback] add_param_group: learning_rate must be a number of at least 0; got -1");
  BOOST_TEST(stage_refusal([](Stages& self, int) { self.session().add_param_group({}); }) ==
             "[Callback] add_param_group: the group must have weights; got none");
  BOOST_TEST(stage_refusal([](Stages& self, int) {
               self.session().add_param_group({.weights = self.module().weights(), .learning_rate = 1e-3});
             }) == "[Callback] add_param_group: a weight may be in one group; got \"kernel\" again");
  BOOST_TEST(stage_refusal([](Stages& self, int) { self.session().set_param_group_learning_rate(0, 1); }) ==
             "[Callback] set_param_group_learning_rate: the index must be below 0; got 0");
  BOOST_TEST(stage_refusal([](Stages& self, int) {
               self.session().add_param_group({.optimizer = "g", .weights = self.module().weights()});
             }).find("[Trainer] unknown optimizer of a group \"g\"") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
