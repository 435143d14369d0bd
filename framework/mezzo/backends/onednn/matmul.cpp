#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/relu_kernel.hpp>

// Operands are used in mezzo's layout. Packed weights would make a product of few rows 5 to 20 % faster, but packing
// them in each call costs as much (784 x 512, batch 128, float32: 308 us plain; 280 us packed and 56 us for packing).
// In products of many rows, transposed weights are packed: input gradients of 2048 rows by 384 x 1536 are then 4 to 9 %
// faster, including the packing. It doesn't pay for weights that aren't transposed, nor for products that sum over the
// rows.

namespace mezzo::onednn {
namespace {

/// The matrices of an operand: a stack of them if `stacked`, else one matrix with the rows of all leading axes.
Array matrices(const Spec& spec, bool transposed, bool stacked) {
  const Shape& shape = spec.shape;
  const std::int64_t width = shape.back();
  std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t leading = element_count(Shape(shape.begin(), shape.end() - 2));
  Array array{{}, {}, type_of(spec)};
  if (stacked) {
    array.sizes = {leading};
    array.strides = {rows * width};
  } else {
    rows *= leading;
  }
  if (transposed) {
    array.sizes.insert(array.sizes.end(), {width, rows});
    array.strides.insert(array.strides.end(), {1, width});
  } else {
    array.sizes.insert(array.sizes.end(), {rows, width});
    array.strides.insert(array.strides.end(), {width, 1});
  }
  return array;
}

constexpr std::int64_t many_rows = 1024;

}  // namespace

std::unique_ptr<Kernel> make_matmul(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const bool stacked = request.inputs[1].shape.size() > 2;
  const std::size_t rank = stacked ? 3 : 2;
  const Array a = matrices(request.inputs[0], request.attributes.get_or<bool>("transpose_a", false), stacked);
  const bool transpose_b = request.attributes.get_or<bool>("transpose_b", false);
  const Array b = matrices(request.inputs[1], transpose_b, stacked);
  const Array bias = bias_of(request, rank, rank - 1);
  const Array out = matrices(request.outputs[0], false, stacked);
  std::vector<Operand> operands{{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = a.plain()},
                                {.argument = DNNL_ARG_WEIGHTS,
                                 .output = false,
                                 .index = 1,
                                 .plain = b.plain(),
                                 .constant = constant_of(request, 1)},
                                {.argument = DNNL_ARG_DST, .output = true, .index = 0, .plain = out.plain()}};
  if (!bias.sizes.empty())
    operands.push_back({.argument = DNNL_ARG_BIAS, .output = false, .index = 2, .plain = bias.plain()});
  const bool packs = !stacked && (constant_of(request, 1) || (transpose_b && a.sizes[0] >= many_rows));
  const auto offer = [&](bool relu) { return offer_matmul(a, packs ? b.any() : b.plain(), bias, out, relu); };
  return has_relu(request) ? make_relu_kernel(request, offer, operands, reason)
                           : make_kernel(offer(false), operands, reason);
}

}  // namespace mezzo::onednn
