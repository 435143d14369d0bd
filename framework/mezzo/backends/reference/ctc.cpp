#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/labels.hpp>
#include <mezzo/backends/reference/creators.hpp>

// The recursion is that of Keras on JAX (from optax): a state for the blank in front of and behind each label, and one
// for each label. Moving from a label to the next blank state needs no frame, unless the next label is equal.
// Transitions that don't exist have the log-probability -1e5.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
constexpr double no_transition = -1e5;

/// log(exp(a) + exp(b)).
double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return high - low > 40 || std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

/// Sizes and attributes of a request.
struct CtcSizes {
  Index batch, labels, frames, classes, blank;
  DType label_dtype, target_length_dtype, output_length_dtype;
  std::string where;

  /// Doubles of scratch memory for one sequence: states before each frame, states behind a frame, normalizers.
  std::size_t scratch() const {
    return static_cast<std::size_t>((frames + 1) * (2 * labels + 1) + 3 * (labels + 1) + frames + labels);
  }
};

CtcSizes sizes_of(const KernelRequest& request) {
  const Shape &target = request.inputs[0].shape, &output = request.inputs[1].shape;
  return {.batch = target[0],
          .labels = target[1],
          .frames = output[1],
          .classes = output[2],
          .blank = request.attributes.get<std::int64_t>("mask_index"),
          .label_dtype = request.inputs[0].dtype,
          .target_length_dtype = request.inputs[2].dtype,
          .output_length_dtype = request.inputs[3].dtype,
          .where = request.where};
}

void check_ctc(const CtcSizes& sizes, const KernelArguments& arguments) {
  check_labels(arguments.inputs[2], sizes.target_length_dtype, sizes.batch, sizes.labels + 1,
               sizes.where + " target_length");
  check_labels(arguments.inputs[3], sizes.output_length_dtype, sizes.batch, sizes.frames + 1,
               sizes.where + " output_length");
  for (Index row = 0; row < sizes.batch; ++row) {
    const Index length = label_at(arguments.inputs[2], sizes.target_length_dtype, row);
    for (Index i = 0; i < length; ++i) {
      const Index label = label_at(arguments.inputs[0], sizes.label_dtype, row * sizes.labels + i);
      if (label >= 0 && label < sizes.classes) continue;
      fail<ValueError>(sizes.where + " target", "must be in [0, {}); got {} at index {}", sizes.classes, label,
                       row * sizes.labels + i);
    }
  }
}

/// One sequence of the batch.
template <class T>
class Alignment {
 public:
  Alignment(const CtcSizes& sizes, const KernelArguments& arguments, Index row, double* scratch)
      : count_(label_at(arguments.inputs[2], sizes.target_length_dtype, row)),
        frames_(label_at(arguments.inputs[3], sizes.output_length_dtype, row)),
        classes_(sizes.classes),
        blank_(sizes.blank),
        logits_(arguments.in<T>(1) + row * sizes.frames * sizes.classes),
        states_(scratch),
        behind_(states_ + (sizes.frames + 1) * (2 * sizes.labels + 1)),
        normalizers_(behind_ + 3 * (sizes.labels + 1)),
        labels_(normalizers_ + sizes.frames) {
    for (Index i = 0; i < count_; ++i) {
      labels_[i] = static_cast<double>(label_at(arguments.inputs[0], sizes.label_dtype, row * sizes.labels + i));
    }
    for (Index t = 0; t < frames_; ++t) {
      const T* x = logits_ + t * classes_;
      const double highest = *std::max_element(x, x + classes_);
      double sum = 0;
      for (Index k = 0; k < classes_; ++k) sum += std::exp(static_cast<double>(x[k]) - highest);
      normalizers_[t] = highest + std::log(sum);
    }
  }

  /// Fills the states before each frame and behind the last one. Returns the log-probability of the target.
  double forward() {
    double* blanks = blanks_at(0);
    double* emitted = emitted_at(0);
    std::fill(blanks, blanks + count_ + 1, no_transition);
    std::fill(emitted, emitted + count_, no_transition);
    blanks[0] = 0;
    for (Index t = 0; t < frames_; ++t) {
      const double* from_blanks = blanks_at(t);
      const double* from_emitted = emitted_at(t);
      double* to_blanks = blanks_at(t + 1);
      double* to_emitted = emitted_at(t + 1);
      const double blank = log_probability(t, blank_);
      double entered = from_blanks[0];  // the blank state n, with the transition from label n - 1 without a frame
      to_blanks[0] = entered + blank;
      for (Index n = 0; n < count_; ++n) {
        to_emitted[n] = log_add(entered, from_emitted[n]) + log_probability(t, label(n));
        const double skip = repeats(n) ? no_transition : 0;
        entered = log_add(from_blanks[n + 1], from_emitted[n] + skip);
        to_blanks[n + 1] = log_add(entered, from_emitted[n] + (no_transition - skip)) + blank;
      }
    }
    total_ = blanks_at(frames_)[count_];
    if (count_ > 0) total_ = log_add(total_, emitted_at(frames_)[count_ - 1]);
    return total_;
  }

