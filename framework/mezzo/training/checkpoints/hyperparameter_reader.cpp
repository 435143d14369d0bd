#include <mezzo/training/checkpoints/hyperparameter_reader.hpp>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

namespace mezzo::detail {

HyperparameterReader checkpoint_hyperparameters() {
  return {.read = [](const std::string& path) { return Checkpoint(path).hyperparameters(); },
          .has =
              [](const std::string& path) {
                return SafetensorsFile(path).metadata().count(checkpoint_format::hyperparameters) != 0;
              }};
}

}  // namespace mezzo::detail
