// ckpt_path "last" and "best", and weights that are loaded before the first run.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "checkpoint_runs.hpp"
#include "mixed_module.hpp"
#include "small.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

Sequential saved_line() {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return model;
}

DataLoader line_data() { return DataLoader(pairs({1, 2, 3, 4}, {2, 4, 6, 8}), {.batch_size = 2}); }

Trainer line_trainer(const Folder& folder, int epochs, const Callbacks& callbacks = {}) {
  return Trainer(
      {.max_epochs = epochs, .callbacks = callbacks, .enable_progress_bar = false, .default_root_dir = folder.path()});
}

// A network of a width that its checkpoints keep.
class Net : public Module {
 public:
  explicit Net(std::int64_t units, double rate = 0.1, bool bias = true) : Module("Net"), rate_(rate) {
    save_hyperparameters({{"units", units}, {"rate", rate}, {"bias", bias}, {"name", "net"}});
    hidden_ = sub("hidden", Dense({.units = units, .use_bias = bias}));
    out_ = sub("out", Dense({.units = 1}));
  }
  explicit Net(const Hyperparameters& saved)
      : Net(find_hyperparameter(saved, "units").to_int(), find_hyperparameter(saved, "rate").to_double(),
            find_hyperparameter(saved, "bias").to_bool()) {}

  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], (*this)(batch["x"])); }
  void validation_step(const Batch& batch) override { log("loss", training_step(batch)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = rate_})}}; }

 protected:
  Value call(const Value& x) override { return out_(hidden_(x)); }

 private:
  double rate_;
  Dense hidden_{{.units = 1}}, out_{{.units = 1}};
};

// Calls interrupt_training() after the first batch of the second epoch.
class Interrupter : public Callback {
 public:
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    if (session().current_epoch() == 1 && batch == 0) interrupt_training();
  }
};

// A module without a constructor from Hyperparameters.
class Plain : public Module {
 public:
  Plain() : Module("Plain") { save_hyperparameters({{"width", 3}, {"rate", 0.25}, {"depth", 2}}); }
  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], (*this)(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.01)}}; }

 protected:
  Value call(const Value& x) override { return line_(x); }

 private:
  Dense line_ = sub("line", Dense(1));
};

// A checkpoint of a trained Net with 3 units, and what it predicts.
struct TrainedNet {
  explicit TrainedNet(const Folder& folder) : path(folder.path("net.ckpt")) {
    seed_everything(4);
    line_trainer(folder, 1).fit(net, line_data());
    Trainer::save_checkpoint(net, path);
    prediction = Trainer({.enable_progress_bar = false}).predict(net, line_data());
  }
  Net net{3, 0.01, false};
  std::string path;
  Tensor prediction;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_paths)

BOOST_AUTO_TEST_CASE(last_goes_on_with_the_newest_file) {
  const Folder folder;
  const auto callback = [] { return ModelCheckpoint({.save_last = true}); };
  Sequential whole = saved_line(), first = saved_line(), second = saved_line();
  {
    const Folder other;
    line_trainer(other, 3).fit(whole, line_data());
  }
  const CapturedOutput output;
  const auto fit = [&](Sequential& model, int epochs) {
    return line_trainer(folder, epochs, {callback()}).fit(model, line_data(), {}, {.ckpt_path = "last"});
  };
  fit(first, 2);
  BOOST_TEST(output.text().find("warning: [Trainer] fit: ckpt_path is \"last\", but no checkpoint of save_last, of "
                                "enable_checkpointing or of an interruption exists: a new training starts") !=
             std::string::npos);
  BOOST_TEST(std::filesystem::exists(folder.path("checkpoints/last.ckpt")));
  const History rest = fit(second, 3);
  BOOST_TEST(rest.epoch == (std::vector<int>{2}), per_element());
  BOOST_TEST(weight_of(second) == weight_of(whole));
}

