#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <mezzo/graph/value.hpp>
#include <mezzo/nn/config_json.hpp>

// Operations of keras.ops that OperationLayer computes: those that are no single op of mezzo's configs.
namespace mezzo::detail {

/// Options of an operation in Keras' config. Reading one of another type is a ValueError that names it.
class KerasOptions {
 public:
  KerasOptions(const Json& json, const std::string& where) : json_(json), where_(where) {}

  const std::string& where() const { return where_; }

  /// The option; null if it is missing.
  Json value(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::optional<std::int64_t> axis(const char* name = "axis") const;
  double number(const char* name, std::optional<double> otherwise = {}) const;
  bool flag(const char* name) const;
  std::string text(const char* name) const;
  /// One integer or a list, also as a tuple of Keras; {} for null.
  Shape integers(const char* name) const;

 private:
  std::string what(const char* name) const { return where_ + " " + name; }

  const Json& json_;
  const std::string& where_;
};

/// An operation of keras.ops.
struct KerasOperation {
  const char* name;    ///< class in configs: "Clip"
  const char* module;  ///< in keras.src.ops: "numpy"
  std::size_t inputs;  ///< least number of operands
  Values (*run)(const Values& xs, const KerasOptions& options);
  bool list = false;  ///< true if the operands are one list in Keras' call
};

/// Most elements of an axis, and of the arrays of indices that operations make: these take memory when a model is read.
constexpr std::int64_t max_operation_elements = std::int64_t{1} << 24;

/// Throws a ValueError that starts with `where` for more elements. -1: not known.
void require_operation_elements(const std::string& where, std::int64_t count);

/// The operation of a class; null if OperationLayer doesn't have it.
const KerasOperation* find_keras_operation(const std::string& name);

/// x[key], with the key as Keras' config has it.
Value item_of_keras(const Value& x, const Json& key, const std::string& where);

/// Value of an object of Keras' configs that stands for a tuple, or the value itself.
const Json& without_tuple(const Json& value);

}  // namespace mezzo::detail
