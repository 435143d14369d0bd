#if MEZZO_WITH_LIBHDF5
#include <mezzo/io/hdf5_library.hpp>

#include <algorithm>
#include <cstdint>

namespace mezzo::detail {
namespace {

std::recursive_mutex& hdf5_mutex() {
  static auto* const one = new std::recursive_mutex;
  return *one;
}

herr_t keep_first(unsigned index, const H5E_error2_t* error, void* to) {
  if (index == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
  return 0;
}

/// IEEE's type with 16 bits, which libhdf5 1.10 has no name for.
Hdf5Id float16_type() {
  Hdf5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.get(), 15, 10, 5, 0, 10);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), 15);
  return type;
}

/// h5py's type of bools.
Hdf5Id bool_type() {
  Hdf5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

hid_t named_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return H5T_IEEE_F32LE;
    case DType::float64:
      return H5T_IEEE_F64LE;
    case DType::int8:
      return H5T_STD_I8LE;
    case DType::int16:
      return H5T_STD_I16LE;
    case DType::int32:
      return H5T_STD_I32LE;
    case DType::int64:
      return H5T_STD_I64LE;
    default:
      return H5T_STD_U8LE;
  }
}

}  // namespace

Hdf5Lock::Hdf5Lock() : lock_(hdf5_mutex()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread
  H5PLset_loading_state(0);
}

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  if (reason.size() > 120) reason.resize(120);
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return reason.empty() ? "no reason" : reason;
}

Hdf5Id hdf5_type(DType dtype) {
  if (dtype == DType::float16) return float16_type();
  if (dtype == DType::boolean) return bool_type();
  if (dtype == DType::bfloat16) {
    Hdf5Id type(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);
    H5Tset_tag(type.get(), "");
    return type;
  }
  return {H5Tcopy(named_type(dtype)), H5Tclose};
}

}  // namespace mezzo::detail
#endif