  /// Adds the gradient of minus the total for the logits, times g. `dx` is 0 before. Call forward() first.
  void backward(double g, T* dx) {
    double* blanks = behind_;  // log-probability of the rest of the target, from each state
    double* emitted = behind_ + count_ + 1;
    double* entered = emitted + count_;
    constexpr double never = -INFINITY;
    std::fill(blanks, blanks + count_ + 1, never);
    std::fill(emitted, emitted + count_, never);
    blanks[count_] = 0;
    if (count_ > 0) emitted[count_ - 1] = 0;
    for (Index t = frames_ - 1; t >= 0; --t) {
      const T* x = logits_ + t * classes_;
      T* out = dx + t * classes_;
      for (Index k = 0; k < classes_; ++k) {
        out[k] = static_cast<T>(g * std::exp(static_cast<double>(x[k]) - normalizers_[t]));
      }
      double in_blank = 0;
      for (Index n = 0; n <= count_; ++n) in_blank += std::exp(blanks_at(t + 1)[n] + blanks[n] - total_);
      out[blank_] -= static_cast<T>(g * in_blank);
      for (Index n = 0; n < count_; ++n) {
        out[label(n)] -= static_cast<T>(g * std::exp(emitted_at(t + 1)[n] + emitted[n] - total_));
      }
      const double blank = log_probability(t, blank_);
      for (Index n = 0; n <= count_; ++n) {
        entered[n] = blank + blanks[n];
        if (n < count_) entered[n] = log_add(entered[n], log_probability(t, label(n)) + emitted[n]);
      }
      for (Index n = 0; n < count_; ++n) {
        const double skip = repeats(n) ? no_transition : 0;
        const double on = log_add(skip + entered[n + 1], no_transition - skip + blank + blanks[n + 1]);
        emitted[n] = log_add(log_probability(t, label(n)) + emitted[n], on);
      }
      std::copy(entered, entered + count_ + 1, blanks);
    }
  }

 private:
  double* blanks_at(Index t) const { return states_ + t * (2 * count_ + 1); }
  double* emitted_at(Index t) const { return blanks_at(t) + count_ + 1; }
  Index label(Index n) const { return static_cast<Index>(labels_[n]); }
  bool repeats(Index n) const { return n + 1 < count_ && labels_[n] == labels_[n + 1]; }
  double log_probability(Index t, Index k) const {
    return static_cast<double>(logits_[t * classes_ + k]) - normalizers_[t];
  }

  Index count_, frames_, classes_, blank_;
  const T* logits_;
  double *states_, *behind_, *normalizers_, *labels_;
  double total_ = 0;
};

/// Calls body(alignment, row) for each sequence.
template <class T, class Body>
void for_sequences(const CtcSizes& sizes, const KernelArguments& arguments, const Body& body) {
  check_ctc(sizes, arguments);
  auto* scratch = static_cast<double*>(arguments.scratch);
  parallel_for(sizes.batch, grain_of(sizes.frames * (sizes.classes + 8 * sizes.labels)), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      Alignment<T> alignment(sizes, arguments, row, scratch + static_cast<std::size_t>(row) * sizes.scratch());
      body(alignment, row);
    }
  });
}

std::size_t ctc_scratch_bytes(const CtcSizes& sizes) {
  return static_cast<std::size_t>(sizes.batch) * sizes.scratch() * sizeof(double);
}

}  // namespace

std::unique_ptr<Kernel> create_ctc_loss(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const CtcSizes sizes = sizes_of(request);
    const auto run = [sizes](const KernelArguments& arguments) {
      T* out = arguments.out<T>(0);
      for_sequences<T>(sizes, arguments,
                       [out](Alignment<T>& alignment, Index row) { out[row] = static_cast<T>(-alignment.forward()); });
    };
    return make_kernel(run, {}, ctc_scratch_bytes(sizes));
  });
}

std::unique_ptr<Kernel> create_ctc_loss_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const CtcSizes sizes = sizes_of(request);
    const auto run = [sizes](const KernelArguments& arguments) {
      const T* g = arguments.in<T>(4);
      T* out = arguments.out<T>(0);
      for_sequences<T>(sizes, arguments, [&](Alignment<T>& alignment, Index row) {
        T* dx = out + row * sizes.frames * sizes.classes;
        std::fill(dx, dx + sizes.frames * sizes.classes, T{0});
        alignment.forward();
        alignment.backward(static_cast<double>(g[row]), dx);
      });
    };
    return make_kernel(run, {}, ctc_scratch_bytes(sizes));
  });
}

}  // namespace mezzo::reference
