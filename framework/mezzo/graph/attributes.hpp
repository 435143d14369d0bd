#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// A function fused into the end of a product, a convolution or a batch norm.
enum class Epilogue { none, relu };

/// Storage of a variable that an optimizer updates.
enum class Kept {
  plain,      ///< rounded to the variable's dtype
  split,      ///< as SplitFloat: bfloat16 and a remainder, together a float32
  kahan,      ///< with the rounding error of the last update beside it (Kahan summation)
  stochastic  ///< rounded stochastically
};

/// A C++ function that a node carries; ops of user programs derive from it.
struct AttributeFunction {
  virtual ~AttributeFunction() = default;
};

/// A property of a node that is fixed when it is inserted.
using Attribute = std::variant<std::int64_t, double, bool, std::string, Shape, DType, Tensor, Epilogue, Kept,
                               std::shared_ptr<const AttributeFunction>>;

/// The facts about a node, by name, in the order given.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> entries) : entries_(entries) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }

  /// The attribute's value; a NameError if there is none of that name, a DTypeError if it is of another type.
  template <class T>
  const T& get(const std::string& name) const {
    const Attribute* found = find(name);
    if (found == nullptr) throw NameError("no attribute \"" + name + "\"");
    const T* value = std::get_if<T>(found);
    if (value == nullptr) throw DTypeError("attribute \"" + name + "\" is of another type");
    return *value;
  }

  /// The same, or `otherwise` where there is none.
  template <class T>
  T get_or(const std::string& name, T otherwise) const {
    return has(name) ? get<T>(name) : std::move(otherwise);
  }

  /// Adds or replaces.
  void set(const std::string& name, Attribute value);

  const std::vector<std::pair<std::string, Attribute>>& entries() const { return entries_; }

  /// "strides=(1, 1) padding=same": for people, and, since it is exact, for keys of caches.
  std::string to_string() const;

 private:
  const Attribute* find(const std::string& name) const;
  std::vector<std::pair<std::string, Attribute>> entries_;
};

}  // namespace mezzo
