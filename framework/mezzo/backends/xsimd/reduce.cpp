#include <mezzo/backends/xsimd/reduce.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/groups.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// A sum over the middle one of three groups of axes. The sums of blocks, in double, are added in order.
struct Reduction {
  Groups groups;
  Index element_size = 0;
  double divisor = 1;
  DType dtype = DType::float32;
  ReduceFunctions::Rows rows = nullptr;
  ReduceFunctions::Columns columns = nullptr;

  void sum_blocks(const char* x, double* sums) const {
    groups.for_blocks([&](Index from, Index count, Index length,
                          Index result) { rows(x + from * element_size, count, length, sums + result); },
                      [&](Index from, Index count, Index width, Index, Index result) {
                        columns(x + from * element_size, count, width, groups.inner, sums + result);
                      });
  }

  /// Adds the sums of the blocks, divides and rounds.
  template <class Out>
  void add_blocks(const double* sums, Out* out) const {
    groups.for_results([&](Index i, Index first) {
      double sum = 0;
      for (Index k = 0; k < groups.blocks; ++k) sum += sums[first + k * groups.inner];
      out[i] = convert<Out>(sum / divisor);
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
  if (!r.groups.split(x.shape, axes))
    return decline(reason, "sums over neighbouring axes; got axes {} of {}", axes, x.shape);
  const ReduceFunctions& table = kernels(isa).reduce;
  r.rows = table.rows[x.dtype];
  r.columns = table.columns[x.dtype];
  r.element_size = size_of(x.dtype);
  r.divisor = mean ? static_cast<double>(r.groups.reduced) : 1;
  r.dtype = to;
  const auto run = [r](const KernelArguments& arguments) {
    auto* sums = static_cast<double*>(arguments.scratch);
    r.sum_blocks(arguments.in<char>(0), sums);
    visit_dtype(r.dtype, [&](auto zero) { r.add_blocks(sums, arguments.out<decltype(zero)>(0)); });
  };
  const auto scratch = static_cast<std::size_t>(r.groups.partial_results()) * sizeof(double);
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
