// Each argument of a Trainer has an effect, also from the environment; those that other files don't test.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <vector>

#include "small.hpp"
#include "support/captured.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

// A variable MEZZO_TRAINER_..., for its lifetime.
class TrainerVariable {
 public:
  TrainerVariable(std::string name, const char* value) : name_("MEZZO_TRAINER_" + std::move(name)) {
    ::setenv(name_.c_str(), value, 1);
  }
  ~TrainerVariable() { ::unsetenv(name_.c_str()); }
  TrainerVariable(const TrainerVariable&) = delete;
  TrainerVariable& operator=(const TrainerVariable&) = delete;

 private:
  std::string name_;
};

// A variable, its value, and the text of the option that it sets.
struct EnvironmentCase {
  const char* name;
  const char* value;
  std::function<std::string(const TrainerOptions&)> text;
  const char* expected;
};

template <class T>
std::function<std::string(const TrainerOptions&)> text_of_option(T TrainerOptions::*option) {
  return [option](const TrainerOptions& options) { return fmt::format("{}", options.*option); };
}

template <class T>
std::function<std::string(const TrainerOptions&)> text_of_option(std::optional<T> TrainerOptions::*option) {
  return [option](const TrainerOptions& options) {
    return options.*option ? fmt::format("{}", *(options.*option)) : "none";
  };
}

std::function<std::string(const TrainerOptions&)> of_hundred(detail::BatchLimit TrainerOptions::*option) {
  return [option](const TrainerOptions& options) { return fmt::format("{}", (options.*option).of(100, "limit")); };
}

std::vector<EnvironmentCase> environment_cases() {
  using O = TrainerOptions;
  return {
      {"max_epochs", "7", text_of_option(&O::max_epochs), "7"},
      {"max_steps", "9", text_of_option(&O::max_steps), "9"},
      {"max_time", "00:00:01:01", [](const O& o) { return o.max_time ? fmt::format("{}", o.max_time->seconds()) : ""; },
       "61"},
      {"min_epochs", "2", text_of_option(&O::min_epochs), "2"},
      {"min_steps", "3", text_of_option(&O::min_steps), "3"},
      {"limit_train_batches", "0.25", of_hundred(&O::limit_train_batches), "25"},
      {"limit_val_batches", "11", of_hundred(&O::limit_val_batches), "11"},
      {"limit_test_batches", "12", of_hundred(&O::limit_test_batches), "12"},
      {"limit_predict_batches", "13", of_hundred(&O::limit_predict_batches), "13"},
      {"overfit_batches", "14", of_hundred(&O::overfit_batches), "14"},
      {"fast_dev_run", "4", text_of_option(&O::fast_dev_run), "4"},
      {"reload_dataloaders_every_n_epochs", "5", text_of_option(&O::reload_dataloaders_every_n_epochs), "5"},
      {"val_check_interval", "6", [](const O& o) { return fmt::format("{}", o.val_check_interval.batches(100)); }, "6"},
      {"check_val_every_n_epoch", "8", text_of_option(&O::check_val_every_n_epoch), "8"},
      {"num_sanity_val_steps", "1", text_of_option(&O::num_sanity_val_steps), "1"},
      {"accumulate_grad_batches", "3", text_of_option(&O::accumulate_grad_batches), "3"},
      {"gradient_clip_val", "0.5", text_of_option(&O::gradient_clip_val), "0.5"},
      {"gradient_clip_algorithm", "value", text_of_option(&O::gradient_clip_algorithm), "value"},
      {"shard_optimizer_states", "true", text_of_option(&O::shard_optimizer_states), "true"},
      {"gradient_compression", "bf16", text_of_option(&O::gradient_compression), "bf16"},
      {"precision", "bf16-mixed", [](const O& o) { return o.precision.policy().name(); }, "mixed_bfloat16"},
      {"logger", "csv", [](const O& o) { return fmt::format("{}", o.logger.size()); }, "1"},
      {"profiler", "simple", [](const O& o) { return o.profiler ? "some" : "none"; }, "some"},
      {"log_every_n_steps", "10", text_of_option(&O::log_every_n_steps), "10"},
      {"enable_checkpointing", "true", text_of_option(&O::enable_checkpointing), "true"},
      {"enable_progress_bar", "false", text_of_option(&O::enable_progress_bar), "false"},
      {"enable_model_summary", "true", text_of_option(&O::enable_model_summary), "true"},
      {"default_root_dir", "runs", text_of_option(&O::default_root_dir), "runs"},
      {"deterministic", "true", text_of_option(&O::deterministic), "true"},
      {"detect_anomaly", "true", text_of_option(&O::detect_anomaly), "true"},
      {"barebones", "true", text_of_option(&O::barebones), "true"},
      {"eager", "true", text_of_option(&O::eager), "true"},
      {"adaptive_threads", "true", text_of_option(&O::adaptive_threads), "true"},
      {"float32_winograd", "false", text_of_option(&O::float32_winograd), "false"},
      {"float32_matmul_precision", "medium", text_of_option(&O::float32_matmul_precision), "medium"}};
}