BOOST_AUTO_TEST_CASE(an_interrupted_training_goes_on_with_the_file_of_more_steps) {
  const Folder folder;
  const std::string last = folder.path("checkpoints/last.ckpt");
  const std::string interrupted = folder.path("checkpoints/interrupted.ckpt");
  TrainerOptions options{.max_epochs = 3,
                         .callbacks = {Interrupter()},
                         .enable_checkpointing = true,
                         .enable_progress_bar = false,
                         .default_root_dir = folder.path()};
  Sequential first = saved_line(), second = saved_line(), third = saved_line();
  BOOST_CHECK_THROW(Trainer(options).fit(first, line_data()), Interrupted);
  const auto time = std::filesystem::last_write_time(interrupted);
  std::filesystem::last_write_time(last, time + std::chrono::hours(1));  // of a copy
  options.callbacks = {};
  const CapturedOutput output;
  const auto fit = [&](Sequential& model) {
    return Trainer(options).fit(model, line_data(), {}, {.ckpt_path = "last"}).epoch;
  };
  BOOST_TEST(fit(second) == (std::vector<int>{1, 2}), per_element());
  const auto shown = [&](const std::string& text) { return output.text().find(text) != std::string::npos; };
  BOOST_TEST(shown("[Trainer] fit: goes on in epoch 2, after batch 1 of it, from \"" + interrupted + "\"\n"),
             output.text());
  BOOST_TEST(!std::filesystem::exists(interrupted));
  BOOST_TEST(fit(third).empty());
  BOOST_TEST(shown("warning: [Trainer] fit: nothing is left to train after checkpoint \"" + last +
                   "\": max_epochs must be above 3; got 3"),
             output.text());
  options.max_epochs = 4;
  BOOST_TEST(fit(third) == (std::vector<int>{3}), per_element());
  BOOST_TEST(shown("[Trainer] fit: goes on in epoch 4, from \"" + last + "\"\n"), output.text());
}

BOOST_AUTO_TEST_CASE(a_new_training_leaves_the_interrupted_one_of_another) {
  const Folder folder;
  const std::string interrupted = folder.path("checkpoints/interrupted.ckpt");
  Sequential first = saved_line(), second = saved_line();
  BOOST_CHECK_THROW(line_trainer(folder, 3, {Interrupter()}).fit(first, line_data()), Interrupted);
  line_trainer(folder, 1).fit(second, line_data());
  BOOST_TEST(std::filesystem::exists(interrupted));
  // It has replaced what the other one would go on from.
  Trainer(
      {.max_epochs = 1, .enable_checkpointing = true, .enable_progress_bar = false, .default_root_dir = folder.path()})
      .fit(second, line_data());
  BOOST_TEST(!std::filesystem::exists(interrupted));
}

BOOST_AUTO_TEST_CASE(a_folder_of_the_resumed_training_gives_no_warning) {
  const Folder folder;
  const auto output_of = [&](int epochs, const std::string& from) {
    const CapturedOutput output;
    Sequential model = saved_line();
    ModelCheckpoint saves({.dirpath = folder.path("c"), .save_last = true});
    line_trainer(folder, epochs, {saves}).fit(model, line_data(), {}, {.ckpt_path = from});
    return output.text();
  };
  const std::string warning = "folder \"" + folder.path("c") + "\" is not empty";
  output_of(1, "");
  const std::string resumed = output_of(2, folder.path("c/last.ckpt")), anew = output_of(1, "");
  BOOST_TEST(resumed.find(warning) == std::string::npos, resumed);
  BOOST_TEST(anew.find(warning) != std::string::npos, anew);
}

