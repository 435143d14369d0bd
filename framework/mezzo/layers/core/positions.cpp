#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/core/position_embedding.hpp>
#include <mezzo/layers/core/rotary_embedding.hpp>
#include <mezzo/layers/core/sine_position_encoding.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo {
namespace {

/// Throws a ShapeError unless positions are (steps,) or (batch, steps).
void require_positions(const std::string& where, const Value& positions, std::int64_t steps) {
  if (!positions.defined()) return;
  const Shape& shape = positions.shape();
  const bool fits = !shape.empty() && shape.size() <= 2 && (shape.back() < 0 || steps < 0 || shape.back() == steps);
  if (!fits)
    fail<ShapeError>(where, "positions must be (steps,) or (batch, steps) with {} steps; got shape {}", steps, shape);
}

/// Sines and cosines of position * frequency, (..., steps, frequencies): of given positions (..., steps), or of the
/// steps from `start` on, computed in float64.
std::array<Value, 2> sines(const Value& positions, std::int64_t start, std::int64_t steps,
                           const std::vector<double>& frequencies, DType dtype) {
  const auto count = static_cast<std::int64_t>(frequencies.size());
  if (positions.defined()) {
    const Value at = detail::as(positions.across_border(false), dtype);
    const Value angles = expand_dims(at, -1) * Value(Tensor({count}, frequencies).cast(dtype));
    return {sin(angles), cos(angles)};
  }
  std::vector<double> of_sine, of_cosine;
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto position = static_cast<double>(start + i);
    for (const double frequency : frequencies) {
      of_sine.push_back(std::sin(position * frequency));
      of_cosine.push_back(std::cos(position * frequency));
    }
  }
  return {Tensor({steps, count}, of_sine).cast(dtype), Tensor({steps, count}, of_cosine).cast(dtype)};
}

/// Frequencies of the pairs of `size` features by YaRN: low ones divided by the scaling factor, high ones kept.
std::vector<double> yarn_frequencies(const RotaryEmbeddingOptions& options, std::int64_t size) {
  const auto features = static_cast<double>(size);
  const auto pair_of = [&](double rotations) {
    const auto context = static_cast<double>(options.original_max_position_embeddings);
    return features * std::log(context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(options.max_wavelength));
  };
  double low = pair_of(options.beta_fast), high = pair_of(options.beta_slow);
  if (options.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, features - 1);
  std::vector<double> out;
  for (std::int64_t i = 0; i < size / 2; ++i) {
    const double frequency = std::pow(options.max_wavelength, -2 * static_cast<double>(i) / features);
    const double divided = std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
    out.push_back(frequency / options.scaling_factor * divided + frequency * (1 - divided));
  }
  return out;
}

/// Frequencies by Llama 3.1: divided by the scaling factor if few periods fit the original context, kept if many do.
std::vector<double> llama3_frequencies(const RotaryEmbeddingOptions& options, std::int64_t size) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < size; i += 2) {
    const double frequency = std::pow(
        options.max_wavelength, -static_cast<double>(i) / static_cast<double>(options.denominator_dim.value_or(size)));
    const double periods =
        static_cast<double>(options.original_max_position_embeddings) * frequency / (2 * std::numbers::pi);
    const double range = options.high_freq_factor - options.low_freq_factor;
    const double kept = std::clamp((periods - options.low_freq_factor) / range, 0.0, 1.0);
    out.push_back(frequency * kept + frequency / options.scaling_factor * (1 - kept));
  }
  return out;
}

std::vector<double> rotary_frequencies(const RotaryEmbeddingOptions& options, std::int64_t size) {
  if (options.rope_type == "llama3") return llama3_frequencies(options, size);
  if (options.rope_type == "yarn") return yarn_frequencies(options, size);
  const auto features = static_cast<double>(size);
  const double power = options.rope_type == "linear" ? 1 : features / std::max(1.0, features - 2);
  const auto denominator = static_cast<double>(options.denominator_dim.value_or(size));
  std::vector<double> out;
  for (std::int64_t i = 0; i < size; i += 2) {
    out.push_back(std::pow(options.max_wavelength, -static_cast<double>(i) / denominator) /
                  std::pow(options.scaling_factor, power));
  }
  return out;
}

/// x (batch, steps, ..., features), its pairs rotated.
Value rotated(const Value& x, const Value& positions, std::int64_t start, const RotaryEmbeddingOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Shape& shape = wide.shape();
  const bool yarn = options.rope_type == "yarn";
  const double factor = yarn ? 0.1 * std::log(options.scaling_factor) + 1 : 1;
  const auto along = [&](const Value& table) {  // with axes of size 1 for the others of x
    Shape sizes(shape.size(), 1);
    if (table.shape().size() == 3) sizes[0] = table.shape()[0].or_unknown();
    sizes[1] = shape[1];
    sizes.back() = table.shape().back();
    const Value out = reshape(table, sizes);
    return factor == 1 ? out : out * factor;
  };
  const auto tables = sines(positions, start, shape[1], rotary_frequencies(options, shape.back()), wide.dtype());
  const Value sine = along(tables[0]), cosine = along(tables[1]);
  const Values halves = split(wide, 2, -1);
  return detail::as(concat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, -1), narrow);
}

}  // namespace

