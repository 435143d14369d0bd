#include <mezzo/models/llama.hpp>

#include <algorithm>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>
#include <mezzo/models/pretrained/rope_keys.hpp>

namespace mezzo::detail {
namespace {

/// Keys that Llama and its relatives share.
void describe_decoder(ConfigFields& fields, LlamaOptions& options) {
  fields.size("vocab_size", options.vocab_size);
  fields.size("hidden_size", options.hidden_size);
  fields.size("intermediate_size", options.intermediate_size);
  fields.layers("num_hidden_layers", options.num_hidden_layers);
  fields.size("num_attention_heads", options.num_attention_heads);
  fields.size_or_null("num_key_value_heads", options.num_key_value_heads);
  // Qwen2 of transformers takes a key with null for a size.
  if (!fields.writes() || options.head_dim != 0) fields.size_or_null("head_dim", options.head_dim);
  fields.activation("hidden_act", options.hidden_act);
  fields.size("max_position_embeddings", options.max_position_embeddings);
  fields.number("initializer_range", options.initializer_range);
  fields.number("rms_norm_eps", options.rms_norm_eps);
  fields.number("attention_dropout", options.attention_dropout);
  fields.flag("tie_word_embeddings", options.tie_word_embeddings);
  describe_rope(fields, options);
  describe_common(fields);
}

void describe_llama(ConfigFields& fields, LlamaOptions& options) {
  describe_decoder(fields, options);
  fields.flag("attention_bias", options.attention_bias);
  fields.flag("mlp_bias", options.mlp_bias);
  fields.ignore({"pretraining_tp", "is_llama_config"});  // the same product in parts
}

void describe_qwen2(ConfigFields& fields, LlamaOptions& options) {
  describe_decoder(fields, options);
  fields.fixed("use_sliding_window", false);
  fields.fixed("use_mrope", false);
  fields.ignore({"sliding_window", "max_window_layers"});  // without use_sliding_window
  if (fields.writes()) return;
  const Json* const types = fields.find("layer_types");
  if (types == nullptr) return;
  const auto is_full = [](const Json& type) { return type == "full_attention"; };
  if (!types->is_array() || !std::all_of(types->begin(), types->end(), is_full)) {
    fields.refuse("layer_types", "full_attention for each layer");
  }
}

void describe_mistral(ConfigFields& fields, LlamaOptions& options) {
  describe_decoder(fields, options);
  fields.size_or_null("sliding_window", options.sliding_window);
}

LlamaOptions qwen2_defaults() {
  LlamaOptions options;
  options.vocab_size = 151936;
  options.intermediate_size = 22016;
  options.num_key_value_heads = 32;
  options.max_position_embeddings = 32768;
  return options;
}

LlamaOptions mistral_defaults() {
  LlamaOptions options;
  options.intermediate_size = 14336;
  options.num_key_value_heads = 8;
  options.max_position_embeddings = 131072;
  options.sliding_window = 4096;
  return options;
}

template <class M>
PretrainedClass decoder_class(const char* name, const std::string& model_type, const LlamaOptions& defaults,
                              void (*describe)(ConfigFields&, LlamaOptions&)) {
  return pretrained_class<M, LlamaOptions>(name, {.architectures = {std::string(name) + "ForCausalLM"},
                                                  .model_types = {model_type},
                                                  .defaults = defaults,
                                                  .describe = describe,
                                                  .names = {.heads = R"(^(score|qa_outputs)\.)"}});
}

}  // namespace

std::vector<PretrainedClass> llama_classes() {
  return {decoder_class<Llama>("Llama", "llama", {}, describe_llama),
          decoder_class<Qwen2>("Qwen2", "qwen2", qwen2_defaults(), describe_qwen2),
          decoder_class<Mistral>("Mistral", "mistral", mistral_defaults(), describe_mistral)};
}

}  // namespace mezzo::detail
