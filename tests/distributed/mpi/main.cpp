// A training under mpirun: mezzo_mpi_ranks SCENARIO. run.sh checks what it writes and when it ends.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include <mezzo/mezzo.hpp>

#include "support/killed_saves.hpp"

using namespace mezzo;

namespace {

Dataset data(std::int64_t samples) {
  Tensor x({samples, 4}, DType::float64), y({samples, 1}, DType::float64);
  for (std::int64_t i = 0; i < samples * 4; ++i) x.mutable_data<double>()[i] = static_cast<double>(i * 37 % 101) / 101;
  for (std::int64_t i = 0; i < samples; ++i) y.mutable_data<double>()[i] = static_cast<double>(i * 13 % 17) / 17;
  return Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
}

class Net : public Module {
 public:
  Net(std::int64_t units, bool split)
      : Module("Net"), split_(split), hidden_(sub("hidden", Dense({.units = units, .use_bias = false}))) {}
  Value call(const Value& x) override { return last_(dropped_(tanh(norm_(hidden_(x))))); }
  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], (*this)(batch["x"])); }
  void validation_step(const Batch& batch) override { log("error", training_step(batch)); }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = Adam({.learning_rate = 0.01, .split_master_weights = split_})}};
  }

 private:
  bool split_;
  Dense hidden_;
  BatchNormalization norm_ = sub("norm", BatchNormalization({.synchronized = true}));
  Dropout dropped_ = sub("dropped", Dropout(0.2));
  Dense last_ = sub("last", Dense({.units = 1}));
};

// Acts before a step, counted from 0 over all epochs.
class AtBatch : public Callback {
 public:
  AtBatch(std::int64_t step, std::function<void()> act) : step_(step), act_(std::move(act)) {}
  void on_train_batch_begin(std::int64_t, Logs&) override {
    if (session().global_step() == step_) act_();
  }

 private:
  std::int64_t step_;
  std::function<void()> act_;
};

struct Run {
  std::int64_t units = 6, samples = 53, batch_size = 0;
  Strategy strategy{};
  Callbacks callbacks{};
  std::string ckpt_path{};
  int window = 1;
  bool shards = false;
  const char* precision = "float64";
  bool split = false;  ///< masters
  bool logs = true;    ///< results have the numbers of the last epoch, too
};

