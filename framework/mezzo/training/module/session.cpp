#include <mezzo/training/module/session.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

Model& Session::model() const {
  Model* const model = module().as_model();
  if (model == nullptr) {
    fail<ValueError>("[Callback]", "model(): the module must be a Model; got another Module, which module() returns");
  }
  return *model;
}

void Session::save_weights(const std::string& path) const { module().save_weights(path); }

std::string Session::log_dir() const {
  for (const Any<Logger>& logger : loggers()) {
    if (const std::string folder = logger->log_dir(); !folder.empty()) return folder;
  }
  return default_root_dir();
}

}  // namespace mezzo
