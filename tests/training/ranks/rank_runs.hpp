#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/rank_threads.hpp"

namespace mezzo_tests {

// Numbers in [-1, 1) that depend on the index alone.
inline std::vector<double> spread_numbers(std::int64_t count, double phase) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) * 0.754877666 + phase;
    out.push_back(2 * (x - std::floor(x)) - 1);
  }
  return out;
}

// Samples of 6 numbers with a class of 3.
inline mezzo::Dataset rank_data(std::int64_t samples, mezzo::DType dtype = mezzo::DType::float64) {
  mezzo::Tensor y({samples}, mezzo::DType::int64);
  for (std::int64_t i = 0; i < samples; ++i) y.mutable_data<std::int64_t>()[i] = i * i % 3;
  return mezzo::Dataset::from_tensors({{"x", mezzo::Tensor({samples, 6}, spread_numbers(samples * 6, 0.1)).cast(dtype)},
                                       {"y", y, mezzo::Role::target}});
}

struct RankNetOptions {
  std::function<mezzo::Any<mezzo::Optimizer>()> optimizer = [] { return mezzo::SGD({.learning_rate = 0.2}); };
  double dropout = 0;
  double l2 = 0;
  bool batch_norm = false;
  bool synchronized = false;  // of the batch norm
  std::int64_t units = 8;     // of the first layer
};

// 6 -> 8 (`units`) -> 3 numbers, with the accuracy as a metric and the mean output as a number.
class RankNet : public mezzo::Module {
 public:
  explicit RankNet(RankNetOptions options = {}) : Module("RankNet"), options_(std::move(options)) {}

  mezzo::Value call(const mezzo::Value& x) override {
    mezzo::Value h = mezzo::tanh(first_(x));
    if (options_.batch_norm) h = norm_(h);
    if (options_.dropout > 0) h = dropped_(h);
    return last_(h);
  }

  mezzo::Value training_step(const mezzo::Batch& batch) override { return step(batch); }
  void validation_step(const mezzo::Batch& batch) override { log("loss", step(batch)); }
  mezzo::OptimizerConfigs configure_optimizers() override { return {{.optimizer = options_.optimizer()}}; }

 private:
  mezzo::Value step(const mezzo::Batch& batch) {
    const mezzo::Value scores = (*this)(batch["x"]);
    const mezzo::Value loss =
        mezzo::mean(mezzo::sparse_categorical_crossentropy(batch["y"], scores, {.from_logits = true}));
    accuracy_.update_state(batch["y"], scores);
    log("accuracy", accuracy_);
    log("score", mezzo::mean(scores));
    return loss;
  }

  RankNetOptions options_;
  mezzo::Any<mezzo::Regularizer> penalty() const {
    return options_.l2 > 0 ? mezzo::L2(options_.l2) : mezzo::Any<mezzo::Regularizer>();
  }

  mezzo::Dense first_ =
      sub("first", mezzo::Dense({.units = options_.units, .kernel_regularizer = penalty(), .name = "first"}));
  mezzo::BatchNormalization norm_ =
      sub("norm", mezzo::BatchNormalization({.momentum = 0.8, .synchronized = options_.synchronized}));
  mezzo::Dropout dropped_ = sub("dropped", mezzo::Dropout(options_.dropout));
  mezzo::Dense last_ = sub("last", mezzo::Dense({.units = 3}));
  mezzo::SparseCategoricalAccuracy accuracy_;
};

// A net whose weights don't depend on the process. Other ranks than 0 get other weights, which fit must replace.
inline RankNet rank_net(const RankNetOptions& options, int rank = 0) {
  RankNet net(options);
  net.build({1, 6});
  std::vector<mezzo::Tensor> weights = net.get_weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (options.batch_norm && weights.size() == 8 && i >= 2 && i < 6 && rank == 0) continue;  // of norm
    const double phase = 0.3 * static_cast<double>(i + 1) + 0.05 * rank;
    weights[i] = mezzo::Tensor(weights[i].shape(), spread_numbers(weights[i].size(), phase)).cast(weights[i].dtype());
  }
  net.set_weights(weights);
  return net;
}

