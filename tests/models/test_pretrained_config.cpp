#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "pretrained.hpp"
#include "support/captured.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using nlohmann::json;

namespace {

/// The outputs of a folder with a changed config.json are those of transformers with the same config, and others than
/// before if `differs`.
void check_change(const RecordedFolder& folder, const json& keys, const std::string& prefix, bool differs = true) {
  folder.change(keys);
  auto read = auto_model(folder.path());
  const double difference = outputs_off(*read.model, folder.path(), prefix);
  BOOST_TEST(difference < 1e-5, prefix << " off by " << difference);
  BOOST_TEST((outputs_off(*read.model, folder.path()) > 1e-3) == differs, prefix);
}

/// Error text of a changed config.json, without its start.
std::string refused_change(const RecordedFolder& folder, const json& keys, const FromPretrainedOptions& options = {}) {
  folder.change(keys);
  const std::string text = refused<FileError>([&] { auto_model(folder.path(), options); });
  const std::string start = "[from_pretrained \"" + folder.path("config.json") + "\"] ";
  return text.rfind(start, 0) == 0 ? text.substr(start.size()) : text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pretrained_config)

BOOST_AUTO_TEST_CASE(changed_heads_activation_and_epsilon_of_encoders_change_outputs_as_in_transformers) {
  for (const char* name : {"bert", "bert_classifier", "roberta_classifier"}) {
    const RecordedFolder folder(name);
    check_change(folder, {{"num_attention_heads", 4}}, "heads.y");
    check_change(folder, {{"hidden_act", "relu"}}, "activation.y");
    check_change(folder, {{"layer_norm_eps", 0.1}}, "epsilon.y");
    // Belongs to the output layer of a masked language model, which these models don't have.
    check_change(folder, {{"tie_word_embeddings", false}}, "tie.y", false);
  }
  const RecordedFolder folder("distilbert_classifier");
  check_change(folder, {{"n_heads", 4}}, "heads.y");
  check_change(folder, {{"activation", "relu"}}, "activation.y");
  check_change(folder, {{"tie_word_embeddings", false}}, "tie.y", false);
}

BOOST_AUTO_TEST_CASE(changed_heads_activation_and_ties_of_decoders_are_noticed) {
  const RecordedFolder gpt("gpt");
  check_change(gpt, {{"n_head", 4}}, "heads.y");
  check_change(gpt, {{"activation_function", "relu"}}, "activation.y");
  check_change(gpt, {{"layer_norm_epsilon", 0.1}}, "epsilon.y");
  BOOST_TEST(refused_change(gpt, {{"tie_word_embeddings", false}}) == "tie_word_embeddings must be true; got false");
  for (const char* name : {"llama", "qwen2", "mistral"}) {
    const RecordedFolder folder(name);
    check_change(folder, {{"hidden_act", "relu"}}, "activation.y");
    check_change(folder, {{"rms_norm_eps", 0.1}}, "epsilon.y");
    const std::string text = refused_change(folder, {{"num_attention_heads", 4}, {"head_dim", 10}});
    BOOST_TEST(text.find("tensor \"model.layers.0.self_attn.q_proj.weight\" must have shape (40, 8), got (") !=
                   std::string::npos,
               text);
  }
  const auto flipped = [](const char* name, bool tied) {
    return refused_change(RecordedFolder(name), {{"tie_word_embeddings", tied}});
  };
  const std::string other = "tensor \"lm_head.weight\" must be a copy of \"model.embed_tokens.weight\"";
  BOOST_TEST(flipped("llama", true).find(other) != std::string::npos, flipped("llama", true));
  BOOST_TEST(flipped("mistral", true).find(other) != std::string::npos);
  BOOST_TEST(flipped("qwen2", false).find("missing tensor \"lm_head.weight\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(unknown_values_are_errors_with_file_key_and_both_values) {
  const RecordedFolder bert("bert");
  BOOST_TEST(refused_change(bert, {{"hidden_act", "magic"}}) ==
             "hidden_act must be one of gelu, gelu_fast, gelu_new, gelu_python, gelu_pytorch_tanh, leaky_relu, linear, "
             "mish, quick_gelu, relu, relu6, sigmoid, silu, swish, tanh; got \"magic\"");
  BOOST_TEST(refused_change(bert, {{"position_embedding_type", "relative_key"}}) ==
             "position_embedding_type must be \"absolute\" or null; got \"relative_key\"");
  BOOST_TEST(refused_change(bert, {{"hidden_size", "8"}}) ==
             "hidden_size must be an integer from 1 to 2147483648; "
             "got \"8\"");
  BOOST_TEST(refused_change(bert, {{"hidden_size", 0}}) ==
             "hidden_size must be an integer from 1 to 2147483648; got 0");
  BOOST_TEST(refused_change(bert, {{"num_hidden_layers", 1000000}}) ==
             "num_hidden_layers must be at most 39, the number of tensors in the folder; got 1000000");
  BOOST_TEST(refused_change(bert, {{"num_attention_heads", 3}}) ==
             "[Bert] num_attention_heads must divide hidden_size; got 3 and 8");
  BOOST_TEST(refused_change(bert, {{"layer_norm_eps", true}}) == "layer_norm_eps must be a number; got true");
  BOOST_TEST(refused_change(bert, {{"is_decoder", true}}) == "is_decoder must be false; got true");
  BOOST_TEST(
      refused_change(bert, {{"model_type", "t5"}}) ==
      "model_type must be one of bert, roberta, xlm-roberta, camembert, distilbert, gpt2, llama, qwen2, mistral, "
      "vit, resnet, resnet18, resnet34, resnet50, resnet101, resnet152, mobilenet_v2, mobilenetv2_035, "
      "mobilenetv2_050, mobilenetv2_075, mobilenetv2_100, mobilenetv2_140; got \"t5\"");
  for (const char* key : {"dtype", "torch_dtype"}) {
    BOOST_TEST(
        refused_change(bert, {{key, "float17"}}) ==
        std::string(key) +
            " must be a dtype of torch: auto, bfloat16, double, float, float16, float32, float64, float8_e4m3fn, "
            "float8_e5m2, half, int8, uint8; got \"float17\"");
    BOOST_TEST(refused_change(bert, {{key, 16}}).find("; got 16") != std::string::npos);
    for (const json& good : {json("bfloat16"), json("torch.float16"), json("auto"), json()})
      BOOST_TEST(refused_change(bert, {{key, good}}) == "");
  }
  const RecordedFolder classifier("bert_classifier");
  BOOST_TEST(refused_change(classifier, {{"num_labels", 2}}) ==
             "num_labels must be 3, the number of names in id2label; got 2");
  BOOST_TEST(refused_change(classifier, {{"id2label", {{"0", "a"}, {"2", "b"}}}}) ==
             "id2label must be an object with names of the classes \"0\", \"1\", ...; got "
             "{\"0\":\"a\",\"2\":\"b\"}");
}

BOOST_AUTO_TEST_CASE(a_missing_key_has_the_default_of_transformers) {
  const RecordedFolder folder("bert_classifier");
  folder.change({{"hidden_act", "(none)"},
                 {"layer_norm_eps", "(none)"},
                 {"type_vocab_size", "(none)"},
                 {"hidden_dropout_prob", "(none)"}});
  auto read = from_pretrained<BertForSequenceClassification>(folder.path());
  BOOST_TEST(outputs_off(read.model, folder.path()) < 1e-5);
  // RobertaConfig's defaults are those of BERT, not of roberta-base.
  const RecordedFolder roberta("roberta_classifier");
  roberta.change({{"layer_norm_eps", "(none)"}, {"type_vocab_size", "(none)"}, {"pad_token_id", "(none)"}});
  auto other = from_pretrained<RobertaForSequenceClassification>(roberta.path());
  BOOST_TEST(outputs_off(other.model, roberta.path()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_reported) {
  const RecordedFolder folder("distilbert_classifier");
  folder.change({{"new_attention", "fast"}, {"use_cache", true}, {"torch_dtype", "float16"}});
  const CapturedOutput output;
  const auto read = from_pretrained<DistilBertForSequenceClassification>(folder.path());
  BOOST_TEST(read.report.unknown_keys == std::vector<std::string>{"new_attention"});
  BOOST_TEST(output.text().find("unknown keys, which are ignored: new_attention") != std::string::npos);
  BOOST_TEST(refused_change(folder, {{"new_attention", "fast"}}, {.strict = true}) ==
             "strict: keys must be known; got new_attention");
}

BOOST_AUTO_TEST_CASE(rope_scaling_has_two_forms) {
  const RecordedFolder folder("llama");
  const json scaling{{"type", "llama3"},
                     {"factor", 4},
                     {"low_freq_factor", 1},
                     {"high_freq_factor", 4},
                     {"original_max_position_embeddings", 40}};
  folder.change({{"rope_parameters", "(none)"}, {"rope_theta", 500}, {"rope_scaling", scaling}});
  auto read = from_pretrained<Llama>(folder.path());
  BOOST_TEST(outputs_off(read.model, folder.path()) < 1e-5);
  BOOST_TEST(read.model.options().rope_scaling.factor == 4);
  const auto refused_scaling = [&](const json& value) {
    return refused_change(folder, {{"rope_parameters", "(none)"}, {"rope_scaling", value}});
  };
  BOOST_TEST(refused_scaling({{"rope_type", "yarn"}, {"factor", 4}}) ==
             "rope_scaling.rope_type must be one of default, linear, llama3; got \"yarn\"");
  BOOST_TEST(refused_scaling({{"rope_type", "linear"}}) ==
             "rope_scaling.factor must be given for this rope_type; got none");
  BOOST_TEST(refused_scaling({{"rope_type", "linear"}, {"factor", 2}, {"extra", 1}})
                 .rfind("unknown key rope_scaling.extra; known keys: ", 0) == 0U);
  BOOST_TEST(refused_scaling({{"rope_type", "linear"}, {"factor", -1}}) ==
             "[Llama] rope_scaling.factor must be above 0; got -1");
  BOOST_TEST(refused_change(folder, {{"rope_theta", 7}}) ==
             "rope_parameters.rope_theta must be 7, as outside; got 500.0");
}

BOOST_AUTO_TEST_SUITE_END()
