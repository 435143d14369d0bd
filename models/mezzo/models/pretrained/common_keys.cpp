#include <mezzo/models/pretrained/common_keys.hpp>

#include <algorithm>
#include <set>

#include <mezzo/models/pretrained/config_fields.hpp>

namespace mezzo::detail {

bool is_common_key(const std::string& key) {
  static const std::set<std::string> known{
      // names, versions, dtypes of the files
      "_name_or_path", "_commit_hash", "architectures", "model_type", "name", "name_or_path", "transformers_version",
      "transformers.js_config", "torch_dtype", "dtype", "torchscript", "use_bfloat16", "tokenizer_class", "prefix",
      "auto_map", "language", "sentence_transformers", "unsloth_version", "unsloth_fixed",
      // ids of tokens
      "pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id", "unk_token_id",
      "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id",
      // labels and losses of tasks
      "id2label", "label2id", "num_labels", "_num_labels", "problem_type", "finetuning_task", "task_specific_params",
      "classifier_dropout", "tie_encoder_decoder",
      // how outputs are returned and computed
      "output_attentions", "output_hidden_states", "output_past", "output_scores", "return_dict",
      "return_dict_in_generate", "use_cache", "chunk_size_feed_forward", "gradient_checkpointing",
      "attn_implementation", "_attn_implementation", "_attn_implementation_autoset", "_flash_attn_2_enabled",
      "remove_invalid_values", "tf_legacy_loss", "use_return_dict",
      // generation
      "max_length", "max_new_tokens", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups",
      "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty",
      "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences",
      "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens"};
  return known.count(key) > 0;
}

namespace {

/// Refuses a dtype that torch has not. The models have a dtype of their own, so the key is no option.
void check_dtype(const ConfigFields& fields, const char* key) {
  static const std::set<std::string> known{"auto", "float32",  "float", "float64", "double",        "float16",
                                           "half", "bfloat16", "int8",  "uint8",   "float8_e4m3fn", "float8_e5m2"};
  const auto found = fields.json().find(key);
  if (fields.writes() || found == fields.json().end() || found->is_null()) return;
  std::string name = found->is_string() ? found->get<std::string>() : "";
  if (name.rfind("torch.", 0) == 0) name.erase(0, std::string("torch.").size());
  if (known.count(name) == 0) fields.refuse(key, fmt::format("a dtype of torch: {}", fmt::join(known, ", ")));
}

}  // namespace

void describe_common(ConfigFields& fields) {
  check_dtype(fields, "torch_dtype");
  check_dtype(fields, "dtype");
  fields.fixed("is_decoder", false);
  fields.fixed("is_encoder_decoder", false);
  fields.fixed("add_cross_attention", false);
  fields.fixed("cross_attention_hidden_size", Json());
  fields.one_of("pruned_heads", {Json::object(), Json()});
  fields.fixed("quantization_config", Json());
}

}  // namespace mezzo::detail
