#pragma once
#include <mezzo/training/loggers/protobuf.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// The ops of a call of the module in inference, a message `tensorflow.GraphDef` for TensorBoard: names are the paths
/// of layers, op and, if needed, a number. The policy is that of the module, without a Trainer's. A module that was
/// never called as a layer, because its steps call its layers, has a node for each layer and no edges.
ProtoMessage graph_def(Module& module);

}  // namespace mezzo::detail
