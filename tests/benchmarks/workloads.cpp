#include "workloads.hpp"

#include <mezzo/cli/random_batch.hpp>
#include <mezzo/mezzo.hpp>

#include "character_gpt.hpp"

using namespace mezzo;

namespace mezzo_bench {
namespace {

std::unique_ptr<Model> mlp() { return std::make_unique<MLP>(); }

std::unique_ptr<Model> mlp_wide() { return std::make_unique<MLP>(MLPOptions{.hidden_units = {4096, 4096, 4096}}); }

std::unique_ptr<Model> mlp_deep() {
  return std::make_unique<MLP>(MLPOptions{.hidden_units = std::vector<std::int64_t>(40, 128)});
}

std::unique_ptr<Model> mlp_shallow() { return std::make_unique<MLP>(MLPOptions{.hidden_units = {8192}}); }

std::unique_ptr<Model> cnn() { return std::make_unique<CNN>(CNNOptions{.classes = 10, .scale = 1, .dropout = 0.5}); }

std::unique_ptr<Model> classifier(BertOptions bert, bool all_positions) {
  bert.hidden_dropout_prob = bert.attention_probs_dropout_prob = 0;
  return std::make_unique<BertForSequenceClassification>(
      BertForSequenceClassificationOptions{.bert = bert, .all_positions = all_positions});
}

std::unique_ptr<Model> minilm() { return classifier(minilm_l6(), true); }

std::unique_ptr<Model> minilm_first() { return classifier(minilm_l6(), false); }

std::unique_ptr<Model> bert() { return classifier(bert_base(), true); }

std::unique_ptr<Model> gpt2_small() {
  return std::make_unique<GPT>(gpt2({.resid_pdrop = 0, .embd_pdrop = 0, .attn_pdrop = 0}));
}

std::unique_ptr<Model> gptchar() { return std::make_unique<GPT>(character_gpt(65)); }

std::unique_ptr<Model> resnet() { return std::make_unique<ResNet>(resnet18({.classes = 37})); }

std::unique_ptr<Model> bottlenecks() { return std::make_unique<ResNet>(resnet50({.classes = 37})); }

std::unique_ptr<Model> mobilenet() { return std::make_unique<MobileNetV2>(MobileNetV2Options{.classes = 37}); }

std::unique_ptr<Model> efficientnet() { return std::make_unique<EfficientNet>(efficientnet_b0({.classes = 37})); }

std::unique_ptr<Model> lstm() { return std::make_unique<Sequential>(Sequential({LSTM(128), Dense(10)})); }

std::unique_ptr<Model> gru() { return std::make_unique<Sequential>(Sequential({GRU(128), Dense(10)})); }

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all{
      {"mlp", 128, {28, 28, 1}, 10, 0, false, mlp},
      {"mlp_wide", 256, {64, 64, 1}, 10, 0, false, mlp_wide},
      {"mlp_37", 37, {28, 28, 1}, 10, 0, false, mlp},
      {"mlp_deep", 128, {128}, 10, 0, false, mlp_deep},
      {"mlp_shallow", 61, {28, 28, 1}, 10, 0, false, mlp_shallow},
      {"cnn", 128, {28, 28, 1}, 10, 0, false, cnn},
      {"resnet18", 32, {224, 224, 3}, 37, 0, false, resnet},
      {"minilm", 16, {128}, 2, 30522, false, minilm},
      {"minilm_short", 13, {19}, 2, 30522, false, minilm},
      {"minilm_first", 16, {128}, 2, 30522, false, minilm_first},
      {"gptchar", 12, {64}, 65, 65, true, gptchar},
      {"resnet50", 16, {224, 224, 3}, 37, 0, false, bottlenecks},
      {"bert", 8, {128}, 2, 30522, false, bert},
      {"gpt2", 4, {64}, 50257, 50257, true, gpt2_small},
      {"lstm", 64, {120, 128}, 10, 0, false, lstm},
      {"lstm_short", 37, {9, 128}, 10, 0, false, lstm},
      {"gru", 64, {120, 128}, 10, 0, false, gru},
      {"mobilenet_v2", 16, {224, 224, 3}, 37, 0, false, mobilenet},
      {"efficientnet_b0", 16, {224, 224, 3}, 37, 0, false, efficientnet},
  };
  return all;
}

HostBatch Workload::make_batch() const {
  return cli::random_batch({.sample = sample, .classes = classes, .vocabulary = vocabulary, .language = language},
                           batch_size);
}

const Workload& find_workload(const std::string& name) {
  std::string names;
  for (const Workload& workload : workloads()) {
    if (workload.name == name) return workload;
    names += (names.empty() ? "" : ", ") + workload.name;
  }
  throw NameError("no workload \"" + name + "\"; there are " + names);
}

}  // namespace mezzo_bench