std::string upper(std::string name) {
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

DataLoader eight_batches() {
  return DataLoader(pairs({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}), {.batch_size = 1});
}

class NamesOnly : public Logger {
 public:
  explicit NamesOnly(std::vector<std::string>* names) : names_(names) {}
  void log_metrics(const Logs& metrics, std::int64_t) override {
    for (const auto& entry : metrics) names_->push_back(entry.first);
  }

 private:
  std::vector<std::string>* names_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trainer_arguments)

BOOST_AUTO_TEST_CASE(each_variable_sets_its_option) {
  BOOST_TEST(environment_cases().size() == 35U);  // all but callbacks and loss_scale
  for (const EnvironmentCase& one : environment_cases()) {
    BOOST_TEST_CONTEXT(one.name) {
      BOOST_TEST(one.text(Trainer().options()) != one.expected);
      const TrainerVariable variable(upper(one.name), one.value);
      std::optional<TrainerVariable> bound;  // without which the algorithm is an error
      if (one.name == std::string("gradient_clip_algorithm")) bound.emplace("GRADIENT_CLIP_VAL", "1");
      BOOST_TEST(one.text(Trainer().options()) == one.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(evaluations_take_their_limits) {
  class Counting : public Callback {
   public:
    void on_test_batch_end(std::int64_t, Logs&) override { ++batches; }
    void on_predict_batch_end(std::int64_t, Logs&) override { ++batches; }
    int batches = 0;
  };
  Sequential model = line(1);
  model.compile({.loss = "mse"});
  const auto count = [&](TrainerOptions options, const std::function<void(const Trainer&)>& call) {
    Counting counting;
    options.callbacks = {counting};
    call(Trainer(options));
    return counting.batches;
  };
  const auto validate = [&](const Trainer& trainer) { trainer.validate(model, eight_batches()); };
  const auto test = [&](const Trainer& trainer) { trainer.test(model, eight_batches()); };
  const auto predict = [&](const Trainer& trainer) { trainer.predict(model, eight_batches()); };
  const TrainerOptions limits{.limit_val_batches = 2, .limit_test_batches = 0.5, .limit_predict_batches = 3};
  BOOST_TEST(count(limits, validate) == 2);
  BOOST_TEST(count(limits, test) == 4);
  BOOST_TEST(count(limits, predict) == 3);
  BOOST_TEST(count({}, predict) == 8);
}

BOOST_AUTO_TEST_CASE(barebones_turns_the_rest_off) {
  class Sanity : public Callback {
   public:
    void on_sanity_check_start() override { checked = true; }
    bool checked = false;
  };
  for (const bool barebones : {false, true}) {
    const CapturedOutput output;
    Sanity sanity;
    Sequential model = line(1);
    model.compile({.optimizer = SGD(0.01), .loss = "mse"});
    Trainer({.max_epochs = 1, .callbacks = {sanity}, .barebones = barebones})
        .fit(model, eight_batches(), eight_batches());
    BOOST_TEST(sanity.checked == !barebones);
    BOOST_TEST(output.text().empty() == barebones, output.text());
  }
}

BOOST_AUTO_TEST_CASE(numbers_may_stay_away_from_loggers) {
  class Quiet : public Module {
   public:
    Quiet() : Module("Quiet") {}
    Value training_step(const Batch& batch) override {
      log("quiet", mean(batch["x"]), {.logger = false});
      return mean_squared_error(batch["y"], dense_(batch["x"]));
    }
    OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.01)}}; }

   private:
    Dense dense_ = sub("dense", Dense({.units = 1}));
  };
  Quiet module;
  std::vector<std::string> names;
  const History history =
      Trainer({.max_epochs = 1, .logger = {NamesOnly(&names)}, .log_every_n_steps = 8, .enable_progress_bar = false})
          .fit(module, eight_batches());
  BOOST_TEST(history["quiet"].front() == 4.5);
  BOOST_TEST(names == (std::vector<std::string>{"loss", "epoch"}), per_element());
}

BOOST_AUTO_TEST_SUITE_END()
