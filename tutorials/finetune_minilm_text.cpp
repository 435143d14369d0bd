// Finetunes the pretrained sentence encoder all-MiniLM-L6-v2 to classify verses by the part of the Bible that they are
// from: first with a frozen backbone, then all weights. Compares with training from scratch.
//
//   finetune_minilm_text MODEL [texts] [epochs] [precision] [seed]
//
// MODEL       folder with model.safetensors and vocab.txt
// texts       8000: number of verses to train on; 0: all
// epochs      2: in each of the two stages
// precision   bf16
// seed        0
//
// The verses come from Debian's package bible-kjv-text.
#include <cstdio>
#include <exception>
#include <string>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

/// A sentence encoder, and a linear layer on the mean of its states.
class TextClassifier : public Module {
 public:
  explicit TextClassifier(std::int64_t classes) : Module("TextClassifier"), classes_(classes) {}

  Bert& backbone() { return backbone_; }

  /// Sets the learning rates of the next fit: a warm-up to `rate`, then a decay to 0 at step `steps`.
  void set_rate(double rate, std::int64_t steps) {
    rate_ = rate;
    steps_ = steps;
  }

  Value training_step(const Batch& batch) override {
    const Value logits = classify(batch);
    log("accuracy", sparse_categorical_accuracy(batch["label"], logits), {.prog_bar = true});
    return sparse_categorical_crossentropy(batch["label"], logits, {.from_logits = true});
  }

  void validation_step(const Batch& batch) override {
    const Value logits = classify(batch);
    log("val_loss", sparse_categorical_crossentropy(batch["label"], logits, {.from_logits = true}));
    log("val_accuracy", sparse_categorical_accuracy(batch["label"], logits), {.prog_bar = true});
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

  std::int64_t classes_;
  double rate_ = 0;
  std::int64_t steps_ = 1;
  Bert backbone_ = sub("backbone", Bert(minilm_l6({.add_pooling_layer = false})));
  Dropout dropout_ = sub("dropout", Dropout({.rate = 0.1}));
  Dense head_ = sub("head", Dense({.units = classes_, .dtype = "float32"}));
};

Dataset encode(const WordPieceTokenizer& tokenizer, const datasets::LabeledTexts& data) {
  const Encoding all = tokenizer.encode_batch(data.texts, {.max_length = 64, .padding = "max_length"});
  return Dataset::from_tensors(
      {{"input_ids", all.input_ids}, {"attention_mask", all.attention_mask}, {"label", data.labels, Role::target}});
}

/// `count` samples, evenly spread over a data set; all of them if `count` is 0.
Dataset spread(const Dataset& data, std::int64_t count) {
  if (count <= 0 || count >= data.size()) return data;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(i * data.size() / count);
  return data.subset(indices);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw ValueError("usage: finetune_minilm_text MODEL [texts] [epochs] [precision] [seed]");
    const std::string folder = argv[1];
    const std::int64_t texts = argc > 2 ? std::stoll(argv[2]) : 8000;
    const int epochs = argc > 3 ? std::stoi(argv[3]) : 2;
    const std::string precision = argc > 4 ? argv[4] : "bf16";
    seed_everything(argc > 5 ? std::stoull(argv[5]) : 0);

    const auto [train, test] = datasets::bible_kjv();
    const WordPieceTokenizer tokenizer(folder + "/vocab.txt");
    const DataLoader train_loader(spread(encode(tokenizer, train), texts), {.batch_size = 32, .shuffle = true});
    const Dataset held_out = spread(encode(tokenizer, test), texts);
    const DataLoader test_loader(held_out, {.batch_size = 64});
    const auto classes = static_cast<std::int64_t>(datasets::bible_kjv_classes().size());

    const Trainer trainer({.max_epochs = epochs, .precision = precision});
    const auto fit = [&](TextClassifier& model, double rate) {
      model.set_rate(rate, epochs * train_loader.size());
      trainer.fit(model, train_loader, test_loader);
      return trainer.validate(model, test_loader).at("val_accuracy");
    };

    TextClassifier model(classes);
    model.backbone().build({1, 64});
    model.backbone().load_weights(folder + "/model.safetensors");
    model.backbone().set_trainable(false);
    const double frozen = fit(model, 1e-2);
    model.backbone().set_trainable(true);
    const double finetuned = fit(model, 1e-4);

    TextClassifier fresh(classes);
    fit(fresh, 3e-4);
    const double scratch = fit(fresh, 3e-4);

    std::printf("accuracy on %lld verses of chapters not trained on:\n", static_cast<long long>(held_out.size()));
    std::printf("frozen backbone %.3f, finetuned %.3f, from scratch %.3f\n", frozen, finetuned, scratch);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "finetune_minilm_text: %s\n", error.what());
    return 1;
  }
  return 0;
}
