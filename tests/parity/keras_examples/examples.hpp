#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "models/formula.hpp"
#include "support/recorded.hpp"

// Formulas of examples.py for data, weights and noise, and the comparison with recorded losses.
namespace mezzo_tests {

using mezzo::Shape;
using mezzo::Tensor;

inline Tensor uniform_numbers(std::uint32_t stream, const Shape& shape, double low = -1, double high = 1) {
  std::vector<float> out(static_cast<std::size_t>(mezzo::element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(low + (high - low) * (number(stream, static_cast<std::uint32_t>(i)) + 1) / 2);
  }
  return {shape, out};
}

inline Tensor normal_numbers(std::uint32_t stream, const Shape& shape) {
  std::vector<float> out(static_cast<std::size_t>(mezzo::element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (std::uint32_t k = 0; k < 4; ++k) sum += number(stream + k, static_cast<std::uint32_t>(i));
    out[i] = static_cast<float>(sum * std::sqrt(0.75));
  }
  return {shape, out};
}

inline Tensor random_integers(std::uint32_t stream, const Shape& shape, std::int32_t below) {
  const Tensor all = uniform_numbers(stream, shape, 0, 1);
  std::vector<std::int32_t> out;
  for (const double u : all.to_doubles()) out.push_back(static_cast<std::int32_t>(std::floor(u * below)));
  return {shape, out};
}

struct Pictures {
  Tensor images, kinds;
};

// Filled squares, diamonds, crosses and frames with noise, and their kinds as labels.
inline Pictures pictures(std::int64_t count, std::int64_t size, std::int64_t channels = 1) {
  const Shape shape{count, size, size, channels};
  const std::vector<double> noise = uniform_numbers(1, shape, 0, 1).to_doubles();
  std::vector<float> pixels;
  std::vector<std::int32_t> kinds;
  for (std::int64_t i = 0; i < count; ++i) {
    kinds.push_back(static_cast<std::int32_t>(i % 4));
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t x = 0; x < size; ++x) {
        const std::int64_t dx = std::abs(x - size / 2 - i / 4 % 3 + 1), dy = std::abs(y - size / 2 - i / 12 % 3 + 1);
        const std::int64_t radius = size / 3;
        const bool inside[] = {std::max(dx, dy) <= radius, dx + dy <= radius, dx == 0 || dy == 0,
                               std::max(dx, dy) == radius};
        for (std::int64_t c = 0; c < channels; ++c) {
          const double color = inside[i % 4] ? 0.8 - 0.2 * static_cast<double>(c) : 0;
          pixels.push_back(static_cast<float>(color + 0.2 * noise[pixels.size()]));
        }
      }
    }
  }
  return {Tensor(shape, pixels), Tensor({count}, kinds)};
}

// Rows [begin, end) of an array.
inline Tensor rows(const Tensor& x, std::int64_t begin, std::int64_t end) {
  Shape starts(x.shape().size(), 0), sizes = x.shape();
  starts[0] = begin;
  sizes[0] = end - begin;
  return mezzo::slice(x, {.starts = starts, .sizes = sizes}).tensor();
}

// Sets all weights, except those that adapt() has set. Their shapes must be the next ones of the recorded list, from
// which they are removed.
inline void initialize(mezzo::Layer& model, nlohmann::json& shapes, std::uint32_t stream = 100) {
  for (const auto& [path, weight] : model.named_weights()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const Shape shape = weight.shape();
    if (name == "mean" || name == "variance") continue;
    BOOST_TEST_REQUIRE(!shapes.empty(), path);
    BOOST_TEST_REQUIRE((shapes.front().get<Shape>() == shape), path);
    shapes.erase(shapes.begin());
    const bool matrix = shape.size() > 1;
    const std::int64_t inputs = matrix ? mezzo::element_count(shape) / shape.back() : 1;
    const auto fan_in = static_cast<double>(inputs);
    std::vector<float> out(static_cast<std::size_t>(mezzo::element_count(shape)));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto u = static_cast<double>(static_cast<float>(number(stream, static_cast<std::uint32_t>(i))));
      const bool scale = name == "gamma" || name == "moving_variance";
      const double value = name == "embeddings" ? 0.5 * u
                           : matrix             ? u * std::sqrt(3 / fan_in)
                           : scale              ? 1 + 0.25 * u
                                                : 0.1 * u;
      out[i] = static_cast<float>(value);
    }
    weight.assign(Tensor(shape, out));
    ++stream;
  }
}

inline nlohmann::json example(const std::string& name) { return recorded("keras_examples").at(name); }

