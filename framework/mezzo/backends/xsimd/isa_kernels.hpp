#pragma once
#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

struct AttentionFunctions;
struct AvgPool2dFunctions;
struct BatchNormFunctions;
struct CastFunctions;
struct ChainFunctions;
struct CodeWindowFunctions;
struct CrossentropyFunctions;
struct DepthwiseFunctions;
struct DropoutFunctions;
struct ElementwiseFunctions;
struct FewCodesFunctions;
struct FewRowsFunctions;
struct FewTapsFunctions;
struct FiniteFunctions;
struct Float16SplitFunctions;
struct Float32SplitFunctions;
struct FoldFunctions;
struct GemmFunctions;
struct Int8Functions;
struct LayerNormFunctions;
struct MaxPool2dFunctions;
struct PackedFunctions;
struct ProductFunctions;
struct RecurrenceFunctions;
struct ReduceFunctions;
struct ReluBiasGradientFunctions;
struct RuleFunctions;
struct ScanFunctions;
struct SoftmaxFunctions;
struct SplitMasterFunctions;
struct TileFunctions;
struct UpdateFunctions;
struct WinogradFunctions;

/// The tables of all families for one instruction set. Each table is defined in the header of its family. A new family
/// is one member here, with its initializer in isa_table.isa.cpp.
struct IsaKernels {
  const AttentionFunctions& attention;
  const AvgPool2dFunctions& avg_pool2d;
  const BatchNormFunctions& batch_norm;
  const CastFunctions& cast;
  const ChainFunctions& chain;
  const CrossentropyFunctions& crossentropy;
  const DropoutFunctions& dropout;
  const ElementwiseFunctions& elementwise;
  const FewCodesFunctions& few_codes;
  const FewRowsFunctions& few_rows;
  const FewTapsFunctions& few_taps;
  const FiniteFunctions& finite;
  const Float16SplitFunctions& float16_split;
  const Float32SplitFunctions& float32_split;
  const FoldFunctions& fold;
  const GemmFunctions& gemm;
  const Int8Functions& int8_products;
  const LayerNormFunctions& layer_norm;
  const MaxPool2dFunctions& max_pool2d;
  const PackedFunctions& packed;
  const ProductFunctions& products;
  const RecurrenceFunctions& recurrence;
  const ReduceFunctions& reduce;
  const ReluBiasGradientFunctions& relu_bias_gradient;
  const ScanFunctions& scan;
  const SoftmaxFunctions& softmax;
  const SplitMasterFunctions& split_master;
  const TileFunctions& tile_products;
  const UpdateFunctions& update;
  const RuleFunctions& update_rules;
  const WinogradFunctions& winograd;
  const DepthwiseFunctions& depthwise;
  const CodeWindowFunctions& code_windows;
};

/// The functions that are compiled for `isa`. Throws an Error if there are none: see MEZZO_KERNELS.
const IsaKernels& kernels(Isa isa);

/// The functions for the lowest compiled instruction set. All of them have rows for the same ops.
const IsaKernels& any_kernels();

MEZZO_ISA_TABLE(IsaKernels, isa_kernels)

}  // namespace mezzo::xsimd_kernels
