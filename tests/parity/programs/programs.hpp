#pragma once

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "models/formula.hpp"
#include "support/recorded.hpp"

// Formulas of programs.py for numbers and weights, and the comparison with recorded numbers.
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

// Integers in [0, below), as int32.
inline Tensor random_integers(std::uint32_t stream, const Shape& shape, std::int32_t below) {
  const Tensor all = uniform_numbers(stream, shape, 0, 1);
  std::vector<std::int32_t> out;
  for (const double u : all.to_doubles()) out.push_back(static_cast<std::int32_t>(std::floor(u * below)));
  return {shape, out};
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

// Numbers that record.py wrote for a program.
inline nlohmann::json program(const std::string& name) { return recorded("programs/" + name); }

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
