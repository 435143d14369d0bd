#pragma once

#include <cmath>

#include "ops/plain.hpp"

// Rows of ctc_loss and its gradient, compared with sums over all alignments.
namespace mezzo_tests {

// Loss and gradient of one sequence, by enumeration of all classes of all frames.
struct PlainCtc {
  double loss = 0;
  std::vector<double> gradient;
};

inline PlainCtc plain_ctc(const double* logits, std::int64_t frames, std::int64_t classes,
                          const std::vector<std::int64_t>& labels, std::int64_t mask) {
  const auto at = [&](std::int64_t t, std::int64_t k) { return static_cast<std::size_t>(t * classes + k); };
  std::vector<double> p(static_cast<std::size_t>(frames * classes)), occupied(p.size());
  for (std::int64_t t = 0; t < frames; ++t) {
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(logits[t * classes + k]);
    for (std::int64_t k = 0; k < classes; ++k) p[at(t, k)] = std::exp(logits[t * classes + k]) / sum;
  }
  const std::int64_t ways = std::llround(std::pow(classes, frames));
  double total = 0;
  for (std::int64_t way = 0; way < ways; ++way) {
    std::vector<std::int64_t> path, given;
    double probability = 1;
    for (std::int64_t t = 0, rest = way; t < frames; ++t, rest /= classes) {
      const std::int64_t k = rest % classes;
      if (k != mask && (path.empty() || path.back() != k)) given.push_back(k);
      path.push_back(k);
      probability *= p[at(t, k)];
    }
    if (given != labels) continue;
    total += probability;
    for (std::int64_t t = 0; t < frames; ++t) occupied[at(t, path[static_cast<std::size_t>(t)])] += probability;
  }
  PlainCtc out{-std::log(total), p};
  for (std::size_t i = 0; i < p.size(); ++i) out.gradient[i] -= occupied[i] / total;
  return out;
}

inline std::vector<OpRow> ctc_rows() {
  using mezzo::DType;
  using mezzo::Shape;
  using mezzo::Tensor;
  using mezzo::Values;
  struct Case {
    Shape target, output;
    std::vector<std::int32_t> labels, target_length, output_length;
    std::int64_t mask;
  };
  std::vector<OpRow> rows;
  for (const Case& c : {Case{{3, 2}, {3, 5, 3}, {1, 1, 2, 1, 1, 0}, {2, 2, 1}, {5, 4, 3}, 0},
                        Case{{2, 1}, {2, 3, 4}, {2, 0}, {1, 0}, {3, 2}, 3}, Case{{0, 2}, {0, 3, 2}, {}, {}, {}, 0}}) {
    // Output 0: losses; output 1: gradients times g, the losses' cotangent.
    const auto plain = [c](const TensorList& v, bool of_output) {
      const std::int64_t batch = c.output[0], frames = c.output[1], classes = c.output[2];
      Tensor losses({batch}, DType::float64), gradient(c.output, DType::float64);
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto row = static_cast<std::size_t>(b);
        std::vector<std::int64_t> labels;
        for (std::int32_t i = 0; i < c.target_length[row]; ++i) {
          labels.push_back(c.labels[row * static_cast<std::size_t>(c.target[1]) + static_cast<std::size_t>(i)]);
        }
        const PlainCtc one =
            plain_ctc(v[1].data<double>() + b * frames * classes, c.output_length[row], classes, labels, c.mask);
        losses.mutable_data<double>()[b] = one.loss;
        for (std::size_t i = 0; of_output && i < one.gradient.size(); ++i) {
          gradient.mutable_data<double>()[b * frames * classes + static_cast<std::int64_t>(i)] =
              one.gradient[i] * v[4].data<double>()[b];
        }
      }
      return TensorList{of_output ? gradient : losses};
    };
    const Shape batch{c.output[0]};
    std::vector<Argument> arguments{{Tensor(c.target, c.labels), DType::int32},
                                    {uniform(c.output, -1, 1)},
                                    {Tensor(batch, c.target_length), DType::int32},
                                    {Tensor(batch, c.output_length), DType::int32}};
    const double depth = static_cast<double>(c.output[1] * c.output[2]);
    rows.push_back({.op = "ctc_loss",
                    .note = mezzo::to_string(c.output),
                    .call = [c](const Values& v) { return Values{mezzo::ctc_loss(v[0], v[1], v[2], v[3], c.mask)}; },
                    .arguments = arguments,
                    .outputs = {Role::accumulated()},
                    .plain = [plain](const TensorList& v) { return plain(v, false); },
                    .differentiable = {1},
                    .depth = depth});
    arguments.push_back({uniform(batch, 0.5, 2, 3), Role::accumulated()});
    rows.push_back({.op = "ctc_loss_gradient",
                    .note = mezzo::to_string(c.output),
                    .call = inserted("ctc_loss_gradient", {{"mask_index", c.mask}}),
                    .arguments = arguments,
                    .outputs = {Role::varied()},
                    .plain = [plain](const TensorList& v) { return plain(v, true); },
                    .depth = depth,
                    .internal = true});
  }
  return rows;
}

inline std::vector<Refusal> ctc_refusals() {
  using mezzo::DType;
  using mezzo::Tensor;
  const Tensor target({1, 2}, DType::int32), output({1, 4, 3}), length({1}, DType::int32);
  return {
      refusal<mezzo::ShapeError>("ctc_loss", "[ctc_loss] target must be (batch, labels); got shape (1,)",
                                 [=] { mezzo::ctc_loss(length, output, length, length); }),
      refusal<
          mezzo::
              ShapeError>("ctc_loss_gradient", "[ctc_loss_gradient] the cotangent must have shape (1,); got (2,)", [=] {
        inserted("ctc_loss_gradient", {{"mask_index", std::int64_t{0}}})({target, output, length, length, Tensor({2})});
      })};
}

}  // namespace mezzo_tests
