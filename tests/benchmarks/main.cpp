// Times training steps of one workload under one policy and prints a line of JSON, as the peers' programs do.
#include <sys/resource.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include <mezzo/core/parallel.hpp>
#include <mezzo/core/version.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/nn/remat.hpp>
#include <mezzo/optimizers/adamw.hpp>

#include "arguments.hpp"
#include "measure.hpp"

namespace mezzo_bench {
namespace {

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

double rounded(double value, int digits) {
  const double unit = std::pow(10.0, digits);
  return std::round(value * unit) / unit;
}

void run(const Arguments& arguments) {
  if (arguments.threads > 0) mezzo::set_thread_count(arguments.threads);
  const Workload& workload = find_workload(arguments.workload);
  const mezzo::Policy policy = mezzo::Precision(arguments.policy).policy();
  const mezzo::HostBatch batch = workload.make_batch();
  const mezzo::RematScope blocks({.mode = arguments.remat ? "full" : "none"});
  const std::unique_ptr<mezzo::Model> model = workload.make_model();
  model->compile({.optimizer = mezzo::AdamW({.learning_rate = 1e-4,
                                             .weight_decay = 0.01,
                                             .split_master_weights = arguments.split_masters,
                                             .state_dtype = arguments.state_dtype}),
                  .loss = mezzo::SparseCategoricalCrossentropy({.from_logits = true})});
  model->build(batch["x"].shape());
  const Measurement result = measure(*model, batch, policy, arguments.seconds);
  if (arguments.profile) std::cout << model->explain({.profile = true}) << "\n";
  const auto items = static_cast<double>(workload.items());
  const nlohmann::ordered_json line{{"framework", std::string("mezzo ") + mezzo::version()},
                                    {"workload", workload.name},
                                    {"config", policy.name()},
                                    {"per_s", rounded(items / result.median(), 1)},
                                    {"best", rounded(items / result.steps.front(), 1)},
                                    {"ms", rounded(result.median() * 1e3, 3)},
                                    {"mean_ms", rounded(result.mean() * 1e3, 3)},
                                    {"first_s", rounded(result.first, 3)},
                                    {"first_touch_s", rounded(result.first_touch, 3)},
                                    {"rss_mib", peak_mebibytes()},
                                    {"loss", rounded(result.loss, 4)}};
  std::cout << line.dump() << std::endl;
}

}  // namespace
}  // namespace mezzo_bench

int main(int argc, char** argv) {
  try {
    mezzo_bench::run(mezzo_bench::parse_arguments(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "mezzo_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
