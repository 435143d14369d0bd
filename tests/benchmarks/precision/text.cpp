// Loss of a character GPT on the last tenth of the King James Version.
#include <map>

#include "../character_gpt.hpp"
#include "tasks.hpp"

namespace mezzo_bench {
namespace {

using namespace mezzo;

constexpr std::int64_t length = 64;
constexpr std::int64_t warmup_steps = 100;

/// Windows of `length` characters and the characters that follow each of them.
Dataset windows(const std::vector<std::int64_t>& ids) {
  const std::int64_t count = (static_cast<std::int64_t>(ids.size()) - 1) / length;
  Tensor x({count, length}, DType::int64), y({count, length}, DType::int64);
  for (std::int64_t i = 0; i < count * length; ++i) {
    x.mutable_data<std::int64_t>()[i] = ids[static_cast<std::size_t>(i)];
    y.mutable_data<std::int64_t>()[i] = ids[static_cast<std::size_t>(i + 1)];
  }
  return Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
}

struct Text {
  Dataset train, test;
  Tensor tokens;                // of the training part
  std::int64_t characters = 0;  ///< different ones
};

Text text() {
  constexpr std::int64_t test_characters = 100'000;
  std::map<char, std::int64_t> number;
  std::vector<std::int64_t> ids;
  for (const char c : datasets::bible_kjv_text()) {
    ids.push_back(number.emplace(c, static_cast<std::int64_t>(number.size())).first->second);
  }
  const auto end = ids.end() - static_cast<std::ptrdiff_t>(ids.size() / 10);
  const std::vector<std::int64_t> first(ids.begin(), end);
  return {windows(first), windows({end, end + test_characters}),
          Tensor({static_cast<std::int64_t>(first.size())}, first), static_cast<std::int64_t>(number.size())};
}

/// Loss and accuracy of a model on the test windows.
void measure(const Trainer& trainer, GPT& model, const DataLoader& testing, Result& result) {
  const Logs logs = trainer.validate(model, testing);
  result.value = logs.at("loss");
  result.right = 100 * logs.at("accuracy");
}

/// The loss of a trained model whose dense layers GPTQ has quantized, and tables as plain codes.
void print_gptq(const GPT& model, Result result, const Tensor& tokens, const DataLoader& testing) {
  GPT narrow = clone(model);
  narrow.quantize("gptq", GPTQConfig{.dataset = {tokens}, .sequence_length = length, .group_size = 64});
  narrow.quantize("int4/64", {.filters = "wte|wpe"});
  result.config = "int4/64 weights by GPTQ";
  result.step_ms = 0;
  measure(quiet_trainer({}), narrow, testing, result);
  result.bytes = stored_bytes(narrow);
  print(result);
}

}  // namespace

void run_gpt(const Settings& settings, std::uint64_t seed) {
  const Text data = text();
  const DataLoader loader(data.train, {.batch_size = 32, .shuffle = true}), testing(data.test, {.batch_size = 64});
  for (const Choice& choice : choices(settings)) {
    seed_everything(seed);
    GPT model(character_gpt(data.characters));
    const CosineDecay rate({.initial_learning_rate = 0,
                            .decay_steps = settings.steps - warmup_steps,
                            .warmup_target = 1e-3,
                            .warmup_steps = warmup_steps});
    model.compile({.optimizer = AdamW({.learning_rate = rate, .beta_2 = 0.99, .global_clipnorm = 1.0}),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});
    StepTimes times;
    const Trainer trainer = quiet_trainer(choice.precision, -1, settings.steps, {times});
    trainer.fit(model, loader);
    Result result{.task = "gpt", .config = choice.name, .seed = seed, .metric = "loss", .step_ms = times.median()};
    if (choice.name == "float32") {
      print_quantized(model, result, Tensor({1, length}, DType::int64),
                      [&](GPT& trained, Result& found) { measure(quiet_trainer({}), trained, testing, found); });
      print_gptq(model, result, data.tokens, testing);
      continue;
    }
    measure(trainer, model, testing, result);
    result.bytes = stored_bytes(model);
    print(result);
  }
}

}  // namespace mezzo_bench
