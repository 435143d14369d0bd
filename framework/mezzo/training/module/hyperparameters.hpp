#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// A setting of a training: a flag, a number or a text.
class MEZZO_API Hyperparameter {
 public:
  /// A flag, a number or a text, stored with its type.
  Hyperparameter(bool value) : value_(value) {}
  Hyperparameter(int value) : value_(std::int64_t{value}) {}
  Hyperparameter(std::int64_t value) : value_(value) {}
  Hyperparameter(double value) : value_(value) {}
  Hyperparameter(std::string value) : value_(std::move(value)) {}
  Hyperparameter(const char* value) : value_(std::string(value)) {}
  Hyperparameter(std::nullptr_t) = delete;  // also a literal 0 of pointer type

  /// The stored type is the constructor's, int as int64.
  const std::variant<bool, std::int64_t, double, std::string>& value() const { return value_; }

  /// The value of that type; to_double() also converts integers. A ValueError for another type.
  bool to_bool() const;
  std::int64_t to_int() const;
  double to_double() const;
  const std::string& to_text() const;

  /// True: equal types and values; 1 is not 1.0.
  bool operator==(const Hyperparameter& other) const { return value_ == other.value_; }
  bool operator!=(const Hyperparameter& other) const { return !(*this == other); }

 private:
  std::variant<bool, std::int64_t, double, std::string> value_;
};

/// Settings by name, in the order of their definition: `{{"learning_rate", 1e-3}, {"layers", 4}}`.
using Hyperparameters = std::vector<std::pair<std::string, Hyperparameter>>;

/// The setting of that name. A NameError that lists the names if there is none.
MEZZO_API const Hyperparameter& find_hyperparameter(const Hyperparameters& parameters, const std::string& name);

namespace detail {
/// Hyperparameters that a checkpoint keeps of its module. A FileError if the file is malformed or not a checkpoint.
MEZZO_API Hyperparameters saved_hyperparameters(const std::string& path);
}  // namespace detail

}  // namespace mezzo
