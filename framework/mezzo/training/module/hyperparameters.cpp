#include <mezzo/training/module/hyperparameters.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

constexpr const char* hyperparameter_label = "[Hyperparameter]";

template <class T>
const T& value_as(const Hyperparameter& parameter, const char* type) {
  static constexpr const char* names[] = {"a flag", "an integer", "a number", "a text"};
  if (const T* value = std::get_if<T>(&parameter.value())) return *value;
  fail<ValueError>(hyperparameter_label, "the value must be {}; got {}", type, names[parameter.value().index()]);
}

}  // namespace

bool Hyperparameter::to_bool() const { return value_as<bool>(*this, "a flag"); }

std::int64_t Hyperparameter::to_int() const { return value_as<std::int64_t>(*this, "an integer"); }

double Hyperparameter::to_double() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*integer);
  return value_as<double>(*this, "a number");
}

const std::string& Hyperparameter::to_text() const { return value_as<std::string>(*this, "a text"); }

const Hyperparameter& find_hyperparameter(const Hyperparameters& parameters, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
    names.push_back(key);
  }
  fail_unknown(hyperparameter_label, "hyperparameter", name, names);
}

}  // namespace mezzo
