#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <map>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(resnet_weight_files)

BOOST_AUTO_TEST_CASE(names_and_shapes_are_torchvisions) {
  const Folder folder;
  for (const char* name : {"resnet18_64", "resnet50_64"}) {
    const nlohmann::json& expected = recorded("resnet").at(name);
    const ResNetOptions options{.classes = expected.at("classes")};
    ResNet model = name[6] == '1' ? resnet18(options) : resnet50(options);
    model.build({1, 32, 32, 3});
    model.save_weights(folder.path("a"));
    const SafetensorsFile file(folder.path("a"));
    BOOST_TEST(file.entries().size() == expected.at("weights").size());
    for (const auto& weight : expected.at("weights")) {
      const SafetensorsFile::Entry* entry = file.find(weight.at(0));
      BOOST_TEST_REQUIRE((entry != nullptr), weight.at(0));
      BOOST_TEST((entry->shape == weight.at(1).get<Shape>()), weight.at(0));
    }
  }
}

// tests/parity/weight_files.py gives the folder; without it there is nothing to do.
BOOST_AUTO_TEST_CASE(torchvisions_file_is_loaded_and_saved_again) {
  const char* folder = std::getenv("MEZZO_WEIGHT_FILES");
  if (folder == nullptr) return;
  const std::string path = std::string(folder) + "/";
  const SafetensorsFile expected(path + "expected.safetensors");
  const Tensor x = expected.read("x");
  ResNet model = resnet18({.classes = 37});
  model.build(x.shape());
  model.load_weights(path + "torch.safetensors");
  const double difference = largest_difference(model.predict(x), expected.read("logits"));
  BOOST_TEST(difference < 1e-4);
  BOOST_TEST_MESSAGE("logits off by " << difference);
  model.save_weights(path + "mezzo.safetensors");
}

BOOST_AUTO_TEST_SUITE_END()
