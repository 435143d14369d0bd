#pragma once
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/number_list.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

/// Conversions between a foreign array type A and Tensor: `static Tensor to_tensor(const A&)` and
/// `static A from_tensor(const Tensor&)`. Specialized in headers that adapt array types (`<mezzo/xtensor.hpp>`).
template <class A, class = void>
struct TensorAdapter;

/// An array in host memory: contiguous, row-major, 64-byte aligned unless it is a view (from_memory). Copies share
/// their bytes until one of them is written to (copy on write): passing a Tensor is cheap, and writing to one never
/// changes another.
class MEZZO_API Tensor {
 public:
  /// An empty tensor: shape (0,), float32.
  Tensor();

  /// A tensor of zeros. Throws a ShapeError if a size is negative.
  explicit Tensor(Shape shape, DType dtype = DType::float32);

  /// Copies row-major elements. Throws a ShapeError if their number isn't that of the shape.
  template <class T, class = decltype(DTypeOf<T>::value)>
  Tensor(Shape shape, const std::vector<T>& elements) : Tensor(std::move(shape), DTypeOf<T>::value) {
    check_count(elements.size());
    T* out = mutable_data<T>();
    for (std::size_t i = 0; i < elements.size(); ++i) out[i] = elements[i];
  }

  /// The numbers in nested braces, at least two levels of them: `Tensor x = {{1, 2}, {3, 4}}`. One level is a shape,
  /// `Tensor({2, 3})`: use array({1, 2, 3}). The dtype is that of NumberList::dtype(). Throws a ShapeError for rows of
  /// different lengths.
  Tensor(std::initializer_list<detail::NumberRow> rows);

  /// Copies an array of a type with a TensorAdapter, such as xt::xarray.
  template <class A, class = decltype(TensorAdapter<A>::to_tensor(std::declval<const A&>()))>
  Tensor(const A& array) : Tensor(TensorAdapter<A>::to_tensor(array)) {}

  /// Copies to such an array. Throws a DTypeError if its elements are of another type.
  template <class A, class = decltype(TensorAdapter<A>::from_tensor(std::declval<const Tensor&>()))>
  operator A() const {
    return TensorAdapter<A>::from_tensor(*this);
  }

  /// A tensor with uninitialized elements, for code that writes all of them.
  static Tensor uninitialized(Shape shape, DType dtype);

  /// A tensor of shape ().
  static Tensor scalar(double value, DType dtype = DType::float32);

  /// A view of memory of others, which is not copied: the elements at `data`, row-major. Copies and reshapes of the
  /// tensor keep `owner` alive; with nullptr, the memory must outlive them. mezzo never writes to the
  /// memory: mutable_data() and mutable_raw() copy the elements first. Others may write to it while no call with the
  /// tensor runs; all copies of the tensor see that. Data sets keep views. Variables, layers, initializers and compiled
  /// graphs copy the elements.
  ///
  /// Throws a ValueError if `data` is null, unless there are no elements, or is not a multiple of the element's size, a
  /// ShapeError for sizes as in the constructor.
  static Tensor from_memory(const void* data, Shape shape, DType dtype, std::shared_ptr<const void> owner);

  /// The same with the dtype of T.
  template <class T, class = decltype(DTypeOf<T>::value)>
  static Tensor from_memory(const T* data, Shape shape, std::shared_ptr<const void> owner) {
    return from_memory(data, std::move(shape), DTypeOf<T>::value, std::move(owner));
  }

  /// A view of the elements of a vector, which it keeps alive: `Tensor::from_memory(elements, {2, 3})`. The vector must
  /// keep its size. Throws a ShapeError if the number of elements isn't that of the shape.
  template <class T, class = decltype(DTypeOf<T>::value)>
  static Tensor from_memory(const std::shared_ptr<const std::vector<T>>& elements, Shape shape) {
    Tensor out;
    if (elements && !elements->empty()) {
      out = from_memory(elements->data(), {static_cast<std::int64_t>(elements->size())}, elements);
    } else {
      out = Tensor({0}, DTypeOf<T>::value);
    }
    return out.viewed(std::move(shape));
  }

  /// The same for a vector that its owner may write to.
  template <class T, class = decltype(DTypeOf<T>::value)>
  static Tensor from_memory(const std::shared_ptr<std::vector<T>>& elements, Shape shape) {
    return from_memory(std::shared_ptr<const std::vector<T>>(elements), std::move(shape));
  }

