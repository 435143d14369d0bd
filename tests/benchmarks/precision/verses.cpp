// Accuracy of a classifier of verses, finetuned from all-MiniLM-L6-v2, as in tutorials/finetune_minilm_text.cpp.
#include <functional>

#include "tasks.hpp"

namespace mezzo_bench {
namespace {

using namespace mezzo;

/// A sentence encoder, and a linear layer on the mean of its states.
class Classifier : public Module {
 public:
  Classifier() : Module("Classifier") {}

  Bert& backbone() { return backbone_; }
  Dense& head() { return head_; }

  /// Learning rates of the next fit: a warm-up to `rate`, then a decay to 0 at step `steps`.
  void set_rate(double rate, std::int64_t steps) {
    rate_ = rate;
    steps_ = steps;
  }

  Value training_step(const Batch& batch) override {
    return sparse_categorical_crossentropy(batch["label"], classify(batch), {.from_logits = true});
  }
  void validation_step(const Batch& batch) override {
    log("val_accuracy", sparse_categorical_accuracy(batch["label"], classify(batch)));
  }
  OptimizerConfigs configure_optimizers() override {
    const CosineDecay rate(
        {.initial_learning_rate = 0, .decay_steps = steps_, .warmup_target = rate_, .warmup_steps = steps_ / 10});
    return {{.optimizer = AdamW({.learning_rate = rate, .weight_decay = 0.01})}};
  }

 private:
  Value classify(const Batch& batch) {
    const Values states = backbone_(Values{batch["input_ids"], batch["attention_mask"]});
    return head_(dropout_(mean_pooling(states[0], batch["attention_mask"])));
  }

  double rate_ = 0;
  std::int64_t steps_ = 1;
  Bert backbone_ = sub("backbone", Bert(minilm_l6({.add_pooling_layer = false})));
  Dropout dropout_ = sub("dropout", Dropout({.rate = 0.1}));
  Dense head_ = sub("head", Dense({.units = 8, .dtype = "float32"}));
};

struct Verses {
  Dataset train, test;
};

Verses verses(const Settings& settings) {
  const auto [train, test] = datasets::bible_kjv();
  const WordPieceTokenizer tokenizer(settings.minilm + "/vocab.txt");
  const auto encode = [&](const datasets::LabeledTexts& data) {
    const Encoding all = tokenizer.encode_batch(data.texts, {.max_length = 64, .padding = "max_length"});
    return Dataset::from_tensors(
        {{"input_ids", all.input_ids}, {"attention_mask", all.attention_mask}, {"label", data.labels, Role::target}});
  };
  const Dataset all = encode(train);
  std::vector<std::int64_t> chosen;  // evenly spread
  for (std::int64_t i = 0; i < settings.verses; ++i) chosen.push_back(i * all.size() / settings.verses);
  return {all.subset(chosen), encode(test)};
}

/// Trainings of one seed.
class Run {
 public:
  Run(const Verses& data, std::uint64_t seed)
      : loader_(data.train, {.batch_size = 32, .shuffle = true}),
        testing_(data.test, {.batch_size = 64}),
        seed_(seed) {}

  /// A model whose head was trained on the frozen backbone.
  Classifier start(const Settings& settings, const Precision& precision) const {
    seed_everything(seed_);
    Classifier model;
    model.backbone().build({1, 64});
    model.backbone().load_weights(settings.minilm + "/model.safetensors");
    model.backbone().set_trainable(false);
    fit(model, precision, 1e-2);
    return model;
  }

  /// Trains two epochs. Returns the median time of a step.
  double fit(Classifier& model, const Precision& precision, double rate) const {
    constexpr int epochs = 2;
    model.set_rate(rate, epochs * loader_.size());
    StepTimes times;
    quiet_trainer(precision, epochs, -1, {times}).fit(model, loader_);
    return times.median();
  }

  void report(const std::string& config, Classifier& model, const Precision& precision, double step_ms = 0) const {
    print({.task = "verses",
           .config = config,
           .seed = seed_,
           .metric = "accuracy",
           .value = 100 * quiet_trainer(precision).validate(model, testing_).at("val_accuracy"),
           .bytes = stored_bytes(model),
           .step_ms = step_ms});
  }

 private:
  DataLoader loader_, testing_;
  std::uint64_t seed_;
};

/// Finetunes all weights, and measures them with fewer bits, too.
void finetune_all(const Run& run, Classifier model) {
  model.backbone().set_trainable(true);
  const double step_ms = run.fit(model, "bf16", 1e-4);
  run.report("mixed_bfloat16", model, "bf16", step_ms);
  for (const char* mode : {"int8", "int4/64"}) {
    Classifier narrow = clone(model);
    narrow.backbone().to("mixed_bfloat16");
    narrow.backbone().quantize(mode);
    run.report(std::string(mode) + " weights", narrow, {});
  }
}

/// Finetunes low-rank adapters and the head.
void finetune_adapters(const Run& run, const std::string& config, Classifier model) {
  const Precision precision = "bf16";
  model.backbone().enable_lora({.targets = "query|value", .rank = 8, .alpha = 16});
  const double step_ms = run.fit(model, precision, 5e-3);
  run.report(config, model, precision, step_ms);
}

}  // namespace

void run_verses(const Settings& settings, std::uint64_t seed) {
  const Run run(verses(settings), seed);
  const Classifier frozen = run.start(settings, "bf16");
  if (named(settings, "mixed_bfloat16")) finetune_all(run, clone(frozen));
  if (named(settings, "LoRA, mixed_bfloat16")) finetune_adapters(run, "LoRA, mixed_bfloat16", clone(frozen));
  if (named(settings, "LoRA, int4/64 weights")) {
    Classifier base = clone(frozen);
    base.backbone().to("mixed_bfloat16");
    base.backbone().quantize("int4/64");
    finetune_adapters(run, "LoRA, int4/64 weights", std::move(base));
  }
  if (!named(settings, "int8-mixed")) return;
  Classifier model = run.start(settings, "int8-mixed");
  model.backbone().set_trainable(true);
  const double step_ms = run.fit(model, "int8-mixed", 1e-4);
  run.report("int8-mixed", model, "int8-mixed", step_ms);
}

}  // namespace mezzo_bench
