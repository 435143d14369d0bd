#include <mezzo/core/dtype.hpp>

#include <array>
#include <string_view>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

struct Info {
  DType dtype;
  const char* name;
  std::size_t size;
  int rank;  // order of promotion; two dtypes of equal rank promote to one of a higher rank
};

constexpr std::array<Info, 10> infos{{{DType::float32, "float32", 4, 8},
                                      {DType::float64, "float64", 8, 9},
                                      {DType::bfloat16, "bfloat16", 2, 7},
                                      {DType::float16, "float16", 2, 7},
                                      {DType::int8, "int8", 1, 2},
                                      {DType::int16, "int16", 2, 3},
                                      {DType::int32, "int32", 4, 4},
                                      {DType::int64, "int64", 8, 5},
                                      {DType::uint8, "uint8", 1, 2},
                                      {DType::boolean, "bool", 1, 0}}};

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

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (info(a).rank != info(b).rank) return info(a).rank > info(b).rank ? a : b;
  return is_floating(a) ? DType::float32 : DType::int16;  // bfloat16 with float16; int8 with uint8
}

DType accumulation_dtype(DType dtype) { return dtype == DType::float64 ? DType::float64 : DType::float32; }

}  // namespace mezzo
