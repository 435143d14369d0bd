#include <mezzo/backends/xsimd/attention/pairs.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// The scratch memory of a thread.
struct Space {
  FloatRows keys, transposed_keys, values, queries, scores, results;
  float* inverse_sums;
  Index taken;

  Space(const AttentionHeads& heads, float* at) {
    FloatPieces pieces(at);
    const AttentionShape& shape = heads.shape;
    // Keys and values share memory: keys are needed until they are transposed, values from then on.
    const Index size = heads.padded(shape.size), value_size = heads.padded(shape.value_size);
    keys = values = pieces.take(shape.keys, std::max(size, value_size));
    keys.width = size;
    values.width = value_size;
    transposed_keys = pieces.take(shape.size, heads.scores_width());
    queries = pieces.take(heads.block(), size);
    scores = pieces.take(heads.block(), heads.scores_width());
    results = pieces.take(heads.block(), value_size);
    inverse_sums = pieces.take(1, heads.block()).data;
    taken = pieces.taken();
  }
};

/// Operands and the result of the head after this one.
NextRows next_rows(const AttentionHeads& heads, const KernelArguments& arguments, Index head) {
  const AttentionShape& shape = heads.shape;
  return heads.next_rows(head,
                         {{arguments.inputs[1], shape.keys, shape.size},
                          {arguments.inputs[2], shape.keys, shape.value_size},
                          {arguments.inputs[0], shape.queries, shape.size},
                          {arguments.outputs[0], shape.queries, shape.value_size}},
                         heads.turns_of_scores() + heads.turns(shape.value_size));
}

void run_head(const AttentionHeads& heads, const KernelArguments& arguments, Index head, const Space& space,
              const DropoutRule& rule) {
  const AttentionShape& shape = heads.shape;
  const AttentionFunctions& f = heads.functions;
  const auto widen = f.widen[heads.dtype];
  widen(heads.rows(arguments.inputs[1], head, shape.keys, shape.size, 0, shape.keys), 1, space.keys);
  f.transpose(space.keys, shape.keys, shape.size, space.transposed_keys);
  widen(heads.rows(arguments.inputs[2], head, shape.keys, shape.value_size, 0, shape.keys), 1, space.values);
  NextRows next = next_rows(heads, arguments, head);
  heads.for_blocks([&](Index first, Index count) {
    widen(heads.rows(arguments.inputs[0], head, shape.queries, shape.size, first, count),
          static_cast<float>(shape.scale), space.queries);
    const ScoreRows rows = heads.scores(arguments, head, first, count, space.scores, rule);
    const Index visible = rows.visible(count - 1);
    heads.multiply(space.queries, space.transposed_keys, space.scores, count, shape.size, visible, next);
    f.softmax(rows, arguments.out<float>(1) + head * shape.queries + first, space.inverse_sums);
    heads.multiply(space.scores, space.values, space.results, count, visible, shape.value_size, next);
    f.narrow[heads.dtype](space.results, 1, space.inverse_sums,
                          heads.rows(arguments.outputs[0], head, shape.queries, shape.value_size, first, count));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_scaled_dot_product_attention(const KernelRequest& request, Isa isa, std::string& reason) {
  if (PairHeads::take(request, 0, isa)) return make_attention_of_pairs(request, isa, reason);
  return make_head_kernel<AttentionHeads, Space>(request, 0, isa, reason, run_head);
}

Entries attention_entries() {
  return {entry<make_scaled_dot_product_attention>("scaled_dot_product_attention"),
          entry<make_scaled_dot_product_attention_gradient>("scaled_dot_product_attention_gradient"),
          entry<make_cached_attention>("cached_attention")};
}

}  // namespace mezzo::xsimd_kernels