Value detail::PositionLayer::operator()(const Value& x, const PositionCallOptions& options) {
  if (options.start_index < 0)
    fail<ValueError>(label(), "start_index must not be negative; got {}", options.start_index);
  const ScopedValue<std::int64_t> call(start_index_, options.start_index);
  Values xs{x};
  if (options.positions.defined()) xs.push_back(options.positions);
  return Layer::operator()(xs, {.training = options.training}).front();
}

Values detail::PositionLayer::call_many(const Values& xs) {
  if (xs.size() > 2) fail<ValueError>(label(), "takes one or two inputs (x, positions); got {}", xs.size());
  return {call_at(xs[0], xs.size() > 1 ? xs[1] : Value(), start_index_)};
}

std::string detail::PositionLayer::call_arguments() const {
  return start_index_ == 0 ? "" : fmt::format("{{\"start_index\": {}}}", start_index_);
}

Values detail::PositionLayer::call_with(const std::string& arguments, const Values& xs, const CallOptions& options) {
  const detail::Json json = detail::parse_config(arguments, label());
  PositionCallOptions call;
  call.start_index = detail::read_size(detail::member(json, "start_index", label()), label() + " start_index");
  call.training = options.training;
  if (xs.size() > 2) fail<ValueError>(label(), "takes one or two inputs (x, positions); got {}", xs.size());
  if (xs.size() == 2) call.positions = xs[1];
  return {(*this)(xs[0], call)};
}

RotaryEmbedding::RotaryEmbedding(RotaryEmbeddingOptions options)
    : detail::PositionLayer("RotaryEmbedding", options), options_(std::move(options)) {
  const std::string& type = options_.rope_type;
  if (type != "linear" && type != "dynamic" && type != "llama3" && type != "yarn") {
    fail_unknown(label(), "rope_type", type, {"dynamic", "linear", "llama3", "yarn"});
  }
  detail::require_above(label(), "max_wavelength", options_.max_wavelength, 1);
  detail::require_above(label(), "scaling_factor", options_.scaling_factor, 0);
  detail::require_above(label(), "beta_fast", options_.beta_fast, 0);
  detail::require_above(label(), "beta_slow", options_.beta_slow, 0);
  detail::require_above(label(), "low_freq_factor", options_.low_freq_factor, 0);
  detail::require_above(label(), "high_freq_factor", options_.high_freq_factor, options_.low_freq_factor);
  detail::require_positive(label(), "original_max_position_embeddings", options_.original_max_position_embeddings);
  if (options_.denominator_dim) detail::require_positive(label(), "denominator_dim", *options_.denominator_dim);
}

Value RotaryEmbedding::call_at(const Value& x, const Value& positions, std::int64_t start_index) {
  const Shape& shape = x.shape();
  detail::require_rank_at_least(label(), shape, 3);
  const std::int64_t sequence = detail::normalize_axis(options_.sequence_axis, shape.size(), label());
  const std::int64_t feature = detail::normalize_axis(options_.feature_axis, shape.size(), label());
  if (sequence == feature) {
    fail<ShapeError>(label(), "sequence_axis and feature_axis must differ; both are axis {} of shape {}", feature,
                     shape);
  }
  const std::int64_t features = shape[static_cast<std::size_t>(feature)];
  if (features < 0 || features % 2 != 0) {
    fail<ShapeError>(label(), "input axis {} must have an even size; got shape {}", feature, shape);
  }
  require_positions(label(), positions, shape[static_cast<std::size_t>(sequence)]);
  const bool in_place = sequence == 1 && feature == static_cast<std::int64_t>(shape.size()) - 1;
  Values inputs{x};
  if (positions.defined()) inputs.push_back(positions);
  const auto run = [options = options_, in_place, sequence, feature, start_index](const Values& xs) -> Values {
    const Value at = xs.size() > 1 ? xs[1] : Value();
    if (in_place) return {rotated(xs[0], at, start_index, options)};
    const Value moved = moveaxis(xs[0], {feature, sequence}, {-1, 1});
    return {moveaxis(rotated(moved, at, start_index, options), {-1, 1}, {feature, sequence})};
  };
  return detail::defer(run, inputs, {{shape, dtype_policy().compute_dtype()}}).front();
}

SinePositionEncoding::SinePositionEncoding(SinePositionEncodingOptions options)
    : detail::PositionLayer("SinePositionEncoding", options), options_(std::move(options)) {
  detail::require_above(label(), "max_wavelength", options_.max_wavelength, 0);
}

