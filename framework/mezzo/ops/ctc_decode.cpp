#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/ops/ctc.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log(std::exp(a - high) + std::exp(b - high));
}

/// Logits of one sequence.
struct Frames {
  const double* logits;
  std::int64_t count, classes, blank;

  const double* at(std::int64_t t) const { return logits + t * classes; }
};

using Path = std::vector<std::int64_t>;

struct Decoded {
  Path labels;
  double score = 0;
};

Decoded greedy(const Frames& frames, bool merge) {
  Decoded out;
  std::int64_t before = frames.blank;
  for (std::int64_t t = 0; t < frames.count; ++t) {
    const double* x = frames.at(t);
    const std::int64_t best = std::max_element(x, x + frames.classes) - x;
    out.score -= x[best];
    if (best != frames.blank && !(merge && best == before)) out.labels.push_back(best);
    before = best;
  }
  return out;
}

/// Log-probabilities of a prefix: of the alignments that end in its last label, and in a blank.
struct Scores {
  double emitted = never, blank = never;
  double total() const { return log_sum(emitted, blank); }
};

/// Classes count from the last one, so that prefixes of equal probability have the order of Keras, which keeps the
/// last ones in lexicographic order.
using Beam = std::map<Path, Scores>;

/// Keeps the `width` most probable prefixes. `place`: number of prefixes in front of the empty one; after the first
/// frame, the place of the blank among the classes.
void prune(Beam& beam, std::int64_t width, std::int64_t place) {
  if (static_cast<std::int64_t>(beam.size()) <= width) return;
  std::vector<std::pair<double, Beam::iterator>> order;
  for (auto at = beam.begin(); at != beam.end(); ++at) order.emplace_back(at->second.total(), at);
  std::rotate(order.begin(), order.begin() + 1, order.begin() + 1 + place);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  order.resize(order.size() - static_cast<std::size_t>(width));
  for (const auto& entry : order) beam.erase(entry.second);
}

std::vector<Decoded> search(const Frames& frames, const CTCDecodeOptions& options) {
  Beam beam{{Path(), Scores{never, 0}}};
  const std::int64_t last = frames.classes - 1;
  for (std::int64_t t = 0; t < frames.count; ++t) {
    const double* x = frames.at(t);
    const double high = *std::max_element(x, x + frames.classes);
    double sum = 0;
    for (std::int64_t k = 0; k < frames.classes; ++k) sum += std::exp(x[k] - high);
    const double normalizer = high + std::log(sum);
    Beam next;
    for (const auto& [path, scores] : beam) {
      const double total = scores.total();
      for (std::int64_t k = 0; k < frames.classes; ++k) {
        const double p = x[last - k] - normalizer;
        if (last - k == frames.blank) {
          double& blank = next[path].blank;
          blank = log_sum(blank, total + p);
          continue;
        }
        const bool repeats = !path.empty() && path.back() == k;
        if (repeats) {
          double& same = next[path].emitted;
          same = log_sum(same, scores.emitted + p);
        }
        const double from = repeats ? scores.blank : total;
        if (from == never) continue;
        Path longer = path;
        longer.push_back(k);
        double& emitted = next[longer].emitted;
        emitted = log_sum(emitted, from + p);
      }
    }
    beam = std::move(next);
    prune(beam, options.beam_width, t == 0 ? last - frames.blank : 0);
  }
  std::vector<Decoded> out;
  for (const auto& [path, scores] : beam) out.push_back({path, scores.total()});
  std::stable_sort(out.begin(), out.end(), [](const Decoded& a, const Decoded& b) { return a.score < b.score; });
  std::reverse(out.begin(), out.end());
  out.resize(static_cast<std::size_t>(options.top_paths), Decoded{{}, never});
  for (Decoded& one : out) {
    for (std::int64_t& k : one.labels) k = last - k;
  }
  return out;
}

