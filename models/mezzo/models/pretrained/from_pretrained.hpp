#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/tokenizer.hpp>
#include <mezzo/nn/load_weights.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Options of from_pretrained() and auto_model().
struct FromPretrainedOptions {
  Policy dtype{};                            ///< precision policy of the model; default: inherited
  std::optional<std::int64_t> num_labels{};  ///< number of classes of a classifier, at least 1; default: the folder's
  std::optional<bool> add_pooling_layer{};   ///< false: an encoder without pooler_output; default: true
  bool strict = false;                       ///< true: an error if a head is missing or left over, or if config.json
                                             ///< has an unknown key; false: a warning
  bool ignore_mismatched_sizes = false;      ///< true: weights of another shape than the folder's are new
  bool tokenizer = true;                     ///< false: doesn't read the tokenizer
  /// Values that replace those of config.json: `{{"hidden_dropout_prob", 0.2}}`. A ValueError for a key without effect.
  std::map<std::string, std::variant<bool, std::int64_t, double, std::string>> config{};
  std::string name{};  ///< name of the model; "": automatic
};

/// Parts of a folder that had no counterpart, and its config.json.
struct PretrainedReport {
  LoadWeightsReport weights{};              ///< weights that are new, and tensors that were left out
  std::vector<std::string> unknown_keys{};  ///< keys of config.json that mezzo doesn't know
  std::vector<std::string> labels{};        ///< names of the classes of a classifier; empty for other models
  std::string config{};                     ///< text of config.json
};

/// A model with its tokenizer: `auto [model, tokenizer, report] = from_pretrained<Bert>("folder");`.
template <class M>
struct Pretrained {
  M model;                               ///< the model, built, with the weights of the folder
  std::optional<Tokenizer> tokenizer{};  ///< the folder's tokenizer; empty if it has none that is read
  PretrainedReport report{};             ///< parts of the folder that were not used
};

namespace detail {
/// Reads a folder for a class of models, or for the class that the folder names if `type` is null.
MEZZO_API Pretrained<Any<Model>> read_pretrained(const std::string& folder, const FromPretrainedOptions& options,
                                                 const std::type_info* type);
}  // namespace detail

/// Reads a folder of Hugging Face's transformers: config.json, weights and tokenizer.
///
/// - config.json: a missing key has the default of transformers. A value that mezzo can't compute is an error, and an
///   unknown key a warning.
/// - Weights: model.safetensors, its shards, or pytorch_model.bin. Every weight of the body must be there with its
///   shape. A head that the folder lacks is new; heads of other tasks are left out. Both are a warning, and in
///   `report.weights`.
/// - tokenizer.json, or the vocab.txt of a BERT or DistilBERT. It pads with the pad_token of tokenizer_config.json. A
///   folder with another tokenizer alone, such as tokenizer.model, gives none and a warning that names the file.
///
/// M: Bert, BertForSequenceClassification and others, see docs/finetuning.md. Throws a FileError that names file, key,
/// expected and given value if the folder does not fit, a ValueError for options out of range or without effect on M,
/// or if M has no counterpart in transformers.
template <class M>
Pretrained<M> from_pretrained(const std::string& folder, const FromPretrainedOptions& options = {}) {
  static_assert(std::is_base_of_v<Model, M>, "from_pretrained is for classes of models");
  Pretrained<Any<Model>> read = detail::read_pretrained(folder, options, &typeid(M));
  return {static_cast<M&>(*read.model), std::move(read.tokenizer), std::move(read.report)};
}

/// Reads a folder, as from_pretrained(), with the class that its config.json names by `architectures` and `model_type`.
/// For the architecture of a task that mezzo lacks it is the class without head. The model is used by `->`:
/// `auto_model("folder").model->predict(ids)`.
inline Pretrained<Any<Model>> auto_model(const std::string& folder, const FromPretrainedOptions& options = {}) {
  return detail::read_pretrained(folder, options, nullptr);
}

}  // namespace mezzo
