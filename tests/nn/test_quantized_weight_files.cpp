// Codes, scales and zero points of a quantized weight in files of other forms.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential model_in(const std::string& mode) {
  Sequential model({Dense({.units = 18, .name = "a"}), Dense({.units = 1, .name = "b"})});
  model.build({-1, 20});
  model.quantize(mode);
  return model;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_weight_files)

BOOST_AUTO_TEST_CASE(weights_of_another_form_are_skipped_whole) {
  const Folder folder;
  const std::string path = folder.path("w.safetensors");
  const std::vector<std::string> modes{"int8", "int4/-1", "int4/16", "int4/12", "nf4/16"};
  for (const std::string& saved : modes) {
    for (const std::string& mode : modes) {
      if (saved == mode) continue;
      BOOST_TEST_CONTEXT(saved << " into " << mode) {
        const Sequential source = model_in(saved);
        source.save_weights(path);
        Sequential model = model_in(mode);
        BOOST_TEST(!refused<FileError>([&] { model.load_weights(path); }).empty());
        const std::vector<std::pair<std::string, Variable>> weights = model.named_weights();
        const std::vector<Tensor> before = model.get_weights();
        const LoadWeightsReport report = model.load_weights(path, {.strict = false});
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const bool bias = weights[i].first.find("bias") != std::string::npos;
          if (!bias) BOOST_TEST(weights[i].second.value().equal(before[i]), weights[i].first);
        }
        BOOST_TEST(has(report.mismatched_keys, "a.weight"));
        BOOST_TEST(has(report.mismatched_keys, "a.weight_scale"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(skip_mismatch_skips_codes_with_their_scales) {
  const Folder folder;
  const std::string path = folder.path("w.safetensors");
  for (const auto& [saved, mode] : {std::pair<const char*, const char*>{"int4/-1", "int8"}, {"int4/16", "int4/12"}}) {
    BOOST_TEST_CONTEXT(saved << " into " << mode) {
      const Sequential source = model_in(saved);
      source.weights()[1].assign(Tensor({18}, std::vector<double>(18, 2)));
      source.save_weights(path);
      Sequential model = model_in(mode);
      const std::vector<Tensor> before = model.get_weights();
      const LoadWeightsReport report = model.load_weights(path, {.skip_mismatch = true});
      BOOST_TEST(has(report.mismatched_keys, "a.weight"));
      BOOST_TEST(has(report.mismatched_keys, "a.weight_scale"));
      const std::vector<Tensor> after = model.get_weights();
      for (std::size_t i = 0; i < before.size(); ++i) {
        BOOST_TEST(after[i].equal(i == 1 ? source.weights()[1].value() : before[i]), i);
      }
    }
  }
  const Sequential source = model_in("int4/16");
  source.save_weights(path);
  Sequential model = model_in("int4/12");
  const std::string text = refused<FileError>([&] { model.load_weights(path); });
  BOOST_TEST(
      text.find("tensor \"a.weight\" must have codes of the form int4/12; the file has int4/16") != std::string::npos,
      text);
}

BOOST_AUTO_TEST_CASE(forms_of_equal_codes_are_one) {
  const Folder folder;
  const std::string path = folder.path("w.safetensors");
  const Sequential source = model_in("int4/20");
  source.save_weights(path);
  Sequential model = model_in("int4/64");  // both have one block
  model.load_weights(path);
  const Tensor x = random_tensor({3, 20}, DType::float32, 1);
  BOOST_TEST(model(x).tensor().equal(Sequential(source)(x).tensor()));
}

BOOST_AUTO_TEST_SUITE_END()
