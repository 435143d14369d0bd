// Accuracy or loss of policies on real data, with several seeds, as a table.
//
// mezzo_precision TASK... [--seeds N] [--samples N] [--epochs N] [--steps N]
//
// TASK      mlp, cnn: accuracy on the test set of Fashion-MNIST; gpt: loss of a character GPT on the last tenth of the
//           King James Version
// --seeds   3; the seeds 0, 1, ...
// --samples 60000; training pictures of mlp and cnn
// --epochs  5; of mlp and cnn
// --steps   1000; of gpt
//
// Policies are float32, mixed_bfloat16, int8-mixed, and mixed_int8 for all layers. The last column is the mean less
// that of mixed_bfloat16: in points of accuracy, or in per cent of the loss.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>

namespace {

using namespace mezzo;

std::map<std::string, std::int64_t> options{{"--seeds", 3}, {"--samples", 60000}, {"--epochs", 5}, {"--steps", 1000}};

struct Choice {
  const char* name;
  Precision precision;
};

std::vector<Choice> choices() {
  return {{"float32", 32},
          {"mixed_bfloat16", "bf16"},
          {"int8-mixed", "int8-mixed"},
          {"mixed_int8, all layers", Policy("mixed_int8")}};
}

Trainer trainer(const Precision& precision, int epochs) {
  return Trainer({.max_epochs = epochs, .precision = precision, .enable_progress_bar = false});
}

/// Accuracy in per cent after training on Fashion-MNIST.
template <class M>
double accuracy(const Precision& precision) {
  const auto [train, test] = datasets::fashion_mnist();
  const auto epochs = static_cast<int>(options["--epochs"]);
  const DataLoader loader(train.take(options["--samples"]), {.batch_size = 64, .shuffle = true});
  const DataLoader testing(test, {.batch_size = 500});
  M model;
  const CosineDecay rate({.initial_learning_rate = 2e-3, .decay_steps = epochs * loader.size()});
  model.compile({.optimizer = AdamW({.learning_rate = rate}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});
  const Trainer run = trainer(precision, epochs);
  run.fit(model, loader);
  return 100 * run.validate(model, testing).at("accuracy");
}

/// Windows of `length` characters and the characters that follow each of them.
Dataset windows(const std::vector<std::int64_t>& ids, std::int64_t length) {
  const std::int64_t count = (static_cast<std::int64_t>(ids.size()) - 1) / length;
  Tensor x({count, length}, DType::int64), y({count, length}, DType::int64);
  for (std::int64_t i = 0; i < count * length; ++i) {
    x.mutable_data<std::int64_t>()[i] = ids[static_cast<std::size_t>(i)];
    y.mutable_data<std::int64_t>()[i] = ids[static_cast<std::size_t>(i + 1)];
  }
  return Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
}

/// Loss in nats a character.
double text_loss(const Precision& precision) {
  constexpr std::int64_t length = 64, test_characters = 100'000;
  const std::string text = datasets::bible_kjv_text();
  std::map<char, std::int64_t> number;
  std::vector<std::int64_t> ids;
  for (const char c : text) ids.push_back(number.emplace(c, static_cast<std::int64_t>(number.size())).first->second);
  const auto tenth = static_cast<std::ptrdiff_t>(ids.size() / 10);
  const std::vector<std::int64_t> training(ids.begin(), ids.end() - tenth),
      testing(ids.end() - tenth, ids.end() - tenth + test_characters);
  const DataLoader loader(windows(training, length), {.batch_size = 32, .shuffle = true});
  GPT model({.vocab_size = static_cast<std::int64_t>(number.size()),
             .n_positions = length,
             .n_embd = 128,
             .n_layer = 4,
             .n_head = 4,
             .resid_pdrop = 0,
             .embd_pdrop = 0,
             .attn_pdrop = 0});
  const CosineDecay rate({.initial_learning_rate = 2e-3, .decay_steps = options["--steps"]});
  model.compile(
      {.optimizer = AdamW({.learning_rate = rate}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Trainer run(
      {.max_epochs = -1, .max_steps = options["--steps"], .precision = precision, .enable_progress_bar = false});
  run.fit(model, loader);
  return run.validate(model, DataLoader(windows(testing, length), {.batch_size = 64})).at("loss");
}

struct Task {
  const char* title;
  double (*measure)(const Precision&);
  bool relative;  ///< differences are in per cent of the result
};

const std::map<std::string, Task> tasks{{"mlp", {"Fashion-MNIST, MLP: accuracy", accuracy<MLP>, false}},
                                        {"cnn", {"Fashion-MNIST, CNN: accuracy", accuracy<CNN>, false}},
                                        {"gpt", {"King James Version, character GPT: loss", text_loss, true}}};

void print_table(const Task& task) {
  std::string head = fmt::format("\n{}\n\n| precision |", task.title), rule = "|---|";
  for (std::int64_t seed = 0; seed < options["--seeds"]; ++seed) {
    head += fmt::format(" seed {} |", seed);
    rule += "---|";
  }
  std::vector<std::string> lines;
  std::map<std::string, double> means;
  for (const Choice& choice : choices()) {
    std::string line = fmt::format("| {} |", choice.name);
    double sum = 0;
    for (std::int64_t seed = 0; seed < options["--seeds"]; ++seed) {
      seed_everything(static_cast<std::uint64_t>(seed));
      const double result = task.measure(choice.precision);
      sum += result;
      line += task.relative ? fmt::format(" {:.4f} |", result) : fmt::format(" {:.2f} |", result);
    }
    const double mean = means[choice.name] = sum / static_cast<double>(options["--seeds"]);
    line += task.relative ? fmt::format(" {:.4f} |", mean) : fmt::format(" {:.2f} |", mean);
    lines.push_back(line);
  }
  const double narrow = means.at("mixed_bfloat16");
  std::cout << head << " mean | against mixed_bfloat16 |\n" << rule << "---|---|" << std::endl;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double difference = means.at(choices()[i].name) - narrow;
    std::cout << lines[i]
              << (task.relative ? fmt::format(" {:+.2f} % |", 100 * difference / narrow)
                                : fmt::format(" {:+.2f} |", difference))
              << std::endl;
  }
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> chosen;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (tasks.count(argument) == 1) {
      chosen.push_back(argument);
    } else if (options.count(argument) == 1 && i + 1 < count) {
      options[argument] = std::stoll(arguments[++i]);
    } else {
      chosen.clear();
      break;
    }
  }
  if (chosen.empty()) {
    std::cerr << "usage: mezzo_precision [mlp] [cnn] [gpt] [--seeds N] [--samples N] [--epochs N] [--steps N]\n";
    return 2;
  }
  for (const std::string& name : chosen) print_table(tasks.at(name));
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mezzo_precision: " << error.what() << "\n";
  return 1;
}
