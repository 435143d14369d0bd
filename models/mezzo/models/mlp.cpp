#include <mezzo/models/mlp.hpp>

#include <fmt/format.h>

#include <utility>

#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

MLPOptions checked(const std::string& where, MLPOptions options) {
  for (const std::int64_t units : options.hidden_units) detail::require_positive(where, "hidden_units", units);
  detail::require_positive(where, "classes", options.classes);
  return options;
}

}  // namespace

MLP::MLP(MLPOptions options)
    : Model("MLP", options),
      options_(checked(label(), std::move(options))),
      flatten_(sub("flatten", Flatten())),
      dropout_(sub("dropout", Dropout({.rate = options_.dropout}))) {
  const auto add = [&](const DenseOptions& dense) {
    layers_.push_back(sub(fmt::format("fc{}", layers_.size() + 1), Dense(dense)));
  };
  for (const std::int64_t units : options_.hidden_units) add({.units = units, .activation = options_.activation});
  add({.units = options_.classes});
}

Value MLP::call(const Value& x) {
  Value y = flatten_(x);
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i) y = dropout_(layers_[i](y));
  return layers_.back()(y);
}

}  // namespace mezzo
