#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

// Kernels that read or write elements by index. All of them check their indices before they write.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Indices into an axis, given in any integer dtype.
struct Indices {
  Index count, size;
  DType dtype;
  bool negative;     ///< those from -size on count from the end
  std::string what;  ///< layer and operand, as named in error texts

  Indices(const KernelRequest& request, std::size_t operand, Index axis_size, bool from_end,
          const char* name = "indices")
      : count(element_count(request.inputs[operand].shape)),
        size(axis_size),
        dtype(request.inputs[operand].dtype),
        negative(from_end),
        what(fmt::format("{} {}", request.where, name)) {}

  /// Writes the indices, counted from the front, to `out` unless it is null. Throws a ValueError for one out of range.
  void read(const void* from, Index* out) const {
    std::atomic<Index> bad{count};
    visit_dtype(dtype, [&](auto zero) {
      using I = decltype(zero);
      if constexpr (std::is_integral_v<I>) {
        const I* const given = static_cast<const I*>(from);
        parallel_for(count, grain, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const auto index = static_cast<Index>(given[i]);
            const Index at = negative && index < 0 ? index + size : index;
            if (at < 0 || at >= size) {
              Index first = bad.load();
              while (i < first && !bad.compare_exchange_weak(first, i)) {
              }
              break;
            }
            if (out != nullptr) out[i] = at;
          }
        });
      }
    });
    const Index i = bad.load();
    if (i == count) return;
    Index index = 0;
    visit_dtype(dtype, [&](auto zero) { index = convert<Index>(static_cast<const decltype(zero)*>(from)[i]); });
    fail<ValueError>(what, "must be in [{}, {}); got {} at index {}", negative ? -size : 0, size, index, i);
  }
};

std::size_t bytes(Index count) { return static_cast<std::size_t>(count) * sizeof(Index); }

/// Calls make(zero) with an element type of that many bytes: elements are moved, not computed with.
template <class Make>
std::unique_ptr<Kernel> for_size(DType dtype, const Make& make) {
  switch (dtype_size(dtype)) {
    case 1:
      return make(std::uint8_t{});
    case 2:
      return make(std::uint16_t{});
    case 4:
      return make(std::uint32_t{});
    default:
      return make(std::uint64_t{});
  }
}

/// Calls make(zero of the updates' type, zero of the output's type): float32 and float64, or an integer.
template <class Make>
std::unique_ptr<Kernel> for_sums(const KernelRequest& request, std::string& reason, const Make& make) {
  const DType dtype = request.inputs[1].dtype;
  if (is_floating(dtype)) {
    return for_float_or_double(request, dtype, reason, [&](auto zero) {
      return for_float_or_double(request, request.outputs[0].dtype, reason,
                                 [&](auto out_zero) { return make(zero, out_zero); });
    });
  }
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (request.outputs[0].dtype == dtype) return make(zero, zero);
    }
    return decline(reason, "sums numbers in their own dtype; got {}", dtype);
  });
}

/// a + b; integers wrap around.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::lowest();
  } else {
    return static_cast<T>(-std::numeric_limits<float>::infinity());
  }
}

constexpr Index line_columns =
    16;  // columns that a thread takes at a time, so that two don't write to one cache line_columns

