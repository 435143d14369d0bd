#pragma once
#include <mezzo/onnx/export_graph.hpp>

namespace mezzo::detail {

/// Moves Transpose nodes behind elementwise operators, joins those that follow one another, and drops those that undo
/// one another. `outputs`: values that must keep their names.
void move_transposes(ExportGraph& graph, const ExportNames& outputs);

/// Stores arrays that are only read transposed in that order of axes.
void transpose_arrays(ExportGraph& graph);

/// Gives convolutions the vector that is added to their output as their bias.
void join_biases(ExportGraph& graph, const ExportNames& outputs);

/// Removes nodes and arrays on which no output depends.
void remove_unused(ExportGraph& graph, const ExportNames& outputs);

/// Gives a value that an Identity node names the name itself, where that is possible, and removes the node.
void name_outputs(ExportGraph& graph, const ExportNames& outputs);

}  // namespace mezzo::detail
