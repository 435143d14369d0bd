// Trains a small CNN on Fashion-MNIST.
//
//   quickstart [precision] [seed] [kept]
//
// precision   bf16
// seed        0
// kept        plain: option of AdamW for the storage of variables: plain, split, stochastic or kahan
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <xtensor/xio.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xview.hpp>

#include <mezzo/mezzo.hpp>
#include <mezzo/xtensor.hpp>

using namespace mezzo;

int main(int argc, char** argv) {
  try {
    const std::string precision = argc > 1 ? argv[1] : "bf16";
    seed_everything(argc > 2 ? std::stoull(argv[2]) : 0);
    const std::string kept = argc > 3 ? argv[3] : "plain";
    if (kept != "plain" && kept != "split" && kept != "stochastic" && kept != "kahan") {
      throw NameError("unknown storage of variables \"" + kept + "\"; valid names: plain, split, stochastic, kahan");
    }

    const auto [train, test] = datasets::fashion_mnist();
    const DataLoader train_loader(train, {.batch_size = 32, .shuffle = true});
    const DataLoader test_loader(test, {.batch_size = 500});
    constexpr int epochs = 5;

    CNN model;
    const CosineDecay rate({.initial_learning_rate = 4e-3, .decay_steps = epochs * train_loader.size()});
    model.compile({.optimizer = AdamW({.learning_rate = rate,
                                       .split_master_weights = kept == "split",
                                       .stochastic_rounding = kept == "stochastic",
                                       .kahan_summation = kept == "kahan"}),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});

    const Trainer trainer({.max_epochs = epochs, .precision = precision});
    trainer.fit(model, train_loader, test_loader);

    std::printf("test accuracy %.3f\n", trainer.validate(model, test_loader).at("accuracy"));

    const xt::xarray<float> logits = model.predict(test_loader);
    const xt::xarray<std::size_t> classes = xt::argmax(logits, 1);
    std::cout << "first predictions " << xt::view(classes, xt::range(0, 8)) << std::endl;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
  return 0;
}
