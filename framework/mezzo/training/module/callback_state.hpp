#pragma once
#include <map>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Numbers, arrays and texts that a checkpoint keeps of a callback, a module or a DataModule.
struct CallbackState {
  std::map<std::string, double> numbers{};
  std::map<std::string, Tensor> tensors{};
  std::map<std::string, std::string> texts{};
};

}  // namespace mezzo
