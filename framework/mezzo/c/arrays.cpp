#include <mezzo/c/arrays.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <mezzo/c/versioned.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

struct DTypeNumber {
  std::int32_t number;
  DType dtype;
};

constexpr DTypeNumber dtype_numbers[] = {{MEZZO_FLOAT32, DType::float32},   {MEZZO_FLOAT64, DType::float64},
                                         {MEZZO_BFLOAT16, DType::bfloat16}, {MEZZO_FLOAT16, DType::float16},
                                         {MEZZO_INT8, DType::int8},         {MEZZO_INT16, DType::int16},
                                         {MEZZO_INT32, DType::int32},       {MEZZO_INT64, DType::int64},
                                         {MEZZO_UINT8, DType::uint8},       {MEZZO_BOOL, DType::boolean}};

constexpr std::size_t least_array = offsetof(mezzo_array, dtype) + sizeof(std::int32_t);
constexpr std::size_t least_buffer = offsetof(mezzo_buffer, shape) + sizeof(mezzo_buffer::shape);

Tensor tensor_of(const mezzo_array& array, const std::string& where) {
  if (array.rank < 0 || array.rank > MEZZO_MAX_RANK) {
    fail<ShapeError>(where, "rank must be 0 to {}; got {}", static_cast<int>(MEZZO_MAX_RANK), array.rank);
  }
  if (array.shape == nullptr && array.rank > 0) {
    throw StatusError{MEZZO_ERROR_ARGUMENT, fmt::format("{} shape must not be NULL", where)};
  }
  const auto row = std::find_if(std::begin(dtype_numbers), std::end(dtype_numbers),
                                [&](const DTypeNumber& one) { return one.number == array.dtype; });
  if (row == std::end(dtype_numbers)) {
    fail<DTypeError>(where, "dtype must be MEZZO_FLOAT32 ({}) to MEZZO_BOOL ({}); got {}",
                     static_cast<int>(MEZZO_FLOAT32), static_cast<int>(MEZZO_BOOL), array.dtype);
  }
  const Shape shape(array.shape, array.shape + array.rank);
  std::size_t bytes = dtype_size(row->dtype);
  for (const std::int64_t size : shape) {
    if (size < 0) fail<ShapeError>(where, "sizes must be 0 or more; got shape {}", shape);
    const auto factor = static_cast<std::size_t>(size);
    if (factor != 0 && bytes > std::numeric_limits<std::size_t>::max() / factor) {
      fail<ShapeError>(where, "the elements must fit into memory; got shape {}", shape);
    }
    bytes *= factor;
  }
  if (bytes != array.bytes) {
    fail<ShapeError>(where, "bytes must be {} for {} {}; got {}", bytes, row->dtype, shape, array.bytes);
  }
  return Tensor::from_memory(array.data, shape, row->dtype, nullptr);
}

}  // namespace

std::int32_t c_dtype_of(DType dtype) {
  const auto* const row = std::find_if(std::begin(dtype_numbers), std::end(dtype_numbers),
                                       [&](const DTypeNumber& one) { return one.dtype == dtype; });
  if (row == std::end(dtype_numbers)) {
    fail<DTypeError>("", "arrays of the C interface must not be float8; got {}: cast to float32 first", dtype);
  }
  return row->number;
}

Tensors tensors_of(const mezzo_array* arrays, std::size_t count, const char* function, const char* what) {
  if (count == 0) return {};
  require_pointer(arrays, function, what);
  std::vector<Tensor> list;
  std::vector<Tensors::Entry> entries;
  const std::size_t size = size_of(arrays, function, what, least_array);
  for (std::size_t i = 0; i < count; ++i) {
    const mezzo_array array = copy_of(element_of(arrays, size, i), function, what, least_array);
    const std::string where = fmt::format("[{}] {}[{}]:", function, what, i);
    Tensor tensor = tensor_of(array, where);
    if (array.name == nullptr) {
      list.push_back(std::move(tensor));
    } else {
      entries.emplace_back(array.name, std::move(tensor));
    }
  }
  if (entries.empty()) return list;
  if (!list.empty()) {
    fail<NameError>(fmt::format("[{}]", function), "{} must all have a name, or none; got {} of {}", what,
                    entries.size(), count);
  }
  return Tensors(std::move(entries));
}

void write_outputs(const std::vector<Tensor>& outputs, mezzo_buffer* buffers, std::size_t count, const char* function) {
  if (outputs.size() != count) {
    fail<ValueError>(fmt::format("[{}]", function), "output_count must be {}, that of the model; got {}",
                     outputs.size(), count);
  }
  const std::size_t size = size_of(buffers, function, "outputs", least_buffer);
  std::string small;
  std::vector<mezzo_buffer> known;
  for (std::size_t i = 0; i < count; ++i) {
    mezzo_buffer* const given = element_of(buffers, size, i);
    known.push_back(copy_of(given, function, "outputs", least_buffer));
    mezzo_buffer& buffer = known.back();
    const Tensor& output = outputs[i];
    if (output.shape().size() > MEZZO_MAX_RANK) {
      fail<ShapeError>(fmt::format("[{}] outputs[{}]:", function, i), "rank must be at most {}; got shape {}",
                       static_cast<int>(MEZZO_MAX_RANK), output.shape());
    }
    buffer.bytes = output.bytes();
    buffer.dtype = c_dtype_of(output.dtype());
    buffer.rank = static_cast<std::int32_t>(output.shape().size());
    std::copy(output.shape().begin(), output.shape().end(), buffer.shape);
    write_result(buffer, given, size);
    if (small.empty() && (buffer.capacity < buffer.bytes || (buffer.data == nullptr && buffer.bytes > 0))) {
      small = fmt::format("[{}] outputs[{}]: capacity must be at least {} bytes for {}; got {}{}", function, i,
                          buffer.bytes, output.describe(), buffer.capacity, buffer.data == nullptr ? " at NULL" : "");
    }
  }
  if (!small.empty()) throw StatusError{MEZZO_ERROR_BUFFER, small};
  for (std::size_t i = 0; i < count; ++i) {
    if (outputs[i].bytes() > 0) std::memcpy(known[i].data, outputs[i].raw(), outputs[i].bytes());
  }
}

}  // namespace mezzo::detail
