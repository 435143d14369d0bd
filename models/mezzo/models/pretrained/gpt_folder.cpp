#include <mezzo/models/gpt.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

void describe_gpt(ConfigFields& fields, GPTOptions& options) {
  fields.size("vocab_size", options.vocab_size);
  fields.size("n_positions", options.n_positions);
  fields.size("n_embd", options.n_embd);
  fields.layers("n_layer", options.n_layer);
  fields.size("n_head", options.n_head);
  fields.size_or_null("n_inner", options.n_inner);
  fields.activation("activation_function", options.activation_function);
  fields.number("resid_pdrop", options.resid_pdrop);
  fields.number("embd_pdrop", options.embd_pdrop);
  fields.number("attn_pdrop", options.attn_pdrop);
  fields.number("layer_norm_epsilon", options.layer_norm_epsilon);
  fields.number("initializer_range", options.initializer_range);
  fields.fixed("tie_word_embeddings", true);
  fields.fixed("scale_attn_weights", true);
  fields.fixed("scale_attn_by_inverse_layer_idx", false);
  describe_common(fields);
  // The head of two tasks; n_ctx is an old name of n_positions; the dtype of a product, which float32 makes no matter.
  fields.ignore({"n_ctx", "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj"});
}

}  // namespace

std::vector<PretrainedClass> gpt_classes() {
  return {pretrained_class<GPT, GPTOptions>(
      "GPT",
      {.architectures = {"GPT2LMHeadModel"},
       .model_types = {"gpt2"},
       .defaults = {},
       .describe = describe_gpt,
       .names = {.written = {{"^", "transformer."}}, .heads = R"(^(score|multiple_choice_head|classifier)\.)"}})};
}

}  // namespace mezzo::detail