// Lists of 6 to 14 indices in [3, below) with their ratings, 0 or 1; those of rating 1 have more large indices.
struct RatedWords {
  std::vector<std::vector<std::int32_t>> lists;
  Tensor ratings;
};

inline RatedWords rated_words(std::int64_t count, std::int32_t below, std::uint32_t stream = 20) {
  std::vector<std::vector<std::int32_t>> lists;
  std::vector<std::int32_t> ratings;
  for (std::int64_t i = 0; i < count; ++i) {
    ratings.push_back(static_cast<std::int32_t>(i * 7 % 5 % 2));
    std::vector<std::int32_t>& list = lists.emplace_back();
    for (const double u : uniform_numbers(stream + static_cast<std::uint32_t>(i), {6 + i * 5 % 9}, 0, 1).to_doubles()) {
      list.push_back(static_cast<std::int32_t>((below - 3) * std::pow(u, 1.5 - ratings.back())) + 3);
    }
  }
  return {lists, Tensor({count}, ratings)};
}

// Reviews in English with HTML, and their ratings, 0 or 1.
inline mezzo::TextDataset rated_texts(std::int64_t count, std::uint32_t stream = 20) {
  const std::vector<std::string> words = {"terrible", "Boring!", "bad,",   "bad:",    "plot.",  "The",  "film",
                                          "Was",      "a",       "story;", "with",    "actors", "it's", "and",
                                          "I",        "fine",    "good",   "(great)", "Superb!"};
  const RatedWords rated = rated_words(count, 3 + static_cast<std::int32_t>(words.size()), stream);
  std::vector<std::string> texts;
  for (const std::vector<std::int32_t>& list : rated.lists) {
    std::string& text = texts.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      text += (i == 0 ? "" : i == 6 ? "<br />" : " ") + words[static_cast<std::size_t>(list[i] - 3)];
    }
    if (list.size() == 6) text += "<br />";
  }
  return mezzo::TextDataset(texts, rated.ratings);
}

// Columns as in the data set of the Cleveland Clinic Foundation, and the targets.
struct HeartDisease {
  std::map<std::string, Tensor> columns;
  mezzo::Strings thal;
  Tensor targets;
};

inline HeartDisease heart_disease(std::int64_t count, std::uint32_t stream) {
  const Tensor kinds = random_integers(stream, {3, count}, 4), measured = uniform_numbers(stream + 1, {3, count});
  const mezzo::Value sex = kinds(0), cp = kinds(1), ca = kinds(2);
  const mezzo::Value age = measured(0), trestbps = measured(1), oldpeak = measured(2);
  std::vector<std::string> thal;
  for (const double i : mod(sex + ca, 3).tensor().to_doubles()) {
    thal.push_back(i == 0 ? "normal" : i == 1 ? "fixed" : "reversible");
  }
  std::map<std::string, Tensor> columns = {{"sex", mod(sex, 2).tensor()},
                                           {"cp", cp.tensor()},
                                           {"ca", ca.tensor()},
                                           {"age", (55 + 20 * age).tensor()},
                                           {"trestbps", (130 + 30 * trestbps).tensor()},
                                           {"oldpeak", (2 + 2 * oldpeak).tensor()}};
  return {columns, thal, cast(cast(cp + ca, mezzo::DType::float32) + 2 * oldpeak > 3, mezzo::DType::int32).tensor()};
}

// A number within 1e-4 of the recorded one.
inline void check_number(const std::string& what, double got, const nlohmann::json& expected) {
  const auto right = expected.get<double>();
  BOOST_TEST(std::abs(got - right) <= 1e-4 * std::abs(right) + 1e-6, what << ": " << got << ", Keras: " << right);
}

inline void check_numbers(const std::string& what, const std::vector<double>& got, const nlohmann::json& expected) {
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) check_number(what + " " + std::to_string(i), got[i], expected[i]);
}

// Each number of evaluate() within 1e-4 of the recorded one.
inline void check_logs(const mezzo::Logs& logs, const nlohmann::json& expected) {
  BOOST_TEST_REQUIRE(logs.size() == expected.size());
  for (const auto& [name, number] : expected.items()) check_number(name, logs[name], number);
}

inline void check_history(const mezzo::History& history, const nlohmann::json& expected) {
  for (const auto& [name, numbers] : expected.items()) {
    BOOST_TEST_REQUIRE(history.contains(name), name);
    check_numbers(name + " of epoch", history[name], numbers);
  }
}

}  // namespace mezzo_tests
