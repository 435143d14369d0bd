// A module, its training and its validation: see whole_program.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
// Sorts points of four coordinates into three kinds.
class PointSorter : public Module {
 public:
  explicit PointSorter(std::int64_t hidden = 10) : inner_(sub("inner", Dense(hidden, {.activation = "silu"}))) {}

  Value call(const Value& points) override { return outer_(inner_(points)); }

  std::pair<Value, Value> scores(const Batch& batch) {
    const Value logits = (*this)(batch["x"]);
    return {sparse_categorical_crossentropy(batch["y"], logits, {.from_logits = true}), accuracy(batch["y"], logits)};
  }

  void validation_step(const Batch& batch) override {
    const auto [loss, hits] = scores(batch);
    log_dict({{"held_out_loss", loss}, {"held_out_hits", hits}});
  }

  Value training_step(const Batch& batch) override {
    const auto [loss, hits] = scores(batch);
    log("hits", hits, {.prog_bar = true, .on_epoch = true});
    return loss;
  }

  OptimizerConfigs configure_optimizers() override { return {{.optimizer = Adam(rate)}}; }

 private:
  static constexpr double rate = 0.02;
  Dense inner_, outer_ = sub("outer", Dense(3));
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(whole_program)

BOOST_AUTO_TEST_CASE(numbers_equal_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("whole_program");
  const DataLoader known = train_data(), held_out = val_data();
  // docs: begin
  PointSorter sorter(12);
  // docs: end
  start(sorter, expected);
  // docs: begin
  Trainer trainer({.max_epochs = 5});
  const History history = trainer.fit(sorter, known, held_out);
  const Logs final = trainer.validate(sorter, held_out);
  // docs: end
  for (const char* name : {"held_out_loss", "held_out_hits"}) {
    check_recipe(name, {final[name]}, nlohmann::json::array({expected["final"][name]}));
  }
  BOOST_TEST(history["held_out_loss"].size() == 5U);
  BOOST_TEST(history["held_out_loss"].back() == final["held_out_loss"]);
}

BOOST_AUTO_TEST_SUITE_END()