BOOST_AUTO_TEST_CASE(last_needs_a_file_for_an_evaluation) {
  const Folder folder;
  Sequential model = saved_line(), other = saved_line();
  const std::string missing =
      ": ckpt_path \"last\" needs a file; no checkpoint of save_last, of enable_checkpointing or of an interruption "
      "exists";
  check_throws<ValueError>("[Trainer] test" + missing,
                           [&] { line_trainer(folder, 1).test(model, line_data(), {.ckpt_path = "last"}); });
  Trainer(
      {.max_epochs = 1, .enable_checkpointing = true, .enable_progress_bar = false, .default_root_dir = folder.path()})
      .fit(model, line_data());
  const Trainer trainer = line_trainer(folder, 1);
  const double loss = trainer.validate(model, line_data()).at("loss");
  BOOST_TEST(trainer.validate(other, line_data()).at("loss") != loss);
  BOOST_TEST(trainer.validate(other, line_data(), {.ckpt_path = "last"}).at("loss") == loss);
  BOOST_TEST(weight_of(other) == weight_of(model));
}

BOOST_AUTO_TEST_CASE(best_is_the_file_of_model_checkpoint) {
  const Folder folder;
  ModelCheckpoint best({.dirpath = folder.path("b"), .monitor = "loss", .mode = "max"});  // the first epoch
  const Trainer trainer({.max_epochs = 3, .callbacks = {best}, .enable_progress_bar = false});
  Sequential model = saved_line(), one = saved_line();
  const char* needs = ": ckpt_path \"best\" needs a file that ModelCheckpoint has saved as the best; got none";
  check_throws<ValueError>(std::string("[Trainer] predict") + needs,
                           [&] { trainer.predict(model, line_data(), {.ckpt_path = "best"}); });
  trainer.fit(model, line_data());
  line_trainer(folder, 1).fit(one, line_data());
  BOOST_TEST(weight_of(one) != weight_of(model));
  trainer.test(model, line_data(), {.ckpt_path = "best"});
  BOOST_TEST(weight_of(model) == weight_of(one));
  const History rest = trainer.fit(model, line_data(), {}, {.ckpt_path = "best"});
  BOOST_TEST(rest.epoch == (std::vector<int>{1, 2}), per_element());
  check_throws<ValueError>(
      "[Trainer] fit: ckpt_path \"best\" needs a ModelCheckpoint among the Trainer's callbacks; got none",
      [&] { line_trainer(folder, 1).fit(model, line_data(), {}, {.ckpt_path = "best"}); });
}

BOOST_AUTO_TEST_CASE(weights_wait_for_the_first_run) {
  const Folder folder;
  const TrainedNet trained(folder);
  const Trainer trainer({.max_epochs = 1, .limit_train_batches = 0, .enable_progress_bar = false});
  const auto loaded = [&] {
    seed_everything(9);
    Net net(3, 0.01, false);
    net.load_weights(trained.path);
    return net;
  };
  Net predicts = loaded(), trains = loaded(), called = loaded(), built = loaded(), eager = loaded();
  BOOST_TEST(trainer.predict(predicts, line_data()).equal(trained.prediction));
  Net whole = loaded();
  line_trainer(folder, 1).fit(trains, line_data());
  whole.build({1, 1});
  line_trainer(folder, 1).fit(whole, line_data());
  BOOST_TEST(changed_since(values_of(trains), whole) == "");
  BOOST_TEST(called(column({1, 2, 3, 4})).tensor().equal(trained.prediction));
  built.build({1, 1});
  BOOST_TEST(changed_since(values_of(trained.net), built) == "");
  BOOST_TEST(
      Trainer({.enable_progress_bar = false, .eager = true}).predict(eager, line_data()).equal(trained.prediction));
  // An error of the file comes at once, one of its content when the layers are known.
  Net other(4);
  BOOST_CHECK_THROW(other.load_weights(folder.path("none")), FileError);
  other.load_weights(trained.path);
  BOOST_CHECK_THROW(trainer.predict(other, line_data()), FileError);
  // The last file counts.
  Net twice(3, 0.01, false);
  twice.load_weights(folder.write("junk.ckpt", {}) == "" ? "" : trained.path);
  twice.load_weights(trained.path);
  BOOST_TEST(trainer.predict(twice, line_data()).equal(trained.prediction));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_waits_for_a_module_with_built_parts) {
  const Folder folder;
  seed_everything(3);
  MixedModule trained(0.1), fresh(0.1);
  Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(trained, mixed_data());
  Trainer::save_checkpoint(trained, folder.path("c"));
  fresh.load_weights(folder.path("c"));
  const Trainer trainer({.enable_progress_bar = false});
  const Logs expected = trainer.validate(trained, mixed_data()), got = trainer.validate(fresh, mixed_data());
  for (const auto& [name, number] : expected) BOOST_TEST(got.at(name) == number, name);
}

