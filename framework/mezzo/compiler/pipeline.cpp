#include <mezzo/compiler/pipeline.hpp>

namespace mezzo {

Graph run_passes(Graph graph, const PipelineOptions& options) {
  // differentiate: done in the trace, by gradients(), so that a step can use its own gradients
  graph = simplify(graph);
  if (options.fuse) {
    graph = fuse_epilogues(graph);
    graph = fuse_batch_norm(graph);
    graph = fuse_bias_gradients(graph);
    graph = simplify(graph);
    graph = compact_gradients(graph);
    graph = fuse_compute_copies(graph);
  }
  // layout: activations are nhwc and dense everywhere; kernels pack weights in their scratch
  // memory: by Plan, on the flat list of kernels
  return graph;
}

}  // namespace mezzo
