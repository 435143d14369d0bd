#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

using OnnxNames = std::unordered_set<std::string>;

/// Name of a node; of its first output, if it has none.
std::string onnx_node_name(const ::onnx::NodeProto& node);

/// Name of a node as that of a layer: "/layer1/conv1/Conv" is "layer1.conv1.Conv". "" if no layer can have it.
std::string onnx_layer_name(const std::string& node);

/// Adds all names that nodes of a body read, and those of its outputs.
void add_onnx_names_read(const ::onnx::GraphProto& graph, OnnxNames& names);

/// True for each node that an output needs.
std::vector<bool> needed_onnx_nodes(const ::onnx::GraphProto& graph);

}  // namespace mezzo::detail
