#pragma once
#include <string>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

/// Reads the message of an ONNX file; its external data stays in its files. Throws a FileError that starts with `where`
/// if the file is missing, of another kind, damaged or larger than 2 GiB, the most that a message can have.
::onnx::ModelProto read_onnx_file(const std::string& path, const std::string& where);

/// Writes or replaces the file atomically. Throws a FileError that starts with `where` if the file can't be written, or
/// a ValueError if the message is larger than 2 GiB.
void write_onnx_file(const ::onnx::ModelProto& model, const std::string& path, const std::string& where);

}  // namespace mezzo::detail
