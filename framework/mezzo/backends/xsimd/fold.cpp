#include <mezzo/backends/xsimd/fold.hpp>

#include <cstring>
#include <limits>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/groups.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

// Reductions other than sums: max, min, prod, argmax, argmin.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

constexpr std::int32_t rank_of_nan = std::numeric_limits<std::int32_t>::max();

/// The number with a rank; a NaN for that of NaN.
template <bool lowest>
float number_of(std::int32_t rank) {
  if (rank == rank_of_nan) return std::numeric_limits<float>::quiet_NaN();
  const std::int32_t order = lowest ? ~rank : rank;
  const std::int32_t bits = order < 0 ? std::numeric_limits<std::int32_t>::min() - order : order;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

const FoldFunctions::Extreme& functions_of(bool lowest, Isa isa) {
  const FoldFunctions& table = kernels(isa).fold;
  return lowest ? table.min : table.max;
}

/// Finds the groups of the request's axes; sets the reason if no kernel supports them.
bool takes(const KernelRequest& request, const Shape& axes, Groups& groups, std::string& reason) {
  const Spec& x = request.inputs[0];
  if (!is_stored(x.dtype)) {
    decline_dtype(reason, x.dtype);
  } else if (!groups.split(x.shape, axes)) {
    decline(reason, "reduces neighbouring axes; got axes {} of {}", axes, x.shape);
  }
  return reason.empty();
}

/// Calls the functions of rows and of columns for all blocks of x. `partial`: arrays of partial results.
template <class OfRows, class OfColumns, class... Partial>
void fold_blocks(const Groups& groups, const char* x, std::size_t size, OfRows of_rows, OfColumns of_columns,
                 Partial*... partial) {
  const auto element_size = static_cast<Index>(size);
  groups.for_blocks([&](Index from, Index rows, Index length,
                        Index result) { of_rows(x + from * element_size, rows, length, partial + result...); },
                    [&](Index from, Index rows, Index width, Index, Index result) {
                      of_columns(x + from * element_size, rows, width, groups.inner, partial + result...);
                    });
}

template <bool lowest>
std::unique_ptr<Kernel> make_extreme(const KernelRequest& request, Isa isa, std::string& reason) {
  Groups groups;
  if (!takes(request, request.attributes.get<Shape>("axes"), groups, reason)) return nullptr;
  const DType dtype = request.inputs[0].dtype;
  const FoldFunctions::Extreme& functions = functions_of(lowest, isa);
  const auto run = [groups, dtype, size = size_of(dtype), of_rows = functions.rows[dtype],
                    of_columns = functions.columns[dtype]](const KernelArguments& arguments) {
    auto* const ranks = static_cast<std::int32_t*>(arguments.scratch);
    fold_blocks(groups, arguments.in<char>(0), size, of_rows, of_columns, ranks);
    visit_dtype(dtype, [&](auto zero) {
      using Out = decltype(zero);
      groups.for_results([&](Index i, Index first) {
        std::int32_t best = ranks[first];
        for (Index k = 1; k < groups.blocks; ++k) best = std::max(best, ranks[first + k * groups.inner]);
        arguments.out<Out>(0)[i] = convert<Out>(number_of<lowest>(best));
      });
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(groups.partial_results()) * sizeof(std::int32_t));
}

template <bool lowest>
std::unique_ptr<Kernel> make_place(const KernelRequest& request, Isa isa, std::string& reason) {
  Groups groups;
  const Shape axes{request.attributes.get<Index>("axis")};
  if (!takes(request, axes, groups, reason)) return nullptr;
  if (groups.reduced > std::numeric_limits<std::int32_t>::max()) {
    return decline(reason, "takes lines of less than 2^31 elements; got {}", groups.reduced);
  }
  const DType dtype = request.inputs[0].dtype;
  const FoldFunctions::Extreme& functions = functions_of(lowest, isa);
  const auto run = [groups, size = size_of(dtype), of_rows = functions.row_places[dtype],
                    of_columns = functions.column_places[dtype]](const KernelArguments& arguments) {
    auto* const ranks = static_cast<std::int32_t*>(arguments.scratch);
    auto* const places = ranks + groups.partial_results();
    fold_blocks(groups, arguments.in<char>(0), size, of_rows, of_columns, ranks, places);
    groups.for_results([&](Index i, Index first) {
      Index best = 0;
      for (Index k = 1; k < groups.blocks; ++k) {
        if (ranks[first + k * groups.inner] > ranks[first + best * groups.inner]) best = k;
      }
      arguments.out<Index>(0)[i] = best * groups.block + places[first + best * groups.inner];
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(2 * groups.partial_results()) * sizeof(std::int32_t));
}

std::unique_ptr<Kernel> make_product(const KernelRequest& request, Isa isa, std::string& reason) {
  Groups groups;
  if (!takes(request, request.attributes.get<Shape>("axes"), groups, reason)) return nullptr;
  const DType dtype = request.inputs[0].dtype;
  const FoldFunctions& functions = kernels(isa).fold;
  const auto run = [groups, dtype, size = size_of(dtype), of_rows = functions.row_products[dtype],
                    of_columns = functions.column_products[dtype]](const KernelArguments& arguments) {
    auto* const products = static_cast<double*>(arguments.scratch);
    fold_blocks(groups, arguments.in<char>(0), size, of_rows, of_columns, products);
    visit_dtype(dtype, [&](auto zero) {
      using Out = decltype(zero);
      groups.for_results([&](Index i, Index first) {
        double product = 1;
        for (Index k = 0; k < groups.blocks; ++k) product *= products[first + k * groups.inner];
        arguments.out<Out>(0)[i] = convert<Out>(product);
      });
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(groups.partial_results()) * sizeof(double));
}

}  // namespace

Entries fold_entries() {
  return {entry<make_extreme<false>>("max"), entry<make_extreme<true>>("min"), entry<make_product>("prod"),
          entry<make_place<false>>("argmax"), entry<make_place<true>>("argmin")};
}

}  // namespace mezzo::xsimd_kernels
