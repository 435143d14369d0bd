#include <mezzo/models/pretrained/save_pretrained.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/graph/adapters.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/folder_replacement.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>
#include <mezzo/models/pretrained/timm_config.hpp>
#include <mezzo/nn/weight_files.hpp>

namespace mezzo {
namespace {

constexpr const char* config_name = "config.json";

/// `kept`: a config whose other keys stay.
detail::Json config_of(const Model& model, const detail::PretrainedClass& kind, const SavePretrainedOptions& options,
                       const detail::Json& kept, const std::string& where) {
  detail::ConfigFields fields(options.labels, where);
  kind.write(model, fields);
  fields.check_options(kind.name);
  detail::Json config = fields.merged_into(kept);
  if (kind.architectures.empty()) return detail::with_timm_settings(std::move(config), kept);
  config["architectures"] = {kind.architectures.front()};
  config["model_type"] = kind.model_types.front();
  config.erase("torch_dtype");
  return config;
}

/// Names of the tokens that transformers needs beside tokenizer.json.
detail::Json tokenizer_config(const Tokenizer& tokenizer) {
  detail::Json config{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  if (const auto& padding = tokenizer.padding()) {
    config["pad_token"] = padding->pad_token;
    config["padding_side"] = padding->direction;
  }
  if (const auto& truncation = tokenizer.truncation()) {
    config["model_max_length"] = truncation->max_length;
    config["truncation_side"] = truncation->direction;
  }
  return config;
}

/// Dtype of the weights, which transformers opens the model in.
std::string dtype_of(const NamedTensors& tensors) {
  DType widest = DType::float32;
  for (const auto& [name, tensor] : tensors) {
    if (is_floating(tensor.dtype())) widest = tensor.dtype();
    if (widest == DType::float64) break;
  }
  return dtype_name(widest);
}

NamedTensors in_folder(NamedTensors tensors, const detail::FolderNames& names) {
  for (const auto& [expression, replacement] : names.written) {
    const detail::Pattern pattern(expression);
    for (auto& [name, tensor] : tensors) name = pattern.replaced(name, replacement);
  }
  return names.convert_back == nullptr ? tensors : names.convert_back(std::move(tensors));
}

/// True for the names of weight files that an earlier call may have written.
bool is_weight_file(const std::string& name) {
  return detail::Pattern(R"(model(-\d+-of-\d+)?\.safetensors|model\.safetensors\.index\.json)").matches(name);
}

/// Throws for weights that from_pretrained() and transformers can't read: codes, and adapters beside kernels.
void require_plain_weights(const Model& model, const std::string& where) {
  for (const auto& [path, weight] : model.named_weights()) {
    const auto& fake = weight.state()->fake;
    if (weight.quantized() || weight.state()->of_codes || (fake && fake->float8)) {
      fail<ValueError>(
          where,
          "weights must be floats without scales; got those of \"{}\", which is {}: save as .mezzo, or save "
          "the folder before the model is quantized",
          path, weight.quantized() ? "quantized" : "prepared for quantization");
    }
    const auto& adapters = weight.state()->adapters;
    if (!adapters || adapters->all.empty()) continue;
    fail<ValueError>(where,
                     "the model must have no adapters; got those of \"{}\": call merge_and_unload() first, or "
                     "save as .mezzo",
                     path);
  }
}

}  // namespace

void save_pretrained(const Model& model, const std::string& folder, const SavePretrainedOptions& options) {
  const std::string where = fmt::format("[save_pretrained \"{}\"]", folder);
  detail::Json kept = detail::Json::object();
  if (!options.config.empty()) kept = detail::parse_config(options.config, where + " config:");
  const detail::PretrainedClass& kind = detail::class_of_model(typeid(model), kept, where);
  require_plain_weights(model, where);
  detail::Json config = config_of(model, kind, options, kept, where);
  detail::WeightFileContent content = detail::weight_file_content(model, where, "save_pretrained");
  if (!kind.architectures.empty()) config["dtype"] = dtype_of(content.tensors);
  detail::FolderReplacement files(folder, where);
  save_safetensors(files.file("model.safetensors"), in_folder(std::move(content.tensors), kind.names), content.metadata,
                   {.max_shard_size = options.max_shard_size});
  if (options.tokenizer) {
    options.tokenizer->save(files.file("tokenizer.json"));
    detail::replace_file(files.file("tokenizer_config.json"), tokenizer_config(*options.tokenizer).dump(2) + "\n",
                         where);
  }
  detail::replace_file(files.file(config_name), config.dump(2) + "\n", where);
  files.commit(config_name, is_weight_file);
}

}  // namespace mezzo
