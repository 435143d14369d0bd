// Trainings on several loaders: CombinedLoader in fit and evaluations, compared with Lightning's batches.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include "checkpoint_runs.hpp"
#include "small.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

DataLoader part_from(double first, int samples, const DataLoaderOptions& options) {
  std::vector<double> x;
  for (int i = 0; i < samples; ++i) x.push_back(first + i);
  return DataLoader(pairs(x, x), options);
}

// The loaders of parity/lightning_loaders.py.
CombinedLoader three_parts(const std::string& mode, const DataLoaderOptions& options = {.batch_size = 1}) {
  return CombinedLoader(
      {{"a", part_from(0, 3, options)}, {"b", part_from(10, 5, options)}, {"c", part_from(20, 2, options)}},
      {.mode = mode});
}

// Trains a layer of its own for each loader, and notes the numbers of the batches.
class Parts : public Module {
 public:
  Parts() : Module("Parts") {}
  Value training_step(const Batch& batch) override {
    Value loss;
    for (const char* name : {"a", "b", "c"}) {
      if (!batch.has_part(name)) continue;
      const Batch part = batch.part(name);
      log(name, mean(part["x"]));
      BOOST_TEST(part["x"].same_as(batch[std::string(name) + "/x"]));
      BOOST_TEST(part.with_role(Role::target).size() == 1U);
      const Value error = mean_squared_error(part["y"] * 0.01f, dropout_(layer_of(name)(part["x"] * 0.01f)));
      loss = loss.defined() ? loss + mean(error) : mean(error);
    }
    return loss;
  }
  void validation_step(const Batch& batch) override {
    log("first", mean(batch.entries().front().value));
    log("fields", 0 * mean(batch.entries().front().value) + static_cast<float>(batch.entries().size()));
  }
  void on_train_batch_end(const Logs& outputs, const HostBatch& batch, std::int64_t batch_idx) override {
    std::string text = fmt::format("{}:", batch_idx);
    for (const char* name : {"a", "b", "c"}) {
      const std::string field = fmt::format("{}/x", name);
      for (const detail::NamedTensor& one : batch.fields) {
        if (one.name == field) text += fmt::format(" {} {}", name, outputs.at(name));
      }
    }
    seen.push_back(text);
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = Adam({.learning_rate = 0.01})}}; }

  std::vector<std::string> seen;

 private:
  Dense& layer_of(const std::string& name) { return name == "a" ? a_ : name == "b" ? b_ : c_; }
  Dense a_ = sub("a", Dense({.units = 1})), b_ = sub("b", Dense({.units = 1})), c_ = sub("c", Dense({.units = 1}));
  Dropout dropout_ = sub("dropout", Dropout({.rate = 0.3}));
};

// Saves in epoch 1 after that batch.
class MiddleSaver : public Callback {
 public:
  MiddleSaver(std::string path, std::int64_t batch) : path_(std::move(path)), batch_(batch) {}
  bool saves() const override { return true; }
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    if (session().current_epoch() == 1 && batch == batch_) session().save_checkpoint(path_);
  }

 private:
  std::string path_;
  std::int64_t batch_;
};

