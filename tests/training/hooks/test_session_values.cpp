// Batches, outputs and numbers that hooks of callbacks read from the Session.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "support/folder.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

DataLoader four() { return DataLoader(pairs({1, 2, 3, 4}, {2, 3, 7, 7}), {.batch_size = 2}); }

class Reader : public Callback {
 public:
  void on_train_batch_begin(std::int64_t batch, Logs&) override { note("t", batch); }
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    note("T", batch);
    outputs = session().step_outputs();
    between = session().callback_metrics();
  }
  void on_test_batch_begin(std::int64_t batch, Logs&) override { note("v", batch); }
  void on_predict_batch_end(std::int64_t batch, Logs&) override { note("p", batch); }
  void on_epoch_end(int, Logs& logs) override {
    logs.set("of_callback", 7);
    at_end = session().callback_metrics();
    logged = session().logged_metrics();
    if (reads_late) session().batch();
  }
  void on_train_end(Logs&) override {
    if (reads_outputs_late) session().step_outputs();
  }

  std::string batches;
  Logs outputs, between, at_end, logged;
  bool reads_late = false, reads_outputs_late = false;

 private:
  void note(const char* hook, std::int64_t batch) {
    BOOST_TEST(session().current_batch() == batch);
    const Tensor& x = session().batch()["x"];
    batches += hook + std::to_string(batch) + ":" + std::to_string(static_cast<int>(x(0, 0).item())) + " ";
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(session_values)

BOOST_AUTO_TEST_CASE(hooks_of_batches_read_the_batch_and_its_outputs) {
  HookedLine module;
  Reader reader;
  TrainerOptions options = quiet(1);
  options.num_sanity_val_steps = 0;
  options.callbacks = {reader};
  const Trainer trainer(options);
  trainer.fit(module, four(), four());
  BOOST_TEST(reader.batches == "t0:1 T0:1 t1:3 T1:3 v0:1 v1:3 ");
  const double last = squared_error(stepped(0.5, 0.01, {1, 2}, {2, 3}), {3, 4}, {7, 7});
  BOOST_TEST(reader.outputs.size() == 2U);
  BOOST_CHECK_CLOSE_FRACTION(reader.outputs["squares"], last, 1e-6);
  reader.batches.clear();
  trainer.predict(module, four());
  BOOST_TEST(reader.batches == "p0:1 p1:3 ");
}

BOOST_AUTO_TEST_CASE(callback_metrics_are_the_last_numbers_of_all_names) {
  const Folder folder;
  HookedLine module;
  Reader reader;
  TrainerOptions options = quiet(2);
  options.callbacks = {reader};
  options.logger = {loggers::CSVLogger(folder.path())};
  options.log_every_n_steps = 1;
  const History history = Trainer(options).fit(module, four(), four());
  for (const char* name : {"loss", "squares", "val_loss"}) {
    BOOST_TEST(reader.at_end[name] == history[name].back(), name);
  }
  BOOST_TEST(reader.at_end["of_callback"] == 7);
  BOOST_TEST(reader.between["val_loss"] == history["val_loss"][0]);  // of the epoch before
  BOOST_TEST(reader.between["of_callback"] == 7);
  BOOST_TEST(reader.logged["val_loss"] == history["val_loss"].back());
  BOOST_TEST(reader.logged["epoch"] == 1);
}

BOOST_AUTO_TEST_CASE(reads_elsewhere_are_refused) {
  for (const bool outputs : {false, true}) {
    HookedLine module;
    Reader reader;
    (outputs ? reader.reads_outputs_late : reader.reads_late) = true;
    TrainerOptions options = quiet(1);
    options.callbacks = {reader};
    check_throws<ValueError>(
        outputs ? "[Callback] step_outputs(): must be called in on_train_batch_end; got a call elsewhere"
                : "[Callback] batch(): must be called in a hook of batches; got a call elsewhere",
        [&] { Trainer(options).fit(module, four()); });
  }
}

BOOST_AUTO_TEST_SUITE_END()