std::vector<double> train(const Run& run) {
  seed_everything(3);
  Net net(run.units, run.split);
  net.build({1, 4});
  Trainer trainer({.max_epochs = 3,
                   .accumulate_grad_batches = run.window,
                   .strategy = run.strategy,
                   .shard_optimizer_states = run.shards,
                   .precision = run.precision,
                   .callbacks = run.callbacks,
                   .enable_progress_bar = false});
  const DataLoader loader(data(run.samples), {.batch_size = run.batch_size, .shuffle = true});
  const History history =
      trainer.fit(net, loader, DataLoader(data(23), {.batch_size = run.batch_size}), {.ckpt_path = run.ckpt_path});
  std::vector<double> out;
  for (const char* name : {"loss", "error"}) {
    if (run.logs) out.push_back(history[name].back());
  }
  for (const Tensor& weight : net.get_weights()) {
    const std::vector<double> numbers = weight.to_doubles();
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

/// Ends rank KILLED_RANK by SIGKILL: KILLED_AFTER milliseconds from now, or at call number KILLED_CALL of its saves.
void end_by_sigkill(int rank) {
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? -1 : std::atoi(text);
  };
  const bool victim = number("KILLED_RANK") == rank;
  mezzo_tests::kill_in_save(victim ? number("KILLED_CALL") : -1);
  const int after = number("KILLED_AFTER");
  if (!victim || after < 0) return;
  std::thread([after] {
    std::this_thread::sleep_for(std::chrono::milliseconds(after));
    std::raise(SIGKILL);
  }).detach();
}

void require(bool good, const std::string& text) {
  if (!good) throw Error(text);
}

void check_collectives(Communicator& ranks) {
  const int count = ranks.size();
  for (const std::int64_t size : {1, 1000, 300000}) {
    std::vector<float> x(static_cast<std::size_t>(size), static_cast<float>(ranks.rank() + 1));
    ranks.all_reduce({x.data(), size, DType::float32});
    const int sum = count * (count + 1) / 2;
    const auto total = static_cast<float>(sum);
    for (const float one : x) require(one == total, "all_reduce");
    std::vector<std::int64_t> y(static_cast<std::size_t>(size), ranks.rank());
    ranks.broadcast({y.data(), size, DType::int64}, count - 1);
    for (const std::int64_t one : y) require(one == count - 1, "broadcast");
  }
  ranks.barrier();
  const auto texts = ranks.gather_texts("rank " + std::to_string(ranks.rank()));
  require(texts.back() == "rank " + std::to_string(count - 1), "gather_texts");
  require(ranks.local_size() == count && ranks.local_rank() == ranks.rank(), "local ranks");
}

void check_equal(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  require(a.size() == b.size(), "number of numbers");
  for (std::size_t i = 0; i < a.size(); ++i) {
    require(std::abs(a[i] - b[i]) <= tolerance, "number " + std::to_string(i));
  }
}

void run(const std::string& scenario) {
  const auto ranks = Strategy("auto").communicator();
  require(ranks != nullptr, "mpirun must start several ranks");
  const int rank = ranks->rank();
  Run own{.batch_size = 4};
  if (std::getenv("DIVIDED_MASTERS") != nullptr) {
    own.precision = "mixed_bfloat16";
    own.shards = true;
  }
  ModelCheckpoint each_step({.save_last = true, .every_n_train_steps = 1});
  const bool last = rank == ranks->size() - 1;
  if (scenario == "collectives") {
    check_collectives(*ranks);
  } else if (scenario == "training" || scenario == "sharded") {
    if (scenario == "sharded") {
      own.window = 2;
      own.shards = true;
    }
    check_equal(train(own),
                train({.batch_size = std::int64_t{4} * ranks->size(), .strategy = "single", .window = own.window}),
                1e-12);
    if (scenario == "sharded") {
      own.precision = "mixed_bfloat16";
      const std::vector<double> divided = train(own);
      own.shards = false;
      own.split = true;
      check_equal(divided, train(own), 0);
    }
  } else if (scenario == "saving") {
    end_by_sigkill(rank);
    own.callbacks = {each_step};
    const auto begin = std::chrono::steady_clock::now();
    train(own);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (rank == 0)
      std::cout << "saved: " << std::lround(time.count()) << " ms, " << mezzo_tests::save_calls() << " calls\n";
  } else if (scenario == "resumed") {
    own.logs = false;
    const std::vector<double> whole = train(own);
    const char* const folder = std::getenv("MEZZO_TRAINER_DEFAULT_ROOT_DIR");
    if (std::filesystem::exists(std::string(folder) + "/checkpoints/last.ckpt")) own.ckpt_path = "last";
    ranks->barrier();  // before a rank saves
    own.callbacks = {each_step};
    check_equal(train(own), whole, 0);
  } else if (scenario == "throws") {
    own.callbacks = {AtBatch(2, [&] {
      if (last) throw Error("the disk of this rank is full");
    })};
    train(own);
  } else if (scenario == "killed") {
    own.callbacks = {AtBatch(2, [&] {
      if (last) std::raise(SIGKILL);
    })};
    train(own);
  } else if (scenario == "interrupted") {
    own.callbacks = {AtBatch(2, [&] {
      if (last) std::raise(SIGTERM);
    })};
    train(own);
  } else if (scenario == "model") {
    if (last) own.units = 7;
    train(own);
  } else if (scenario == "batches") {
    if (last) own.samples = 80;
    train(own);
  } else if (scenario == "leaves") {
    if (!last) train(own);
  } else {
    throw Error("unknown scenario " + scenario);
  }
  if (rank == 0) std::cout << scenario << " passed with " << ranks->size() << " ranks" << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(count > 1 ? arguments[1] : "");
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 1;
  }
}
