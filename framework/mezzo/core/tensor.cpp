#include <mezzo/core/tensor.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// Even an empty tensor has an address, so that memcpy and the like may be handed it.
std::shared_ptr<void> allocate(std::size_t bytes) {
  alignas(alignment) static std::byte nothing[alignment];
  if (bytes == 0) return {std::shared_ptr<void>(), &nothing};
  if (bytes >= 2 * huge_page && huge_pages()) {
    void* pages = ::operator new(bytes, std::align_val_t(huge_page));
    detail::ask_for_huge_pages(pages, bytes / huge_page * huge_page);
    return {pages, [](void* pointer) { ::operator delete(pointer, std::align_val_t(huge_page)); }};
  }
  return {::operator new(bytes, std::align_val_t(alignment)),
          [](void* pointer) { ::operator delete(pointer, std::align_val_t(alignment)); }};
}

// The number of elements of a shape whose bytes can be counted.
std::int64_t checked_size(const Shape& shape, DType dtype) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) {
      throw ShapeError("[Tensor] sizes must be 0 or more; got " + std::to_string(shape[axis]) + " on axis " +
                       std::to_string(axis) + " of " + std::to_string(shape.size()));
    }
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t size = 1;
  std::int64_t bytes = 0;
  bool overflow = false;
  for (const auto length : shape) overflow = overflow || __builtin_mul_overflow(size, length, &size);
  if (overflow || __builtin_mul_overflow(size, static_cast<std::int64_t>(dtype_size(dtype)), &bytes)) {
    throw ShapeError("[Tensor] the bytes must fit in 63 bits; got shape " + to_string(shape));
  }
  return size;
}

}  // namespace

Tensor::Tensor() : Tensor(Shape{0}) {}

Tensor::Tensor(Shape shape, DType dtype) : Tensor(std::move(shape), dtype, true) {}

Tensor::Tensor(Shape shape, DType dtype, bool zero)
    : shape_(std::move(shape)), dtype_(dtype), size_(checked_size(shape_, dtype)), bytes_(allocate(bytes())) {
  if (zero) std::memset(bytes_.get(), 0, bytes());
}

Tensor Tensor::uninitialized(Shape shape, DType dtype) { return Tensor(std::move(shape), dtype, false); }

Tensor Tensor::scalar(double value, DType dtype) {
  Tensor out = uninitialized({}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    *out.mutable_data<T>() = convert<T>(value);
  });
  return out;
}

bool Tensor::shared() const {
  // Reading the count alone would not wait until whoever let go of the bytes last, perhaps on another thread, has
  // finished with them; copying the pointer and dropping the copy does.
  const std::shared_ptr<void> another = bytes_;
  return another.use_count() > 2;
}

void* Tensor::mutable_raw() {
  if (shared()) bytes_ = copy().bytes_;
  return bytes_.get();
}

double Tensor::item() const {
  if (size_ != 1) throw ShapeError("[Tensor.item] there must be 1 element; got " + describe());
  return to_doubles().front();
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> out(static_cast<std::size_t>(size_));
  visit_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    std::transform(data<T>(), data<T>() + size_, out.begin(), convert<double, T>);
  });
  return out;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor out = uninitialized(shape_, dtype);
  visit_dtype(dtype_, [&](auto from_zero) {
    visit_dtype(dtype, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      std::transform(data<From>(), data<From>() + size_, out.mutable_data<To>(), convert<To, From>);
    });
  });
  return out;
}

Tensor Tensor::reshape(const Shape& shape) const {
  Shape known = shape;
  const auto unknown = std::find(known.begin(), known.end(), -1);
  if (unknown != known.end()) {
    *unknown = 1;
    const std::int64_t rest = element_count(known);
    *unknown = rest > 0 ? size_ / rest : 0;
  }
  if (element_count(known) != size_) {
    throw ShapeError("[Tensor.reshape] the new shape must have " + std::to_string(size_) +
                     " elements, with at most one -1; got " + to_string(shape) + " for " + describe());
  }
  Tensor out = *this;
  out.shape_ = std::move(known);
  return out;
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  if (shape_.empty()) throw ShapeError("[Tensor.slice] the tensor must have an axis 0; got " + describe());
  const std::int64_t rows = shape_[0];
  if (begin < 0 || end < begin || end > rows) {
    throw ValueError("[Tensor.slice] rows must lie in [0, " + std::to_string(rows) + "); got [" +
                     std::to_string(begin) + ", " + std::to_string(end) + ")");
  }
  Shape shape = shape_;
  shape[0] = end - begin;
  Tensor out = uninitialized(std::move(shape), dtype_);
  if (rows > 0) {
    const std::size_t row = bytes() / static_cast<std::size_t>(rows);
    std::memcpy(out.bytes_.get(), static_cast<const std::byte*>(raw()) + static_cast<std::size_t>(begin) * row,
                out.bytes());
  }
  return out;
}

Tensor Tensor::copy() const {
  Tensor out = uninitialized(shape_, dtype_);
  std::memcpy(out.bytes_.get(), raw(), bytes());
  return out;
}

bool Tensor::equal(const Tensor& other) const {
  return shape_ == other.shape_ && dtype_ == other.dtype_ && std::memcmp(raw(), other.raw(), bytes()) == 0;
}

std::string Tensor::describe() const { return dtype_name(dtype_) + (" " + to_string(shape_)); }

void Tensor::check_count(std::size_t count) const {
  if (count != static_cast<std::size_t>(size_)) {
    throw ShapeError("[Tensor] shape " + to_string(shape_) + " needs " + std::to_string(size_) + " elements; got " +
                     std::to_string(count));
  }
}

void Tensor::check_dtype(DType asked) const {
  if (asked != dtype_) {
    throw DTypeError("[Tensor] the elements are " + std::string(dtype_name(dtype_)) + "; they were asked for as " +
                     dtype_name(asked));
  }
}

}  // namespace mezzo
