// Measurements for simulate.py and check.py; each prints a line of JSON.
//
// mezzo_scaling profile WORKLOAD POLICY   times of the kernels of a step of one rank, in the order in which they run
// mezzo_scaling steps WORKLOAD POLICY     times of the steps of the ranks of mpirun
// mezzo_scaling exchanges                 times of all_reduce between the ranks of mpirun
//
// Options: --steps N, default 40; --threads N of each rank, default 1; --batch N samples of each rank, default the
// workload's; --delay MS, which each exchange between ranks waits for in addition, default 0; --shards 1 divides
// masters and optimizer states, as shard_optimizer_states.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include <mezzo/core/parallel.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/distributed/mpi_ranks.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/training/profilers/plan_text.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "../median.hpp"
#include "../workloads.hpp"

namespace {

using namespace mezzo;
using mezzo_bench::median;
using Clock = std::chrono::steady_clock;
using Ranks = std::shared_ptr<Communicator>;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> words{};
  int steps = 40, threads = 1;
  std::int64_t batch = 0;  ///< samples of a rank; 0: the workload's
  double delay = 0;        ///< milliseconds
  bool shards = false;
};

Options parse(int count, char** arguments) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word.rfind("--", 0) != 0) {
      out.words.push_back(word);
      continue;
    }
    const double number = i + 1 < count ? std::stod(arguments[++i]) : -1;
    if (word == "--steps" && number >= 1) {
      out.steps = static_cast<int>(number);
    } else if (word == "--threads" && number >= 1) {
      out.threads = static_cast<int>(number);
    } else if (word == "--batch" && number >= 1) {
      out.batch = static_cast<std::int64_t>(number);
    } else if (word == "--delay" && number >= 0) {
      out.delay = number;
    } else if (word == "--shards" && (number == 0 || number == 1)) {
      out.shards = number == 1;
    } else {
      throw ValueError("no option " + word + " with such a number");
    }
  }
  return out;
}

/// A transport whose messages arrive later.
class Delayed final : public detail::Transport {
 public:
  Delayed(std::unique_ptr<detail::Transport> inner, double milliseconds)
      : inner_(std::move(inner)), delay_(milliseconds) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int local_rank() const override { return inner_->local_rank(); }
  int local_size() const override { return inner_->local_size(); }
  void exchange(const std::vector<detail::RankMemory>& send, const std::vector<detail::RankMemory>& receive,
                const std::atomic<bool>& cancelled) override {
    inner_->exchange(send, receive, cancelled);
    if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
  }
  void fail(const std::string& reason) override { inner_->fail(reason); }

 private:
  std::unique_ptr<detail::Transport> inner_;
  std::chrono::duration<double, std::milli> delay_;
};

Ranks delayed_mpi(double milliseconds) {
  return std::make_shared<Communicator>([milliseconds]() -> std::unique_ptr<detail::Transport> {
    return std::make_unique<Delayed>(detail::open_mpi(), milliseconds);
  });
}

