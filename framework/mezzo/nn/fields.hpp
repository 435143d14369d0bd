#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/nn/optimizer_options.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo {

class Constraint;
class Initializer;
class Layer;
class Loss;
class Regularizer;

namespace detail {
struct FieldsContent;
}

/// Writes the options of an object to its config, or reads them from there. Each options struct is described once, by
/// a function in its namespace that names its members:
///
///     void describe(Fields& fields, ScaleOptions& options) {
///       fields("initial", options.initial);
///     }
///
/// `name`, `dtype` and `trainable` of layers are written and read for all of them, and not described. When a config is
/// read, a missing member keeps its default. A member of another type, an unknown one, or a number out of the range of
/// its type is a ValueError that names class and member. A function in place of a name (activation, regularizer,
/// learning rate) can't be written: a ValueError says so.
class MEZZO_API Fields {
 public:
  explicit Fields(detail::FieldsContent& content) : content_(content) {}  ///< made by reading and writing of configs

  /// Reads or writes the field with this name. In reading, a missing name keeps the value, and a value of another type
  /// is an error that names the field.
  void operator()(const char* name, bool& value);
  void operator()(const char* name, int& value);
  void operator()(const char* name, std::int64_t& value);
  void operator()(const char* name, double& value);
  void operator()(const char* name, std::string& value);
  void operator()(const char* name, DType& value);
  void operator()(const char* name, std::vector<std::int64_t>& value);
  void operator()(const char* name, std::vector<double>& value);
  void operator()(const char* name, std::vector<std::string>& value);
  void operator()(const char* name, std::optional<std::int64_t>& value);
  void operator()(const char* name, std::optional<std::uint64_t>& value);
  void operator()(const char* name, std::optional<double>& value);
  void operator()(const char* name, std::optional<Tensor>& value);  ///< at most 65536 elements
  void operator()(const char* name, detail::Ints& value);
  void operator()(const char* name, detail::Padding& value);
  void operator()(const char* name, ActivationFunction& value);
  void operator()(const char* name, detail::LearningRate& value);
  void operator()(const char* name, std::vector<ParameterGroup>& value);
  void operator()(const char* name, Any<Initializer>& value);
  void operator()(const char* name, Any<Regularizer>& value);
  void operator()(const char* name, Any<Constraint>& value);
  void operator()(const char* name, Any<Loss>& value);
  void operator()(const char* name, Any<Layer>& value);
  void operator()(const char* name, std::vector<Any<Layer>>& value);  ///< each once

  /// Integers of any size, such as tokens and keys. Those of operator() are sizes, of at most 2^31.
  void any_integer(const char* name, std::int64_t& value);
  void any_integer(const char* name, std::optional<std::int64_t>& value);
  void any_integer(const char* name, std::vector<std::int64_t>& value);

  /// Structs with a describe() of their own, as a list of objects.
  template <class T>
  void operator()(const char* name, std::vector<T>& value) {
    objects(
        name, value.size(), [&value](std::size_t size) { value.assign(size, T{}); },
        [&value](Fields& fields, std::size_t i) { describe(fields, value[i]); });
  }

  /// Ends the reading of a config: throws a NameError for a member that was not described. Called before an object is
  /// made of the options, so that a misspelled name is told before what is missing without it.
  void finish() const;

 private:
  template <class T>
  void exchange(const char* name, T& value);
  template <class T>
  void exchange_any(const char* name, T& value);
  void objects(const char* name, std::size_t size, const std::function<void(std::size_t)>& resize,
               const std::function<void(Fields&, std::size_t)>& describe_one);

  detail::FieldsContent& content_;
};

}  // namespace mezzo
