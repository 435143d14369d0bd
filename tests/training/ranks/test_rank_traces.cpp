// Reductions in the trace of the Chrome profiler.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/folder.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace {

// Layers of more weights than a bucket has.
class Wide : public Module {
 public:
  Wide() : Module("Wide") {}
  Value call(const Value& x) override { return last_(tanh(second_(tanh(first_(x))))); }
  Value training_step(const Batch& batch) override { return mean(square((*this)(batch["x"]) - 1)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1e-6})}}; }

 private:
  Dense first_ = sub("first", Dense({.units = 1100}));
  Dense second_ = sub("second", Dense({.units = 1100}));
  Dense last_ = sub("last", Dense({.units = 1100}));
};

// An action of a track.
struct Event {
  std::string name;
  double begin = 0, end = 0;
};

std::vector<Event> events_of(const Json& trace, int track) {
  std::vector<Event> all;
  std::vector<std::size_t> open;
  for (const Json& event : trace) {
    if (event.at("tid") != track || event.at("ph") == "M") continue;
    if (event.at("ph") == "B") {
      open.push_back(all.size());
      all.push_back({event.at("name"), event.at("ts"), 0});
    } else {
      all[open.back()].end = event.at("ts");
      open.pop_back();
    }
  }
  BOOST_TEST(open.empty());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_traces)

// A reduction begins in its start kernel. Products of the backward pass follow that kernel in the plan.
BOOST_AUTO_TEST_CASE(reductions_run_beside_the_backward_pass) {
  for (const bool shards : {false, true}) {
    const Folder folder;
    const auto errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& own) {
      Wide module;
      TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = "float32"});
      options.strategy = own;
      options.shard_optimizer_states = shards;
      options.profiler = profilers::ChromeProfiler({.dirpath = folder.path(), .filename = "t"});
      Trainer(options).fit(module, DataLoader(rank_data(24), {.batch_size = 6}));
    });
    for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
    std::ifstream file(folder.path("t.json"));
    const Json trace = Json::parse(file);
    const auto named = [](const Json& event) {
      return event.at("ph") == "M" && event.at("args").at("name") == "communication";
    };
    BOOST_TEST(std::count_if(trace.begin(), trace.end(), named) == 1);
    const std::vector<Event> transfers = events_of(trace, 3), kernels = events_of(trace, 2);
    BOOST_TEST_REQUIRE(transfers.size() >= 2U);
    BOOST_TEST(transfers.front().name == (shards ? "reduce_scatter" : "all_reduce"));
    BOOST_TEST((transfers.back().name == "all_gather") == shards);
    double last_product = 0;
    for (const Event& kernel : kernels) {
      if (kernel.name.find("matmul") != std::string::npos) last_product = std::max(last_product, kernel.begin);
    }
    BOOST_TEST(transfers.front().begin < last_product);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      BOOST_TEST(transfers[i].begin <= transfers[i].end);
      if (i > 0) BOOST_TEST(transfers[i - 1].end <= transfers[i].begin);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
