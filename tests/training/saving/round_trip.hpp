#pragma once
#include <boost/test/unit_test.hpp>

#include <cstdint>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"

// Models through a file.
namespace mezzo_tests {

/// Normal random numbers.
inline mezzo::Tensor numbers(const mezzo::Shape& shape, std::uint64_t key = 1) {
  return mezzo::RandomNormal({.stddev = 1}).make(shape, mezzo::DType::float32, key);
}

/// Saves and loads a model; checks that JSON and predictions are equal.
inline mezzo::Any<mezzo::Model> round_trip(mezzo::Model& model, const mezzo::Tensors& x) {
  const Folder folder;
  model.save(folder.path("a.mezzo"));
  mezzo::Any<mezzo::Model> loaded = mezzo::load_model(folder.path("a.mezzo"));
  BOOST_TEST(loaded->to_json() == model.to_json());
  const mezzo::Tensors before = model.predict_all(x), after = loaded->predict_all(x);
  BOOST_TEST_REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(before[i].equal(after[i]));
  return loaded;
}

}  // namespace mezzo_tests
