#pragma once

#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "support/layer_classes.hpp"

// A small model with each layer of the library.
namespace mezzo_tests {

// Names of the library's layers, without those that programs register.
inline std::vector<std::string> layers_of_library() {
  std::vector<std::string> names;
  for (const std::string& name : mezzo::detail::class_names<mezzo::Layer>()) {
    if (name.find('>') == std::string::npos) names.push_back(name);
  }
  return names;
}

// The JSON of a layer with the name "given".
inline Json json_of_layer(const std::string& name) {
  Json config = config_of(name);
  config["name"] = "given";
  return {{"class_name", name}, {"config", config}};
}

// A functional model of the layer, called on samples of sample_of(name). Cells return states, too: the first output
// counts.
inline mezzo::Model model_of_layer(const std::string& name, const mezzo::Any<mezzo::Layer>& layer) {
  const mezzo::Input x({.shape = sample_of(name), .dtype = takes_integers(name) ? "int32" : "float32"});
  return mezzo::Model(x, (*layer)(takes_two(name) ? mezzo::Values{x, x} : mezzo::Values{x}).front());
}

}  // namespace mezzo_tests
