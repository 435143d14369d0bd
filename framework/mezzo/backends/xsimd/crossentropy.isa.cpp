#include <mezzo/backends/xsimd/crossentropy.hpp>
#include <mezzo/backends/xsimd/softmax_rows.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

constexpr float smallest = 1e-7F;  // Keras clips probabilities to [smallest, 1 - smallest]

template <class T>
[[gnu::always_inline]] inline float number(const T* p) {
  return first_lane(load_one(p));
}

template <class T>
[[gnu::always_inline]] inline float total_of(const T* x, std::int64_t count) {
  return sum_of(x, count, 0.0F, [](const auto& v) { return v; });
}

template <class T>
[[gnu::flatten]] void loss_of_logits(const std::int32_t* labels, const void* scores, float* loss, std::int64_t rows,
                                     std::int64_t classes) {
  float totals[CrossentropyFunctions::most_rows];
  const T* x = static_cast<const T*>(scores);
  for (std::int64_t row = 0; row < rows; ++row, x += classes) {
    const Softmax softmax = softmax_of(x, classes);
    totals[row] = softmax.total;
    loss[row] = number(x + labels[row]) - softmax.maximum;
  }
  const auto body = [&](std::int64_t i, auto part) {
    store(loss + i, xsimd::log(load(totals + i, part)) - load(loss + i, part), part);
  };
  stream(rows, body);
}

template <class T>
[[gnu::flatten]] void loss_of_probabilities(const std::int32_t* labels, const void* scores, float* loss,
                                            std::int64_t rows, std::int64_t classes) {
  const T* x = static_cast<const T*>(scores);
  for (std::int64_t row = 0; row < rows; ++row, x += classes) {
    loss[row] = number(x + labels[row]) / total_of(x, classes);
  }
  const auto body = [&](std::int64_t i, auto part) {
    // max and min returns their second operand if one is NaN.
    const Floats p = xsimd::min(Floats(1 - smallest), xsimd::max(Floats(smallest), load(loss + i, part)));
    store(loss + i, -xsimd::log(p), part);
  };
  stream(rows, body);
}

/// dx[i] = value(x[i], mask of the lane that is the label).
template <class T, class Value>
[[gnu::always_inline]] inline void write_row(const T* x, T* dx, std::int64_t count, std::int32_t label,
                                             const Value& value) {
  const Ints numbers = lane_numbers();
  const auto body = [&](std::int64_t i, auto part) {
    const IntMask is_label = numbers == Ints(label - static_cast<std::int32_t>(i));
    store(dx + i, value(load(x + i, part), is_label), part);
  };
  stream(count, body, x);
}

template <class T>
[[gnu::flatten]] void gradient_of_logits(const std::int32_t* labels, const void* scores, const float* g, void* dx,
                                         std::int64_t rows, std::int64_t classes) {
  const T* x = static_cast<const T*>(scores);
  T* to = static_cast<T*>(dx);
  for (std::int64_t row = 0; row < rows; ++row, x += classes, to += classes) {
    const Softmax softmax = softmax_of(x, classes);
    const Floats total(softmax.total), scale(g[row]), one(1.0F);
    write_row(x, to, classes, labels[row], [&](const Floats& v, const IntMask& is_label) {
      const Floats probability = weight_of(v, softmax.maximum) / total;
      return scale * choose(is_label, probability - one, probability);
    });
  }
}

template <class T>
[[gnu::flatten]] void gradient_of_probabilities(const std::int32_t* labels, const void* scores, const float* g,
                                                void* dx, std::int64_t rows, std::int64_t classes) {
  const T* x = static_cast<const T*>(scores);
  T* to = static_cast<T*>(dx);
  for (std::int64_t row = 0; row < rows; ++row, x += classes, to += classes) {
    const float total = total_of(x, classes);
    const float score = number(x + labels[row]);
    const bool clipped = score / total < smallest || score / total > 1 - smallest;
    const Floats others(clipped ? 0.0F : g[row] / total);
    const Floats own(clipped ? 0.0F : g[row] * (1 / total - 1 / score));
    write_row(x, to, classes, labels[row],
              [&](const Floats&, const IntMask& is_label) { return choose(is_label, own, others); });
  }
}

}  // namespace

constexpr CrossentropyFunctions crossentropy{
    .loss_of_logits = {.float32 = loss_of_logits<float>,
                       .bfloat16 = loss_of_logits<bfloat16>,
                       .float16 = loss_of_logits<float16>},
    .loss_of_probabilities = {.float32 = loss_of_probabilities<float>,
                              .bfloat16 = loss_of_probabilities<bfloat16>,
                              .float16 = loss_of_probabilities<float16>},
    .gradient_of_logits = {.float32 = gradient_of_logits<float>,
                           .bfloat16 = gradient_of_logits<bfloat16>,
                           .float16 = gradient_of_logits<float16>},
    .gradient_of_probabilities = {.float32 = gradient_of_probabilities<float>,
                                  .bfloat16 = gradient_of_probabilities<bfloat16>,
                                  .float16 = gradient_of_probabilities<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