BOOST_AUTO_TEST_CASE(a_part_takes_its_weights_when_it_is_called) {
  const Folder folder;
  Dense saved(2), fresh(2);
  saved(column({1, 2}));
  saved.save_weights(folder.path("dense"));
  fresh.load_weights(folder.path("dense"));
  Sequential model({fresh, Dense(1)});
  model(column({1, 2}));
  BOOST_TEST(changed_since(values_of(saved), fresh) == "");
}

BOOST_AUTO_TEST_CASE(load_from_checkpoint_makes_the_module) {
  const Folder folder;
  const TrainedNet trained(folder);
  const Trainer trainer({.enable_progress_bar = false});
  Net net = Module::load_from_checkpoint<Net>(trained.path);
  BOOST_TEST(net.hyperparameters() == trained.net.hyperparameters());
  BOOST_TEST(trainer.predict(net, line_data()).equal(trained.prediction));
  Net given = Module::load_from_checkpoint<Net>(trained.path, 3, 0.5, false);
  BOOST_TEST(find_hyperparameter(given.hyperparameters(), "rate").to_double() == 0.5);
  BOOST_TEST(trainer.predict(given, line_data()).equal(trained.prediction));
  MixedModule mixed(0.1);
  BOOST_TEST(detail::saved_hyperparameters(trained.path).size() == 4U);
}

BOOST_AUTO_TEST_CASE(hyperparameters_have_types) {
  const Hyperparameters all{{"flag", true}, {"count", 3}, {"rate", 0.5}, {"name", "net"}};
  BOOST_TEST(find_hyperparameter(all, "count").to_double() == 3);
  BOOST_TEST(find_hyperparameter(all, "name").to_text() == "net");
  check_throws<ValueError>("[Hyperparameter] the value must be an integer; got a text",
                           [&] { find_hyperparameter(all, "name").to_int(); });
  check_throws<ValueError>("[Hyperparameter] the value must be a flag; got a number",
                           [&] { find_hyperparameter(all, "rate").to_bool(); });
  BOOST_CHECK_THROW(find_hyperparameter(all, "widht"), NameError);
}

BOOST_AUTO_TEST_CASE(load_from_checkpoint_warns_of_hyperparameters_that_it_ignores) {
  const Folder folder;
  const auto warning = [&](std::int64_t width, double rate) {
    Plain saved;
    saved.save_hyperparameters({{"width", width}, {"rate", rate}, {"depth", 2}});
    line_trainer(folder, 1).fit(saved, line_data());
    Trainer::save_checkpoint(saved, folder.path("p"));
    const CapturedOutput output;
    Module::load_from_checkpoint<Plain>(folder.path("p"));
    return output.text();
  };
  const std::string text = warning(3, 0.5);
  BOOST_TEST(text.find("[Plain] load_from_checkpoint: \"" + folder.path("p") +
                       "\" has hyperparameters that the default-constructed module does not have: ") !=
             std::string::npos);
  BOOST_TEST(text.find("rate = 0.5") != std::string::npos);
  BOOST_TEST(text.find("width") == std::string::npos);
  BOOST_TEST(warning(3, 0.25) == "");
}

BOOST_AUTO_TEST_SUITE_END()
