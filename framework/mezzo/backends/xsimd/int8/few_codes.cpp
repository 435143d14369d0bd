#include <algorithm>

#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/quantized_kernels.hpp>

// The time of a product of few rows is that of reading the codes. Each task reads a chunk of whole rows of codes, or a
// wide part of them, and adds to sums that stay in the L1 cache. Chunks depend on the sizes alone, so results don't
// depend on the number of threads. Sums of a chunk of products of two codes are exact in float32. Rows that are
// quantized at run time therefore have exact sums without VNNI.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

constexpr Index chunk_terms = 128;
static_assert(chunk_terms * 128 * 128 <= 1 << 24 && most_table_terms / 4 * 128 * 128 <= 1 << 24);
static_assert(chunk_terms * FinishCodes::whole_chunks * 127 * 127 < Index{1} << 31);
constexpr Index tile_sums = 4096, tile_unit = 64;

class FewCodesKernel final : public Kernel {
 public:
  FewCodesKernel(const QuantizedProduct& product, Isa isa)
      : p_(product),
        functions_(kernels(isa).few_codes),
        widen_(product.dtype == DType::float32 ? nullptr : kernels(isa).cast.from_storage[product.dtype].float32),
        narrow_((product.dtype == DType::bfloat16 || product.quantizes) && multiplies_pairs(kernels(isa).products)),
        planes_(product.transposed && product.bits == 4),
        x_width_(planes_ ? round_up(product.depth, 2) : product.depth),
        chunk_(product.transposed  ? product.depth
               : product.block > 0 ? round_up(std::min(chunk_terms, product.depth), product.block)
                                   : chunk_terms),
        chunks_((product.depth + chunk_ - 1) / chunk_),
        tile_(round_up(std::min(tile_sums / product.rows, product.columns), tile_unit)),
        tiles_((product.columns + tile_ - 1) / tile_),
        threads_(thread_count()) {
    const auto floats = [&](Index count) { return layout_.take(static_cast<std::size_t>(count) * sizeof(float)); };
    wide_ = floats(p_.rows * p_.depth);
    x_ = planes_ ? floats(p_.rows * x_width_) : wide_;
    row_scales_ = floats(p_.rows);
    group_sums_ = floats(threads_ * p_.rows * tile_);
    sums_ = floats(tiles_ * chunks_ * p_.rows * tile_);
  }

  void run(const KernelArguments& arguments) override {
    const float* const x = prepare(arguments);
    parallel_ranges(chunks_ * tiles_, grain_of(p_.rows * chunk_ * tile_), std::min(threads_, thread_count()),
                    [&](int thread, Index begin, Index end) {
                      for (Index task = begin; task < end; ++task) {
                        p_.transposed ? multiply_table(arguments, x, task) : multiply(arguments, x, thread, task);
                      }
                    });
    parallel_for(tiles_ * p_.rows, grain_of(chunks_ * tile_), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) finish(arguments, i / p_.rows, i % p_.rows);
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return "few rows"; }

