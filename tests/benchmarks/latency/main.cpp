// Times single predictions of one workload by a Predictor, from one or several threads of the caller.
//
// mezzo_latency WORKLOAD POLICY [--batch N] [--callers N] [--threads N] [--seconds S] [--export FILE] [--profile 1]
//
// Prints a line of JSON: median and 99th percentile of the time of a prediction, and samples per second of all callers.
// `threads` is the number of threads of each caller. `--export` writes the model as an ONNX file, and next to it an
// input (FILE.bin), and does not time. `--profile` prints the times of the kernels of a plan first.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/version.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/module/inference_graph.hpp>

#include "../workloads.hpp"

#if MEZZO_LATENCY_ONNX
#include <mezzo/onnx.hpp>
#endif

namespace mezzo_bench {
namespace {

using namespace mezzo;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string workload, policy, onnx_file;
  std::int64_t batch = 1;
  int callers = 1, threads = 1;
  double seconds = 2;
  bool profile = false;
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// A thread's calls of the predictor, into memory of its own.
struct Caller {
  void predict() { predictor(input, output); }

  void run_until(Clock::time_point end) {
    for (int i = 0; i < 3; ++i) predict();
    while (Clock::now() < end || times.size() < 5) {
      const auto begin = Clock::now();
      predict();
      times.push_back(milliseconds_since(begin));
    }
  }

  const Predictor& predictor;
  Tensor input, output{};
  std::vector<double> times{};
};

Tensor input_of(const Workload& workload, std::int64_t batch) {
  Workload sized = workload;
  sized.batch_size = batch;
  return sized.make_batch()["x"];
}

void export_model([[maybe_unused]] Model& model, [[maybe_unused]] const Tensor& input, const std::string& path) {
#if MEZZO_LATENCY_ONNX
  export_onnx(model, path);
  std::ofstream(path + ".bin", std::ios::binary)
      .write(static_cast<const char*>(input.raw()), static_cast<std::streamsize>(input.bytes()));
#else
  throw ValueError("--export " + path + " needs a build with ONNX");
#endif
}

/// Runs the frozen plan that a worker of a Predictor has, and prints the mean time of each kernel in us and its
/// GFLOP/s.
void print_profile(Model& model, const Tensor& input) {
  detail::FrozenConstants constants;
  const Graph graph =
      run_passes(detail::freeze(detail::inference_graph(model, {{input.shape(), input.dtype()}}), constants));
  detail::Plan plan(graph, std::make_shared<Arena>());
  for (int i = 0; i < 20; ++i) plan.run({input}, {});
  const std::vector<detail::Plan::Row> rows = plan.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double time = plan.profile().lap_time(i);
    std::cout << fmt::format("{:8.1f} us {:7.1f} GFLOP/s  {} {} {} {} {}\n", time * 1e-3, rows[i].operations / time,
                             rows[i].op, rows[i].path, rows[i].kernel, rows[i].detail, rows[i].outputs);
  }
  std::cout << fmt::format("{:8.1f} us in all\n", plan.profile().run_time() * 1e-3);
}

void run(const Options& options) {
  set_thread_count(options.threads);
  const Workload& workload = find_workload(options.workload);
  set_dtype_policy(Precision(options.policy).policy());
  const std::unique_ptr<Model> model = workload.make_model();
  const Tensor input = input_of(workload, options.batch);
  model->build(input.shape());
  if (!options.onnx_file.empty()) return export_model(*model, input, options.onnx_file);
  if (options.profile) print_profile(*model, input);
  const auto first = Clock::now();
  const Predictor predictor =
      model->predictor({.examples = {input}, .workers = options.callers, .threads = options.threads});
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < options.callers; ++i) callers.push_back(std::make_unique<Caller>(Caller{predictor, input}));
  callers.front()->predict();
  const double first_ms = milliseconds_since(first);
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<std::thread> threads;
  for (int i = 1; i < options.callers; ++i) {
    threads.emplace_back([caller = callers[static_cast<std::size_t>(i)].get(), end] { caller->run_until(end); });
  }
  callers.front()->run_until(end);
  for (std::thread& thread : threads) thread.join();
  double per_ms = 0;
  std::vector<double> times;
  for (const auto& caller : callers) {
    double sum = 0;
    for (const double time : caller->times) sum += time;
    per_ms += static_cast<double>(caller->times.size()) / sum;
    times.insert(times.end(), caller->times.begin(), caller->times.end());
  }
  std::sort(times.begin(), times.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const nlohmann::ordered_json line{{"framework", std::string("mezzo ") + version()},
                                    {"workload", options.workload},
                                    {"config", options.policy},
                                    {"batch", options.batch},
                                    {"callers", options.callers},
                                    {"threads", options.threads},
                                    {"p50_ms", times[times.size() / 2]},
                                    {"p99_ms", times[times.size() * 99 / 100]},
                                    {"per_s", 1e3 * per_ms * static_cast<double>(options.batch)},
                                    {"first_ms", first_ms},
                                    {"rss_mib", usage.ru_maxrss / 1024}};
  std::cout << line.dump() << std::endl;
}

bool parse(int count, char** arguments, Options& options) {
  if (count < 3 || count % 2 == 0) return false;
  options.workload = arguments[1];
  options.policy = arguments[2];
  for (int i = 3; i + 1 < count; i += 2) {
    const std::string name = arguments[i], value = arguments[i + 1];
    if (name == "--batch") {
      options.batch = std::stoll(value);
    } else if (name == "--callers") {
      options.callers = std::stoi(value);
    } else if (name == "--threads") {
      options.threads = std::stoi(value);
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    } else if (name == "--export") {
      options.onnx_file = value;
    } else if (name == "--profile") {
      options.profile = value != "0";
    } else {
      return false;
    }
  }
  return options.batch > 0 && options.callers > 0 && options.threads > 0;
}

}  // namespace
}  // namespace mezzo_bench

int main(int count, char** arguments) {
  mezzo_bench::Options options;
  try {
    if (!mezzo_bench::parse(count, arguments, options)) {
      std::cerr << "usage: mezzo_latency WORKLOAD POLICY [--batch N] [--callers N] [--threads N] [--seconds S] "
                   "[--export FILE] [--profile 1]\n";
      return 2;
    }
    mezzo_bench::run(options);
  } catch (const std::exception& error) {
    std::cerr << "mezzo_latency: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
