#include <mezzo/backends/xsimd/reduce.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// A sum over the middle one of three groups of axes. It is cut into blocks of fixed size, whose sums in double are
/// added in order, so that the result doesn't depend on the number of threads.
struct Reduction {
  Index outer = 1, summed = 1, inner = 1;
  Index block = 1, blocks = 0;
  Index element_size = 0;
  double divisor = 1;
  DType dtype = DType::float32;
  ReduceFunctions::Sum rows = nullptr, columns = nullptr;

  /// Finds the groups of axes. Returns false if the axes to sum over aren't neighbours.
  bool split(const Shape& shape, const Shape& axes) {
    bool seen_summed = false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) continue;
      const bool is_summed = std::find(axes.begin(), axes.end(), static_cast<Index>(axis)) != axes.end();
      if (is_summed && inner != 1) return false;
      Index& part = is_summed ? summed : seen_summed ? inner : outer;
      part *= shape[axis];
      seen_summed = seen_summed || is_summed;
    }
    constexpr Index block_elements = 65536;
    block = inner < block_elements ? block_elements / inner : 1;
    blocks = (summed + block - 1) / block;
    return true;
  }

  /// The sums of the blocks, in an array with axes outer, block, inner.
  void sum_blocks(const char* x, double* sums) const {
    if (inner == 1 && blocks == 1) {
      parallel_for(outer, grain_of(summed), [&](Index begin, Index end) {
        rows(x + begin * summed * element_size, end - begin, summed, sums + begin);
      });
      return;
    }
    parallel_for(outer * blocks, grain_of(std::min(block, summed) * inner), [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index first = task % blocks * block;
        const Index count = std::min(block, summed - first);
        const char* from = x + (task / blocks * summed + first) * inner * element_size;
        if (inner == 1) {
          rows(from, 1, count, sums + task);
        } else {
          columns(from, count, inner, sums + task * inner);
        }
      }
    });
  }

  /// Adds the sums of the blocks, divides and rounds.
  template <class Out>
  void add_blocks(const double* sums, Out* out) const {
    parallel_for(outer * inner, grain_of(blocks), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const double* of_block = sums + i / inner * blocks * inner + i % inner;
        double sum = 0;
        for (Index k = 0; k < blocks; ++k) sum += of_block[k * inner];
        out[i] = convert<Out>(sum / divisor);
      }
    });
  }
};

template <bool mean>
std::unique_ptr<Kernel> make_reduction(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec& x = request.inputs[0];
  const DType to = request.outputs[0].dtype;
  if (!is_stored(x.dtype) || !is_stored(to)) return decline_dtype(reason, is_stored(x.dtype) ? to : x.dtype);
  Reduction r;
  const auto& axes = request.attributes.get<Shape>("axes");
  if (!r.split(x.shape, axes)) return decline(reason, "sums over neighbouring axes; got axes {} of {}", axes, x.shape);
  const ReduceFunctions& table = kernels(isa).reduce;
  r.rows = table.rows[x.dtype];
  r.columns = table.columns[x.dtype];
  r.element_size = size_of(x.dtype);
  r.divisor = mean ? static_cast<double>(r.summed) : 1;
  r.dtype = to;
  const auto run = [r](const KernelArguments& arguments) {
    auto* sums = static_cast<double*>(arguments.scratch);
    r.sum_blocks(arguments.in<char>(0), sums);
    visit_dtype(r.dtype, [&](auto zero) { r.add_blocks(sums, arguments.out<decltype(zero)>(0)); });
  };
  const auto scratch = static_cast<std::size_t>(r.outer * r.blocks * r.inner) * sizeof(double);
  return make_kernel(run, {}, scratch);
}

std::unique_ptr<Kernel> make_relu_bias_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Channels channels(request.inputs[0]);
  const auto run =
      [channels, mask_and_sum = kernels(isa).relu_bias_gradient.mask_and_sum[dtype]](const KernelArguments& arguments) {
        auto* sums = static_cast<double*>(arguments.scratch);
        std::fill_n(sums, channels.columns, 0.0);
        channels.for_blocks([&](std::int64_t offset, std::int64_t rows, std::int64_t place) {
          mask_and_sum(arguments.in<char>(0) + offset, arguments.in<char>(1) + offset, arguments.out<char>(0) + offset,
                       rows, channels.columns, sums + place);
        });
        channels.add_blocks(sums);
        for (std::int64_t c = 0; c < channels.columns; ++c) arguments.out<float>(1)[c] = static_cast<float>(sums[c]);
      };
  return make_kernel(run, {true, true}, channels.doubles() * sizeof(double));
}

}  // namespace

Entries reduce_entries() {
  return {entry<make_reduction<false>>("sum"), entry<make_reduction<true>>("mean"),
          entry<make_relu_bias_gradient>("relu_bias_gradient")};
}

}  // namespace mezzo::xsimd_kernels
