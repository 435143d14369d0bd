#pragma once
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
#include <mezzo/backends/xsimd/layer_norm.hpp>
#include <mezzo/backends/xsimd/pooling.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/backends/xsimd/reduce.hpp>
#include <mezzo/backends/xsimd/scan.hpp>
#include <mezzo/backends/xsimd/softmax.hpp>
#include <mezzo/backends/xsimd/update.hpp>
#include <mezzo/backends/xsimd/update_rules.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// The functions of all families for one instruction set. A new family is one member here, with its initializer in
/// isa_kernels.isa.cpp.
struct IsaKernels {
  const AttentionFunctions& attention;
  const AvgPool2dFunctions& avg_pool2d;
  const BatchNormFunctions& batch_norm;
  const CastFunctions& cast;
  const ChainFunctions& chain;
  const CrossentropyFunctions& crossentropy;
  const DropoutFunctions& dropout;
  const ElementwiseFunctions& elementwise;
  const FewRowsFunctions& few_rows;
  const FewTapsFunctions& few_taps;
  const FiniteFunctions& finite;
  const Float16SplitFunctions& float16_split;
  const FoldFunctions& fold;
  const LayerNormFunctions& layer_norm;
  const MaxPool2dFunctions& max_pool2d;
  const ProductFunctions& products;
  const RecurrenceFunctions& recurrence;
  const ReduceFunctions& reduce;
  const ReluBiasGradientFunctions& relu_bias_gradient;
  const ScanFunctions& scan;
  const SoftmaxFunctions& softmax;
  const SplitMasterFunctions& split_master;
  const UpdateFunctions& update;
  const RuleFunctions& update_rules;
  const WinogradFunctions& winograd;
  const DepthwiseFunctions& depthwise;
};

/// The functions that are compiled for `isa`.
const IsaKernels& kernels(Isa isa);

MEZZO_ISA_TABLE(IsaKernels, isa_kernels)

}  // namespace mezzo::xsimd_kernels
