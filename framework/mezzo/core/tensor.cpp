#include <mezzo/core/tensor.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Pages of zeros. The system clears a page at its first access, so that the threads of a kernel share this work.
std::shared_ptr<void> allocate_pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t size = (bytes + page - 1) / page * page, mapped = size + huge_page;
  void* const begin = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  void* pages = begin;
  std::size_t space = mapped;
  std::align(huge_page, size, pages, space);
  const std::size_t before = mapped - space, after = space - size;
  if (before > 0) munmap(begin, before);
  if (after > 0) munmap(static_cast<std::byte*>(pages) + size, after);
  detail::ask_for_huge_pages(pages, bytes / huge_page * huge_page);
  return {pages, [size](void* pointer) { munmap(pointer, size); }};
}

// Zero bytes have an address too: memcpy and others require one.
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

std::shared_ptr<void> allocate(const Shape& shape, DType dtype, std::size_t bytes, bool zero) {
  try {
    if (zero && bytes >= 2 * huge_page) return allocate_pages(bytes);
    std::shared_ptr<void> memory = allocate(bytes);
    if (zero) std::memset(memory.get(), 0, bytes);
    return memory;
  } catch (const std::bad_alloc&) {
    fail<MemoryError>("[Tensor]", "{} {} needs {} bytes ({}); the system has not that much memory", dtype, shape, bytes,
                      detail::bytes_text(bytes));
  }
}

/// Memory of others. The pointer is not const, as that of memory that the tensor owns.
std::shared_ptr<void> borrowed(const void* data, std::shared_ptr<const void> owner) {
  return {std::const_pointer_cast<void>(std::move(owner)), const_cast<void*>(data)};
}

/// Number of elements of a shape. Throws a ShapeError if a size is negative or the size in bytes overflows.
std::int64_t checked_size(const Shape& shape, DType dtype) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) {
      fail<ShapeError>("[Tensor]", "sizes must be 0 or more; got {} on axis {} of {}", shape[axis], axis, shape.size());
    }
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t size = 1;
  std::int64_t bytes = 0;
  bool overflow = false;
  for (const auto length : shape) overflow = overflow || __builtin_mul_overflow(size, length, &size);
  if (overflow || __builtin_mul_overflow(size, static_cast<std::int64_t>(dtype_size(dtype)), &bytes)) {
    fail<ShapeError>("[Tensor]", "the size in bytes must be below 2^63; got shape {}", shape);
  }
  return size;
}

}  // namespace

Tensor::Tensor() : Tensor(Shape{0}) {}

Tensor::Tensor(Shape shape, DType dtype) : Tensor(std::move(shape), dtype, true) {}

Tensor::Tensor(Shape shape, DType dtype, bool zero)
    : shape_(std::move(shape)),
      dtype_(dtype),
      size_(checked_size(shape_, dtype)),
      bytes_(allocate(shape_, dtype, bytes(), zero)) {}

Tensor Tensor::uninitialized(Shape shape, DType dtype) { return Tensor(std::move(shape), dtype, false); }

Tensor Tensor::scalar(double value, DType dtype) {
  Tensor out = uninitialized({}, dtype);
  visit_stored_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    *out.mutable_data<T>() = convert<T>(value);
  });
  return out;
}

Tensor Tensor::from_memory(const void* data, Shape shape, DType dtype, std::shared_ptr<const void> owner) {
  constexpr const char* where = "[Tensor.from_memory]";
  const std::int64_t size = checked_size(shape, dtype);
  if (size == 0) return Tensor(std::move(shape), dtype);
  if (data == nullptr) fail<ValueError>(where, "data must point to {} {}; got a null pointer", dtype, shape);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % dtype_size(dtype) != 0) {
    fail<ValueError>(where, "data must be aligned to {} bytes, the size of {}; got the address {:#x}",
                     dtype_size(dtype), dtype, address);
  }
  Tensor out;
  out.shape_ = std::move(shape);
  out.dtype_ = dtype;
  out.size_ = size;
  out.is_view_ = true;
  out.bytes_ = borrowed(data, std::move(owner));
  return out;
}

Tensor Tensor::viewed(Shape shape) const {
  const std::int64_t size = checked_size(shape, dtype_);
  if (size != size_) fail<ShapeError>("[Tensor.from_memory]", "shape {} needs {} elements; got {}", shape, size, size_);
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

bool Tensor::shared() const {
  if (is_view_) return true;
  // Reading use_count() alone does not synchronize with another thread that has just released the bytes; copying the
  // pointer and destroying the copy does.
  const std::shared_ptr<void> another = bytes_;
  return another.use_count() > 2;
}

void Tensor::fail_moved() { detail::fail_moved(typeid(Tensor)); }

void* Tensor::mutable_raw() {
  if (bytes_.get() == nullptr) fail_moved();
  if (shared()) {
    bytes_ = copy().bytes_;
    is_view_ = false;
  }
  return bytes_.get();
}

double Tensor::item() const {
  if (size_ != 1) fail<ShapeError>("[Tensor.item]", "there must be 1 element; got {}", *this);
  return to_doubles().front();
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> out;
  try {
    out.resize(static_cast<std::size_t>(size_));
  } catch (const std::exception&) {  // bad_alloc or length_error
    const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(double);
    fail<MemoryError>("[Tensor.to_doubles]", "{} needs {} bytes ({}); the system has not that much memory", *this,
                      bytes, detail::bytes_text(bytes));
  }
  visit_stored_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    std::transform(data<T>(), data<T>() + size_, out.begin(), convert<double, T>);
  });
  return out;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor out = uninitialized(shape_, dtype);
  visit_stored_dtype(dtype_, [&](auto from_zero) {
    visit_stored_dtype(dtype, [&](auto to_zero) {
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
    *unknown = rest > 0 ? size_ / rest : -1;  // undetermined beside a size of 0
  }
  if (element_count(known) != size_) {
    fail<ShapeError>("[Tensor.reshape]", "the new shape must have {} elements, with at most one -1; got {} for {}",
                     size_, shape, *this);
  }
  Tensor out = *this;
  out.shape_ = std::move(known);
  return out;
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  if (shape_.empty()) fail<ShapeError>("[Tensor.slice]", "the tensor must have an axis 0; got {}", *this);
  const std::int64_t rows = shape_[0];
  if (begin < 0 || end < begin || end > rows) {
    fail<ValueError>("[Tensor.slice]", "rows must lie in [0, {}); got [{}, {})", rows, begin, end);
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

Tensor Tensor::owned() const { return is_view_ ? copy() : *this; }

bool Tensor::equal(const Tensor& other) const {
  return shape_ == other.shape_ && dtype_ == other.dtype_ && std::memcmp(raw(), other.raw(), bytes()) == 0;
}

std::string Tensor::describe() const { return fmt::format("{} {}", dtype_, shape_); }

void Tensor::check_count(std::size_t count) const {
  if (count != static_cast<std::size_t>(size_)) {
    fail<ShapeError>("[Tensor]", "shape {} needs {} elements; got {}", shape_, size_, count);
  }
}

void Tensor::check_dtype(DType requested) const {
  if (requested != dtype_) {
    fail<DTypeError>("[Tensor]", "the elements must be accessed as {}; got an access as {}", dtype_, requested);
  }
}

}  // namespace mezzo
