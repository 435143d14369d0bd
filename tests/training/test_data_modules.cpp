// DataModule and several loaders, compared with Lightning's calls and numbers.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using DataCalls = std::vector<std::string>;

// Batches 0, 1, ... of one sample, as in parity/lightning_data.py.
DataLoader counting(int samples) {
  std::vector<double> x;
  for (int i = 0; i < samples; ++i) x.push_back(i);
  return DataLoader(pairs(x, x), {.batch_size = 1});
}

// Notes its calls. Its training has two batches, and one more after each call of the loader if it grows.
class Counted : public DataModule {
 public:
  explicit Counted(DataCalls* calls, bool grows = false) : calls_(calls), grows_(grows) {}
  void prepare_data() override { note("prepare_data"); }
  void setup(const std::string& stage) override { note("setup " + stage); }
  void teardown(const std::string& stage) override { note("teardown " + stage); }
  void on_exception(const std::exception&) override { note("on_exception"); }
  CallbackState state_dict() const override {
    return {.numbers = {{"seen", 7}}, .tensors = {{"order", Tensor({3, 1, 2})}}, .texts = {{"file", "a.csv"}}};
  }
  void load_state_dict(const CallbackState& state) override {
    note("load_state_dict " + std::to_string(static_cast<int>(state.numbers.at("seen"))));
    BOOST_TEST(state.tensors.at("order").equal(Tensor({3, 1, 2})));
    BOOST_TEST(state.texts.at("file") == "a.csv");
  }
  DataLoader train_dataloader() override {
    note("train_dataloader");
    return counting(grows_ ? 1 + ++trains_ : 2);
  }
  DataLoaders val_dataloader() override {
    note("val_dataloader");
    return counting(1);
  }
  DataLoaders test_dataloader() override {
    note("test_dataloader");
    return counting(1);
  }
  DataLoaders predict_dataloader() override {
    note("predict_dataloader");
    return counting(1);
  }

 private:
  void note(const std::string& call) { calls_->push_back("data." + call); }

  DataCalls* calls_;
  bool grows_;
  int trains_ = 0;
};

class CallWatcher : public Callback {
 public:
  explicit CallWatcher(DataCalls* calls) : calls_(calls) {}
  void setup(const std::string& stage) override { calls_->push_back("callback.setup " + stage); }
  void teardown(const std::string& stage) override { calls_->push_back("callback.teardown " + stage); }
  void on_epoch_begin(int, Logs&) override { calls_->push_back("callback.on_train_epoch_start"); }

 private:
  DataCalls* calls_;
};

class Watched : public Module {
 public:
  explicit Watched(DataCalls* calls, bool fails = false) : Module("Watched"), calls_(calls), fails_(fails) {}
  void setup(const std::string& stage) override { calls_->push_back("module.setup " + stage); }
  void teardown(const std::string& stage) override { calls_->push_back("module.teardown " + stage); }
  Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])); }
  void on_train_batch_start(const HostBatch&, std::int64_t) override {
    ++batches;
    if (fails_) throw ValueError("planned");
  }
  void validation_step(const Batch& batch) override { log("number", mean(batch["x"])); }
  Value predict_step(const Batch& batch) override { return batch["x"] * 1.0f; }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

  int batches = 0;

 private:
  Dense dense_ = sub("dense", Dense({.units = 1}));
  DataCalls* calls_;
  bool fails_;
};

TrainerOptions watching_options(DataCalls* calls, int epochs = 1) {
  return {
      .max_epochs = epochs, .num_sanity_val_steps = 0, .callbacks = {CallWatcher(calls)}, .enable_progress_bar = false};
}

DataCalls lightning_calls(const char* name) { return recorded("lightning_data").at(name).get<DataCalls>(); }

// The calls without those at the start of epochs: Lightning makes new loaders of validations only when one is due.
DataCalls without_epochs(DataCalls calls) {
  calls.erase(std::remove(calls.begin(), calls.end(), "callback.on_train_epoch_start"), calls.end());
  return calls;
}