mezzo_bench::Workload workload_of(const Options& options) {
  mezzo_bench::Workload out = mezzo_bench::find_workload(options.words[1]);
  if (options.batch > 0) out.batch_size = options.batch;
  return out;
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Training steps of a workload by ranks, each of which has a whole batch of it.
class Steps {
 public:
  Steps(const mezzo_bench::Workload& workload, const std::string& policy, const Ranks& ranks, bool shards = false)
      : batch_(workload.make_batch()), model_(workload.make_model()) {
    model_->compile({.optimizer = AdamW({.learning_rate = 1e-4, .weight_decay = 0.01}),
                     .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    batch_.part = detail::BatchPart{ranks->rank() * batch_.size, batch_.size, ranks->size() * batch_.size};
    runner_ = std::make_unique<detail::StepRunner>(
        *model_, detail::RunOptions{.policy = Precision(policy).policy(), .group = detail::ProcessGroup(ranks)});
    runner_->rehearse(Stage::fit, batch_);
    runner_->configure(true);
    if (!shards) return;
    runner_->convert_weights();
    auto& states = detail::training_state(*model_).shared_states;
    states = std::make_shared<detail::RankStates>(ranks, *model_, true, false);
    states->split_masters({}, [&] { return std::vector<Graph>{runner_->rehearse(Stage::fit, batch_)}; });
  }

  /// Milliseconds of each step but the first ones.
  std::vector<double> run(int steps) {
    constexpr int warm_ups = 4;
    std::vector<double> out;
    for (int i = -warm_ups; i < steps; ++i) {
      const auto begin = Clock::now();
      runner_->run(Stage::fit, batch_);
      if (i >= 0) out.push_back(milliseconds_since(begin));
    }
    return out;
  }

  const Model& model() const { return *model_; }

 private:
  HostBatch batch_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<detail::StepRunner> runner_;
};

Json profile(const Options& options) {
  const mezzo_bench::Workload workload = workload_of(options);
  Steps steps(workload, options.words[2], Communicator::threads(1)[0]);
  const std::vector<double> times = steps.run(options.steps);
  const double step = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  const detail::Plan& plan = *steps.model().run_state()->last_plan;
  const std::vector<detail::Plan::Row> rows = plan.rows();
  Json out{{"workload", workload.name},
           {"policy", options.words[2]},
           {"threads", options.threads},
           {"items", workload.items()},
           {"ms", step},
           {"rows", Json::array()},
           {"weights", Json::array()}};
  for (const std::size_t lap : plan.lap_order()) {
    const bool kernel = lap < rows.size();
    const std::string op = kernel ? rows[lap].op : detail::chore_names[lap - rows.size()];
    out["rows"].push_back({op, kernel ? rows[lap].path : "", plan.profile().lap_time(lap) * 1e-6});
  }
  for (const auto& [path, weight] : steps.model().named_weights()) {
    if (weight.trainable()) out["weights"].push_back({path, element_count(weight.shape())});
  }
  return out;
}

Json steps(const Options& options, const Ranks& ranks) {
  Steps steps(workload_of(options), options.words[2], ranks, options.shards);
  return {{"ranks", ranks->size()},
          {"delay", options.delay},
          {"shards", options.shards},
          {"ms", median(steps.run(options.steps))}};
}

Json exchanges(const Options& options, const Ranks& ranks) {
  Json out{{"ranks", ranks->size()}, {"all_reduce", Json::array()}};
  std::vector<float> other(std::size_t{1} << 23);  // larger than caches, which the kernels of a step fill, too
  for (const std::int64_t elements : {2, 1 << 16, 1 << 20}) {
    std::vector<float> x(static_cast<std::size_t>(elements));
    std::vector<double> times;
    for (int i = 0; i < options.steps; ++i) {
      for (float& one : other) one += 1;
      ranks->barrier();
      const auto begin = Clock::now();
      ranks->all_reduce({x.data(), elements, DType::float32});
      times.push_back(milliseconds_since(begin));
    }
    out["all_reduce"].push_back({elements * 4, median(times)});
  }
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = parse(count, arguments);
    const std::string mode = options.words.empty() ? "" : options.words[0];
    if (options.words.size() != (mode == "exchanges" ? 1U : 3U)) {
      throw ValueError("usage: mezzo_scaling (profile | steps) WORKLOAD POLICY, or mezzo_scaling exchanges");
    }
    set_thread_count(options.threads);
    if (mode == "profile") {
      std::cout << profile(options).dump() << std::endl;
      return 0;
    }
    const Ranks ranks = delayed_mpi(options.delay);
    const Json line = mode == "steps" ? steps(options, ranks) : exchanges(options, ranks);
    if (ranks->rank() == 0) std::cout << line.dump() << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "mezzo_scaling: " << error.what() << "\n";
    return 1;
  }
}
