// Steps of compile_step() beside those of a Trainer, on the same model, optimizer and batch.
//
// mezzo_loop_steps [--workload NAME] [--rounds N] [--steps N]
//
// A round is N steps of the Trainer's runner and N steps of a StepFunction; both take turns. A line of JSON has the
// median seconds of a step of each and the ratio of the speeds: 0.95 is a loop of 95 % of the Trainer's speed.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "../median.hpp"
#include "../workloads.hpp"

namespace {

using namespace mezzo;
using mezzo_bench::median;
using Clock = std::chrono::steady_clock;

template <class Step>
double seconds_of(int steps, Step step) {
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  return std::chrono::duration<double>(Clock::now() - start).count() / steps;
}

}  // namespace

int main(int count, char** arguments) {
  std::string name = "mlp";
  int rounds = 11, steps = 50;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--workload") name = arguments[i + 1];
    if (std::string(arguments[i]) == "--rounds") rounds = std::stoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--steps") steps = std::stoi(arguments[i + 1]);
  }
  if (rounds < 1 || steps < 1 || count % 2 == 0) {
    std::cerr << "usage: mezzo_loop_steps [--workload NAME] [--rounds N] [--steps N]\n";
    return 2;
  }
  const mezzo_bench::Workload& workload = mezzo_bench::find_workload(name);
  const HostBatch batch = workload.make_batch();
  const SparseCategoricalCrossentropy loss({.from_logits = true});
  const AdamOptions adam{.learning_rate = 1e-4};

  const std::unique_ptr<Model> trained = workload.make_model();
  trained->compile({.optimizer = Adam(adam), .loss = loss});
  detail::StepRunner runner(*trained, {});
  runner.rehearse(Stage::fit, batch);
  runner.configure(true);

  const std::unique_ptr<Model> model = workload.make_model();
  Adam optimizer(adam);
  StepFunction step = compile_step([&](const Values& in) {
    const auto [value, gradients] = value_and_grad(*model, [&] { return loss(in[1], (*model)(in[0])); });
    optimizer.apply(gradients);
    return value;
  });
  std::vector<double> of_trainer, of_loop;
  for (int round = 0; round <= rounds; ++round) {  // the first one compiles
    of_trainer.push_back(seconds_of(steps, [&] {
      runner.run(Stage::fit, batch);
      return runner.value(0);
    }));
    of_loop.push_back(seconds_of(steps, [&] {
      return step({batch.fields[0].tensor, batch.fields[1].tensor})[0].item();
    }));
  }
  of_trainer.erase(of_trainer.begin());
  of_loop.erase(of_loop.begin());
  std::cout << fmt::format(
                   R"({{"workload": "{}", "trainer_seconds": {:.6f}, "loop_seconds": {:.6f}, "speed": {:.3f}}})", name,
                   median(of_trainer), median(of_loop), median(of_trainer) / median(of_loop))
            << "\n";
  return 0;
}
