// Trainings with optimizer states in 8 bits.
#include <boost/test/unit_test.hpp>

#include <mezzo/graph/coded_state.hpp>

#include "checkpoint_runs.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

AdamWOptions in_8_bits(AdamWOptions options = {}) {
  options.learning_rate = 0.01;
  options.state_dtype = "int8";
  return options;
}

// A model of 4 inputs and 3 outputs. The second kernel has 8192 elements, the others fewer than 4096.
struct CodedRun {
  explicit CodedRun(Way how, std::uint64_t number = 3)
      : way(std::move(how)), seed(number), optimizer(AdamW(way.options)) {
    model.compile({.optimizer = optimizer, .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  }

  History fit(int epochs, const std::string& checkpoint = {}, std::int64_t steps = -1) {
    seed_everything(seed);
    const Trainer trainer({.max_epochs = epochs,
                           .max_steps = steps,
                           .precision = Policy(way.policy),
                           .enable_progress_bar = false,
                           .loss_scale = way.loss_scale});
    return trainer.fit(model, Run::data(), {}, {.ckpt_path = checkpoint});
  }

  std::string save(const Folder& folder, const std::string& name) {
    Trainer::save_checkpoint(model, folder.path(name));
    return folder.path(name);
  }

  // Slots of the second kernel.
  const std::vector<detail::Shared<detail::VariableState>>& states() const {
    for (const Optimizer::Slots& slots : optimizer->state()->slots) {
      if (slots.variable->value.size() == 8192) return slots.values;
    }
    throw std::runtime_error("no states");
  }

  Way way;
  std::uint64_t seed;
  Any<Optimizer> optimizer;
  Sequential model = Sequential(
      {Dense({.units = 64, .activation = "relu"}), Dense({.units = 128, .activation = "relu"}), Dense({.units = 3})});
};

std::vector<Way> coded_ways() {
  return {{.policy = "float32", .options = in_8_bits()},
          {.policy = "mixed_bfloat16", .options = in_8_bits()},
          {.policy = "mixed_bfloat16", .options = in_8_bits({.split_master_weights = true})},
          {.policy = "bfloat16", .options = in_8_bits({.stochastic_rounding = true})},
          {.policy = "bfloat16", .options = in_8_bits({.kahan_summation = true})},
          {.policy = "mixed_float16",
           .options = in_8_bits(),
           .loss_scale = {{.initial_scale = overflowing_scale, .growth_interval = 1}}},
          {.policy = "float32", .options = in_8_bits({.use_ema = true, .ema_momentum = 0.5})},
          {.policy = "float32", .options = in_8_bits({.gradient_accumulation_steps = 2})},
          {.policy = "float32", .options = in_8_bits({.amsgrad = true, .clipnorm = 0.1})}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coded_training)

BOOST_AUTO_TEST_CASE(resumed_from_the_middle_of_an_epoch_bit_for_bit) {
  const CapturedOutput warnings;
  const Folder folder;
  int number = 0;
  for (const Way& way : coded_ways()) {
    CodedRun uninterrupted(way), begun(way), resumed(way, 7);
    uninterrupted.fit(3);
    begun.fit(3, {}, 4);
    resumed.fit(3, begun.save(folder, "four_steps"));
    BOOST_TEST_CONTEXT(number++ << " " << name_of(way)) {
      BOOST_TEST(changed_since(values_of(uninterrupted.model), resumed.model) == "");
      for (std::size_t i = 0; i < 2; ++i) {
        const detail::VariableState &a = *uninterrupted.states()[i], &b = *resumed.states()[i];
        BOOST_TEST(detail::is_coded(a));
        BOOST_TEST(a.numbers().equal(b.numbers()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(trainings_follow_those_with_float32_states) {
  CodedRun coded({.options = in_8_bits()}), wide({.options = {.learning_rate = 0.01}});
  const double a = coded.fit(8).history.at("loss").back(), b = wide.fit(8).history.at("loss").back();
  BOOST_TEST(std::abs(a - b) < 0.02 * b + 0.01);
}

BOOST_AUTO_TEST_CASE(checkpoints_cross_between_forms) {
  const CapturedOutput warnings;
  const Folder folder;
  const std::vector<StateDType> forms{"float32", "bfloat16", "int8"};
  for (const StateDType& from : forms) {
    CodedRun begun({.options = {.learning_rate = 0.01, .state_dtype = from}});
    begun.fit(1);
    const std::string file = begun.save(folder, "one_epoch");
    for (const auto& [name, tensor] : tensors_of(file)) BOOST_TEST((tensor.dtype() == DType::float32), name);
    for (const StateDType& to : forms) {
      CodedRun resumed({.options = {.learning_rate = 0.01, .state_dtype = to}}, 7);
      resumed.fit(1, file);  // reads it, and trains no step
      resumed.fit(9, file, begun.optimizer->iterations() + 1);
      BOOST_TEST((resumed.states()[0]->value.dtype() == to.dtype));
      BOOST_TEST(detail::is_coded(*resumed.states()[0]) == (to == DType::int8));
    }
  }
}

BOOST_AUTO_TEST_CASE(clones_have_no_states) {
  CodedRun run({.options = in_8_bits()});
  run.fit(1);
  const Tensor before = run.states()[0]->value.copy();
  Sequential copy = clone(run.model);
  copy.fit(Run::data(), {.epochs = 1, .verbose = 0});
  BOOST_TEST(run.states()[0]->value.equal(before));
  detail::VariableState other{detail::VariableState::Blank{}};
  other.copy_from(*run.states()[0]);
  BOOST_TEST(other.numbers().equal(run.states()[0]->numbers()));
  BOOST_TEST(other.remainder != run.states()[0]->remainder);
}

namespace {

// Classes of 4 tokens of 40, by a table alone or by a table that also makes the scores.
class Tokens : public Module {
 public:
  explicit Tokens(bool tied) : Module("Tokens"), tied_(tied) {}
  Value call(const Value& x) override {
    const Value rows = table_(x);
    return tied_ ? matmul(reshape(rows, {-1, 128}), table_.embeddings(), {.transpose_b = true})
                 : scores_(reshape(rows, {-1, 128}));
  }
  Value training_step(const Batch& batch) override {
    return mean(sparse_categorical_crossentropy(batch["y"], (*this)(batch["x"]), {.from_logits = true}));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = optimizer}}; }

  AdamW optimizer{{.state_dtype = "int8"}};

 private:
  bool tied_;
  Embedding table_ = sub("table", Embedding({.input_dim = 40, .output_dim = 128}));
  Dense scores_ = sub("scores", Dense({.units = 40}));
};

}  // namespace

BOOST_AUTO_TEST_CASE(tables_that_are_only_looked_up_have_wide_states) {
  const Dataset data = Dataset::from_tensors({{"x", Tensor({4}, std::vector<std::int32_t>{1, 2, 3, 4})},
                                              {"y", Tensor({4}, std::vector<std::int32_t>{2, 3, 4, 5}), Role::target}});
  for (const bool tied : {false, true}) {
    for (const char* policy : {"float32", "mixed_bfloat16"}) {
      Tokens model(tied);
      Trainer({.max_epochs = 1, .precision = policy, .enable_progress_bar = false})
          .fit(model, DataLoader(data, {.batch_size = 2}));
      const Optimizer::Slots& table = model.optimizer.state()->slots[0];
      BOOST_TEST((table.variable->value.shape() == Shape{40, 128}));
      BOOST_TEST(detail::is_coded(*table.values[0]) == tied);
      BOOST_TEST(detail::is_coded(*table.values[1]) == tied);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
