#pragma once

#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

// Parts of the tests of products in float8.
namespace mezzo_tests {

inline mezzo::Variable float8_weight(const mezzo::Layer& layer, const std::string& path) {
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == path) return weight;
  }
  throw std::runtime_error("no weight " + path);
}

inline double float8_scale(const mezzo::Layer& layer, const std::string& path) {
  return float8_weight(layer, path).value().item();
}

// The call throws E with that part in its text.
template <class E, class Call>
void check_float8_error(const std::string& part, Call&& call) {
  BOOST_CHECK_EXCEPTION(call(), E, [&](const E& e) {
    BOOST_TEST_MESSAGE(e.what());
    return std::string(e.what()).find(part) != std::string::npos;
  });
}

}  // namespace mezzo_tests
