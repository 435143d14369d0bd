#pragma once
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

/// Specialised by a header that adapts a foreign array (`<mezzo/xtensor.hpp>`): `static Tensor to_tensor(const A&)`
/// and `static A from_tensor(const Tensor&)`.
template <class A, class = void>
struct TensorAdapter;

/// The one host array: dense, row-major, 64-byte aligned. A value: copies share their bytes until one of them is
/// written to (copy on write), so passing a Tensor is cheap and never aliases.
class Tensor {
 public:
  /// Shape (0,), float32.
  Tensor();

  /// Zeros. Throws a ShapeError if a size is negative.
  explicit Tensor(Shape shape, DType dtype = DType::float32);

  /// From row-major elements; a ShapeError if their number isn't the shape's.
  template <class T, class = decltype(DTypeOf<T>::value)>
  Tensor(Shape shape, const std::vector<T>& elements) : Tensor(std::move(shape), DTypeOf<T>::value) {
    check_count(elements.size());
    T* out = mutable_data<T>();
    for (std::size_t i = 0; i < elements.size(); ++i) out[i] = elements[i];
  }

  /// From an array for which a TensorAdapter is in sight, such as xt::xarray.
  template <class A, class = decltype(TensorAdapter<A>::to_tensor(std::declval<const A&>()))>
  Tensor(const A& array) : Tensor(TensorAdapter<A>::to_tensor(array)) {}

  /// To such an array; a DTypeError if its elements are of another type.
  template <class A, class = decltype(TensorAdapter<A>::from_tensor(std::declval<const Tensor&>()))>
  operator A() const {
    return TensorAdapter<A>::from_tensor(*this);
  }

  /// A tensor whose elements are not set, for code that writes all of them.
  static Tensor uninitialized(Shape shape, DType dtype);

  /// A scalar of shape ().
  static Tensor scalar(double value, DType dtype = DType::float32);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * dtype_size(dtype_); }

  /// The elements; a DTypeError if they are not of type T.
  template <class T>
  const T* data() const {
    check_dtype(DTypeOf<T>::value);
    return static_cast<const T*>(raw());
  }

  /// The elements for writing: first makes them this tensor's own.
  template <class T>
  T* mutable_data() {
    check_dtype(DTypeOf<T>::value);
    return static_cast<T*>(mutable_raw());
  }

  const void* raw() const { return bytes_.get(); }
  void* mutable_raw();

  /// Whether another tensor holds the same bytes, so that writing would copy them first.
  bool shared() const;

  /// The number in a tensor of one element, whatever its dtype; a ShapeError if there are more or none.
  double item() const;

  /// Elements as doubles, row-major.
  std::vector<double> to_doubles() const;

  /// The same elements in another dtype, as convert() of <mezzo/core/convert.hpp> has it: rounded to nearest even;
  /// floats to integers truncate, to bool test != 0.
  Tensor cast(DType dtype) const;

  /// The same elements in another shape of the same size; one -1 is worked out. Shares the bytes.
  Tensor reshape(const Shape& shape) const;

  /// Rows [begin, end) along axis 0, copied.
  Tensor slice(std::int64_t begin, std::int64_t end) const;

  /// A deep copy that shares nothing.
  Tensor copy() const;

  /// Same shape, dtype and bits.
  bool equal(const Tensor& other) const;

  /// "float32 (2, 3)".
  std::string describe() const;

 private:
  Tensor(Shape shape, DType dtype, bool zero);
  void check_count(std::size_t count) const;
  void check_dtype(DType asked) const;

  Shape shape_;
  DType dtype_ = DType::float32;
  std::int64_t size_ = 0;
  std::shared_ptr<void> bytes_;
};

/// Prints dtype, shape and elements in aligned columns, as numpy does. Of an axis of a tensor of more than 1000
/// elements only the first and the last three are printed. Floats have the stream's precision, 6 digits by default.
///
///     float32 (2, 2)
///     [[ 1.5,  2. ],
///      [-3. ,  0. ]]
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace mezzo
