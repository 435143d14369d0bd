#pragma once
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

/// Removes the numbers of these initializers from a message. Moves numbers of the others into it, if they are in files
/// of `folder`, so that it can be kept without these.
void strip_onnx_numbers(::onnx::ModelProto& model, const std::vector<std::string>& weights, const std::string& folder,
                        const std::string& where);

/// The message in base64, for configs of models, and back. A ValueError for a text that isn't one.
std::string onnx_message_text(const ::onnx::ModelProto& model);
::onnx::ModelProto onnx_message(const std::string& text);

}  // namespace mezzo::detail
