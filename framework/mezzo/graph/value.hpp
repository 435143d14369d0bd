#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/core/shape_view.hpp>
#include <mezzo/core/size.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

namespace detail {
struct Node;
}  // namespace detail
class Value;
using Values = std::vector<Value>;  ///< several inputs or outputs, in order

/// Operand and result of ops, for layers, losses and metrics. Inside a trace it is a symbol (an output of a node) with
/// known shape and dtype; outside, a concrete array. A C++ number converts to a weak Value: it takes the dtype of the
/// other operand. Cheap to copy.
class MEZZO_API Value {
 public:
  /// Undefined: has neither node nor array. A Value that was moved from is undefined, too.
  Value() = default;

  /// A weak scalar.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Value(Number number)
      : data_(Tensor::scalar(static_cast<double>(number),
                             std::is_floating_point_v<Number> ? DType::float64 : DType::int64)),
        defined_(true),
        weak_(true) {}

  /// A weak scalar. Throws a ShapeError if the size isn't known.
  Value(const Size& size) : Value(static_cast<std::int64_t>(size)) {}

  /// A concrete array.
  Value(Tensor tensor) : data_(std::move(tensor)), defined_(true) {}

  /// Output `output` of a node.
  Value(std::shared_ptr<detail::Node> node, int output) : node_(std::move(node)), output_(output), defined_(true) {}

  bool defined() const { return defined_; }  ///< false: default-constructed, without a node or numbers

  /// Sizes of the axes, outermost first. In a functional graph the batch size is unknown, and each size that Input left
  /// open: `shape(x)` of <mezzo/ops/shape.hpp> returns these as Values. The view is valid as long as the Value.
  ShapeView shape() const;
  DType dtype() const;

  /// True if there are no numbers yet.
  bool symbolic() const;

  /// The numbers. Throws a ValueError if the Value is undefined or symbolic (no numbers until the plan runs).
  Tensor tensor() const;

  /// The number of a one-element Value. Errors as tensor(), and a ShapeError for another number of elements.
  double item() const { return tensor().item(); }

  /// Elements by index, as NumPy's x[...]: `x(0, 1)`, `x(slice(1, 3), all)`, `x(ellipsis, -1)`; see Index in
  /// <mezzo/ops/index.hpp>, which must be included.
  template <class... Indices>
  auto operator()(const Indices&... indices) const -> decltype(get_item(*this, indices...)) {
    return get_item(*this, indices...);
  }

  /// Deleted: a symbolic Value is neither true nor false while the step is traced.
  explicit operator bool() const = delete;

  /// Mask of the Value, as Keras' `_keras_mask`: bool, true where the Value counts, with its first axes, (batch,
  /// steps). Undefined: there is none. Layers and losses read it; results of ops have none.
  Value mask() const { return mask_ ? *mask_ : Value(); }

  /// The same Value with that mask in place of its own; an undefined one removes it. A DTypeError unless it is bool, a
  /// ShapeError if it has more axes than the Value.
  Value with_mask(const Value& mask) const;

  /// @name For code that builds graphs
  /// @{
  const std::shared_ptr<detail::Node>& node() const { return node_; }
  int output() const { return output_; }
  bool weak() const { return weak_; }
  bool same_as(const Value& other) const;

  /// True if autocast applies: an input of the running layer, or a variable.
  bool crosses_border() const { return border_; }
  Value across_border(bool crosses = true) const;

  /// Id of the autocast() region in which the Value was computed; see current_region().
  std::uint64_t region() const { return region_; }
  Value in_region(std::uint64_t region) const;
  /// @}

 private:
  std::shared_ptr<detail::Node> node_;
  int output_ = 0;
  Tensor data_;
  detail::UnlessMoved defined_ = false;
  bool weak_ = false;
  bool border_ = false;
  std::uint64_t region_ = 0;
  std::shared_ptr<const Value> mask_;
};

/// A Value converts to a Tensor: `Tensor y = x / 255`. A ValueError if it is symbolic, as Value::tensor().
template <>
struct TensorAdapter<Value> {
  static Tensor to_tensor(const Value& value) { return value.tensor(); }
};

/// Prints a concrete Value like its tensor, a symbolic one as "symbolic float32 (?, 10)", an undefined one as
/// "undefined".
MEZZO_API std::ostream& operator<<(std::ostream& out, const Value& value);

}  // namespace mezzo
