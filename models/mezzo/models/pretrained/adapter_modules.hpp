#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/model/model.hpp>

// Names of modules in files of PEFT.
namespace mezzo::detail {

/// Start of all names of tensors in PEFT's files.
constexpr const char* peft_prefix = "base_model.model.";

/// A layer that can have adapters, as a module of PEFT.
struct AdapterModule {
  std::vector<std::string> names;  ///< the name that is written, then others that files may have
  std::string path;                ///< path of the layer
  Shared<LayerState> layer;
  FileWeight kernel;

  bool table() const { return kernel.variable.state()->adapters->table; }
  /// End of the name of A's or B's tensor, by the letter: ".lora_A.weight".
  std::string ending(char letter) const;
};

/// (a, b) becomes (b, a).
Tensor transposed_matrix(const Tensor& matrix);

/// All modules of a model.
std::vector<AdapterModule> adapter_modules(const Model& model);

}  // namespace mezzo::detail