History fit_parts(Parts& module, const DataLoader& train, const Callbacks& callbacks = {},
                  const std::string& checkpoint = {}, const DataLoaders& validation = {}) {
  seed_everything(7);
  return Trainer({.max_epochs = 3, .callbacks = callbacks, .enable_progress_bar = false})
      .fit(module, train, validation, {.ckpt_path = checkpoint});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(combined_training)

BOOST_AUTO_TEST_CASE(fit_takes_the_batches_of_lightning) {
  for (const char* mode : {"min_size", "max_size_cycle", "max_size"}) {
    Parts module;
    seed_everything(7);
    Trainer({.max_epochs = 2, .enable_progress_bar = false}).fit(module, three_parts(mode));
    std::vector<std::string> expected;
    for (const auto& batch : recorded("lightning_loaders").at(mode)) {
      std::string text = fmt::format("{}:", batch[1].get<int>());
      for (const auto& [name, number] : batch[2].items()) {
        if (!number.is_null()) text += fmt::format(" {} {}", name, number.get<double>());
      }
      expected.push_back(text);
    }
    BOOST_TEST(module.seen == expected, per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_resume_from_the_middle_of_an_epoch_is_equal_bit_for_bit) {
  const DataLoaderOptions options{.batch_size = 2, .shuffle = true};
  for (const char* mode : {"min_size", "max_size_cycle", "max_size"}) {
    for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}}) {
      const DataLoader train = CombinedLoader({{"a", part_from(0, 6, options)},
                                               {"b", part_from(20, 9, options)},
                                               {"c", part_from(40, 6, {.batch_size = 2, .shuffle = true, .seed = 3})}},
                                              {.mode = mode});
      const Folder folder;
      Parts whole, resumed;
      const History all = fit_parts(whole, train, {MiddleSaver(folder.path("c"), batch)});
      const History rest = fit_parts(resumed, train, {}, folder.path("c"));
      const std::vector<std::string> expected(whole.seen.end() - static_cast<std::ptrdiff_t>(resumed.seen.size()),
                                              whole.seen.end());
      BOOST_TEST_CONTEXT(mode << " after batch " << batch) {
        BOOST_TEST(resumed.seen.size() ==
                   2 * static_cast<std::size_t>(train.size()) - static_cast<std::size_t>(batch) - 1);
        BOOST_TEST(resumed.seen == expected, per_element());
        for (std::size_t i = 0; i < whole.weights().size(); ++i) {
          BOOST_TEST(resumed.weights()[i].value().equal(whole.weights()[i].value()));
        }
        for (const char* name : {"loss", "a", "b"}) {
          const std::vector<double> last(all[name].begin() + 1, all[name].end());
          BOOST_TEST(rest[name] == last, per_element());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(other_data_of_one_loader_are_refused) {
  const Folder folder;
  Parts module;
  fit_parts(module, three_parts("max_size"), {MiddleSaver(folder.path("c"), 1)});
  Parts resumed;
  const auto fit_with = [&](const DataLoader& train) { fit_parts(resumed, train, {}, folder.path("c")); };
  const std::string before =
      fmt::format("[Trainer] fit: the training data must be those of the checkpoint \"{}\"; got order CombinedLoader ",
                  folder.path("c"));
  const std::string parts =
      "a: 3 samples, SequentialSampler(3), in batches of 1; b: 5 samples, SequentialSampler(5), in batches of 1; c: 2 "
      "samples, SequentialSampler(2), in batches of 1)";
  check_throws<ValueError>(before + "max_size_cycle (" + parts + ", was CombinedLoader max_size (" + parts,
                           [&] { fit_with(three_parts("max_size_cycle")); });
}

BOOST_AUTO_TEST_CASE(fit_refuses_the_sequential_mode) {
  BOOST_TEST(!recorded("lightning_loaders").at("fit takes sequential").get<bool>());
  Parts module;
  check_throws<ValueError>(
      "[Trainer] fit: a CombinedLoader must have mode \"min_size\", \"max_size_cycle\" or \"max_size\"; got "
      "\"sequential\"",
      [&] { fit_parts(module, three_parts("sequential")); });
}

BOOST_AUTO_TEST_CASE(evaluations_take_it_as_a_loader_or_a_list) {
  Parts module;
  const Logs together = Trainer().validate(module, DataLoader(three_parts("max_size")));
  BOOST_TEST(together.at("fields") == 6 * 2 / 5. + 4 / 5. + 2 * 2 / 5., boost::test_tools::tolerance(1e-6));
  const Logs list = Trainer().validate(module, DataLoader(three_parts("sequential")));
  BOOST_TEST(list.at("first/dataloader_idx_0") == 1);
  BOOST_TEST(list.at("first/dataloader_idx_1") == 12);
  BOOST_TEST(list.at("first/dataloader_idx_2") == 20.5);
}

BOOST_AUTO_TEST_CASE(options_of_the_trainer_hold_for_all_loaders) {
  const DataLoaderOptions shuffled{.batch_size = 1, .shuffle = true, .seed = 11};
  Parts overfit, limited;
  Trainer({.max_epochs = 2, .overfit_batches = 2, .enable_progress_bar = false})
      .fit(overfit, three_parts("max_size_cycle", shuffled));
  const std::vector<std::string> expected{"0: a 0 b 10 c 20", "1: a 1 b 11 c 21", "0: a 0 b 10 c 20",
                                          "1: a 1 b 11 c 21"};
  BOOST_TEST(overfit.seen == expected, per_element());
  Trainer({.max_epochs = 1, .limit_train_batches = 0.8, .enable_progress_bar = false})
      .fit(limited, three_parts("max_size"));
  BOOST_TEST(limited.seen.size() == 4U);
}

BOOST_AUTO_TEST_CASE(parts_without_fields_are_an_error) {
  class Wrong : public Parts {
   public:
    Value training_step(const Batch& batch) override { return mean(batch.part("d")["x"]); }
  };
  Wrong module;
  check_throws<NameError>(
      "[Batch] part(\"d\"): there must be fields of that loader; got the fields a/x, a/y, b/x, b/y, c/x, c/y",
      [&] { fit_parts(module, three_parts("min_size")); });
}

BOOST_AUTO_TEST_CASE(skipped_samples_do_not_change_a_resume) {
  const auto data = [] {
    const Dataset good = pairs({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
    return Dataset::from_function({.size = 8, .fields = good.fields(), .function = [good](std::int64_t index) {
                                     if (index == 2 || index == 5) throw FileError("truncated");
                                     const HostBatch one = good.gather({index});
                                     return std::vector<Tensor>{one["x"].reshape({1}), one["y"].reshape({1})};
                                   }});
  };
  const auto loader = [&] { return DataLoader(data(), {.batch_size = 4, .shuffle = true, .on_error = "skip"}); };
  const auto fit = [&](Sequential& model, const Callbacks& callbacks, const std::string& checkpoint) {
    model.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
    seed_everything(5);
    return Trainer({.max_epochs = 3, .callbacks = callbacks, .enable_progress_bar = false})
        .fit(model, loader(), {}, {.ckpt_path = checkpoint});
  };
  const CapturedOutput output;
  const Folder folder;
  Sequential whole = line(0.5), resumed = line(0.5);
  fit(whole, {MiddleSaver(folder.path("c"), 0)}, {});
  fit(resumed, {}, folder.path("c"));
  BOOST_TEST(weight_of(whole) == weight_of(resumed));
  BOOST_TEST(weight_of(whole) != 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
