#include <mezzo/training/checkpoints/hyperparameter_reader.hpp>

#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

namespace mezzo::detail {

HyperparameterReader checkpoint_hyperparameters() {
  return {.read = [](const std::string& path) { return Checkpoint(path).hyperparameters(); },
          .has =
              [](const std::string& path) {
                return SafetensorsFile(path).metadata().count(checkpoint_format::hyperparameters) != 0;
              },
          .values = [](const std::string& path) -> std::optional<CallbackState> {
            if (kind_of_file(path) != FileKind::safetensors) return {};
            const Metadata metadata = SafetensorsFile(path).metadata();
            if (metadata.count(checkpoint_format::callbacks) == 0) return {};
            return Checkpoint(path).callback_state(checkpoint_format::module);
          }};
}

}  // namespace mezzo::detail
