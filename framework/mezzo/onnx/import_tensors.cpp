#include <mezzo/onnx/import_tensors.hpp>

#include <array>
#include <cstring>
#include <filesystem>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {
namespace {

using Proto = ::onnx::TensorProto;

std::string tensor_label(const Proto& tensor, const std::string& where) {
  return fmt::format("{} tensor \"{}\":", where, tensor.name());
}

/// Value of a key of external_data; none if it is missing.
std::optional<std::string> external_text(const Proto& tensor, const char* key) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return std::nullopt;
}

std::uint64_t external_number(const Proto& tensor, const char* key, std::uint64_t otherwise, const std::string& where) {
  const auto text = external_text(tensor, key);
  if (!text) return otherwise;
  const bool digits = !text->empty() && text->size() < 19 && text->find_first_not_of("0123456789") == std::string::npos;
  if (!digits) fail<FileError>(where, "{} of external data must be a number; got \"{}\"", key, *text);
  return std::stoull(*text);
}

/// Path of external data. A FileError unless it lies in the folder, also after links.
std::string external_path(const Proto& tensor, const std::string& folder, const std::string& where) {
  namespace fs = std::filesystem;
  const std::string location = external_text(tensor, "location").value_or("");
  const auto refuse = [&] {
    fail<FileError>(where,
                    "external data must be in the folder of the file, without \"..\" or a link out of it; got \"{}\"",
                    location);
  };
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos || folder.empty() || relative.is_absolute())
    refuse();
  for (const fs::path& part : relative) {
    if (part == "..") refuse();
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) refuse();
  const fs::path file = fs::canonical(root / relative, error);
  if (error) fail<FileError>(where, "external data \"{}\" can't be read: {}", location, error.message());
  const fs::path inside = file.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..") refuse();
  return file.string();
}

/// Reads external data. The place in the file is checked before memory is taken.
Tensor read_external(const Proto& tensor, const std::string& folder, const std::string& where, const Shape& shape,
                     DType dtype, std::uint64_t bytes) {
  const OpenFile file(external_path(tensor, folder, where), where);
  const std::uint64_t offset = external_number(tensor, "offset", 0, where);
  const std::uint64_t length = external_number(tensor, "length", bytes, where);
  if (length != bytes) fail<FileError>(where, "external data must have {} bytes; got {}", bytes, length);
  file.check_place(offset, bytes, where);
  Tensor out = Tensor::uninitialized(shape, dtype);
  file.read_unchanged(offset, out.mutable_raw(), bytes, where);
  return out;
}

/// Copies numbers of a list of the message; `To` is the type of the elements.
template <class To, class List>
void copy_list(const List& list, Tensor& out) {
  To* to = out.mutable_data<To>();
  for (const auto number : list) *to++ = static_cast<To>(number);
}

/// Copies numbers whose bits are the lower ones of integers.
template <class List>
void copy_halves(const List& list, Tensor& out) {
  auto* to = static_cast<std::uint16_t*>(out.mutable_raw());
  for (const auto bits : list) *to++ = static_cast<std::uint16_t>(bits);
}

int list_size(const Proto& tensor, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return tensor.float_data_size();
    case DType::float64:
      return tensor.double_data_size();
    case DType::int64:
      return tensor.int64_data_size();
    default:
      return tensor.int32_data_size();
  }
}

void copy_numbers(const Proto& tensor, Tensor& out) {
  switch (out.dtype()) {
    case DType::float32:
      return copy_list<float>(tensor.float_data(), out);
    case DType::float64:
      return copy_list<double>(tensor.double_data(), out);
    case DType::int64:
      return copy_list<std::int64_t>(tensor.int64_data(), out);
    case DType::int32:
      return copy_list<std::int32_t>(tensor.int32_data(), out);
    case DType::int16:
      return copy_list<std::int16_t>(tensor.int32_data(), out);
    case DType::int8:
      return copy_list<std::int8_t>(tensor.int32_data(), out);
    case DType::uint8:
      return copy_list<std::uint8_t>(tensor.int32_data(), out);
    case DType::boolean:
      return copy_list<bool>(tensor.int32_data(), out);
    case DType::float16:
    case DType::bfloat16:
      return copy_halves(tensor.int32_data(), out);
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      break;  // no type of a file is read as one
  }
}

}  // namespace

