#include <mezzo/core/dtype.hpp>

#include <array>
#include <string_view>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo {
namespace {

struct Info {
  DType dtype;
  const char* name;
  std::size_t size;
  int rank;  // order of promotion; two dtypes of equal rank promote to one of a higher rank
};

constexpr std::array<Info, 12> infos{{{DType::float32, "float32", 4, 8},
                                      {DType::float64, "float64", 8, 9},
                                      {DType::bfloat16, "bfloat16", 2, 7},
                                      {DType::float16, "float16", 2, 7},
                                      {DType::int8, "int8", 1, 2},
                                      {DType::int16, "int16", 2, 3},
                                      {DType::int32, "int32", 4, 4},
                                      {DType::int64, "int64", 8, 5},
                                      {DType::uint8, "uint8", 1, 2},
                                      {DType::boolean, "bool", 1, 0},
                                      {DType::float8_e4m3fn, "float8_e4m3fn", 1, 1},
                                      {DType::float8_e5m2, "float8_e5m2", 1, 1}}};

const Info& info(DType dtype) { return infos[static_cast<std::size_t>(dtype)]; }

}  // namespace

const char* dtype_name(DType dtype) { return info(dtype).name; }

DType dtype_from_name(const std::string& name) {
  std::vector<std::string_view> valid;
  for (const Info& entry : infos) {
    if (name == entry.name) return entry.dtype;
    valid.emplace_back(entry.name);
  }
  fail_unknown("", "dtype", name, valid);
}

std::size_t dtype_size(DType dtype) { return info(dtype).size; }

bool is_floating(DType dtype) { return info(dtype).rank >= 7; }

bool is_float8(DType dtype) { return dtype == DType::float8_e4m3fn || dtype == DType::float8_e5m2; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a)) return is_floating(b) ? b : DType::float32;
  if (is_float8(b)) return promote(b, a);
  if (info(a).rank != info(b).rank) return info(a).rank > info(b).rank ? a : b;
  return is_floating(a) ? DType::float32 : DType::int16;  // bfloat16 with float16; int8 with uint8
}

DType accumulation_dtype(DType dtype) { return dtype == DType::float64 ? DType::float64 : DType::float32; }

void detail::fail_storage_dtype(DType dtype) {
  fail<DTypeError>("", "{} is a dtype for storage, which ops don't compute with: cast it to a float first", dtype);
}

}  // namespace mezzo
