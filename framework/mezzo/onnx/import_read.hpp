#pragma once
#include <set>
#include <string>

#include <mezzo/onnx/import_graph.hpp>
#include <mezzo/onnx/onnx_messages.hpp>

namespace mezzo::detail {

/// Moves arrays of Constant nodes to the initializers, so that weights that a file holds in such nodes can train.
/// Returns their names.
std::set<std::string> move_onnx_constants(onnx::ModelProto& model);

/// Reads and checks the graph of a message. `folder`: where external data lies; "": there is none. Initializers of a
/// `saved` model may lack their numbers. Throws a FileError that starts with `where` and names the node and its
/// operator for a graph that isn't valid or can't run.
OnnxGraph read_onnx_graph(const onnx::ModelProto& model, const std::string& folder, bool saved,
                          const std::string& where);

}  // namespace mezzo::detail
