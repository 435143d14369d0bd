#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

namespace detail {
/// A function fused into the end of a product, a convolution or a batch norm.
enum class Epilogue { none, relu };

/// Storage of a variable that an optimizer updates.
enum class Kept {
  plain,      ///< rounded to the variable's dtype
  split,      ///< bfloat16 and an int16 remainder, together a float32 (SplitFloat)
  kahan,      ///< with the rounding error of the last update in a second array (Kahan summation)
  stochastic  ///< rounded stochastically
};

/// Base of C++ functions stored in a node. Ops of user programs derive from it.
struct MEZZO_API AttributeFunction {
  virtual ~AttributeFunction() = default;

  /// Copies the function for the clone of a model, for functions that hold layers. Called in the CloneScope of the
  /// clone. Null, the default: clones share the function.
  virtual std::shared_ptr<const AttributeFunction> clone() const { return nullptr; }
};

/// A property of a node that is fixed when it is inserted.
using Attribute = std::variant<std::int64_t, double, bool, std::string, Shape, DType, Tensor, Epilogue, Kept,
                               std::shared_ptr<const AttributeFunction>>;
}  // namespace detail

/// The attributes of a node, by name, in the order of insertion.
class MEZZO_API Attributes {
 public:
  Attributes() = default;

  /// Name and value pairs; later set() calls keep their order.
  Attributes(std::initializer_list<std::pair<std::string, detail::Attribute>> entries) : entries_(entries) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }  ///< true: an attribute has this name

  /// The attribute's value. Throws a NameError for an unknown name, a DTypeError if T is not the type of the value.
  template <class T>
  const T& get(const std::string& name) const {
    const detail::Attribute* found = find(name);
    if (found == nullptr) fail_unknown_attribute(name);
    const T* value = std::get_if<T>(found);
    if (value == nullptr) fail_type(name, *found);
    return *value;
  }

  /// The same, or `otherwise` if there is no attribute of that name.
  template <class T>
  T get_or(const std::string& name, T otherwise) const {
    return has(name) ? get<T>(name) : std::move(otherwise);
  }

  /// Adds the attribute or replaces its value.
  void set(const std::string& name, detail::Attribute value);

  /// Names and values in the order in which they were set.
  const std::vector<std::pair<std::string, detail::Attribute>>& entries() const { return entries_; }

  /// "strides=(1, 1) padding=same". The text is exact, so it also serves as the key of caches.
  std::string to_string() const;

 private:
  const detail::Attribute* find(const std::string& name) const;
  [[noreturn]] void fail_unknown_attribute(const std::string& name) const;
  [[noreturn]] static void fail_type(const std::string& name, const detail::Attribute& value);

  std::vector<std::pair<std::string, detail::Attribute>> entries_;
};

}  // namespace mezzo
