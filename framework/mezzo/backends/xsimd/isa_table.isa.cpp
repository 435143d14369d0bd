#include <mezzo/backends/xsimd/isa_kernels.hpp>

#include <mezzo/backends/xsimd/attention/attention.hpp>
#include <mezzo/backends/xsimd/batch_norm.hpp>
#include <mezzo/backends/xsimd/chain.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/crossentropy.hpp>
#include <mezzo/backends/xsimd/depthwise/depthwise.hpp>
#include <mezzo/backends/xsimd/dropout.hpp>
#include <mezzo/backends/xsimd/elementwise.hpp>
#include <mezzo/backends/xsimd/few_rows.hpp>
#include <mezzo/backends/xsimd/few_taps/few_taps.hpp>
#include <mezzo/backends/xsimd/finite.hpp>
#include <mezzo/backends/xsimd/fold.hpp>
#include <mezzo/backends/xsimd/gemm/gemm.hpp>
#include <mezzo/backends/xsimd/int8/code_windows.hpp>
#include <mezzo/backends/xsimd/int8/few_codes.hpp>
#include <mezzo/backends/xsimd/int8/int8_products.hpp>
#include <mezzo/backends/xsimd/int8/tile_products.hpp>
#include <mezzo/backends/xsimd/layer_norm.hpp>
#include <mezzo/backends/xsimd/packed/packed.hpp>
#include <mezzo/backends/xsimd/pooling.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/backends/xsimd/reduce.hpp>
#include <mezzo/backends/xsimd/scan.hpp>
#include <mezzo/backends/xsimd/softmax.hpp>
#include <mezzo/backends/xsimd/update.hpp>
#include <mezzo/backends/xsimd/update_rules.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {

// A constant expression: initialized by the loader, so that no instruction of this set runs before isa() chooses it.
constexpr IsaKernels isa_kernels{
    .attention = attention,
    .avg_pool2d = avg_pool2d,
    .batch_norm = batch_norm,
    .cast = cast,
    .chain = chain,
    .crossentropy = crossentropy,
    .dropout = dropout,
    .elementwise = elementwise,
    .few_codes = few_codes,
    .few_rows = few_rows,
    .few_taps = few_taps,
    .finite = finite,
    .float16_split = float16_split,
    .float32_split = float32_split,
    .fold = fold,
    .gemm = gemm,
    .int8_products = int8_products,
    .layer_norm = layer_norm,
    .max_pool2d = max_pool2d,
    .packed = packed,
    .products = products,
    .recurrence = recurrence,
    .reduce = reduce,
    .relu_bias_gradient = relu_bias_gradient,
    .scan = scan,
    .softmax = softmax,
    .split_master = split_master,
    .tile_products = tile_products,
    .update = update,
    .update_rules = update_rules,
    .winograd = winograd,
    .depthwise = depthwise,
    .code_windows = code_windows,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
