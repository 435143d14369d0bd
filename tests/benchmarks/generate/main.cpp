// Tokens per second of GPT::generate with a GPT-2 of 124 million weights, greedy.
//
// mezzo_generate POLICY [--quantize MODES] [--batch N] [--prompt P] [--tokens T] [--seconds S] [--layers L]
//
// Prints a line of JSON, as generate_peer.py does for PyTorch. The time of a token is that of a generation of T tokens
// less that of the prompt, which is a generation of one token, divided by T - 1. Medians of the generations, at
// least 2. --quantize int8,int4/64 adds a line for each of these modes of quantize(). The models generate in turn, and
// "ratio" is the median of the floating model's times to the quantized model's, round by round.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mezzo/core/version.hpp>
#include <mezzo/mezzo.hpp>

#include "../median.hpp"

namespace {

using namespace mezzo;
using mezzo_bench::median;
using Clock = std::chrono::steady_clock;

double seconds_of(GPT& model, const Tensor& prompt, std::int64_t tokens) {
  const auto begin = Clock::now();
  model.generate(prompt, {.max_new_tokens = tokens});
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Tensor random_ids(std::int64_t batch, std::int64_t positions) {
  Tensor ids({batch, positions}, DType::int64);
  for (std::int64_t i = 0; i < ids.size(); ++i) ids.mutable_data<std::int64_t>()[i] = i * 7919 % 50257;
  return ids;
}

/// A model with its times in seconds.
struct Side {
  Side(std::string name, const GPTOptions& sizes) : config(std::move(name)), model(sizes) {}

  std::string config;
  GPT model;
  double first = 0;
  std::vector<double> prompts{}, each{};  ///< of a prompt; of a token

  void run(const Tensor& prompt, std::int64_t tokens) {
    prompts.push_back(seconds_of(model, prompt, 1));
    each.push_back((seconds_of(model, prompt, tokens) - prompts.back()) / static_cast<double>(tokens - 1));
  }

  /// Bytes of the weights as they are stored.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Variable& weight : model.weights()) sum += weight.state()->value.bytes();
    return sum;
  }
};

std::string line_of(const Side& side, const Side& floating, std::int64_t batch) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double time = median(side.each), best = *std::min_element(side.each.begin(), side.each.end());
  std::string ratio;
  if (&side != &floating) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < side.each.size(); ++i) ratios.push_back(floating.each[i] / side.each[i]);
    ratio = fmt::format(", \"ratio\": {:.2f}, \"rounds\": {}", median(ratios), ratios.size());
  }
  return fmt::format(
      "{{\"framework\": \"mezzo {}\", \"workload\": \"generate\", \"config\": \"{}\", \"batch\": {}, \"per_s\": "
      "{:.1f}, \"best\": {:.1f}, \"ms\": {:.3f}, \"prompt_ms\": {:.3f}, \"first_s\": {:.3f}, \"weights_mib\": {:.1f}, "
      "\"rss_mib\": {}{}}}\n",
      version(), side.config, batch, static_cast<double>(batch) / time, static_cast<double>(batch) / best, 1e3 * time,
      1e3 * median(side.prompts), side.first, static_cast<double>(side.bytes()) / (1 << 20), usage.ru_maxrss / 1024,
      ratio);
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, double> options{
      {"--batch", 1}, {"--prompt", 32}, {"--tokens", 96}, {"--seconds", 5}, {"--layers", 12}};
  std::string modes;
  bool valid = count > 1 && count % 2 == 0;
  for (int i = 2; i + 1 < count; i += 2) {
    if (arguments[i] == std::string("--quantize")) {
      modes = arguments[i + 1];
      continue;
    }
    valid = valid && options.count(arguments[i]) == 1;
    if (valid) options[arguments[i]] = std::stod(arguments[i + 1]);
  }
  if (!valid) {
    std::cerr << "usage: mezzo_generate POLICY [--quantize MODES] [--batch N] [--prompt P] [--tokens T] [--seconds S] "
                 "[--layers L]\n";
    return 2;
  }
  const auto batch = static_cast<std::int64_t>(options["--batch"]);
  const auto tokens = static_cast<std::int64_t>(options["--tokens"]);
  GPTOptions sizes = gpt2({.dtype = Precision(arguments[1]).policy()});
  sizes.n_layer = static_cast<std::int64_t>(options["--layers"]);
  std::deque<Side> sides;
  const auto add = [&](const std::string& mode) {
    Side& side = sides.emplace_back(mode.empty() ? arguments[1] : mode + "_from_" + arguments[1], sizes);
    side.model.build({1, 1});
    if (!mode.empty()) side.model.quantize(mode);
  };
  add("");
  std::istringstream names(modes);
  for (std::string mode; std::getline(names, mode, ',');) add(mode);
  const Tensor prompt = random_ids(batch, static_cast<std::int64_t>(options["--prompt"]));
  for (Side& side : sides) side.first = seconds_of(side.model, prompt, tokens);
  const auto begin = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - begin).count() < options["--seconds"] ||
         sides.front().each.size() < 2) {
    for (Side& side : sides) side.run(prompt, tokens);
  }
  for (const Side& side : sides) std::cout << line_of(side, sides.front(), batch);
  return 0;
}
