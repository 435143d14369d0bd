#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/tokenizer.hpp>
#include <mezzo/io/shard_options.hpp>
#include <mezzo/models/pretrained/from_pretrained.hpp>

namespace mezzo {

/// Options of save_pretrained().
struct SavePretrainedOptions {
  std::optional<Tokenizer> tokenizer{};  ///< is written as tokenizer.json; default: none
  std::vector<std::string> labels{};     ///< names of the classes of a classifier; default: LABEL_0, LABEL_1, ...
  /// Text of a config.json whose other keys are kept, such as token ids: `report.config` of from_pretrained().
  std::string config{};
  ShardSize max_shard_size = "50GB";  ///< largest size of a file of weights; larger models are written in shards
};

/// Writes a model as a folder that Hugging Face's transformers opens with equal outputs: config.json,
/// model.safetensors or its shards, and tokenizer.json if there is a tokenizer. Floats are written as float32, float64
/// as float64. Other files of an existing folder stay. A new folder appears complete or not at all. In an existing one
/// config.json is removed first and written last; if that fails the error says that the folder is incomplete. With the
/// config of a folder of timm, it writes one that timm opens.
///
/// Throws a ValueError if the class of the model has no counterpart in transformers, if the model isn't built, while
/// another thread runs it, if it is quantized or has adapters, or if a part of it has none there; a FileError if the
/// folder can't be written.
MEZZO_API void save_pretrained(const Model& model, const std::string& folder,
                               const SavePretrainedOptions& options = {});

/// Writes a model that from_pretrained() or auto_model() read, with its tokenizer and the other keys of its
/// config.json. Options that are given replace these.
template <class M>
void save_pretrained(const Pretrained<M>& pretrained, const std::string& folder, SavePretrainedOptions options = {}) {
  if (!options.tokenizer) options.tokenizer = pretrained.tokenizer;
  if (options.labels.empty()) options.labels = pretrained.report.labels;
  if (options.config.empty()) options.config = pretrained.report.config;
  if constexpr (std::is_base_of_v<Model, M>) {
    save_pretrained(pretrained.model, folder, options);
  } else {
    save_pretrained(*pretrained.model, folder, options);
  }
}

}  // namespace mezzo
