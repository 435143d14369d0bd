#pragma once
#if MEZZO_WITH_LIBHDF5
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include <mezzo/core/dtype.hpp>

// Parts of libhdf5's interface that writing needs.
namespace mezzo::detail {

/// An identifier of libhdf5, closed at the end of its lifetime.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  ~Hdf5Id() { reset(); }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    reset();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
    return *this;
  }
  Hdf5Id(const Hdf5Id&) = delete;
  Hdf5Id& operator=(const Hdf5Id&) = delete;

  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = -1;
  }

  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Holds the lock of libhdf5, whose calls share state, for its lifetime. The first one switches off messages on stderr
/// and plug-ins of filters.
class Hdf5Lock {
 public:
  Hdf5Lock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// First cause of the last error, in one printable line.
std::string hdf5_reason();

/// Type of the elements in files, little-endian. bfloat16 is opaque.
Hdf5Id hdf5_type(DType dtype);

}  // namespace mezzo::detail
#endif
