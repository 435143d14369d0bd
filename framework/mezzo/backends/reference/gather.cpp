#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/labels.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// A table of rows, and indices of some of them.
struct TableRows {
  Index rows, columns, count;
  DType indices;
  std::string what;  ///< layer and operand, as named in error texts

  TableRows(const KernelRequest& request, const Shape& table, const Spec& named)
      : rows(table.front()),
        columns(element_count(Shape(table.begin() + 1, table.end()))),
        count(element_count(named.shape)),
        indices(named.dtype),
        what(fmt::format("{} indices", request.where)) {}

  void check(const void* numbers) const { check_labels(numbers, indices, count, rows, what); }
};

/// Clears `out`, then out[place(i)] += g[i] for the rows i in their order. Threads share the columns, so that the order
/// does not depend on their number.
template <class G, class Out, class Place>
void add_rows(const TableRows& r, Index out_rows, const G* g, Out* out, const Place& place) {
  parallel_for(out_rows, grain_of(r.columns),
               [&](Index begin, Index end) { std::fill(out + begin * r.columns, out + end * r.columns, Out{0}); });
  constexpr Index line = 16;  // columns in one cache line
  parallel_for((r.columns + line - 1) / line, grain_of(r.count * line), [&](Index begin, Index end) {
    const Index first = begin * line, width = std::min(end * line, r.columns) - first;
    for (Index i = 0; i < r.count; ++i) {
      const G* from = g + i * r.columns + first;
      Out* to = out + place(i) * r.columns + first;
      for (Index c = 0; c < width; ++c) to[c] += static_cast<Out>(from[c]);
    }
  });
}

/// Numbers the rows that an index selects, in the order of their first index. places[row] is the number of a table row
/// or -1, of_index[i] is that of index i. Returns the number of rows.
std::int32_t find_places(const TableRows& r, const void* indices, std::int32_t* places, std::int32_t* of_index) {
  std::fill_n(places, r.rows, -1);
  std::int32_t used = 0;
  for (Index i = 0; i < r.count; ++i) {
    std::int32_t& place = places[label_at(indices, r.indices, i)];
    if (place < 0) place = used++;
    of_index[i] = place;
  }
  return used;
}

/// Calls make(zero of the cotangent's type, zero of the gradient's type); declines other dtypes than float32, float64.
template <class Make>
std::unique_ptr<Kernel> for_cotangent_and_output(const KernelRequest& request, std::string& reason, Make&& make) {
  return for_float_or_double(request, request.inputs[1].dtype, reason, [&](auto zero) {
    return for_float_or_double(request, request.outputs[0].dtype, reason,
                               [&](auto out_zero) { return make(zero, out_zero); });
  });
}

}  // namespace

std::unique_ptr<Kernel> create_gather(const KernelRequest& request, std::string&) {
  const TableRows r(request, request.inputs[0].shape, request.inputs[1]);
  const auto bytes = r.columns * static_cast<Index>(dtype_size(request.outputs[0].dtype));
  return make_kernel([r, bytes](const KernelArguments& arguments) {
    r.check(arguments.inputs[1]);
    parallel_for(r.count, grain_of(bytes), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index row = label_at(arguments.inputs[1], r.indices, i);
        std::memcpy(arguments.out<char>(0) + i * bytes, arguments.in<char>(0) + row * bytes,
                    static_cast<std::size_t>(bytes));
      }
    });
  });
}

std::unique_ptr<Kernel> create_gather_gradient(const KernelRequest& request, std::string& reason) {
  const TableRows r(request, request.outputs[0].shape, request.inputs[0]);
  return for_cotangent_and_output(request, reason, [&](auto zero, auto out_zero) {
    using G = decltype(zero);
    using Out = decltype(out_zero);
    return make_kernel([r](const KernelArguments& arguments) {
      r.check(arguments.inputs[0]);
      add_rows(r, r.rows, arguments.in<G>(1), arguments.out<Out>(0),
               [&](Index i) { return label_at(arguments.inputs[0], r.indices, i); });
    });
  });
}

std::unique_ptr<Kernel> create_add_gather_gradient(const KernelRequest& request, std::string& reason) {
  const TableRows r(request, request.outputs[0].shape, request.inputs[1]);
  return for_float_or_double(request, request.inputs[2].dtype, reason, [&](auto zero) {
    return for_float_or_double(request, request.outputs[0].dtype, reason, [&](auto out_zero) {
      using G = decltype(zero);
      using Out = decltype(out_zero);
      const Index sums = std::min(r.count, r.rows);
      ScratchLayout layout;
      const std::size_t places_at = layout.take(static_cast<std::size_t>(r.rows) * sizeof(std::int32_t));
      const std::size_t of_index_at = layout.take(static_cast<std::size_t>(r.count) * sizeof(std::int32_t));
      const std::size_t sums_at = layout.take(static_cast<std::size_t>(sums * r.columns) * sizeof(Out));
      const auto run = [=](const KernelArguments& arguments) {
        r.check(arguments.inputs[1]);
        auto* scratch = static_cast<std::byte*>(arguments.scratch);
        auto* places = reinterpret_cast<std::int32_t*>(scratch + places_at);
        auto* of_index = reinterpret_cast<std::int32_t*>(scratch + of_index_at);
        auto* sum = reinterpret_cast<Out*>(scratch + sums_at);
        const Index used = find_places(r, arguments.inputs[1], places, of_index);
        add_rows(r, used, arguments.in<G>(2), sum, [&](Index i) { return of_index[i]; });
        const Out* before = arguments.in<Out>(0);
        Out* out = arguments.out<Out>(0);
        parallel_for(r.rows, grain_of(r.columns), [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            const Out* from = before + row * r.columns;
            Out* to = out + row * r.columns;
            if (places[row] < 0) {
              if (to != from) std::copy_n(from, r.columns, to);
              continue;
            }
            const Out* added = sum + places[row] * r.columns;
            for (Index c = 0; c < r.columns; ++c) to[c] = from[c] + added[c];
          }
        });
      };
      return make_kernel(run, {true}, layout.size());
    });
  });
}

std::unique_ptr<Kernel> create_gather_gradient_rows(const KernelRequest& request, std::string& reason) {
  const TableRows r(request, request.attributes.get<Shape>("shape"), request.inputs[0]);
  return for_cotangent_and_output(request, reason, [&](auto zero, auto out_zero) {
    using G = decltype(zero);
    using Out = decltype(out_zero);
    const auto run = [r](const KernelArguments& arguments) {
      r.check(arguments.inputs[0]);
      auto* places = arguments.out<std::int32_t>(1);
      auto* of_index = static_cast<std::int32_t*>(arguments.scratch);
      find_places(r, arguments.inputs[0], places, of_index);
      add_rows(r, r.count, arguments.in<G>(1), arguments.out<Out>(0), [&](Index i) { return of_index[i]; });
    };
    return make_kernel(run, {}, static_cast<std::size_t>(r.count) * sizeof(std::int32_t));
  });
}

}  // namespace mezzo::reference
