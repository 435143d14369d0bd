// Schedulers of one optimizer that follow one another.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Rates = std::vector<double>;

// Notes the learning rate of each batch. A validation logs the next of its numbers.
class Paced : public HookedLine {
 public:
  explicit Paced(detail::LRSchedulers schedulers) : schedulers_(std::move(schedulers)) {
    add_weight(number_, {.shape = {}, .initializer = Constant(0), .trainable = false});
  }
  Value training_step(const Batch& batch) override { return mean((*this)(batch["x"])) * 0; }
  void validation_step(const Batch& batch) override { log("val_loss", number_ + 0 * mean(batch["x"])); }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD({.learning_rate = 1}), .lr_scheduler = schedulers_}};
  }
  void on_validation_start() override { number_.assign(Tensor::scalar(numbers.at(validations++))); }
  void on_save_checkpoint(CallbackState& state) override { state.numbers["validations"] = validations; }
  void on_load_checkpoint(const CallbackState& state) override {
    validations = static_cast<int>(state.numbers.at("validations"));
  }

  std::vector<double> numbers{1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  int validations = 0;

 private:
  detail::LRSchedulers schedulers_;
  Variable number_{"number"};
};

class Pace : public Callback {
 public:
  explicit Pace(std::string folder = {}) : folder_(std::move(folder)) {}
  bool saves() const override { return !folder_.empty(); }
  void on_train_batch_begin(std::int64_t, Logs&) override { rates.push_back(session().learning_rate()); }
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (!folder_.empty()) session().save_checkpoint(folder_ + "/" + std::to_string(rates.size()) + ".ckpt");
  }

  Rates rates;

 private:
  std::string folder_;
};

Rates rates_of(Paced& module, int epochs, const std::string& folder = {}, const std::string& checkpoint = {}) {
  Pace pace(folder);
  TrainerOptions options = quiet(epochs);
  options.num_sanity_val_steps = 0;
  options.callbacks = {pace};
  const DataLoader data(pairs({1, 1}, {1, 1}), {.batch_size = 1});
  Trainer(options).fit(module, data, data, {.ckpt_path = checkpoint});
  return pace.rates;
}

LRSchedulerConfig warm_up(std::int64_t steps) {
  return {.scheduler = [](std::int64_t step) { return 0.25 * static_cast<double>(step + 1); },
          .interval = "step",
          .steps = steps};
}

LRSchedulerConfig plateau() { return {.scheduler = Plateau({.factor = 0.5, .patience = 0}), .monitor = "val_loss"}; }

void check(const Rates& rates, const Rates& expected) {
  BOOST_TEST(rates == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(following_schedulers)

BOOST_AUTO_TEST_CASE(a_plateau_follows_a_warm_up_by_steps) {
  Paced module({warm_up(3), plateau()});
  // The third step ends the warm-up, in epoch 1. Its validation improves on nothing, the later ones don't improve.
  check(rates_of(module, 5), {0.25, 0.5, 0.75, 0.75, 0.75, 0.75, 0.375, 0.375, 0.1875, 0.1875});
}

BOOST_AUTO_TEST_CASE(schedules_follow_one_another_from_their_first_step) {
  const auto tens = [](std::int64_t step) { return 10.0 * static_cast<double>(step + 1); };
  Paced module({warm_up(3), {.scheduler = tens, .steps = 1}, plateau()});
  module.numbers = {5, 4, 3, 3, 3};
  check(rates_of(module, 5), {0.25, 0.5, 0.75, 10, 10, 10, 10, 10, 5, 5});
}

BOOST_AUTO_TEST_CASE(a_resumed_training_goes_on_with_the_active_one) {
  const Folder folder;
  const detail::LRSchedulers schedulers{warm_up(3), plateau()};
  Paced whole(schedulers);
  const Rates expected = rates_of(whole, 5, folder.path());
  for (std::size_t done = 1; done < expected.size(); ++done) {
    Paced resumed(schedulers);
    const Rates rest = rates_of(resumed, 5, "", folder.path(std::to_string(done) + ".ckpt"));
    BOOST_TEST_CONTEXT("after batch " << done) {
      check(rest, Rates(expected.begin() + static_cast<std::ptrdiff_t>(done), expected.end()));
    }
  }
  Paced fewer(warm_up(-1));
  check_throws<FileError>("[Trainer] checkpoint \"" + folder.path("5.ckpt") +
                              "\" was saved under scheduler 2 of optimizer \"\": lr_scheduler must have more; got 1",
                          [&] { rates_of(fewer, 5, "", folder.path("5.ckpt")); });
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  Paced endless({warm_up(-1), plateau()});
  check_throws<ValueError>(
      "[Trainer] lr_scheduler of optimizer \"\": steps must be at least 1 for a scheduler that another one follows; "
      "got "
      "-1",
      [&] { rates_of(endless, 1); });
  Paced ending(warm_up(2));
  check_throws<ValueError>(
      "[Trainer] lr_scheduler of optimizer \"\": steps must be -1 for the last scheduler, which none follows; got 2",
      [&] { rates_of(ending, 1); });
}

BOOST_AUTO_TEST_SUITE_END()
