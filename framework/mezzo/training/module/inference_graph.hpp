#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// Inputs of a built layer, with -1 for open sizes: those of its Inputs, else those of the call that built it. Empty if
/// they are unknown.
MEZZO_API std::vector<Spec> input_specs(const LayerState& state);

/// Traces what predict() computes for inputs of these specs, without passes: the graph's outputs are those of the
/// module, floats of them as float32 or float64. All sizes must be known. The module's state stays as it is. Throws
/// what the layers' checks throw.
MEZZO_API Graph inference_graph(Module& module, const std::vector<Spec>& inputs);

/// Names in weight files of the module's variables.
MEZZO_API std::unordered_map<const VariableState*, std::string> weight_file_names(const Module& module);

}  // namespace mezzo::detail
