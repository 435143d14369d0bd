// Every layer of the catalogue as an ONNX file, which tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include <set>

#include <mezzo/core/registered_names.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/model_config.hpp>

#include "support/layer_classes.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Inputs of two batch sizes, below 6.
Runs runs_of(const std::string& layer) {
  Runs runs;
  for (const std::int64_t batch : {2, 3}) {
    Shape shape = sample_of(layer);
    shape.insert(shape.begin(), batch);
    const DType dtype = takes_integers(layer) ? DType::int32 : DType::float32;
    runs.push_back({random_tensor(shape, dtype, static_cast<std::uint64_t>(batch), 0, 6)});
  }
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_layers)

BOOST_AUTO_TEST_CASE(every_layer_of_the_catalogue) {
  std::string refused_layers;
  int exported_count = 0;
  for (const std::string& name : detail::class_names<Layer>()) {
    if (name.find('>') != std::string::npos) continue;  // of a program
    detail::Json config = config_of(name);
    config["name"] = "given";
    const Any<Layer> layer = detail::read_layer({{"class_name", name}, {"config", config}});
    const Input x({.shape = sample_of(name), .dtype = takes_integers(name) ? "int32" : "float32"});
    Model model(x, (*layer)(takes_two(name) ? Values{x, x} : Values{x}).front());
    try {
      write_case(model, "layer_" + name, runs_of(name));
      ++exported_count;
    } catch (const ValueError& error) {
      BOOST_TEST(std::string(error.what()).find("[" + name + " \"given\"] export_onnx: the op ") == 0, error.what());
      refused_layers += (refused_layers.empty() ? "" : " ") + name;
    }
  }
  BOOST_TEST(refused_layers ==
             "AutoContrast CategoryEncoding Discretization HashedCrossing Hashing IntegerLookup RandomCrop");
  BOOST_TEST(exported_count == 127);
}

BOOST_AUTO_TEST_SUITE_END()