std::optional<DType> onnx_dtype(std::int32_t type) {
  switch (type) {
    case Proto::FLOAT:
      return DType::float32;
    case Proto::DOUBLE:
      return DType::float64;
    case Proto::FLOAT16:
      return DType::float16;
    case Proto::BFLOAT16:
      return DType::bfloat16;
    case Proto::INT8:
      return DType::int8;
    case Proto::INT16:
      return DType::int16;
    case Proto::INT32:
      return DType::int32;
    case Proto::INT64:
      return DType::int64;
    case Proto::UINT8:
      return DType::uint8;
    case Proto::BOOL:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

std::optional<DType> onnx_array_dtype(std::int32_t type) {
  if (type == onnx_int4) return DType::int8;
  return type == onnx_uint4 ? DType::uint8 : onnx_dtype(type);
}

std::string onnx_dtype_name(std::int32_t type) {
  constexpr std::array names{"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                             "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                             "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
  const auto place = static_cast<std::size_t>(type);
  return type >= 0 && place < names.size() ? names[place] : fmt::format("number {}", type);
}

Shape onnx_shape(const Proto& tensor, const std::string& where) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  for (const auto size : shape) {
    if (size < 0) fail<FileError>(tensor_label(tensor, where), "sizes must not be negative; got {}", size);
  }
  const auto bytes = checked_bytes(shape, 8);
  if (!bytes || *bytes > std::numeric_limits<std::uint64_t>::max() / 4) {
    fail<FileError>(tensor_label(tensor, where), "the shape has too many elements; got {} bytes",
                    describe_bytes(bytes));
  }
  return shape;
}

bool has_onnx_numbers(const Proto& tensor) {
  if (tensor.data_location() == Proto::EXTERNAL || tensor.has_raw_data()) return true;
  if (tensor.float_data_size() + tensor.double_data_size() + tensor.int64_data_size() + tensor.int32_data_size() > 0) {
    return true;
  }
  for (const auto size : tensor.dims()) {
    if (size == 0) return true;
  }
  return false;
}

namespace {

/// The numbers of an array with that shape and dtype.
Tensor read_numbers(const Proto& tensor, const std::string& folder, const std::string& label, const Shape& shape,
                    DType dtype) {
  const auto bytes = checked_bytes(shape, dtype).value_or(0);
  if (tensor.data_location() == Proto::EXTERNAL) return read_external(tensor, folder, label, shape, dtype, bytes);
  Tensor out = Tensor::uninitialized(shape, dtype);
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != bytes) {
      fail<FileError>(label, "shape {} needs {} bytes; got {}", shape, bytes, tensor.raw_data().size());
    }
    if (bytes > 0) std::memcpy(out.mutable_raw(), tensor.raw_data().data(), bytes);
    return out;
  }
  const int count = list_size(tensor, dtype);
  if (static_cast<std::uint64_t>(count) != bytes / dtype_size(dtype)) {
    fail<FileError>(label, "shape {} needs {} numbers; got {}", shape, bytes / dtype_size(dtype), count);
  }
  copy_numbers(tensor, out);
  return out;
}

/// Numbers of 4 bits, two a byte with the first one in the low half, as those of 8 bits.
Tensor unpacked(const Tensor& pairs, const Shape& shape, bool is_signed) {
  Tensor out = Tensor::uninitialized(shape, is_signed ? DType::int8 : DType::uint8);
  const auto* from = static_cast<const std::uint8_t*>(pairs.raw());
  auto* to = static_cast<std::uint8_t*>(out.mutable_raw());
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const int half = i % 2 == 0 ? from[i / 2] & 15 : from[i / 2] >> 4;
    to[i] = static_cast<std::uint8_t>(is_signed && half > 7 ? half - 16 : half);
  }
  return out;
}

}  // namespace

Tensor read_onnx_tensor(const Proto& tensor, const std::string& folder, const std::string& where) {
  const std::string label = tensor_label(tensor, where);
  const bool of_4_bits = tensor.data_type() == onnx_int4 || tensor.data_type() == onnx_uint4;
  const std::optional<DType> dtype = onnx_array_dtype(tensor.data_type());
  if (!dtype) {
    fail<FileError>(label, "mezzo has no dtype {}", onnx_dtype_name(tensor.data_type()));
  }
  const Shape shape = onnx_shape(tensor, where);
  if (of_4_bits) {
    const Shape pairs{(element_count(shape) + 1) / 2};
    return unpacked(read_numbers(tensor, folder, label, pairs, DType::uint8), shape, *dtype == DType::int8);
  }
  Tensor out = read_numbers(tensor, folder, label, shape, *dtype);
  if (*dtype == DType::boolean) check_bools(out.raw(), static_cast<std::uint64_t>(out.size()), label);
  return out;
}

}  // namespace mezzo::detail
