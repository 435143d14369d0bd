// Accuracy on Fashion-MNIST.
#include "tasks.hpp"

namespace mezzo_bench {
namespace {

using namespace mezzo;

void run(const char* task, Sequential (*make)(), const Settings& settings, std::uint64_t seed) {
  const auto [train, test] = datasets::fashion_mnist();
  const auto epochs = static_cast<int>(settings.epochs);
  const DataLoader loader(train.take(settings.samples), {.batch_size = 64, .shuffle = true});
  const DataLoader testing(test, {.batch_size = 500});
  for (const Choice& choice : choices(settings)) {
    seed_everything(seed);
    Sequential model = make();
    const CosineDecay rate({.initial_learning_rate = 2e-3, .decay_steps = epochs * loader.size()});
    model.compile({.optimizer = AdamW({.learning_rate = rate}),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});
    StepTimes times;
    const Trainer trainer = quiet_trainer(choice.precision, epochs, -1, {times});
    trainer.fit(model, loader);
    Result result{.task = task, .config = choice.name, .seed = seed, .metric = "accuracy", .step_ms = times.median()};
    const auto accuracy = [&](Sequential& trained, Result& found) {
      const Trainer own = quiet_trainer({});  // by the policies of quantized layers
      found.value = 100 * own.validate(trained, testing).at("accuracy");
    };
    if (choice.name == "float32") {
      print_quantized(model, result, Tensor({1, 28, 28, 1}), accuracy);
      continue;
    }
    result.value = 100 * trainer.validate(model, testing).at("accuracy");
    result.bytes = stored_bytes(model);
    print(result);
  }
}

Sequential mlp() { return Sequential({Rescaling(1.0 / 255), MLP()}); }
Sequential cnn() { return Sequential({CNN()}); }

}  // namespace

void run_mlp(const Settings& settings, std::uint64_t seed) { run("mlp", mlp, settings, seed); }
void run_cnn(const Settings& settings, std::uint64_t seed) { run("cnn", cnn, settings, seed); }

}  // namespace mezzo_bench
