#pragma once
#include <string>

#include <onnx/onnx_pb.h>
#include <mezzo/onnx/import_graph.hpp>

namespace mezzo::detail {

/// Reads and checks the graph of a message. `folder`: where external data lies; "": there is none. Initializers of a
/// `saved` model may lack their numbers. Throws a FileError that starts with `where` and names the node and its
/// operator for a graph that isn't valid or can't run.
OnnxGraph read_onnx_graph(const ::onnx::ModelProto& model, const std::string& folder, bool saved,
                          const std::string& where);

}  // namespace mezzo::detail
