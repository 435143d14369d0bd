#include <algorithm>

#include <mezzo/backends/xsimd/attention/pairs.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// The scratch memory of a thread.
struct PairGradientSpace {
  PairPanels keys, transposed_keys, transposed_values, query_panels, cotangent_panels;
  PairRows queries, cotangents, weights, of_scores, interleaved_of_scores;
  FloatRows of_keys, of_values, scores, of_weights, of_queries, wide_cotangents;
  float* deltas;
  Index taken;

  PairGradientSpace(const PairHeads& heads, float* at) {
    PairPieces pieces(heads, at);
    const AttentionShape& shape = heads.shape;
    const Index block = heads.block();
    const Index size = heads.padded(shape.size), value_size = heads.padded(shape.value_size);
    keys = pieces.panels(shape.keys, shape.size);
    transposed_keys = pieces.panels(shape.size, shape.keys);
    transposed_values = pieces.panels(shape.value_size, shape.keys);
    query_panels = pieces.panels(block, shape.size);
    cotangent_panels = pieces.panels(block, shape.value_size);
    queries = pieces.rows(block, spread_width(shape.size / 2));
    cotangents = pieces.rows(block, spread_width(shape.value_size / 2));
    weights = pieces.rows(block / 2, heads.scores_width());
    of_scores = pieces.rows(block, spread_width(PairHeads::pairs(shape.keys)));
    interleaved_of_scores = pieces.rows(block / 2, heads.scores_width());
    of_keys = pieces.floats(shape.keys, size);
    of_values = pieces.floats(shape.keys, value_size);
    scores = pieces.floats(block, heads.scores_width());
    of_weights = pieces.floats(block, heads.scores_width());
    of_queries = pieces.floats(block, size);
    wide_cotangents = pieces.floats(block, value_size);
    deltas = pieces.floats(1, block).data;
    taken = pieces.taken();
  }
};

void run_head_gradient_of_pairs(const PairHeads& heads, const KernelArguments& arguments, Index head,
                                const PairGradientSpace& space, const DropoutRule& rule) {
  const AttentionShape& shape = heads.shape;
  const AttentionFunctions& f = heads.functions;
  const auto scale = static_cast<float>(shape.scale);
  const HeadRows keys = heads.rows(arguments.inputs[2], head, shape.keys, shape.size, 0, shape.keys);
  heads.pack(keys, space.keys);
  heads.transpose(keys, space.transposed_keys);
  heads.transpose(heads.rows(arguments.inputs[3], head, shape.keys, shape.value_size, 0, shape.keys),
                  space.transposed_values);
  std::fill_n(space.of_keys.data, shape.keys * space.of_keys.width, 0.0F);
  std::fill_n(space.of_values.data, shape.keys * space.of_values.width, 0.0F);
  heads.for_blocks([&](Index first, Index count) {
    const auto of = [&](const void* operand, Index size) {
      return heads.rows(operand, head, shape.queries, size, first, count);
    };
    const HeadRows query_rows = of(arguments.inputs[1], shape.size),
                   cotangent_rows = of(arguments.inputs[0], shape.value_size);
    const PairRows queries = PairHeads::copy(query_rows, space.queries),
                   cotangents = PairHeads::copy(cotangent_rows, space.cotangents);
    heads.pack(query_rows, space.query_panels);
    heads.pack(cotangent_rows, space.cotangent_panels);
    f.widen.bfloat16(cotangent_rows, 1, space.wide_cotangents);
    f.dots.bfloat16(space.wide_cotangents, of(arguments.inputs[4], shape.value_size), space.deltas);
    ScoreRows rows = heads.scores(arguments, head, first, count, space.scores, rule);
    rows.scale = scale;
    const Index visible = rows.visible(count - 1);
    heads.multiply(queries, space.transposed_keys, space.scores, count, shape.size, visible);
    heads.multiply(cotangents, space.transposed_values, space.of_weights, count, shape.value_size, visible);
    f.gradient.bfloat16(rows, arguments.in<float>(5) + head * shape.queries + first, space.deltas, space.of_weights);
    f.interleave_rows(space.scores, count, visible, space.weights);
    f.interleave_rows(space.of_weights, count, visible, space.interleaved_of_scores);
    f.narrow_rows(space.of_weights, count, visible, space.of_scores);
    heads.multiply(space.of_scores, space.keys, space.of_queries, count, visible, shape.size);
    f.narrow.bfloat16(space.of_queries, scale, nullptr, of(arguments.outputs[0], shape.size));
    heads.add_transposed(space.interleaved_of_scores, space.query_panels, space.of_keys, visible, count, shape.size);
    heads.add_transposed(space.weights, space.cotangent_panels, space.of_values, visible, count, shape.value_size);
  });
  f.narrow.bfloat16(space.of_keys, scale, nullptr,
                    heads.rows(arguments.outputs[1], head, shape.keys, shape.size, 0, shape.keys));
  f.narrow.bfloat16(space.of_values, 1, nullptr,
                    heads.rows(arguments.outputs[2], head, shape.keys, shape.value_size, 0, shape.keys));
}

}  // namespace

std::unique_ptr<Kernel> make_attention_gradient_of_pairs(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_head_kernel<PairHeads, PairGradientSpace>(request, 1, isa, reason, run_head_gradient_of_pairs);
}

}  // namespace mezzo::xsimd_kernels
