#include <mezzo/backends/xsimd/scan.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// cumsum or cumprod. Lines of one thread lie side by side, if the axis is not the last one.
template <bool product>
std::unique_ptr<Kernel> make_scan(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec& x = request.inputs[0];
  if (!is_stored(x.dtype)) return decline_dtype(reason, x.dtype);
  const auto axis = request.attributes.get<Index>("axis");
  Index outer = 1, count = 1, inner = 1;
  for (Index i = 0; i < static_cast<Index>(x.shape.size()); ++i) {
    (i < axis ? outer : i == axis ? count : inner) *= x.shape[static_cast<std::size_t>(i)];
  }
  const ScanFunctions::Order order{.reverse = request.attributes.get<bool>("reverse"),
                                   .exclusive = request.attributes.get<bool>("exclusive")};
  const ScanFunctions& table = kernels(isa).scan;
  const Index size = size_of(x.dtype);
  if (inner == 1) {
    const auto of_rows = (product ? table.product_rows : table.sum_rows)[x.dtype];
    const auto run = [=](const KernelArguments& arguments) {
      constexpr Index together = 16;  // rows in a register of every instruction set, if there are enough
      parallel_for((outer + together - 1) / together, grain_of(count * together), [&](Index begin, Index end) {
        const Index first = begin * together, rows = std::min(end * together, outer) - first;
        of_rows(arguments.in<char>(0) + first * count * size, arguments.out<char>(0) + first * count * size, rows,
                count, order);
      });
    };
    return make_kernel(run, like_output(request));
  }
  const auto of_columns = (product ? table.product_columns : table.sum_columns)[x.dtype];
  const auto run = [=](const KernelArguments& arguments) {
    // Wide strips read memory in long pieces; columns are independent, so that the width changes no bit.
    constexpr Index narrow = 128;
    const Index widest = outer * inner >= thread_count() * ScanFunctions::widest ? ScanFunctions::widest : narrow;
    const Index strips = (inner + widest - 1) / widest;
    parallel_for(outer * strips, grain_of(count * std::min(inner, widest)), [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index strip = task % strips * widest, at = (task / strips * count * inner + strip) * size;
        of_columns(arguments.in<char>(0) + at, arguments.out<char>(0) + at, count, std::min(widest, inner - strip),
                   inner, order);
      }
    });
  };
  return make_kernel(run, like_output(request));
}

}  // namespace

Entries scan_entries() { return {entry<make_scan<false>>("cumsum"), entry<make_scan<true>>("cumprod")}; }

}  // namespace mezzo::xsimd_kernels
