// Tokens per second of GPT::generate with a GPT-2 of 124 million weights, greedy.
//
// mezzo_generate POLICY [--batch N] [--prompt P] [--tokens T] [--seconds S] [--layers L]
//
// Prints a line of JSON, as generate_peer.py does for PyTorch. The time of a token is that of a generation of T tokens
// less that of the prompt, which is a generation of one token, divided by T - 1. Medians of the generations, at
// least 2.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
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

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, double> options{
      {"--batch", 1}, {"--prompt", 32}, {"--tokens", 96}, {"--seconds", 5}, {"--layers", 12}};
  bool valid = count > 1 && count % 2 == 0;
  for (int i = 2; i + 1 < count; i += 2) {
    valid = valid && options.count(arguments[i]) == 1;
    if (valid) options[arguments[i]] = std::stod(arguments[i + 1]);
  }
  if (!valid) {
    std::cerr << "usage: mezzo_generate POLICY [--batch N] [--prompt P] [--tokens T] [--seconds S] [--layers L]\n";
    return 2;
  }
  const auto batch = static_cast<std::int64_t>(options["--batch"]);
  const auto tokens = static_cast<std::int64_t>(options["--tokens"]);
  GPTOptions sizes = gpt2({.dtype = Precision(arguments[1]).policy()});
  sizes.n_layer = static_cast<std::int64_t>(options["--layers"]);
  GPT model(sizes);
  model.build({1, 1});
  const Tensor prompt = random_ids(batch, static_cast<std::int64_t>(options["--prompt"]));
  const double first = seconds_of(model, prompt, tokens);
  std::vector<double> prompts, each;
  const auto begin = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - begin).count() < options["--seconds"] || each.size() < 2) {
    prompts.push_back(seconds_of(model, prompt, 1));
    each.push_back((seconds_of(model, prompt, tokens) - prompts.back()) / static_cast<double>(tokens - 1));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double time = median(each), best = *std::min_element(each.begin(), each.end());
  std::cout << fmt::format(
      "{{\"framework\": \"mezzo {}\", \"workload\": \"generate\", \"config\": \"{}\", \"batch\": {}, \"per_s\": "
      "{:.1f}, "
      "\"best\": {:.1f}, \"ms\": {:.3f}, \"prompt_ms\": {:.3f}, \"first_s\": {:.3f}, \"rss_mib\": {}}}\n",
      version(), arguments[1], batch, static_cast<double>(batch) / time, static_cast<double>(batch) / best, 1e3 * time,
      1e3 * median(prompts), first, usage.ru_maxrss / 1024);
  return 0;
}