/// Calls body(outer index, first column, number of columns) for parts of an array of `l`, each of `work` elements a
/// column.
template <class Body>
void for_columns(const Lines& l, Index work, const Body& body) {
  const Index groups = (l.inner + line_columns - 1) / line_columns;
  parallel_for(l.outer * groups, grain_of(work * std::min(l.inner, line_columns)), [&](Index begin, Index end) {
    for (Index i = begin; i < end;) {  // neighbouring groups of one outer index in one call
      const Index outer = i / groups, last = std::min(end, (outer + 1) * groups);
      const Index first = i % groups * line_columns;
      body(outer, first, std::min((last - outer * groups) * line_columns, l.inner) - first);
      i = last;
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> create_take(const KernelRequest& request, std::string&) {
  const Lines l(request.inputs[0].shape, request.attributes.get<Index>("axis"));
  const Indices indices(request, 1, l.count, request.attributes.get<bool>("negative"));
  return for_size(request.outputs[0].dtype, [&](auto zero) {
    using Element = decltype(zero);
    const auto run = [l, indices](const KernelArguments& arguments) {
      auto* const at = static_cast<Index*>(arguments.scratch);
      indices.read(arguments.inputs[1], at);
      const Index count = indices.count;
      parallel_for(l.outer * count, grain_of(l.inner), [&](Index begin, Index end) {
        for (Index i = begin; i < end;) {
          const Index outer = i / count, j = i % count;
          const Index most = std::min(end - i, count - j);
          const Element* const x = arguments.in<Element>(0) + outer * l.count * l.inner;
          Element* const out = arguments.out<Element>(0) + i * l.inner;
          if (l.inner == 1) {
            for (Index k = 0; k < most; ++k) out[k] = x[at[j + k]];
            i += most;
            continue;
          }
          Index run_length = 1;  // neighbours in x are copied at once
          while (run_length < most && at[j + run_length] == at[j] + run_length) ++run_length;
          std::memcpy(out, x + at[j] * l.inner, static_cast<std::size_t>(run_length * l.inner) * sizeof(Element));
          i += run_length;
        }
      });
    };
    return make_kernel(run, {}, bytes(indices.count));
  });
}

std::unique_ptr<Kernel> create_scatter_add(const KernelRequest& request, std::string& reason) {
  const Index axis = request.attributes.get<Index>("axis");
  const Lines l(request.outputs[0].shape, axis);
  const Indices indices(request, 0, l.count, request.attributes.get<bool>("negative"));
  return for_sums(request, reason, [&](auto zero, auto out_zero) {
    using T = decltype(zero);
    using Out = decltype(out_zero);
    const auto run = [l, indices](const KernelArguments& arguments) {
      auto* const at = static_cast<Index*>(arguments.scratch);
      indices.read(arguments.inputs[0], at);
      for_columns(l, l.count + indices.count, [&](Index outer, Index first, Index width) {
        Out* const out = arguments.out<Out>(0) + outer * l.count * l.inner + first;
        for (Index i = 0; i < l.count; ++i) std::fill_n(out + i * l.inner, width, Out{0});
        const T* from = arguments.in<T>(1) + outer * indices.count * l.inner + first;
        for (Index j = 0; j < indices.count; ++j, from += l.inner) {
          Out* const to = out + at[j] * l.inner;
          for (Index c = 0; c < width; ++c) to[c] = plus(to[c], static_cast<Out>(from[c]));
        }
      });
    };
    return make_kernel(run, {}, bytes(indices.count));
  });
}

std::unique_ptr<Kernel> create_take_along_axis(const KernelRequest& request, std::string&) {
  const Index axis = request.attributes.get<Index>("axis");
  const Lines from(request.inputs[0].shape, axis), to(request.outputs[0].shape, axis);
  const Indices indices(request, 1, from.count, true);
  return for_size(request.outputs[0].dtype, [&](auto zero) {
    using Element = decltype(zero);
    return make_kernel([from, to, indices](const KernelArguments& arguments) {
      indices.read(arguments.inputs[1], nullptr);
      visit_dtype(indices.dtype, [&](auto index_zero) {
        using I = decltype(index_zero);
        if constexpr (std::is_integral_v<I>) {
          parallel_for(to.outer * to.count, grain_of(to.inner), [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
              const Element* const x = arguments.in<Element>(0) + i / to.count * from.count * from.inner;
              const I* const at = arguments.in<I>(1) + i * to.inner;
              Element* const out = arguments.out<Element>(0) + i * to.inner;
              for (Index c = 0; c < to.inner; ++c) {
                const auto index = static_cast<Index>(at[c]);
                out[c] = x[(index < 0 ? index + from.count : index) * from.inner + c];
              }
            }
          });
        }
      });
    });
  });
}

std::unique_ptr<Kernel> create_scatter_add_along_axis(const KernelRequest& request, std::string& reason) {
  const Index axis = request.attributes.get<Index>("axis");
  const Lines from(request.inputs[0].shape, axis), to(request.outputs[0].shape, axis);
  const Indices indices(request, 0, to.count, true);
  return for_sums(request, reason, [&](auto zero, auto out_zero) {
    using T = decltype(zero);
    using Out = decltype(out_zero);
    return make_kernel([from, to, indices](const KernelArguments& arguments) {
      indices.read(arguments.inputs[0], nullptr);
      visit_dtype(indices.dtype, [&](auto index_zero) {
        using I = decltype(index_zero);
        if constexpr (std::is_integral_v<I>) {
          for_columns(to, to.count + from.count, [&](Index outer, Index first, Index width) {
            Out* const out = arguments.out<Out>(0) + outer * to.count * to.inner + first;
            for (Index i = 0; i < to.count; ++i) std::fill_n(out + i * to.inner, width, Out{0});
            const Index begin = outer * from.count * from.inner + first;
            const T* x = arguments.in<T>(1) + begin;
            const I* at = arguments.in<I>(0) + begin;
            for (Index j = 0; j < from.count; ++j, x += from.inner, at += from.inner) {
              for (Index c = 0; c < width; ++c) {
                const auto index = static_cast<Index>(at[c]);
                Out& sum = out[(index < 0 ? index + to.count : index) * to.inner + c];
                sum = plus(sum, static_cast<Out>(x[c]));
              }
            }
          });
        }
      });
    });
  });
}

std::unique_ptr<Kernel> create_scatter_update(const KernelRequest& request, std::string&) {
  const Lines l(request.inputs[0].shape, 0);
  const Indices indices(request, 1, l.count, false);
  const auto row = static_cast<std::size_t>(l.inner) * dtype_size(request.outputs[0].dtype);
  const auto run = [l, indices, row](const KernelArguments& arguments) {
    auto* const at = static_cast<Index*>(arguments.scratch);
    indices.read(arguments.inputs[1], at);
    char* const out = arguments.out<char>(0);
    const char* const x = arguments.in<char>(0);
    const auto all = static_cast<Index>(row) * l.count;
    if (out != x) {
      parallel_for(all, 4 * grain, [&](Index begin, Index end) {
        std::memcpy(out + begin, x + begin, static_cast<std::size_t>(end - begin));
      });
    }
    for (Index i = 0; i < indices.count; ++i) {
      std::memcpy(out + static_cast<std::size_t>(at[i]) * row,
                  arguments.in<char>(2) + static_cast<std::size_t>(i) * row, row);
    }
  };
  return make_kernel(run, {true}, bytes(indices.count));
}

std::unique_ptr<Kernel> create_segment_max(const KernelRequest& request, std::string&) {
  const Lines l(request.outputs[0].shape, 0);
  const Indices indices(request, 1, l.count, false, "segments");
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l, indices](const KernelArguments& arguments) {
      auto* const at = static_cast<Index*>(arguments.scratch);
      indices.read(arguments.inputs[1], at);
      for_columns(l, l.count + indices.count, [&](Index, Index first, Index width) {
        T* const out = arguments.out<T>(0) + first;
        for (Index i = 0; i < l.count; ++i) std::fill_n(out + i * l.inner, width, lowest<T>());
        const T* from = arguments.in<T>(0) + first;
        for (Index j = 0; j < indices.count; ++j, from += l.inner) {
          T* const to = out + at[j] * l.inner;
          for (Index c = 0; c < width; ++c) {
            if (rank_of(from[c]) > rank_of(to[c])) to[c] = from[c];
          }
        }
      });
    };
    return make_kernel(run, {}, bytes(indices.count));
  });
}

}  // namespace mezzo::reference