// Logs means of the loaders, and notes the indices that hooks see.
class Indexed : public Module {
 public:
  Indexed() : Module("Indexed") {}
  Value training_step(const Batch& batch) override {
    const Value loss = mean(dense_(batch["x"]));
    log("mean", loss);
    return loss;
  }
  void validation_step(const Batch& batch) override {
    const Value number = mean(batch["x"]);
    const std::size_t index = dataloader_idx();
    log("mean", number + static_cast<float>(index), {.prog_bar = true});
    log("own_" + std::to_string(shares ? 0 : index), number, {.add_dataloader_idx = false});
    if (metrics) {
      metric_.update_state(number, number + static_cast<float>(index));
      log("error", metric_);
    }
  }
  Value predict_step(const Batch& batch) override { return batch["x"] + 10 * static_cast<float>(dataloader_idx()); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }
  void on_validation_batch_start(const HostBatch& batch, std::int64_t batch_idx) override {
    BOOST_TEST(batch.fields[0].tensor.item() == static_cast<double>(batch_idx));
    seen.push_back(std::to_string(dataloader_idx()) + "." + std::to_string(batch_idx));
  }
  void on_predict_batch_end(const HostBatch&, std::int64_t batch_idx) override {
    seen.push_back(std::to_string(dataloader_idx()) + "." + std::to_string(batch_idx));
  }

  bool shares = false, metrics = false;
  std::vector<std::string> seen;

 private:
  Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
  metrics::MeanSquaredError metric_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(data_modules)

BOOST_AUTO_TEST_CASE(calls_have_the_order_of_lightning) {
  const auto expect = [](const char* name, const DataCalls& calls) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(without_epochs(calls) == without_epochs(lightning_calls(name)), boost::test_tools::per_element());
    }
  };
  DataCalls calls;
  Counted data(&calls);
  const auto with_new_calls = [&](const auto& call) {
    calls.clear();
    Watched module(&calls);
    call(module);
    return calls;
  };
  expect("fit", with_new_calls([&](Watched& module) { Trainer(watching_options(&calls, 2)).fit(module, data); }));
  expect("validate",
         with_new_calls([&](Watched& module) { Trainer(watching_options(&calls)).validate(module, data); }));
  expect("test", with_new_calls([&](Watched& module) { Trainer(watching_options(&calls)).test(module, data); }));
  expect("predict", with_new_calls([&](Watched& module) {
           const std::vector<Tensor> outputs = Trainer(watching_options(&calls)).predict(module, data);
           BOOST_TEST(outputs.size() == 1U);
         }));
}

BOOST_AUTO_TEST_CASE(loaders_are_made_anew_every_n_epochs) {
  for (const bool by_environment : {false, true}) {
    DataCalls calls;
    Watched module(&calls);
    Counted data(&calls, true);
    std::optional<Environment> variable;
    if (by_environment) variable.emplace("MEZZO_TRAINER_RELOAD_DATALOADERS_EVERY_N_EPOCHS", "2");
    TrainerOptions options = watching_options(&calls, 4);
    if (!by_environment) options.reload_dataloaders_every_n_epochs = 2;
    Trainer(options).fit(module, data);
    BOOST_TEST(without_epochs(calls) == without_epochs(lightning_calls("reload")), boost::test_tools::per_element());
    const auto last = std::find(calls.rbegin(), calls.rend(), "data.train_dataloader");
    BOOST_TEST(std::count(last, calls.rend(), "callback.on_train_epoch_start") == 2);
    BOOST_TEST(module.batches == 2 + 2 + 3 + 3);
  }
  Indexed module;
  BOOST_TEST(refused<ValueError>([&] { Trainer({.reload_dataloaders_every_n_epochs = 2}).fit(module, counting(1)); }) ==
             "[Trainer] reload_dataloaders_every_n_epochs needs a DataModule in fit; got loaders and 2");
  BOOST_TEST(refused<ValueError>([] { Trainer({.reload_dataloaders_every_n_epochs = -1}); }) ==
             "[Trainer] reload_dataloaders_every_n_epochs must be at least 0; got -1");
}

