#pragma once
#include <cstdint>
#include <string>

#include <onnx/onnx_pb.h>

namespace mezzo::detail {

/// Opens the batch of a graph that was written for one size: axis 0 of the first input, and of others of the same size.
/// Constant shapes of Reshape whose first size is that of the batch take any number. Returns that size, or -1 if the
/// batch is open already. `folder`: where external data lies. A ValueError that starts with `where` without an input
/// that has axes.
std::int64_t open_onnx_batch(::onnx::ModelProto& model, const std::string& folder, const std::string& where);

}  // namespace mezzo::detail
