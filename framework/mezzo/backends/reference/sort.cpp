#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/labels.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// An element's rank and its place in the line.
template <class Rank>
struct Ranked {
  Rank rank;
  Index place;
};

/// Ascending, equal elements in their order.
struct Ascending {
  template <class Rank>
  bool operator()(const Ranked<Rank>& a, const Ranked<Rank>& b) const {
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  }
};

/// Descending, equal elements in their order.
struct Descending {
  template <class Rank>
  bool operator()(const Ranked<Rank>& a, const Ranked<Rank>& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.place < b.place;
  }
};

/// A kernel that calls body(line, its ranked elements) for each line; threads have a line of scratch memory each.
template <class T, class Body>
std::unique_ptr<Kernel> for_ranked_lines(const Lines& l, Body body) {
  using Rank = decltype(rank_of(T{}));
  const Index worth = l.lines() / grain_of(l.count) + 1;
  const auto threads = static_cast<int>(std::min<Index>(std::max<Index>(worth, 1), thread_count()));
  const auto run = [l, threads, body](const KernelArguments& arguments) {
    auto* const scratch = static_cast<Ranked<Rank>*>(arguments.scratch);
    parallel_threads(threads, [&](int thread, int count) {
      Ranked<Rank>* const line = scratch + thread * l.count;
      for (Index i = l.lines() * thread / count; i < l.lines() * (thread + 1) / count; ++i) {
        const T* const x = arguments.in<T>(0) + l.start(i);
        for (Index k = 0; k < l.count; ++k) line[k] = {rank_of(x[k * l.inner]), k};
        body(arguments, i, line);
      }
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(threads * l.count) * sizeof(Ranked<Rank>));
}

}  // namespace

std::unique_ptr<Kernel> create_argsort(const KernelRequest& request, std::string&) {
  const Lines l(request.inputs[0].shape, request.attributes.get<Index>("axis"));
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    return for_ranked_lines<decltype(zero)>(l, [l](const KernelArguments& arguments, Index i, auto* line) {
      std::sort(line, line + l.count, Ascending());
      Index* const out = arguments.out<Index>(0) + l.start(i);
      for (Index k = 0; k < l.count; ++k) out[k * l.inner] = line[k].place;
    });
  });
}

std::unique_ptr<Kernel> create_top_k(const KernelRequest& request, std::string&) {
  const Shape& shape = request.inputs[0].shape;
  const Lines l(shape, static_cast<Index>(shape.size()) - 1);
  const Index k = request.attributes.get<Index>("k");
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return for_ranked_lines<T>(l, [l, k](const KernelArguments& arguments, Index i, auto* line) {
      if (k < l.count) std::nth_element(line, line + k - 1, line + l.count, Descending());
      std::sort(line, line + k, Descending());
      for (Index j = 0; j < k; ++j) {
        arguments.out<T>(0)[i * k + j] = arguments.in<T>(0)[i * l.count + line[j].place];
        arguments.out<Index>(1)[i * k + j] = line[j].place;
      }
    });
  });
}

std::unique_ptr<Kernel> create_in_top_k(const KernelRequest& request, std::string&) {
  const Index rows = request.inputs[1].shape[0], classes = request.inputs[1].shape[1];
  const Index k = request.attributes.get<Index>("k");
  const DType targets = request.inputs[0].dtype;
  return visit_dtype(request.inputs[1].dtype, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([=](const KernelArguments& arguments) {
      parallel_for(rows, grain_of(classes), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const T* const scores = arguments.in<T>(1) + i * classes;
          const Index target = label_at(arguments.inputs[0], targets, i);
          bool in = target >= 0 && target < classes && std::isfinite(convert<double>(scores[target]));
          if (in) {
            const auto own = rank_of(scores[target]);
            Index greater = 0;
            for (Index c = 0; c < classes; ++c) greater += rank_of(scores[c]) > own ? 1 : 0;
            in = greater < k;
          }
          arguments.out<bool>(0)[i] = in;
        }
      });
    });
  });
}

std::unique_ptr<Kernel> create_searchsorted(const KernelRequest& request, std::string&) {
  const Index size = request.inputs[0].shape[0], count = element_count(request.inputs[1].shape);
  const bool right = request.attributes.get<bool>("right");
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([=](const KernelArguments& arguments) {
      const T* const sequence = arguments.in<T>(0);
      const auto less = [](T a, T b) { return rank_of(a) < rank_of(b); };
      parallel_for(count, grain_of(16), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const T value = arguments.in<T>(1)[i];
          const T* const at = right ? std::upper_bound(sequence, sequence + size, value, less)
                                    : std::lower_bound(sequence, sequence + size, value, less);
          arguments.out<Index>(0)[i] = at - sequence;
        }
      });
    });
  });
}

}  // namespace mezzo::reference
