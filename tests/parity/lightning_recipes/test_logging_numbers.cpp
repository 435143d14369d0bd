// Numbers in several loggers, and profiles: see logging_numbers.py.
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class LoggingClassifier : public Classifier {
 public:
  Value training_step(const Batch& batch) override {
    const Value logits = (*this)(batch["x"]);
    const Value loss = sparse_categorical_crossentropy(batch["y"], logits, {.from_logits = true});
    const Value acc = accuracy(batch["y"], logits);
    log("train_loss", loss, {.prog_bar = true, .on_step = true, .on_epoch = true});
    log_dict({{"acc", acc}, {"largest", max(logits)}}, {.on_step = false, .on_epoch = true});
    return loss;
  }
};
// docs: end

// Numbers of a CSV file by column, without empty fields.
std::map<std::string, std::vector<double>> columns_of(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::vector<double>> out;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::stringstream fields(line);
    std::size_t i = 0;
    const bool head = names.empty();
    for (std::string field; std::getline(fields, field, ','); ++i) {
      if (head) names.push_back(field);
      if (!head && !field.empty()) out[names.at(i)].push_back(std::stod(field));
    }
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(logging_numbers)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("logging_numbers");
  LoggingClassifier model;
  start(model, expected);
  const DataLoader train_loader = train_data();
  // docs: begin
  loggers::TensorBoardLogger logger("logs");
  Trainer trainer({
      .max_epochs = 2,
      .logger = {logger, loggers::CSVLogger("logs", {.name = "csv"})},
      .profiler = "simple",
      .log_every_n_steps = 3,
  });
  trainer.fit(model, train_loader);
  // docs: end
  const auto columns = columns_of("logs/csv/version_0/metrics.csv");
  for (const char* name : {"train_loss_step", "train_loss_epoch", "acc", "largest"}) {
    BOOST_TEST_REQUIRE(columns.count(name) == 1U, name);
    check_recipe(name, columns.at(name), expected["columns"][name]);
  }
  BOOST_TEST(RecipeFolder::files(logger.log_dir()).size() == 1U);
  BOOST_TEST(folder.text().find("run_training_batch") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
