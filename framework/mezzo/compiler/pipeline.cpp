#include <mezzo/compiler/pipeline.hpp>

namespace mezzo {

Graph run_passes(Graph graph, const PipelineOptions& options) {
  // Differentiation is not a pass: gradients() does it in the trace, so that a step can use its own gradients.
  graph = simplify(graph);
  if (options.fuse) {
    graph = fuse_epilogues(graph);
    graph = fuse_batch_norm(graph);
    graph = fuse_bias_gradients(graph);
    graph = simplify(graph);
    graph = fuse_normalized_inputs(graph);
    graph = fuse_norm_gradients(graph);
    graph = recompute_norms(graph);
    graph = fuse_recurrent_gradients(graph);
    graph = compact_gradients(graph);
    graph = simplify(fuse_elementwise(graph));
    graph = fuse_compute_copies(read_masters(graph));
  }
  // There is no layout pass: activations are NHWC and dense everywhere, and kernels pack weights in their scratch
  // memory. Plan assigns memory.
  return graph;
}

}  // namespace mezzo
