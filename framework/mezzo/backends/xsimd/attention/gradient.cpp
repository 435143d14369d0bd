#include <mezzo/backends/xsimd/attention/pairs.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// The scratch memory of a thread.
struct GradientSpace {
  FloatRows keys, transposed_keys, transposed_values, of_keys, of_values;
  FloatRows queries, cotangents, weights, of_scores, of_queries;
  float* deltas;
  Index taken;

  GradientSpace(const AttentionHeads& heads, float* at) {
    FloatPieces pieces(at);
    const AttentionShape& shape = heads.shape;
    const Index block = heads.block();
    const Index size = heads.padded(shape.size), value_size = heads.padded(shape.value_size);
    keys = pieces.take(shape.keys, size);
    transposed_keys = pieces.take(shape.size, heads.scores_width());
    transposed_values = pieces.take(shape.value_size, heads.scores_width());
    of_keys = pieces.take(shape.keys, size);
    of_values = pieces.take(shape.keys, value_size);
    queries = pieces.take(block, size);
    cotangents = pieces.take(block, value_size);
    weights = pieces.take(block, heads.scores_width());
    of_scores = pieces.take(block, heads.scores_width());
    of_queries = pieces.take(block, size);
    deltas = pieces.take(1, block).data;
    taken = pieces.taken();
  }
};

/// Converts the keys and values of a head to float32 and clears the sums of their gradients.
void prepare(const AttentionHeads& heads, const KernelArguments& arguments, Index head, const GradientSpace& space) {
  const AttentionShape& shape = heads.shape;
  const AttentionFunctions& f = heads.functions;
  const auto widen = f.widen[heads.dtype];
  widen(heads.rows(arguments.inputs[2], head, shape.keys, shape.size, 0, shape.keys), 1, space.keys);
  f.transpose(space.keys, shape.keys, shape.size, space.transposed_keys);
  widen(heads.rows(arguments.inputs[3], head, shape.keys, shape.value_size, 0, shape.keys), 1, space.of_values);
  f.transpose(space.of_values, shape.keys, shape.value_size, space.transposed_values);
  std::fill_n(space.of_keys.data, shape.keys * space.of_keys.width, 0.0F);
  std::fill_n(space.of_values.data, shape.keys * space.of_values.width, 0.0F);
}

/// Operands and results of the head after this one.
NextRows next_gradient_rows(const AttentionHeads& heads, const KernelArguments& arguments, Index head) {
  const AttentionShape& shape = heads.shape;
  return heads.next_rows(head,
                         {{arguments.inputs[2], shape.keys, shape.size},
                          {arguments.inputs[3], shape.keys, shape.value_size},
                          {arguments.inputs[1], shape.queries, shape.size},
                          {arguments.inputs[0], shape.queries, shape.value_size},
                          {arguments.inputs[4], shape.queries, shape.value_size},
                          {arguments.outputs[0], shape.queries, shape.size},
                          {arguments.outputs[1], shape.keys, shape.size},
                          {arguments.outputs[2], shape.keys, shape.value_size}},
                         2 * heads.turns_of_scores() + heads.turns(shape.size));
}

void run_head_gradient(const AttentionHeads& heads, const KernelArguments& arguments, Index head,
                       const GradientSpace& space, const DropoutRule& rule) {
  const AttentionShape& shape = heads.shape;
  const AttentionFunctions& f = heads.functions;
  const auto widen = f.widen[heads.dtype];
  const auto narrow = f.narrow[heads.dtype];
  const auto scale = static_cast<float>(shape.scale);
  prepare(heads, arguments, head, space);
  NextRows next = next_gradient_rows(heads, arguments, head);
  heads.for_blocks([&](Index first, Index count) {
    const auto of = [&](const void* operand, Index size) {
      return heads.rows(operand, head, shape.queries, size, first, count);
    };
    widen(of(arguments.inputs[1], shape.size), scale, space.queries);
    widen(of(arguments.inputs[0], shape.value_size), 1, space.cotangents);
    f.dots[heads.dtype](space.cotangents, of(arguments.inputs[4], shape.value_size), space.deltas);
    const ScoreRows rows = heads.scores(arguments, head, first, count, space.weights, rule);
    const Index visible = rows.visible(count - 1);
    heads.multiply(space.queries, space.transposed_keys, space.weights, count, shape.size, visible, next);
    heads.multiply(space.cotangents, space.transposed_values, space.of_scores, count, shape.value_size, visible, next);
    f.gradient[heads.dtype](rows, arguments.in<float>(5) + head * shape.queries + first, space.deltas, space.of_scores);
    heads.multiply(space.of_scores, space.keys, space.of_queries, count, visible, shape.size, next);
    narrow(space.of_queries, scale, nullptr, of(arguments.outputs[0], shape.size));
    heads.add_transposed(space.of_scores, space.queries, space.of_keys, visible, count, shape.size);
    heads.add_transposed(space.weights, space.cotangents, space.of_values, visible, count, shape.value_size);
  });
  narrow(space.of_keys, 1, nullptr, heads.rows(arguments.outputs[1], head, shape.keys, shape.size, 0, shape.keys));
  narrow(space.of_values, 1, nullptr,
         heads.rows(arguments.outputs[2], head, shape.keys, shape.value_size, 0, shape.keys));
}

}  // namespace

std::unique_ptr<Kernel> make_scaled_dot_product_attention_gradient(const KernelRequest& request, Isa isa,
                                                                   std::string& reason) {
  if (PairHeads::take(request, 1, isa)) return make_attention_gradient_of_pairs(request, isa, reason);
  return make_head_kernel<AttentionHeads, GradientSpace>(request, 1, isa, reason, run_head_gradient);
}

}  // namespace mezzo::xsimd_kernels