/// (paths, batch, frames + 1): the labels, then -1; the last place has the score.
Tensor decode(const Tensor& logits, const Tensor& lengths, const CTCDecodeOptions& options, const std::string& where) {
  const Shape& shape = logits.shape();
  const std::int64_t batch = shape[0], frames = shape[1], row = frames + 1;
  const bool is_greedy = options.strategy == "greedy";
  const std::vector<double> numbers = logits.to_doubles(), counts = lengths.to_doubles();
  Tensor out({options.top_paths, batch, row}, DType::float64);
  auto* to = out.mutable_data<double>();
  std::fill(to, to + out.size(), -1.0);
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto count = static_cast<std::int64_t>(counts[static_cast<std::size_t>(b)]);
    if (count < 0 || count > frames) {
      fail<ValueError>(where, "sequence_lengths must be in [0, {}]; got {} at index {}", frames, count, b);
    }
    const Frames sequence{numbers.data() + b * frames * shape[2], count, shape[2], options.mask_index};
    const std::vector<Decoded> paths =
        is_greedy ? std::vector<Decoded>{greedy(sequence, options.merge_repeated)} : search(sequence, options);
    for (std::int64_t p = 0; p < options.top_paths; ++p) {
      const Decoded& path = paths[static_cast<std::size_t>(p)];
      double* labels = to + (p * batch + b) * row;
      for (std::size_t i = 0; i < path.labels.size(); ++i) labels[i] = static_cast<double>(path.labels[i]);
      labels[frames] = path.score;
    }
  }
  return out;
}

void check_options(const CTCDecodeOptions& options, const Shape& shape, const std::string& where) {
  const bool is_greedy = options.strategy == "greedy";
  if (!is_greedy && options.strategy != "beam_search") {
    fail<ValueError>(where, "strategy must be greedy or beam_search; got \"{}\"", options.strategy);
  }
  if (is_greedy && (options.top_paths != 1 || options.beam_width != CTCDecodeOptions().beam_width)) {
    fail<ValueError>(where, "beam_width and top_paths are for the strategy beam_search; got {} and {}",
                     options.beam_width, options.top_paths);
  }
  if (!is_greedy && !options.merge_repeated) {
    fail<ValueError>(where, "merge_repeated must be true for the strategy beam_search; got false");
  }
  if (options.top_paths < 1 || options.top_paths > options.beam_width) {
    fail<ValueError>(where, "top_paths must be in [1, {}] (beam_width); got {}", options.beam_width, options.top_paths);
  }
  if (options.mask_index < 0 || options.mask_index >= shape[2]) {
    fail<ValueError>(where, "mask_index must be in [0, {}); got {}", shape[2], options.mask_index);
  }
}

}  // namespace

CTCDecoded ctc_decode(const Value& inputs, const Value& given, const CTCDecodeOptions& options) {
  const Value sequence_lengths = detail::as_labels(given);
  const std::string where = detail::current_label("ctc_decode");
  const Shape &shape = inputs.shape(), &lengths = sequence_lengths.shape();
  if (shape.size() != 3 || std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
    fail<ShapeError>(where, "inputs must be (batch, frames, classes), of known sizes; got shape {}", shape);
  }
  if (!is_floating(inputs.dtype())) fail<DTypeError>(where, "inputs must be floating; got {}", inputs.dtype());
  if (is_floating(sequence_lengths.dtype()) || sequence_lengths.dtype() == DType::boolean) {
    fail<DTypeError>(where, "sequence_lengths must be integers; got {}", sequence_lengths.dtype());
  }
  if (lengths != Shape{shape[0]}) {
    fail<ShapeError>(where, "sequence_lengths must have shape {}; got {}", Shape{shape[0]}, lengths);
  }
  check_options(options, shape, where);
  const std::int64_t frames = shape[1], paths = options.top_paths;
  const Value all =
      host([=](const std::vector<Tensor>& xs) { return decode(xs[0], xs[1], options, where); },
           Values{inputs, sequence_lengths}, {.shape = Shape{paths, shape[0], frames + 1}, .dtype = DType::float64});
  const Value labels = slice(all, {.starts = {0, 0, 0}, .sizes = {paths, shape[0], frames}});
  const Value scores = slice(all, {.starts = {0, 0, frames}, .sizes = {paths, shape[0], 1}});
  return {cast(labels, DType::int32),
          cast(transpose(reshape(scores, {paths, shape[0]})), accumulation_dtype(inputs.dtype()))};
}

}  // namespace mezzo