  /// Sizes of the axes.
  const Shape& shape() const { return shape_; }

  /// Type of the elements.
  DType dtype() const { return dtype_; }

  /// Number of elements.
  std::int64_t size() const { return size_; }

  /// Size of the elements in bytes.
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * dtype_size(dtype_); }

  /// The elements, row-major; valid as long as the Tensor or a copy. Throws a DTypeError if they are not of type T.
  /// Deleted for temporary tensors, whose elements end with the statement: `const Tensor y = model.predict(x);` first.
  template <class T>
  const T* data() const& {
    check_dtype(DTypeOf<T>::value);
    return static_cast<const T*>(raw());
  }
  template <class T>
  const T* data() const&& = delete;

  /// The elements for writing. Copies them first if they are shared. Throws a DTypeError if they are not of type T.
  template <class T>
  T* mutable_data() {
    check_dtype(DTypeOf<T>::value);
    return static_cast<T*>(mutable_raw());
  }

  /// The elements as bytes; not null even if there are none. A ValueError if the tensor was moved from.
  const void* raw() const {
    if (bytes_.get() == nullptr) fail_moved();
    return bytes_.get();
  }

  /// The elements as bytes for writing. Copies them first if they are shared.
  void* mutable_raw();

  /// True if another tensor shares the bytes, or if they are memory of others; writing copies them first.
  bool shared() const;

  /// The value of a tensor with one element of any dtype. Throws a ShapeError if it has another number of elements.
  double item() const;

  /// The elements converted to double, row-major.
  std::vector<double> to_doubles() const;

  /// Converts the elements to another dtype, by the rules of convert() in <mezzo/core/convert.hpp>: floats round to
  /// nearest even, floats to integers truncate, and the result as bool is x != 0.
  Tensor cast(DType dtype) const;

  /// The same elements in another shape of the same size. One size may be -1, which is inferred. Shares the bytes.
  /// Throws a ShapeError if the sizes differ.
  Tensor reshape(const Shape& shape) const;

  /// Copies rows [begin, end) of axis 0. Throws a ShapeError for a scalar, a ValueError if the rows are out of range.
  Tensor slice(std::int64_t begin, std::int64_t end) const;

  /// Elements by index, as NumPy's x[...]: `x(0, 1)`, `x(slice(1, 3), all)`, `x(ellipsis, -1)`; see Index in
  /// <mezzo/ops/index.hpp>, which must be included. A copy: elements are written by mutable_data() or slice_update().
  template <class... Indices>
  auto operator()(const Indices&... indices) const -> decltype(get_item(*this, indices...)) {
    return get_item(*this, indices...);
  }

  /// A copy with bytes of its own.
  Tensor copy() const;

  /// The tensor itself, or a copy if it is a view (from_memory): for code that keeps it after a call.
  Tensor owned() const;

  /// True if shape, dtype and bits are equal.
  bool equal(const Tensor& other) const;

  /// Dtype and shape: "float32 (2, 3)".
  std::string describe() const;

 private:
  Tensor(Shape shape, DType dtype, bool zero);
  void check_count(std::size_t count) const;
  Tensor viewed(Shape shape) const;
  void check_dtype(DType requested) const;
  [[noreturn]] static void fail_moved();

  Shape shape_;
  DType dtype_ = DType::float32;
  bool is_view_ = false;  // of memory that mezzo must not write to
  std::int64_t size_ = 0;
  std::shared_ptr<void> bytes_;
};

/// The numbers in braces, `array({1, 2, 3})`, `array({{1, 2}, {3, 4}})`, or a scalar, `array(0.5)`. The default dtype
/// is that of NumberList::dtype(). Throws a ShapeError for lists of different lengths.
MEZZO_API Tensor array(const detail::NumberList& numbers, std::optional<DType> dtype = std::nullopt);

/// Prints dtype, shape and elements in aligned columns, as numpy does. For a tensor of more than 1000 elements, only
/// the first and the last three elements of each axis are printed. Floats have the stream's precision, 6 digits by
/// default.
///
///     float32 (2, 2)
///     [[ 1.5,  2. ],
///      [-3. ,  0. ]]
MEZZO_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace mezzo
