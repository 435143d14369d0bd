#include <mezzo/onnx/onnx_file.hpp>

#include <cstdint>
#include <limits>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t message_limit = std::numeric_limits<std::int32_t>::max();  // Protobuf's

}  // namespace

::onnx::ModelProto read_onnx_file(const std::string& path, const std::string& where) {
  std::optional<std::string> other_kind;
  try {
    check_kind(path, {FileKind::onnx}, where, "an ONNX file");
  } catch (const FileError& error) {
    other_kind = error.what();  // unless the suffix alone is that of another kind
  }
  ::onnx::ModelProto model;
  try {
    const Bytes bytes = read_file(path, message_limit);
    if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      fail<FileError>(where, "the file is damaged, or isn't an ONNX file");
    }
  } catch (const FileError&) {
    if (other_kind) throw FileError(*other_kind);
    throw;
  }
  if (model.has_graph()) return model;
  if (other_kind) throw FileError(*other_kind);
  fail<FileError>(where, "the file must have a graph; it has none");
}

void write_onnx_file(const ::onnx::ModelProto& model, const std::string& path, const std::string& where) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > message_limit) {
    fail<ValueError>(where, "the message of an ONNX file must have at most {} bytes; got {}", message_limit,
                     bytes.size());
  }
  replace_file(path, bytes, where);
}

}  // namespace mezzo::detail
