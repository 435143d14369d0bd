#include <mezzo/training/module/saved_hyperparameters.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

HyperparameterReader& registered() {
  static HyperparameterReader reader{};
  return reader;
}

const HyperparameterReader& reader_for(const std::string& path) {
  if (registered().read != nullptr) return registered();
  fail<FileError>("[Module]",
                  "load_from_checkpoint: no reader of \"{}\" is registered: link mezzo with "
                  "-Wl,--undefined=mezzo_register",
                  path);
}

}  // namespace

void register_hyperparameter_reader(const HyperparameterReader& reader) { registered() = reader; }

Hyperparameters saved_hyperparameters(const std::string& path) { return reader_for(path).read(path); }

bool has_saved_hyperparameters(const std::string& path) { return reader_for(path).has(path); }

std::optional<CallbackState> saved_module_values(const std::string& path) { return reader_for(path).values(path); }

}  // namespace mezzo::detail
