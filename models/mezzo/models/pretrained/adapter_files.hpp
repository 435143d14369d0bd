#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Options of save_adapter().
struct SaveAdapterOptions {
  std::string name{};                     ///< name of the adapters; "": the active ones
  std::string base_model_name_or_path{};  ///< is written to adapter_config.json: where PEFT finds the base model
  std::string task_type{};                ///< is written to adapter_config.json, for example "CAUSAL_LM"; "": null
};

/// Options of load_adapter().
struct LoadAdapterOptions {
  std::string name = "default";  ///< name that the adapters get in the model
};

/// Writes the adapters of a model as a folder that Hugging Face's PEFT opens: adapter_config.json and
/// adapter_model.safetensors. Names of modules are those of the base model's folder of transformers, or else of
/// Layer::save_weights(). Floats are written as float32, float64 as float64. Other files of an existing folder stay; a
/// new folder appears complete or not at all.
///
/// Throws a ValueError if the model has no adapters, none of that name, or while another thread runs it; a FileError if
/// the folder can't be written.
MEZZO_API void save_adapter(const Model& model, const std::string& folder, const SaveAdapterOptions& options = {});

/// Reads adapters that PEFT or save_adapter() wrote into a model that is built. They become the active ones; everything
/// else is frozen, as by Layer::enable_lora(). peft_type LORA, bias "none", rsLoRA, rank_pattern and alpha_pattern are
/// read. Other keys that change results are a FileError: modules_to_save, use_dora, a base that initialization has
/// changed (init_lora_weights "pissa"), and others.
///
/// Throws a FileError that names file, key or tensor if the folder does not fit: missing or additional tensors, layers
/// that the model lacks, other sizes. A ValueError if the model isn't built, if a kernel has adapters of that name, a
/// constraint or merged adapters, or while another thread runs the model. The model is unchanged then.
MEZZO_API void load_adapter(const Model& model, const std::string& folder, const LoadAdapterOptions& options = {});

}  // namespace mezzo
