#include <mezzo/cli/catalogue_models.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/cli/random_batch.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/models/bert.hpp>
#include <mezzo/models/cnn.hpp>
#include <mezzo/models/efficientnet.hpp>
#include <mezzo/models/gpt.hpp>
#include <mezzo/models/lenet.hpp>
#include <mezzo/models/mlp.hpp>
#include <mezzo/models/mobilenet_v2.hpp>
#include <mezzo/models/resnet.hpp>
#include <mezzo/models/vit.hpp>
#include <mezzo/optimizers/adamw.hpp>

namespace mezzo::cli {
namespace {

constexpr std::int64_t pictures = 1000, tokens = 30522, gpt_tokens = 50257;  // numbers of logits and of token ids

/// The model, compiled to be trained on labels that are class numbers.
template <class M>
Any<Model> compiled(M model) {
  model.compile(
      {.optimizer = AdamW({.learning_rate = 1e-4}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  return Any<Model>(std::move(model));
}

Any<Model> classifier(const BertOptions& bert, const Policy& policy) {
  return compiled(BertForSequenceClassification({.bert = bert, .dtype = policy}));
}

Any<Model> make_mlp(const Policy& policy) { return compiled(MLP({.dtype = policy})); }
Any<Model> make_cnn(const Policy& policy) { return compiled(CNN({.dtype = policy})); }
Any<Model> make_lenet(const Policy& policy) { return compiled(LeNet({.dtype = policy})); }
Any<Model> make_resnet18(const Policy& policy) { return compiled(resnet18({.dtype = policy})); }
Any<Model> make_resnet34(const Policy& policy) { return compiled(resnet34({.dtype = policy})); }
Any<Model> make_resnet50(const Policy& policy) { return compiled(resnet50({.dtype = policy})); }
Any<Model> make_mobilenet(const Policy& policy) { return compiled(MobileNetV2({.dtype = policy})); }
Any<Model> make_efficientnet(const Policy& policy) { return compiled(efficientnet_b0({.dtype = policy})); }
Any<Model> make_vit(const Policy& policy) { return compiled(vit_b_16({.dtype = policy})); }
Any<Model> make_minilm(const Policy& policy) { return classifier(minilm_l6(), policy); }
Any<Model> make_bert(const Policy& policy) { return classifier(bert_base(), policy); }
Any<Model> make_gpt2(const Policy& policy) { return compiled(GPT(gpt2({.dtype = policy}))); }

}  // namespace

HostBatch CatalogueModel::batch(std::int64_t size) const {
  return random_batch({.sample = sample, .classes = classes, .vocabulary = vocabulary, .language = language}, size);
}

const std::vector<CatalogueModel>& catalogue_models() {
  static const std::vector<CatalogueModel> all{
      {"mlp", 128, {28, 28, 1}, 10, 0, false, make_mlp},
      {"cnn", 128, {28, 28, 1}, 10, 0, false, make_cnn},
      {"lenet", 128, {28, 28, 1}, 10, 0, false, make_lenet},
      {"resnet18", 32, {224, 224, 3}, pictures, 0, false, make_resnet18},
      {"resnet34", 16, {224, 224, 3}, pictures, 0, false, make_resnet34},
      {"resnet50", 16, {224, 224, 3}, pictures, 0, false, make_resnet50},
      {"mobilenet_v2", 16, {224, 224, 3}, pictures, 0, false, make_mobilenet},
      {"efficientnet_b0", 16, {224, 224, 3}, pictures, 0, false, make_efficientnet},
      {"vit_b_16", 4, {224, 224, 3}, pictures, 0, false, make_vit},
      {"minilm_l6", 16, {128}, 2, tokens, false, make_minilm},
      {"bert_base", 8, {128}, 2, tokens, false, make_bert},
      {"gpt2", 4, {64}, gpt_tokens, gpt_tokens, true, make_gpt2},
  };
  return all;
}

const CatalogueModel* find_catalogue_model(const std::string& name) {
  const auto& all = catalogue_models();
  const auto found = std::find_if(all.begin(), all.end(), [&](const CatalogueModel& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace mezzo::cli
