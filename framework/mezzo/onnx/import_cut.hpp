#pragma once
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

/// Ends a graph at these outputs: names of values, of nodes (their first output), or of the layers that these are.
/// Removes the nodes, inputs and initializers that none of them needs. A NameError that starts with `where` for another
/// name.
void cut_onnx_graph(::onnx::ModelProto& model, const std::vector<std::string>& outputs, const std::string& where);

}  // namespace mezzo::detail
