// Trains a small CNN on Fashion-MNIST. Arguments, both optional: precision (bf16) and seed (0).
#include <cstdio>
#include <exception>
#include <string>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

int main(int argc, char** argv) {
  try {
    const std::string precision = argc > 1 ? argv[1] : "bf16";
    seed_everything(argc > 2 ? std::stoull(argv[2]) : 0);

    const auto [train, test] = datasets::fashion_mnist();
    CNN model;
    model.compile({.optimizer = AdamW({.learning_rate = 1e-3}),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});

    const DataLoader train_loader(train, {.batch_size = 128, .shuffle = true});
    const DataLoader test_loader(test, {.batch_size = 500});
    const Trainer trainer({.max_epochs = 5, .precision = precision});
    trainer.fit(model, train_loader, test_loader);

    std::printf("test accuracy %.3f\n", trainer.validate(model, test_loader).at("accuracy"));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
  return 0;
}
