#pragma once
#include <map>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Numbers, arrays and texts that a checkpoint keeps of a callback, a module or a DataModule.
struct CallbackState {
  std::map<std::string, double> numbers{};     ///< stored as float64
  std::map<std::string, Tensor> tensors{};     ///< stored with their dtypes
  std::map<std::string, std::string> texts{};  ///< stored as UTF-8
};

}  // namespace mezzo
