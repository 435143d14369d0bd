#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/code_formulas.hpp>
#include <mezzo/graph/codes.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Calls body(begin, width, group) for the runs of columns [begin, end) with one scale.
template <class Body>
void each_run(Index run, Index begin, Index end, Index columns, const Body& body) {
  const Index width = run == 0 ? std::max<Index>(columns, 1) : run;
  for (Index i = begin; i < end;) {
    const Index next = std::min(end, (i / width + 1) * width);
    body(i, next - i, i / width);
    i = next;
  }
}

template <class T>
class Rounding final : public Kernel {
 public:
  explicit Rounding(const KernelRequest& request)
      : shape_(request.attributes.get_or<Shape>("shape", request.inputs[0].shape)),
        axes_(request.attributes.get<Shape>("axes")),
        block_(request.attributes.get<Index>("block_size")),
        at_(shape_, axes_, block_),
        columns_(shape_.back()),
        rows_(columns_ == 0 ? 0 : element_count(shape_) / columns_),
        groups_(element_count(detail::shape_of_scales(shape_, axes_, block_))),
        range_(detail::CodeRange<T>::of(request.attributes.get<Index>("bits") == 4)) {
    ScratchLayout layout;
    for (std::size_t& offset : offsets_) offset = layout.take(static_cast<std::size_t>(groups_) * sizeof(T));
    scratch_ = layout.size();
  }

  void run(const KernelArguments& arguments) override {
    const T* x = arguments.in<T>(0);
    auto* const scratch = static_cast<std::byte*>(arguments.scratch);
    T* part[3];
    for (std::size_t i = 0; i < 3; ++i) part[i] = reinterpret_cast<T*>(scratch + offsets_[i]);
    std::fill_n(part[0], groups_, T{0});
    std::fill_n(part[1], groups_, T{0});
    std::fill_n(part[2], groups_, T{0});
    parts([&](Index first, Index last, Index begin, Index end) {
      for (Index row = first; row < last; ++row) measure(x + row * columns_, begin, end, at_.of_row(row), part);
    });
    for (Index g = 0; g < groups_; ++g) set_scale(part, g);
    parts([&](Index first, Index last, Index begin, Index end) {
      for (Index row = first; row < last; ++row) {
        round_row(x + row * columns_, arguments.out<T>(0) + row * columns_, begin, end, at_.of_row(row), part);
      }
    });
  }

  std::size_t scratch_bytes() const override { return scratch_; }

 private:
  /// Calls body(first row, last row, first column, last column) for parts without a group in common.
  template <class Body>
  void parts(const Body& body) const {
    const Index last = static_cast<Index>(shape_.size()) - 1;
    if (std::find(axes_.begin(), axes_.end(), last) == axes_.end()) {
      parallel_for(columns_, std::max<Index>(grain_of(rows_), 16),
                   [&](Index begin, Index end) { body(0, rows_, begin, end); });
    } else if (axes_.size() == 1) {
      parallel_for(rows_, grain_of(columns_), [&](Index begin, Index end) { body(begin, end, 0, columns_); });
    } else {
      body(0, rows_, 0, columns_);
    }
  }

  /// Largest magnitudes, or the ranges of blocks.
  void measure(const T* x, Index begin, Index end, Index first, T* const* part) const {
    T *least = part[0] + first, *most = part[1] + first;
    if (at_.run() == 1) {
      for (Index i = begin; i < end; ++i) {
        if (block_ > 0) least[i] = std::min(least[i], x[i]);
        most[i] = std::max(most[i], block_ > 0 ? x[i] : std::abs(x[i]));
      }
      return;
    }
    each_run(at_.run(), begin, end, columns_, [&](Index from, Index width, Index g) {
      T low = least[g], high = most[g];
      for (Index i = from; i < from + width; ++i) {
        low = std::min(low, x[i]);
        high = std::max(high, block_ > 0 ? x[i] : std::abs(x[i]));
      }
      least[g] = low;
      most[g] = high;
    });
  }

  /// part[1] becomes the scale of a group, part[2] its zero point.
  void set_scale(T* const* part, Index g) const {
    if (block_ <= 0) {
      part[1][g] = detail::symmetric_scale(part[1][g], range_.limit);
      return;
    }
    const detail::ScaleWithZero<T> of(part[0][g], part[1][g]);
    part[1][g] = of.scale;
    part[2][g] = of.zero;
  }

  T rounded(T x, T scale, T zero) const {
    if (std::isnan(x)) return x;
    return block_ > 0 ? (detail::code_with_zero(x, scale, zero) - zero) * scale
                      : detail::symmetric_code(x, scale, range_) / scale;
  }

  void round_row(const T* x, T* out, Index begin, Index end, Index first, T* const* part) const {
    const T *scale = part[1] + first, *zero = part[2] + first;
    if (at_.run() == 1) {
      for (Index i = begin; i < end; ++i) out[i] = rounded(x[i], scale[i], zero[i]);
      return;
    }
    each_run(at_.run(), begin, end, columns_, [&](Index from, Index width, Index g) {
      for (Index i = from; i < from + width; ++i) out[i] = rounded(x[i], scale[g], zero[g]);
    });
  }

  Shape shape_, axes_;
  Index block_;
  detail::ScalePositions at_;
  Index columns_, rows_, groups_;
  detail::CodeRange<T> range_;
  std::size_t offsets_[3] = {}, scratch_ = 0;
};

/// Rounding by one step for all elements.
template <class T>
std::unique_ptr<Kernel> round_by_step(const KernelRequest& request) {
  const auto range = detail::CodeRange<T>::of(request.attributes.get<Index>("bits") == 4);
  return make_elementwise_kernel(request, [range](const KernelArguments& arguments, Index begin, Index end) {
    const float step = *arguments.in<float>(1);
    const auto scale = static_cast<T>(1 / step);
    const T* x = arguments.in<T>(0);
    for (Index i = begin; i < end; ++i) {
      const T number = step == 0 ? x[i] : detail::symmetric_code(x[i], scale, range) / scale;
      arguments.out<T>(0)[i] = std::isfinite(x[i]) || step == 0 ? number : std::numeric_limits<T>::quiet_NaN();
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> create_fake_quantize(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) -> std::unique_ptr<Kernel> {
    if (request.inputs.size() > 1) return round_by_step<decltype(zero)>(request);
    return std::make_unique<Rounding<decltype(zero)>>(request);
  });
}

}  // namespace mezzo::reference
