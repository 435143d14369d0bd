#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>
#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Numbers of TensorProto::DataType that older versions of ONNX's messages lack.
constexpr std::int32_t onnx_uint4 = 21, onnx_int4 = 22;

/// Dtype of a number of TensorProto::DataType; none for those that mezzo doesn't have.
std::optional<DType> onnx_dtype(std::int32_t type);

/// Dtype in which an array is read: numbers of 4 bits as those of 8 bits.
std::optional<DType> onnx_array_dtype(std::int32_t type);

/// "UINT16", for errors.
std::string onnx_dtype_name(std::int32_t type);

/// Sizes of a tensor. Throws a FileError for negative sizes or too many elements.
Shape onnx_shape(const ::onnx::TensorProto& tensor, const std::string& where);

/// True if the message, or another file, holds the numbers. Arrays without elements always have them.
bool has_onnx_numbers(const ::onnx::TensorProto& tensor);

/// Reads the numbers of a tensor; those of 4 bits become int8 or uint8. Those outside of the message are in a file in
/// `folder` or below; an empty folder: there are none. Throws a FileError that starts with `where` if there are more or
/// fewer numbers than the shape says, or for a file outside of the folder.
Tensor read_onnx_tensor(const ::onnx::TensorProto& tensor, const std::string& folder, const std::string& where);

}  // namespace mezzo::detail