 private:
  float* scratch(const KernelArguments& arguments, std::size_t offset) const {
    return reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + offset);
  }

  /// x as float32; as codes if it is quantized; even and odd columns apart for transposed codes of 4 bits.
  const float* prepare(const KernelArguments& arguments) const {
    float* const wide = scratch(arguments, wide_);
    const float* x = wide;
    if (widen_ != nullptr) {
      widen_(arguments.inputs[0], wide, p_.rows * p_.depth);
    } else if (p_.quantizes) {
      std::copy_n(arguments.in<float>(0), p_.rows * p_.depth, wide);
    } else {
      x = arguments.in<float>(0);
    }
    if (p_.quantizes) {
      const float factor = p_.has_factor ? *arguments.in<float>(p_.factor()) : 0;
      for (Index i = 0; i < p_.rows; ++i) {
        scratch(arguments, row_scales_)[i] = functions_.quantize(
            {.x = wide + i * p_.depth, .count = p_.depth, .epsilon = quantization_epsilon, .factor = factor});
      }
    }
    if (!planes_) return x;
    float* const planes = scratch(arguments, x_);
    for (Index i = 0; i < p_.rows; ++i) {
      float *const even = planes + i * x_width_, *const odd = even + x_width_ / 2;
      const float* const row = x + i * p_.depth;
      odd[x_width_ / 2 - 1] = 0;
      for (Index k = 0; k < p_.depth; ++k) (k % 2 == 0 ? even : odd)[k / 2] = row[k];
    }
    return planes;
  }

  float* sums_of(const KernelArguments& arguments, Index tile, Index chunk) const {
    return scratch(arguments, sums_) + (tile * chunks_ + chunk) * p_.rows * tile_;
  }
  Index columns_of(Index tile) const { return std::min(tile_, p_.columns - tile * tile_); }

  void multiply(const KernelArguments& arguments, const float* x, int thread, Index task) const {
    const Index chunk = task / tiles_, tile = task % tiles_, first = chunk * chunk_, column = tile * tile_;
    FewCodes product{.x = x + first,
                     .x_width = x_width_,
                     .narrow = narrow_,
                     .codes = arguments.in<char>(1) + first * p_.pitch() + (p_.bits == 4 ? column / 2 : column),
                     .pitch = p_.pitch(),
                     .rows = p_.rows,
                     .depth = std::min(chunk_, p_.depth - first),
                     .columns = columns_of(tile),
                     .block = p_.block > 0 ? p_.block : chunk_};
    if (p_.block > 0) {
      const Index place = first / p_.block * p_.columns + column;
      product.scales = arguments.in<float>(2) + place;
      if (p_.has_zero()) product.zeros = arguments.in<std::int8_t>(3) + place;
      product.scale_width = p_.columns;
    }
    product.group_sums = scratch(arguments, group_sums_) + thread * p_.rows * tile_;
    product.sums = sums_of(arguments, tile, chunk);
    product.sums_width = tile_;
    (p_.nf4 ? functions_.normals : p_.bits == 4 ? functions_.nibbles : functions_.bytes)(product);
  }

  void multiply_table(const KernelArguments& arguments, const float* x, Index tile) const {
    const Index column = tile * tile_, groups = p_.block > 0 ? (p_.depth + p_.block - 1) / p_.block : 0;
    (p_.nf4         ? functions_.table_normals
     : p_.bits == 4 ? functions_.table_nibbles
                    : functions_.table_bytes)({
        .x = x,
        .x_width = x_width_,
        .codes = arguments.in<char>(1) + column * p_.pitch(),
        .pitch = p_.pitch(),
        .rows = p_.rows,
        .depth = p_.depth,
        .columns = columns_of(tile),
        .block = p_.block > 0 ? p_.block : p_.depth,
        .scales = p_.block > 0 ? arguments.in<float>(2) + column * groups : nullptr,
        .zeros = p_.has_zero() ? arguments.in<std::int8_t>(3) + column * groups : nullptr,
        .whole = p_.quantizes && p_.block <= 0,
        .sums = sums_of(arguments, tile, 0),
        .sums_width = tile_,
    });
  }

  void finish(const KernelArguments& arguments, Index tile, Index row) const {
    const Index column = tile * tile_;
    functions_.finish[p_.dtype]({
        .sums = sums_of(arguments, tile, 0) + row * tile_,
        .chunks = chunks_,
        .next_chunk = p_.rows * tile_,
        .columns = columns_of(tile),
        .scales = p_.block > 0 ? nullptr : arguments.in<float>(2) + column,
        .row_scale = p_.quantizes ? scratch(arguments, row_scales_)[row] : 1,
        .whole = p_.quantizes && p_.block <= 0 && !p_.transposed,
        .out = arguments.out<char>(0) + (row * p_.columns + column) * size_of(p_.dtype),
    });
  }

  const QuantizedProduct p_;
  const FewCodesFunctions& functions_;
  void (*const widen_)(const void*, void*, Index);
  const bool narrow_;  ///< products of pairs of bfloat16 are faster, and exact for the numbers of x
  const bool planes_;
  const Index x_width_, chunk_, chunks_, tile_, tiles_;
  const int threads_;
  ScratchLayout layout_;
  std::size_t wide_ = 0, x_ = 0, row_scales_ = 0, group_sums_ = 0, sums_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> few_codes_kernel(const QuantizedProduct& product, Isa isa) {
  return std::make_unique<FewCodesKernel>(product, isa);
}

}  // namespace mezzo::xsimd_kernels
