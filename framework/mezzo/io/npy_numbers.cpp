#include <algorithm>
#include <array>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/npy_format.hpp>

namespace mezzo::detail {
namespace {

constexpr std::array<std::pair<DType, const char*>, 9> written_dtypes{{{DType::float32, "<f4"},
                                                                       {DType::float64, "<f8"},
                                                                       {DType::float16, "<f2"},
                                                                       {DType::int8, "|i1"},
                                                                       {DType::int16, "<i2"},
                                                                       {DType::int32, "<i4"},
                                                                       {DType::int64, "<i8"},
                                                                       {DType::uint8, "|u1"},
                                                                       {DType::boolean, "|b1"}}};

/// Adds paths of the fields of a structured type: "x", "position.x".
void add_field_paths(const NpyType& type, const std::string& prefix, std::vector<std::string>& out) {
  for (const NpyRecordField& field : type.fields) {
    if (field.type.fields.empty()) {
      out.push_back(prefix + field.name);
    } else if (field.type.shape.empty()) {  // else the numbers of one of its fields lie apart
      add_field_paths(field.type, prefix + field.name + ".", out);
    }
  }
}

/// Finds a field by its path. Adds the offsets and axes on the way.
const NpyType* find_field(const NpyType& type, std::string_view path, NpyNumbers& numbers) {
  for (const NpyRecordField& field : type.fields) {
    const bool whole = path == field.name;
    const bool inside = path.size() > field.name.size() && path.substr(0, field.name.size()) == field.name &&
                        path[field.name.size()] == '.';
    if (!whole && !inside) continue;
    if (inside && !field.type.shape.empty()) continue;
    NpyNumbers found = numbers;
    found.begin += field.begin;
    found.shape.insert(found.shape.end(), field.type.shape.begin(), field.type.shape.end());
    const NpyType* type_found = &field.type;
    if (inside) type_found = find_field(field.type, path.substr(field.name.size() + 1), found);
    if (type_found == nullptr || !type_found->fields.empty()) continue;
    numbers = std::move(found);
    return type_found;
  }
  return nullptr;
}

/// Dtype of mezzo with elements of the same size.
DType stored_dtype(const NpyType& type) {
  if (type.dtype == DType::boolean) return DType::uint8;
  if (!type.is_large_unsigned()) return *type.dtype;
  return type.bytes == 2 ? DType::int16 : type.bytes == 4 ? DType::int32 : DType::int64;
}

}  // namespace

std::string npy_descr(DType dtype, const std::string& where) {
  for (const auto& [known, descr] : written_dtypes) {
    if (known == dtype) return descr;
  }
  fail<DTypeError>(where, "the dtype must be one that numpy has; got {}: cast to float32 first", dtype);
}

NpyNumbers npy_numbers(const NpyHeader& header, const std::string& field, const std::string& where) {
  NpyNumbers numbers;
  numbers.shape = header.shape;
  numbers.fortran_order = header.fortran_order;
  numbers.record = header.type.bytes;
  const NpyType* type = &header.type;
  std::vector<std::string> fields;
  add_field_paths(header.type, "", fields);
  if (!field.empty()) {
    if (fields.empty()) fail<NameError>(where, "the array must have fields to read \"{}\"; it has none", field);
    type = find_field(header.type, field, numbers);
    if (type == nullptr) fail_unknown(where, "field", field, fields);
  } else if (!fields.empty()) {
    fail<FileError>(where, "the array is structured: name one of its fields, {{.field = \"{}\"}}; it has {}",
                    fields.front(), fmt::join(fields, ", "));
  }
  if (!type->dtype) {
    const std::string advice = type->is_number() ? R"(: convert it in numpy, x.astype("int64") or the like)" : "";
    fail<FileError>(where, "the dtype must be one of {}; got {}{}", npy_dtype_names(), describe_npy_type(*type),
                    advice);
  }
  numbers.dtype = *type->dtype;
  numbers.stored = stored_dtype(*type);
  numbers.is_unsigned = type->is_large_unsigned();
  numbers.big_endian = type->big_endian;
  numbers.bytes = type->bytes;
  const std::size_t own = numbers.shape.size() - header.shape.size();
  for (std::size_t i = header.shape.size(); i < numbers.shape.size(); ++i) {
    numbers.bytes *= static_cast<std::uint64_t>(numbers.shape[i]);
  }
  if (own > 0 && numbers.fortran_order && header.shape.size() > 1) {
    fail<FileError>(where, "a field with axes of its own must be in an array in C order; got Fortran order");
  }
  if (own > 0) numbers.fortran_order = false;
  return numbers;
}

}  // namespace mezzo::detail