BOOST_AUTO_TEST_CASE(an_error_is_told_and_teardown_runs) {
  DataCalls calls;
  Watched module(&calls, true);
  Counted data(&calls);
  BOOST_TEST(refused<ValueError>([&] { Trainer(watching_options(&calls)).fit(module, data); }) == "planned");
  DataCalls expected = lightning_calls("exception");
  expected.back() = "data.teardown fit";  // Lightning leaves it out
  expected.insert(expected.end(), {"callback.teardown fit", "module.teardown fit"});
  BOOST_TEST(calls == expected, boost::test_tools::per_element());

  class Unready : public Counted {
   public:
    using Counted::Counted;
    void setup(const std::string&) override { throw FileError("no data"); }
  };
  calls.clear();
  Unready unready(&calls);
  BOOST_TEST(refused<FileError>([&] { Trainer(watching_options(&calls)).fit(module, unready); }) == "no data");
  BOOST_TEST(calls == (DataCalls{"data.prepare_data", "data.teardown fit"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(checkpoints_keep_the_state) {
  const Folder folder;
  DataCalls calls;
  Counted data(&calls);
  Watched module(&calls), other(&calls);
  TrainerOptions options = watching_options(&calls);
  options.callbacks.emplace_back(ModelCheckpoint(folder.path("last.ckpt")));
  Trainer(options).fit(module, data);
  calls.clear();
  Trainer(watching_options(&calls, 2)).fit(other, data, {.ckpt_path = folder.path("last.ckpt")});
  BOOST_TEST(calls == lightning_calls("resume"), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_data_module_without_a_loader_is_refused) {
  class Empty : public DataModule {};
  Empty data;
  Indexed module;
  const Trainer trainer({.enable_progress_bar = false});
  BOOST_TEST(refused<ValueError>([&] { trainer.fit(module, data); }) ==
             "[Trainer] fit: the loader must have batches; got an absent loader");
  BOOST_TEST(refused<ValueError>([&] { trainer.test(module, data); }) ==
             "[Trainer] test: the loader must have batches; got an absent loader");
}

BOOST_AUTO_TEST_CASE(numbers_of_several_loaders_have_the_names_of_lightning) {
  for (const bool eager : {false, true}) {
    Indexed module;
    const Trainer trainer({.enable_progress_bar = false, .eager = eager});
    for (const bool tests : {false, true}) {
      const DataLoaders loaders{counting(2), counting(4)};
      const Logs logs = tests ? trainer.test(module, loaders) : trainer.validate(module, loaders);
      const auto& expected = recorded("lightning_data").at(tests ? "tested" : "validated");
      BOOST_TEST(logs.size() == expected.size());
      for (const auto& [name, number] : expected.items()) BOOST_TEST(logs.at(name) == number.get<double>());
    }
    BOOST_TEST(module.seen == (std::vector<std::string>{"0.0", "0.1", "1.0", "1.1", "1.2", "1.3"}),
               boost::test_tools::per_element());
    BOOST_TEST(trainer.validate(module, counting(4)).at("mean") == 1.5);  // one loader: no suffix
  }
}

BOOST_AUTO_TEST_CASE(fit_validates_on_several_loaders) {
  Indexed module;
  module.metrics = true;
  const History history = Trainer({.max_epochs = 2, .limit_val_batches = 3, .enable_progress_bar = false})
                              .fit(module, counting(2), {counting(2), counting(4)});
  const std::map<std::string, double> expected{
      {"val_mean/dataloader_idx_0", 0.5}, {"val_mean/dataloader_idx_1", 2}, {"own_0", 0.5}, {"own_1", 1},
      {"error/dataloader_idx_0", 0},      {"error/dataloader_idx_1", 1}};
  for (const auto& [name, number] : expected) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST_REQUIRE(history.history.at(name).size() == 2U);
      BOOST_TEST(history.history.at(name)[1] == number);
    }
  }
  BOOST_TEST(module.seen.size() == 4U + 2 * 5);  // sanity checks take two of each
  Indexed sharing;
  sharing.shares = true;
  BOOST_TEST(refused<ValueError>([&] {
               Trainer().validate(sharing, DataLoaders{counting(1), counting(1)});
             }) ==
             "[Module] log(\"own_0\", ...): several loaders must log different names without add_dataloader_idx; got "
             "the same name of two");
  BOOST_TEST(refused<ValueError>([] {
               DataLoaders({counting(1), DataLoader()});
             }) == "[DataLoaders] the loaders of a list must have data; got an absent one at index 1");
}

BOOST_AUTO_TEST_CASE(predict_gives_the_outputs_of_each_loader) {
  Indexed module;
  const std::vector<Tensor> outputs =
      Trainer({.enable_progress_bar = false}).predict(module, {counting(2), counting(3)});
  BOOST_TEST_REQUIRE(outputs.size() == 2U);
  BOOST_TEST(outputs[0].equal(column({0, 1})));
  BOOST_TEST(outputs[1].equal(column({10, 11, 12})));
  BOOST_TEST(module.seen == (std::vector<std::string>{"0.0", "0.1", "1.0", "1.1", "1.2"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
