// Batches and epochs that hooks or steps leave out.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/rank_threads.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<double> xs6{1, 2, 3, 4, 5, 6}, ys6{2, 3, 7, 7, 12, 11};

DataLoader six() { return DataLoader(pairs(xs6, ys6), {.batch_size = 2}); }

// Weight after steps on the batches of these numbers, of two samples.
double after(const std::vector<std::size_t>& batches, double weight = 0.5) {
  for (const std::size_t i : batches) {
    weight = stepped(weight, 0.01, {xs6[2 * i], xs6[2 * i + 1]}, {ys6[2 * i], ys6[2 * i + 1]});
  }
  return weight;
}

void check_weight(const HookedLine& module, const std::vector<std::size_t>& batches) {
  BOOST_CHECK_CLOSE_FRACTION(module.weight(), after(batches), 1e-6);
}

// Leaves out a batch by its number, from a callback.
class Skipper : public Callback {
 public:
  Skipper(std::int64_t batch, bool epoch) : batch_(batch), epoch_(epoch) {}
  void on_train_batch_begin(std::int64_t batch, Logs&) override {
    if (batch != batch_) return;
    epoch_ ? session().skip_epoch() : session().skip_batch();
  }

 private:
  std::int64_t batch_;
  bool epoch_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(skipped_batches)

BOOST_AUTO_TEST_CASE(a_module_leaves_out_batches_by_their_numbers) {
  HookedLine module;
  module.at_start = [&](const HostBatch& batch, std::int64_t) {
    if (batch["x"](0, 0).item() == 3) module.skip_batch();
  };
  const History history = Trainer(quiet(2)).fit(module, six(), six());
  check_weight(module, {0, 2, 0, 2});
  BOOST_TEST(module.hooks == "v[{0}{1-}{2}v][{0}{1-}{2}v]");
  const double first = squared_error(0.5, {1, 2}, {2, 3}), last = squared_error(after({0}), {5, 6}, {12, 11});
  BOOST_CHECK_CLOSE_FRACTION(history["loss"][0], (first + last) / 2, 1e-6);
}

BOOST_AUTO_TEST_CASE(a_callback_leaves_out_batches_in_both_fits) {
  HookedLine module;
  std::vector<std::int64_t> steps;
  AfterBatch watcher([&](AfterBatch& self, std::int64_t) { steps.push_back(self.session().global_step()); });
  TrainerOptions options = quiet(1);
  options.callbacks = {Skipper(1, false), watcher};
  Trainer(options).fit(module, six());
  check_weight(module, {0, 2});
  BOOST_TEST(steps == (std::vector<std::int64_t>{1, 1, 2}), boost::test_tools::per_element());

  Sequential model = line(0.5);
  model.compile({.optimizer = SGD(0.01), .loss = "mse"});
  model.fit(six(), {.epochs = 2, .verbose = 0, .callbacks = {Skipper(0, false)}});
  BOOST_CHECK_CLOSE_FRACTION(weight_of(model), after({1, 2, 1, 2}), 1e-6);
}

BOOST_AUTO_TEST_CASE(the_rest_of_an_epoch_is_left_out_and_validated) {
  HookedLine module;
  module.at_start = [&](const HostBatch&, std::int64_t index) {
    if (index == 1) module.skip_epoch();
  };
  const History history = Trainer(quiet(2)).fit(module, six(), six());
  check_weight(module, {0, 0});
  BOOST_TEST(module.hooks == "v[{0}{1-}v][{0}{1-}v]");
  BOOST_TEST(history["val_loss"].size() == 2U);

  Sequential model = line(0.5);  // its epochs continue, unless they are passes
  model.compile({.optimizer = SGD(0.01), .loss = "mse"});
  model.fit(six(), {.epochs = 2, .verbose = 0, .callbacks = {Skipper(1, true)}});
  BOOST_CHECK_CLOSE_FRACTION(weight_of(model), after({0, 0}), 1e-6);
  model = line(0.5);
  model.compile({.optimizer = SGD(0.01), .loss = "mse"});
  model.fit(six(), {.epochs = 2, .verbose = 0, .callbacks = {Skipper(1, true)}, .steps_per_epoch = 3});
  BOOST_CHECK_CLOSE_FRACTION(weight_of(model), after({0, 2}), 1e-6);
}

BOOST_AUTO_TEST_CASE(an_epoch_without_any_step_has_no_loss) {
  HookedLine module;
  module.at_start = [&](const HostBatch&, std::int64_t) { module.skip_epoch(); };
  const History history = Trainer(quiet(2)).fit(module, six());
  BOOST_TEST(module.weight() == 0.5);
  BOOST_TEST(!history.contains("loss"));
  BOOST_TEST(history.epoch.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_step_that_returns_nothing_leaves_out_batches_of_its_shape) {
  for (const bool eager : {false, true}) {
    HookedLine module;
    module.leaves_out = [](const Batch& batch) { return batch["x"].shape()[0] < 2; };
    TrainerOptions options = quiet(2);
    options.eager = eager;
    const DataLoader five(pairs({1, 2, 3, 4, 5}, {2, 3, 7, 7, 12}), {.batch_size = 2});
    const History history = Trainer(options).fit(module, five);
    check_weight(module, {0, 1, 0, 1});
    BOOST_TEST(module.hooks == "[{0}{1}{2-}][{0}{1}{2-}]");
    BOOST_CHECK_CLOSE_FRACTION(
        history["loss"][0], (squared_error(0.5, {1, 2}, {2, 3}) + squared_error(after({0}), {3, 4}, {7, 7})) / 2, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_training_leaves_out_the_same_batches) {
  const Folder folder;
  const auto make = [](HookedLine& module) {
    module.at_start = [&module](const HostBatch& batch, std::int64_t index) {
      if (batch["x"](0, 0).item() == 3) module.skip_batch();
      if (index == 2 && batch["y"](0, 0).item() == 12) module.skip_epoch();
    };
    module.leaves_out = [](const Batch& batch) { return batch["x"].shape()[0] < 2; };
  };
  const DataLoader seven(pairs({1, 2, 3, 4, 5, 6, 7}, {2, 3, 7, 7, 12, 11, 15}), {.batch_size = 2, .shuffle = true});
  std::vector<std::string> files;
  AfterBatch saver([&](AfterBatch& self, std::int64_t) {
    files.push_back(folder.path(std::to_string(files.size()) + ".ckpt"));
    self.session().save_checkpoint(files.back());
  });
  seed_everything(4);
  HookedLine whole;
  make(whole);
  TrainerOptions options = quiet(4);
  options.callbacks = {saver};
  Trainer(options).fit(whole, seven);
  BOOST_TEST(files.size() >= 12U);
  for (const std::string& file : files) {
    HookedLine resumed;
    make(resumed);
    Trainer(quiet(4)).fit(resumed, seven, {}, {.ckpt_path = file});
    BOOST_TEST(resumed.weight() == whole.weight(), file);
  }
}

BOOST_AUTO_TEST_CASE(all_ranks_leave_out_a_batch_that_one_leaves_out) {
  for (const bool epoch : {false, true}) {
    std::vector<double> weights(2);
    const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
      HookedLine module;
      module.at_start = [&](const HostBatch&, std::int64_t index) {
        if (ranks->rank() == 1 && index == 1) epoch ? module.skip_epoch() : module.skip_batch();
      };
      TrainerOptions options = quiet(2);
      options.strategy = ranks;
      Trainer(options).fit(module, DataLoader(pairs(xs6, ys6), {.batch_size = 1}));
      weights[static_cast<std::size_t>(ranks->rank())] = module.weight();
    });
    for (const std::string& error : errors) BOOST_TEST(error == "");
    const std::vector<std::size_t> batches =
        epoch ? std::vector<std::size_t>{0, 0} : std::vector<std::size_t>{0, 2, 0, 2};
    BOOST_TEST(weights[0] == weights[1]);
    BOOST_CHECK_CLOSE_FRACTION(weights[0], after(batches), 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(other_calls_are_refused) {
  HookedLine module;
  check_throws<ValueError>(
      "[HookedLine] skip_batch: on_train_batch_start must call it during fit; got a call outside of fit",
      [&] { module.skip_batch(); });
  const char* const elsewhere =
      "[Callback] skip_epoch(): must be called in on_train_batch_begin, or in on_train_batch_start of a module; got a "
      "call elsewhere";
  AfterBatch late([](AfterBatch& self, std::int64_t) { self.session().skip_epoch(); });
  TrainerOptions options = quiet(1);
  options.callbacks = {late};
  check_throws<ValueError>(elsewhere, [&] { Trainer(options).fit(module, six()); });
}

BOOST_AUTO_TEST_SUITE_END()
