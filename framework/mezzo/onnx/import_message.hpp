#pragma once
#include <set>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

/// Moves arrays of Constant nodes to the initializers, so that weights that a file holds in such nodes can train.
/// Returns their names.
std::set<std::string> move_onnx_constants(::onnx::ModelProto& model);

/// Replaces each Identity of a vector among the initializers by a copy: torch writes biases, scales and statistics with
/// equal numbers once. Larger arrays stay shared, as the tables of tied embeddings.
void separate_onnx_vectors(::onnx::ModelProto& model);

/// Removes the numbers of these initializers from a message. Moves numbers of the others into it, if they are in files
/// of `folder`, so that it can be kept without these.
void strip_onnx_numbers(::onnx::ModelProto& model, const std::vector<std::string>& weights, const std::string& folder,
                        const std::string& where);

/// The message in base64, for configs of models, and back. A ValueError for a text that isn't one.
std::string onnx_message_text(const ::onnx::ModelProto& model);
::onnx::ModelProto onnx_message(const std::string& text);

}  // namespace mezzo::detail
