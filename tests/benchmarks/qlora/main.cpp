// Memory of finetuning a language model of 1.1 billion weights with low-rank adapters on a quantized base.
//
// mezzo_qlora [MODE] [--layers N] [--length N] [--rank N] [--steps N]
//
// MODE      int4/64; a mode of quantize(), or float for a base of mixed_bfloat16
// --layers  22, as TinyLlama
// --length  256 positions of a batch of one text
// --rank    8; adapters of q_proj and v_proj
// --steps   3
//
// The model is built under the quantized policy, so that one kernel at a time is floating. Prints a line of JSON:
// weights_mib (all weights as they are stored), built_mib and rss_mib (peak resident memory after building and after
// the steps), build_s, and ms (processor time of the fastest step).
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>

namespace {

using namespace mezzo;

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

Tensor tokens(std::int64_t length, std::int64_t first) {
  Tensor ids({1, length}, DType::int64);
  for (std::int64_t i = 0; i < length; ++i) ids.mutable_data<std::int64_t>()[i] = (i + first) * 7919 % 32000;
  return ids;
}

void run(const std::string& mode, std::map<std::string, std::int64_t>& options) {
  const std::string policy = "mixed_bfloat16";
  LlamaOptions sizes = tinyllama_1_1b({.dtype = mode == "float" ? policy : mode + "_from_" + policy});
  sizes.num_hidden_layers = options["--layers"];
  const double begin = processor_s();
  Llama model(sizes);
  model.build({1, 1});
  model.enable_lora({.targets = "q_proj|v_proj", .rank = options["--rank"]});
  const double built = processor_s() - begin;
  const long built_mib = peak_mebibytes();
  model.compile({.optimizer = AdamW(1e-3), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor x = tokens(options["--length"], 0), y = tokens(options["--length"], 1);
  double best = 1e9;
  for (std::int64_t step = 0; step < options["--steps"]; ++step) {
    const double start = processor_s();
    model.train_on_batch(x, y);
    best = std::min(best, processor_s() - start);
  }
  std::size_t bytes = 0;
  for (const Variable& weight : model.weights()) bytes += weight.state()->value.bytes();
  std::cout << fmt::format(
      "{{\"workload\": \"qlora\", \"base\": \"{}\", \"layers\": {}, \"length\": {}, \"weights_mib\": {:.0f}, "
      "\"built_mib\": {}, \"rss_mib\": {}, \"build_s\": {:.1f}, \"ms\": {:.0f}}}\n",
      mode, sizes.num_hidden_layers, options["--length"], static_cast<double>(bytes) / (1 << 20), built_mib,
      peak_mebibytes(), built, 1e3 * best);
}

}  // namespace

int main(int count, char** arguments) try {
  std::map<std::string, std::int64_t> options{{"--layers", 22}, {"--length", 256}, {"--rank", 8}, {"--steps", 3}};
  const bool named = count > 1 && arguments[1][0] != '-';
  bool valid = (count - (named ? 2 : 1)) % 2 == 0;
  for (int i = named ? 2 : 1; valid && i < count; i += 2) {
    valid = options.count(arguments[i]) == 1;
    if (valid) options[arguments[i]] = std::stoll(arguments[i + 1]);
  }
  if (!valid) {
    std::cerr << "usage: mezzo_qlora [MODE] [--layers N] [--length N] [--rank N] [--steps N]\n";
    return 2;
  }
  run(named ? arguments[1] : "int4/64", options);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mezzo_qlora: " << error.what() << "\n";
  return 1;
}
