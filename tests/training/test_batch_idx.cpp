// batch_idx() in steps: a runtime scalar of one plan, equal to the index that hooks get.
#include <boost/test/unit_test.hpp>

#include <vector>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

using Numbers = std::vector<double>;

// Logs batch_idx() of its steps, and counts traces.
class Counting : public Module {
 public:
  Counting() : Module("Counting") {}
  Value training_step(const Batch& batch) override {
    ++traces;
    log("index", cast(batch_idx(), DType::float32));
    // Only odd batches train.
    const Value odd = cast(batch_idx() % 2, DType::float32);
    return odd * mean_squared_error(batch["y"], dense_(batch["x"]));
  }
  void validation_step(const Batch& batch) override {
    log("val_index", cast(batch_idx(), DType::float32) + 0 * mean(batch["x"]), {.reduce_fx = "max"});
    log("val_sum", cast(batch_idx(), DType::float32) + 0 * mean(batch["x"]), {.reduce_fx = "sum"});
  }
  Value predict_step(const Batch& batch) override { return batch["x"] + cast(batch_idx(), DType::float32); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.125})}}; }
  void on_train_batch_end(const Logs& outputs, const HostBatch&, std::int64_t batch_idx) override {
    BOOST_TEST(outputs.at("index") == static_cast<double>(batch_idx));
    seen.push_back(outputs.at("index"));
    weights.push_back(weight_of(*this));
  }
  static Value outside() { return batch_idx(); }

  int traces = 0;
  Numbers seen, weights;

 private:
  Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

DataLoader four_batches() { return DataLoader(pairs({1, 1, 1, 1}, {0, 0, 0, 0}), {.batch_size = 1}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_idx)

BOOST_AUTO_TEST_CASE(one_plan_has_all_indices) {
  for (const bool eager : {false, true}) {
    Counting module;
    const History history = Trainer({.max_epochs = 2, .enable_progress_bar = false, .eager = eager})
                                .fit(module, four_batches(), four_batches());
    BOOST_TEST(module.seen == (Numbers{0, 1, 2, 3, 0, 1, 2, 3}), per_element());
    // The gradient of w^2 is 2 w: odd batches multiply w by 0.75.
    BOOST_TEST(module.weights == (Numbers{1, 0.75, 0.75, 0.5625, 0.5625, 0.421875, 0.421875, 0.31640625}),
               per_element());
    BOOST_TEST(history["index"] == (Numbers{1.5, 1.5}), per_element());
    BOOST_TEST(history["val_index"] == (Numbers{3, 3}), per_element());
    if (!eager) BOOST_TEST(module.traces <= 3);  // rehearsal, survey and plan: none for a batch
  }
}

BOOST_AUTO_TEST_CASE(each_loader_of_an_evaluation_counts_from_0) {
  Counting module;
  const DataLoader two(pairs({1, 1}, {0, 0}), {.batch_size = 1});
  const Logs logs = Trainer().validate(module, {four_batches(), two});
  BOOST_TEST(logs.at("val_sum/dataloader_idx_0") == 6);
  BOOST_TEST(logs.at("val_sum/dataloader_idx_1") == 1);
  BOOST_TEST(Trainer().predict(module, four_batches()).to_doubles() == (Numbers{1, 2, 3, 4}), per_element());
}

BOOST_AUTO_TEST_CASE(a_resumed_epoch_goes_on_counting) {
  class Saver : public Callback {
   public:
    explicit Saver(std::string path) : path_(std::move(path)) {}
    bool saves() const override { return true; }
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 1) session().save_checkpoint(path_);
    }

   private:
    std::string path_;
  };
  const Folder folder;
  Counting whole, resumed;
  const TrainerOptions options{.max_epochs = 1, .enable_progress_bar = false};
  TrainerOptions saving = options;
  saving.callbacks = {Saver(folder.path("c"))};
  Trainer(saving).fit(whole, four_batches());
  Trainer(options).fit(resumed, four_batches(), {}, {.ckpt_path = folder.path("c")});
  BOOST_TEST(resumed.seen == (Numbers{2, 3}), per_element());
  BOOST_TEST(weight_of(resumed) == weight_of(whole));
}

BOOST_AUTO_TEST_CASE(outside_of_a_step_it_is_an_error) {
  check_throws<ValueError>(
      "[Module] batch_idx() must be called inside a step that a Trainer runs; got a call outside of one",
      [] { Counting::outside(); });
}

BOOST_AUTO_TEST_SUITE_END()