Value SinePositionEncoding::call_at(const Value& x, const Value& positions, std::int64_t start_index) {
  detail::require_rank_at_least(label(), x.shape(), 2);
  require_positions(label(), positions, x.shape()[x.shape().size() - 2].or_unknown());
  Values inputs{x};
  if (positions.defined()) inputs.push_back(positions);
  const DType narrow = dtype_policy().compute_dtype();
  const auto run = [base = options_.max_wavelength, narrow, start_index](const Values& xs) -> Values {
    const Shape& shape = xs[0].shape();
    const std::int64_t features = shape.back();
    std::vector<double> frequencies, even;
    for (std::int64_t i = 0; i < features; ++i) {
      frequencies.push_back(std::pow(base, -static_cast<double>(i - i % 2) / static_cast<double>(features)));
      even.push_back(i % 2 == 0 ? 1 : 0);
    }
    const auto tables = sines(xs.size() > 1 ? xs[1] : Value(), start_index, shape[shape.size() - 2], frequencies,
                              accumulation_dtype(narrow));
    const Value encoding = where(Value(Tensor({features}, even).cast(DType::boolean)), tables[0], tables[1]);
    return {broadcast_to(detail::as(encoding, narrow), shape)};
  };
  return detail::defer(run, inputs, {{x.shape(), narrow}}).front();
}

PositionEmbedding::PositionEmbedding(PositionEmbeddingOptions options)
    : detail::PositionLayer("PositionEmbedding", options), options_(std::move(options)) {
  detail::require_positive(label(), "sequence_length", options_.sequence_length);
}

void PositionEmbedding::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  add_weight(embeddings_, {.shape = {options_.sequence_length, detail::known_size(label(), input)},
                           .initializer = options_.initializer,
                           .file_name = "weight"});
}

Value PositionEmbedding::call_at(const Value& x, const Value& positions, std::int64_t start_index) {
  detail::require_rank_at_least(label(), x.shape(), 2);
  detail::require_last_axis(label(), x.shape(), embeddings_.shape()[1], "columns of embeddings");
  require_positions(label(), positions, x.shape()[x.shape().size() - 2].or_unknown());
  Values inputs{x, embeddings_};
  if (positions.defined()) inputs.push_back(positions);
  const auto run = [start_index, where = label(), rows = options_.sequence_length](const Values& xs) -> Values {
    const Shape& shape = xs[0].shape();
    if (xs.size() > 2) return {broadcast_to(gather(xs[1], xs[2]), shape)};
    const std::int64_t steps = shape[shape.size() - 2];
    if (start_index + steps > rows) {
      fail<ShapeError>(where, "positions {} to {} must lie below sequence_length ({}); got shape {}", start_index,
                       start_index + steps - 1, rows, shape);
    }
    return {broadcast_to(slice(xs[1], {start_index, 0}, {steps, shape.back()}), shape)};
  };
  return detail::defer(run, inputs, {{x.shape(), dtype_policy().compute_dtype()}}).front();
}

TokenAndPositionEmbedding::TokenAndPositionEmbedding(TokenAndPositionEmbeddingOptions options)
    : detail::PositionLayer("TokenAndPositionEmbedding", options),
      token_([&] {
        detail::require_positive(label(), "vocabulary_size", options.vocabulary_size);
        detail::require_positive(label(), "sequence_length", options.sequence_length);
        detail::require_positive(label(), "embedding_dim", options.embedding_dim);
        return sub("token_embedding", ReversibleEmbedding({.input_dim = options.vocabulary_size,
                                                           .output_dim = options.embedding_dim,
                                                           .tie_weights = options.tie_weights,
                                                           .embeddings_initializer = options.embeddings_initializer}));
      }()),
      position_(sub("position_embedding", PositionEmbedding({.sequence_length = options.sequence_length,
                                                             .initializer = options.embeddings_initializer}))) {}

TokenAndPositionEmbeddingOptions TokenAndPositionEmbedding::with(std::int64_t vocabulary_size,
                                                                 std::int64_t sequence_length,
                                                                 std::int64_t embedding_dim,
                                                                 TokenAndPositionEmbeddingOptions options) {
  using Options = TokenAndPositionEmbeddingOptions;
  const auto given = [&](const char* name, std::int64_t Options::*member, std::int64_t value) {
    options = detail::positional("TokenAndPositionEmbedding", options.name, name, member, value, options);
  };
  given("vocabulary_size", &Options::vocabulary_size, vocabulary_size);
  given("sequence_length", &Options::sequence_length, sequence_length);
  given("embedding_dim", &Options::embedding_dim, embedding_dim);
  return options;
}

Value TokenAndPositionEmbedding::call_at(const Value& x, const Value& positions, std::int64_t start_index) {
  const Value tokens = token_(x);
  return tokens + position_(tokens, {.start_index = start_index, .positions = positions});
}

}  // namespace mezzo
