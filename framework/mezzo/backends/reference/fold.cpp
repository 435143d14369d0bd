#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>
#include <mezzo/backends/reference/reduction.hpp>
#include <mezzo/core/visit.hpp>

// Reductions that combine elements one by one: max, min, prod, any, all.
namespace mezzo::reference {
namespace {

constexpr std::int64_t fold_lanes = 256;  // results that are computed side by side

/// Combines `count` neighbours, at least 1, in several chains, which the compiler vectorizes.
template <class T, class Wide, class Combine>
Wide fold_neighbours(const T* x, std::int64_t count, const Combine& combine) {
  constexpr std::int64_t chains = 64;
  std::array<Wide, chains> results{};
  const std::int64_t used = std::min(chains, count);
  for (std::int64_t k = 0; k < used; ++k) results[static_cast<std::size_t>(k)] = static_cast<Wide>(x[k]);
  std::int64_t i = chains;
  for (; i + chains <= count; i += chains) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(chains); ++k) {
      results[k] = combine(results[k], static_cast<Wide>(x[i + static_cast<std::int64_t>(k)]));
    }
  }
  for (std::int64_t k = 0; i + k < count; ++k) {
    Wide& result = results[static_cast<std::size_t>(k)];
    result = combine(result, static_cast<Wide>(x[i + k]));
  }
  Wide all = results[0];
  for (std::int64_t k = 1; k < used; ++k) all = combine(all, results[static_cast<std::size_t>(k)]);
  return all;
}

/// Combines the elements that `reduced` visits from x on, at least 1. Its rows hold neighbours.
template <class T, class Wide, class Combine>
Wide fold_rows(const T* x, const Walk& reduced, const Combine& combine) {
  Wide all = fold_neighbours<T, Wide>(x + reduced.offset(0, 0), reduced.row_size(), combine);
  for (std::int64_t row = 1; row < reduced.rows(); ++row) {
    all = combine(all, fold_neighbours<T, Wide>(x + reduced.offset(0, row), reduced.row_size(), combine));
  }
  return all;
}

/// A kernel for few long rows of neighbours: blocks of fixed size side by side, then their results. The result
/// therefore does not depend on the number of threads.
template <class T, class Wide, class Combine>
std::unique_ptr<Kernel> fold_blocks(std::int64_t rows, std::int64_t count, Combine combine) {
  constexpr std::int64_t block_size = 65536;
  const std::int64_t blocks = (count + block_size - 1) / block_size;
  const auto run = [=](const KernelArguments& arguments) {
    auto* const results = static_cast<Wide*>(arguments.scratch);
    parallel_for(rows * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % blocks * block_size;
        const T* const x = arguments.in<T>(0) + i / blocks * count + first;
        results[i] = fold_neighbours<T, Wide>(x, std::min(block_size, count - first), combine);
      }
    });
    for (std::int64_t i = 0; i < rows; ++i) {
      arguments.out<T>(0)[i] = static_cast<T>(fold_neighbours<Wide, Wide>(results + i * blocks, blocks, combine));
    }
  };
  return make_kernel(run, {}, static_cast<std::size_t>(rows * blocks) * sizeof(Wide));
}

/// A kernel: each output is the elements along the axes combined, in any order that does not depend on the number of
/// threads; `none` of no elements.
template <class T, class Wide, class Combine>
std::unique_ptr<Kernel> fold(const KernelRequest& request, Wide none, Combine combine) {
  Reduction walks = reduction(request);
  const bool lines = walks.lines();
  constexpr std::int64_t few = 64, many = 131072;
  if (lines && walks.reduced.rows() == 1 && walks.kept.size() < few && walks.reduced.size() >= many) {
    return fold_blocks<T, Wide>(walks.kept.size(), walks.reduced.size(), combine);
  }
  return make_kernel([walks = std::move(walks), none, combine, lines](const KernelArguments& arguments) {
    const Walk& kept = walks.kept;
    const Walk& reduced = walks.reduced;
    parallel_for(kept.size(), grain_of(reduced.size()), [&](std::int64_t begin, std::int64_t end) {
      if (reduced.size() == 0) {
        std::fill(arguments.out<T>(0) + begin, arguments.out<T>(0) + end, static_cast<T>(none));
        return;
      }
      const std::int64_t step = kept.step(0);
      kept.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        const T* const x = arguments.in<T>(0) + kept.offset(0, line) + column * step;
        T* const out = arguments.out<T>(0) + i;
        if (lines) {
          for (std::int64_t k = 0; k < count; ++k) {
            out[k] = static_cast<T>(fold_rows<T, Wide>(x + k * step, reduced, combine));
          }
          return;
        }
        std::array<Wide, fold_lanes> results;
        for (std::int64_t done = 0; done < count; done += fold_lanes) {
          const std::int64_t now = std::min(fold_lanes, count - done);
          const T* const from = x + done;
          for (std::int64_t row = 0; row < reduced.rows(); ++row) {
            const T* at = from + reduced.offset(0, row);
            for (std::int64_t j = 0; j < reduced.row_size(); ++j, at += reduced.step(0)) {
              const bool first = row == 0 && j == 0;
              for (std::int64_t k = 0; k < now; ++k) {
                Wide& result = results[static_cast<std::size_t>(k)];
                result = first ? static_cast<Wide>(at[k]) : combine(result, static_cast<Wide>(at[k]));
              }
            }
          }
          for (std::int64_t k = 0; k < now; ++k) out[done + k] = static_cast<T>(results[static_cast<std::size_t>(k)]);
        }
      });
    });
  });
}

/// Bools as bytes of 0 and 1.
template <class Combine>
std::unique_ptr<Kernel> truth(const KernelRequest& request, std::uint8_t none, Combine combine) {
  return fold<std::uint8_t, std::uint8_t>(request, none, combine);
}

/// Products in double or int64, which wraps around.
template <class T>
std::unique_ptr<Kernel> product(const KernelRequest& request) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  return fold<T, Wide>(request, Wide{1}, [](Wide a, Wide b) { return a * b; });
}

}  // namespace

std::unique_ptr<Kernel> create_max(const KernelRequest& request, std::string&) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return fold<T, T>(request, T{}, [](T a, T b) { return rank_of(b) > rank_of(a) ? b : a; });
  });
}

std::unique_ptr<Kernel> create_min(const KernelRequest& request, std::string&) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return fold<T, T>(request, T{}, [](T a, T b) { return rank_below(b) < rank_below(a) ? b : a; });
  });
}

std::unique_ptr<Kernel> create_any(const KernelRequest& request, std::string&) {
  return truth(request, 0, [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a | b); });
}

std::unique_ptr<Kernel> create_all(const KernelRequest& request, std::string&) {
  return truth(request, 1, [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a & b); });
}

std::unique_ptr<Kernel> create_prod(const KernelRequest& request, std::string& reason) {
  if (request.inputs[0].dtype == DType::int64) return product<std::int64_t>(request);
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return product<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