// Result of a training: numbers of its epochs by name, and weights.
struct RankResult {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::vector<double>> weights;
};

struct RankRun {
  RankNetOptions net{};
  mezzo::TrainerOptions trainer{};
  mezzo::DataLoaderOptions loader{};  // batch_size: of all ranks
  std::int64_t samples = 48, validation_samples = 0;
};

inline mezzo::TrainerOptions rank_trainer(mezzo::TrainerOptions options = {}) {
  if (!options.max_epochs) options.max_epochs = 3;
  options.enable_progress_bar = false;
  if (options.precision.policy().inherits()) options.precision = "float64";
  return options;
}

inline RankResult run_of_rank(const RankRun& run, mezzo::Strategy strategy) {
  const auto ranks = strategy.communicator();
  const std::int64_t count = ranks ? ranks->size() : 1;
  RankNet net = rank_net(run.net, ranks ? ranks->rank() : 0);
  mezzo::DataLoaderOptions loader = run.loader;
  loader.batch_size /= count;
  const mezzo::DataLoader train(rank_data(run.samples), loader);
  mezzo::DataLoaders validation;
  if (run.validation_samples > 0) {
    loader.shuffle = false;
    validation = mezzo::DataLoader(rank_data(run.validation_samples), loader);
  }
  mezzo::TrainerOptions options = run.trainer;
  options.strategy = std::move(strategy);
  const mezzo::History history = mezzo::Trainer(options).fit(net, train, validation);
  RankResult out;
  for (const auto& [name, numbers] : history.history) {
    out.names.push_back(name);
    out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
  }
  for (const mezzo::Tensor& weight : net.get_weights()) out.weights.push_back(weight.to_doubles());
  return out;
}

// Largest difference of two results, relative where numbers are above 1. A failed check if they have other names.
inline double difference_of(const RankResult& a, const RankResult& b) {
  BOOST_REQUIRE(a.names == b.names);
  BOOST_REQUIRE(a.numbers.size() == b.numbers.size());
  BOOST_REQUIRE(a.weights.size() == b.weights.size());
  double most = 0;
  const auto compare = [&](double x, double y) { most = std::max(most, std::abs(x - y) / std::max(1.0, std::abs(y))); };
  for (std::size_t i = 0; i < a.numbers.size(); ++i) compare(a.numbers[i], b.numbers[i]);
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    BOOST_REQUIRE(a.weights[i].size() == b.weights[i].size());
    for (std::size_t j = 0; j < a.weights[i].size(); ++j) compare(a.weights[i][j], b.weights[i][j]);
  }
  return most;
}

// Results of all ranks. A failed check if one throws, or if they differ by a bit.
inline RankResult run_by_ranks(const RankRun& run, int ranks) {
  std::vector<RankResult> results(static_cast<std::size_t>(ranks));
  const auto errors = run_ranks(ranks, [&](const std::shared_ptr<mezzo::Communicator>& own) {
    results[static_cast<std::size_t>(own->rank())] = run_of_rank(run, own);
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  for (const RankResult& one : results) BOOST_TEST(difference_of(one, results.front()) == 0);
  return results.front();
}

inline void require_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
}

// Saves a checkpoint at the end of a batch, all counted from 0.
class SaveAt : public mezzo::Callback {
 public:
  SaveAt(int epoch, std::int64_t batch, std::string path) : epoch_(epoch), batch_(batch), path_(std::move(path)) {}
  bool saves() const override { return true; }
  void on_train_batch_end(std::int64_t batch, mezzo::Logs&) override {
    if (batch == batch_ && session().current_epoch() == epoch_) session().save_checkpoint(path_);
  }

 private:
  int epoch_;
  std::int64_t batch_;
  std::string path_;
};

// Two checkpoints must have the same numbers.
inline void check_same_checkpoints(const std::string& a, const std::string& b) {
  const mezzo::SafetensorsFile first(a), second(b);
  BOOST_TEST_REQUIRE(first.entries().size() == second.entries().size());
  for (const auto& entry : first.entries()) {
    BOOST_TEST((first.read(entry.name).to_doubles() == second.read(entry.name).to_doubles()), entry.name);
  }
}

}  // namespace mezzo_tests
