// Files that tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include "models/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Shape batched(std::int64_t batch, const Shape& sample) {
  Shape shape{batch};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

// Inputs of two batch sizes.
Runs batches(const Shape& sample) {
  Runs runs;
  for (const std::int64_t batch : {2, 3}) {
    runs.push_back({random_tensor(batched(batch, sample), DType::float32, static_cast<std::uint64_t>(batch))});
  }
  return runs;
}

// Token ids below 13 of two batch sizes, with a mask of `masked` positions at the end of each row, if it is not 0.
Runs tokens(std::int64_t positions, std::int64_t masked = 0) {
  Runs runs;
  for (const std::int64_t batch : {2, 3}) {
    const auto seed = static_cast<std::uint64_t>(batch);
    runs.push_back({random_tensor({batch, positions}, DType::int32, seed, 0, 13)});
    if (masked == 0) continue;
    std::vector<std::int32_t> mask;
    for (std::int64_t i = 0; i < batch * positions; ++i) mask.push_back(i % positions < positions - masked ? 1 : 0);
    runs.back().push_back(Tensor({batch, positions}, mask));
  }
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_models)

BOOST_AUTO_TEST_CASE(dense) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3, .activation = "relu"}), Dense({.units = 2})});
  write_case(model, "model_dense", batches({4}));
}

BOOST_AUTO_TEST_CASE(networks_for_images) {
  MLP mlp;
  write_case(mlp, "model_mlp", batches({28, 28, 1}));
  LeNet lenet;
  write_case(lenet, "model_lenet", batches({28, 28, 1}));
  CNN cnn;
  write_case(cnn, "model_cnn", batches({28, 28, 1}));
  ResNet basic = resnet18({.classes = 5, .stem = 8, .filters = {8, 12, 16, 20}});
  write_case(basic, "model_resnet18", batches({32, 32, 3}));
  ResNet bottleneck = resnet50({.classes = 5, .stem = 8, .filters = {4, 6, 8, 10}});
  write_case(bottleneck, "model_resnet50", batches({32, 32, 3}));
  MobileNetV2 mobile({.classes = 5, .width_mult = 0.25});
  write_case(mobile, "model_mobilenet_v2", batches({32, 32, 3}));
  MobileNetV2 padded({.classes = 5, .width_mult = 0.25, .tf_padding = true});
  write_case(padded, "model_mobilenet_v2_tf_padding", batches({32, 32, 3}));
  EfficientNet efficient({.classes = 5});
  write_case(efficient, "model_efficientnet", batches({32, 32, 3}));
  UNet transposed({.n_classes = 2, .width = 4});
  write_case(transposed, "model_unet", batches({32, 48, 3}));
  UNet bilinear({.n_classes = 2, .bilinear = true, .width = 4});
  write_case(bilinear, "model_unet_bilinear", batches({32, 48, 3}));
}

BOOST_AUTO_TEST_CASE(vision_transformers) {
  ViT vit(small_vit());
  write_case(vit, "model_vit", batches({8, 8, 3}));
  ViTModel encoder({.hidden_size = 12,
                    .num_hidden_layers = 2,
                    .num_attention_heads = 3,
                    .intermediate_size = 20,
                    .image_size = 8,
                    .patch_size = 4});
  write_case(encoder, "model_vit_model", batches({8, 8, 3}));
  ViTForImageClassification classifier({.vit = encoder.options(), .num_labels = 3});
  write_case(classifier, "model_vit_classifier", batches({8, 8, 3}));
}

BOOST_AUTO_TEST_CASE(encoders_of_text) {
  Bert bert(small_bert());
  write_case(bert, "model_bert", tokens(7));
  Bert masked(small_bert());
  write_case(masked, "model_bert_masked", tokens(7, 2));
  BertForSequenceClassification classifier({.bert = small_bert(), .num_labels = 3});
  write_case(classifier, "model_bert_classifier", tokens(7, 1));
  DistilBert distil(small_distilbert());
  write_case(distil, "model_distilbert", tokens(7, 2));
  DistilBertForSequenceClassification distil_classifier({.distilbert = small_distilbert(), .num_labels = 3});
  write_case(distil_classifier, "model_distilbert_classifier", tokens(7, 2));
  Roberta roberta({.vocab_size = 19,
                   .hidden_size = 12,
                   .num_hidden_layers = 2,
                   .num_attention_heads = 3,
                   .intermediate_size = 20,
                   .max_position_embeddings = 12});
  write_case(roberta, "model_roberta", tokens(7, 2));
  RobertaForSequenceClassification roberta_classifier({.roberta = roberta.options(), .num_labels = 3});
  write_case(roberta_classifier, "model_roberta_classifier", tokens(7, 2));
}

BOOST_AUTO_TEST_CASE(decoders_of_text) {
  GPT gpt(small_gpt());
  write_case(gpt, "model_gpt", tokens(7));
  Llama llama(small_llama());
  write_case(llama, "model_llama", tokens(7));
  Qwen2 qwen(small_llama());
  write_case(qwen, "model_qwen2", tokens(7));
  Mistral mistral(small_llama());
  write_case(mistral, "model_mistral", tokens(7));
}

BOOST_AUTO_TEST_CASE(open_numbers_of_positions) {
  Runs runs = tokens(7);
  runs.push_back(tokens(5)[0]);
  const ExportOnnxOptions open{.dynamic_axes = {{"input", {{0, "batch"}, {1, "positions"}}}}};
  Bert bert(small_bert());
  write_case(bert, "model_bert_open", runs, open);
  GPT gpt(small_gpt());
  write_case(gpt, "model_gpt_open", runs, open);
  Llama llama(small_llama());
  write_case(llama, "model_llama_open", runs, open);
}

BOOST_AUTO_TEST_SUITE_END()
