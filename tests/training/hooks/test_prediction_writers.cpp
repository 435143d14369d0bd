#include <boost/test/unit_test.hpp>

#include "support/rank_threads.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class Writer : public BasePredictionWriter {
 public:
  using BasePredictionWriter::BasePredictionWriter;

  void write_on_batch_end(const std::vector<Tensor>& predictions, const HostBatch& batch, std::int64_t index,
                          std::size_t loader) override {
    BOOST_TEST(predictions.size() == 1U);
    text += std::to_string(loader) + "/" + std::to_string(index) + ":" + std::to_string(batch.size) + " ";
    for (const double number : predictions[0].to_doubles()) numbers.push_back(number);
  }
  void write_on_epoch_end(const std::vector<std::vector<std::vector<Tensor>>>& predictions) override {
    text += "all";
    for (const auto& loader : predictions) text += " " + std::to_string(loader.size());
    whole = predictions;
  }

  std::string text;
  std::vector<double> numbers;
  std::vector<std::vector<std::vector<Tensor>>> whole;
};

DataLoader three() { return DataLoader(pairs({1, 2, 3}, {0, 0, 0}), {.batch_size = 2}); }
DataLoader one() { return DataLoader(pairs({4}, {0}), {.batch_size = 2}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(prediction_writers)

BOOST_AUTO_TEST_CASE(write_batches_and_nothing_is_returned) {
  HookedLine module(2);
  Writer writer;
  TrainerOptions options = quiet(1);
  options.callbacks = {writer};
  const Trainer trainer(options);
  const std::vector<Tensor> none = trainer.predict(module, DataLoaders{three(), one()}, {.return_predictions = false});
  BOOST_TEST(none.empty());
  BOOST_TEST(writer.text == "0/0:2 0/1:1 1/0:1 ");
  BOOST_TEST(writer.numbers == (std::vector<double>{2, 4, 6, 8}), boost::test_tools::per_element());
  BOOST_TEST(trainer.predict(module, three(), {.return_predictions = false}).size() == 0);
  BOOST_TEST(trainer.predict(module, three()).size() == 3);
}

BOOST_AUTO_TEST_CASE(write_after_all_batches) {
  HookedLine module(2);
  Writer writer({.write_interval = "epoch"}), both({.write_interval = "batch_and_epoch"});
  TrainerOptions options = quiet(1);
  options.callbacks = {writer, both};
  Trainer(options).predict(module, DataLoaders{three(), one()}, {.return_predictions = false});
  BOOST_TEST(writer.text == "all 2 1");
  BOOST_TEST(both.text == "0/0:2 0/1:1 1/0:1 all 2 1");
  BOOST_TEST(writer.whole[0][1][0].equal(column({6})));
}

BOOST_AUTO_TEST_CASE(write_the_outputs_of_all_ranks) {
  std::vector<double> numbers;
  const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    HookedLine module(2);
    Writer writer;
    TrainerOptions options = quiet(1);
    options.callbacks = {writer};
    options.strategy = ranks;
    Trainer(options).predict(module, DataLoader(pairs({1, 2, 3}, {0, 0, 0}), {.batch_size = 1}),
                             {.return_predictions = false});
    if (ranks->rank() == 0) numbers = writer.numbers;
  });
  for (const std::string& error : errors) BOOST_TEST(error == "");
  BOOST_TEST(numbers == (std::vector<double>{2, 4, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  check_throws<NameError>(
      "[BasePredictionWriter] unknown write_interval \"step\"; valid names: batch, epoch, batch_and_epoch",
      [] { BasePredictionWriter({.write_interval = "step"}); });
  HookedLine module(2);
  TrainerOptions options = quiet(1);
  options.callbacks = {BasePredictionWriter()};
  check_throws<ValueError>("[BasePredictionWriter] write_on_batch_end must be overridden for write_interval \"batch\"",
                           [&] { Trainer(options).predict(module, three()); });
}

BOOST_AUTO_TEST_SUITE_END()
