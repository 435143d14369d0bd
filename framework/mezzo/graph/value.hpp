#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

struct Node;
class Value;
using Values = std::vector<Value>;

/// What layers, losses and metrics compute with: inside a trace a symbol (an output of a node) with true shape and
/// dtype; outside, a concrete array. A C++ number converts to a weak Value, which takes the dtype of what it meets.
/// Cheap to copy.
class Value {
 public:
  /// Undefined: has neither node nor array.
  Value() = default;

  /// A weak scalar.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Value(Number number)
      : data_(Tensor::scalar(static_cast<double>(number),
                             std::is_floating_point_v<Number> ? DType::float64 : DType::int64)),
        defined_(true),
        weak_(true) {}

  /// A concrete array.
  Value(Tensor tensor) : data_(std::move(tensor)), defined_(true) {}

  /// Output `output` of a node.
  Value(std::shared_ptr<Node> node, int output) : node_(std::move(node)), output_(output), defined_(true) {}

  bool defined() const { return defined_; }

  /// Shape of the array; -1 where a functional graph doesn't know the batch yet.
  const Shape& shape() const;
  DType dtype() const;

  /// Whether there are no numbers yet.
  bool symbolic() const;

  /// The numbers. A ValueError for a symbolic Value, which has none until the plan runs.
  Tensor tensor() const;

  /// The one number; errors as tensor(), and a ShapeError if there isn't just one.
  double item() const { return tensor().item(); }

  /// Not a condition: a symbolic Value has no truth while the step is traced.
  explicit operator bool() const = delete;

  /// @name For code that builds graphs
  /// @{
  const std::shared_ptr<Node>& node() const { return node_; }
  int output() const { return output_; }
  bool weak() const { return weak_; }
  bool same_as(const Value& other) const;

  /// Whether this came over the border of the running layer, or is a variable, so that autocast applies to it.
  bool crosses_border() const { return border_; }
  Value across_border(bool crosses = true) const;

  /// The region of autocast() that it was computed in; see current_region().
  std::uint64_t region() const { return region_; }
  Value in_region(std::uint64_t region) const;
  /// @}

 private:
  std::shared_ptr<Node> node_;
  int output_ = 0;
  Tensor data_;
  bool defined_ = false;
  bool weak_ = false;
  bool border_ = false;
  std::uint64_t region_ = 0;
};

/// Prints a concrete Value like its tensor, a symbolic one as "symbolic float32 (?, 10)", an undefined one as
/// "undefined".
MEZZO_API std::ostream& operator<<(std::ostream& out, const Value& value);

}  // namespace mezzo
