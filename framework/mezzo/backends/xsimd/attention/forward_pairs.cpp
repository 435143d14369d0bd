#include <mezzo/backends/xsimd/attention/pairs.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// The scratch memory of a thread.
struct PairSpace {
  PairPanels keys, values;
  PairRows queries, weights;
  FloatRows scores, results;
  float* inverse_sums;
  Index taken;

  PairSpace(const PairHeads& heads, float* at) {
    PairPieces pieces(heads, at);
    const AttentionShape& shape = heads.shape;
    keys = pieces.panels(shape.size, shape.keys);
    values = pieces.panels(shape.keys, shape.value_size);
    queries = pieces.rows(heads.block(), spread_width(shape.size / 2));
    weights = pieces.rows(heads.block(), spread_width(PairHeads::pairs(shape.keys)));
    scores = pieces.floats(heads.block(), heads.scores_width());
    results = pieces.floats(heads.block(), heads.padded(shape.value_size));
    inverse_sums = pieces.floats(1, heads.block()).data;
    taken = pieces.taken();
  }
};

void run_head_of_pairs(const PairHeads& heads, const KernelArguments& arguments, Index head, const PairSpace& space,
                       const DropoutRule& rule) {
  const AttentionShape& shape = heads.shape;
  heads.transpose(heads.rows(arguments.inputs[1], head, shape.keys, shape.size, 0, shape.keys), space.keys);
  heads.pack(heads.rows(arguments.inputs[2], head, shape.keys, shape.value_size, 0, shape.keys), space.values);
  heads.for_blocks([&](Index first, Index count) {
    const PairRows queries =
        PairHeads::copy(heads.rows(arguments.inputs[0], head, shape.queries, shape.size, first, count), space.queries);
    ScoreRows rows = heads.scores(arguments, head, first, count, space.scores, rule);
    rows.scale = static_cast<float>(shape.scale);
    rows.weights = space.weights;
    const Index visible = rows.visible(count - 1);
    heads.multiply(queries, space.keys, space.scores, count, shape.size, visible);
    heads.functions.softmax(rows, arguments.out<float>(1) + head * shape.queries + first, space.inverse_sums);
    heads.multiply(space.weights, space.values, space.results, count, visible, shape.value_size);
    heads.functions.narrow.bfloat16(
        space.results, 1, space.inverse_sums,
        heads.rows(arguments.outputs[0], head, shape.queries, shape.value_size, first, count));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_attention_of_pairs(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_head_kernel<PairHeads, PairSpace>(request, 0, isa, reason, run_head_of_pairs);
}

}  // namespace mezzo::xsimd_kernels
