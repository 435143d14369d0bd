// Accuracy or loss, bytes and times of policies on real data, with several seeds.
//
// mezzo_precision TASK... [--seed N] [--seeds N] [--only TEXT] [--samples N] [--epochs N] [--steps N] [--verses N]
//                 [--minilm FOLDER]
//
// TASK      mlp, cnn: accuracy on the test set of Fashion-MNIST; gpt: loss of a character GPT on the last tenth of the
//           King James Version; verses: accuracy of a MiniLM that is finetuned to classify verses
// --seed    0; the first seed
// --seeds   3; the number of seeds
// --only    trainings whose name contains this text, as "float32" or "LoRA"
// --samples 60000; training pictures of mlp and cnn
// --epochs  5; of mlp and cnn
// --steps   1000; of gpt, more than its warm-up of 100
// --verses  3000; training verses
// --minilm  folder of all-MiniLM-L6-v2 with model.safetensors and vocab.txt, for verses
//
// Prints a line of JSON for each seed and policy, as soon as it is known. docs/images/fewer_bits.py makes tables and
// pictures of these lines. Times are processor times, so run with OMP_NUM_THREADS=1.
#include <algorithm>
#include <iostream>
#include <map>

#include "tasks.hpp"

namespace mezzo_bench {

std::vector<Choice> choices(const Settings& settings) {
  std::vector<Choice> all{{"float32", 32},
                          {"mixed_bfloat16", "bf16"},
                          {"mixed_float16", 16},
                          {"int8-mixed", "int8-mixed"},
                          {"mixed_int8, all layers", mezzo::Policy("mixed_int8")}};
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Choice& each) { return !named(settings, each.name); }),
            all.end());
  return all;
}

mezzo::Trainer quiet_trainer(const mezzo::Precision& precision, int epochs, std::int64_t steps,
                             const mezzo::Callbacks& callbacks) {
  return mezzo::Trainer({.max_epochs = epochs,
                         .max_steps = steps,
                         .precision = precision,
                         .callbacks = callbacks,
                         .enable_progress_bar = false});
}

}  // namespace mezzo_bench

int main(int count, char** arguments) try {
  using namespace mezzo_bench;
  const std::map<std::string, void (*)(const Settings&, std::uint64_t)> tasks{
      {"mlp", run_mlp}, {"cnn", run_cnn}, {"gpt", run_gpt}, {"verses", run_verses}};
  Settings settings;
  const std::map<std::string, std::int64_t*> numbers{{"--seed", &settings.seed},       {"--seeds", &settings.seeds},
                                                     {"--samples", &settings.samples}, {"--epochs", &settings.epochs},
                                                     {"--steps", &settings.steps},     {"--verses", &settings.verses}};
  const std::map<std::string, std::string*> texts{{"--only", &settings.only}, {"--minilm", &settings.minilm}};
  std::vector<std::string> chosen;
  bool valid = true;
  for (int i = 1; i < count && valid; ++i) {
    const std::string argument = arguments[i];
    if (tasks.count(argument) == 1) {
      chosen.push_back(argument);
    } else if (texts.count(argument) == 1 && i + 1 < count) {
      *texts.at(argument) = arguments[++i];
    } else if (numbers.count(argument) == 1 && i + 1 < count) {
      *numbers.at(argument) = std::stoll(arguments[++i]);
    } else {
      valid = false;
    }
  }
  if (!valid || chosen.empty()) {
    std::cerr << "usage: mezzo_precision [mlp] [cnn] [gpt] [verses] [--seed N] [--seeds N] [--only TEXT] [--samples N] "
                 "[--epochs N] [--steps N] [--verses N] [--minilm FOLDER]\n";
    return 2;
  }
  for (const std::string& name : chosen) {
    for (std::int64_t i = 0; i < settings.seeds; ++i) {
      tasks.at(name)(settings, static_cast<std::uint64_t>(settings.seed + i));
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mezzo_precision: " << error.what() << "\n";
  return 1;
}
