// Checks of all numbers before the first weight of a quantized model is assigned.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential two_layers() {
  Sequential model({Dense({.units = 4, .name = "a"}), Dense({.units = 3, .name = "b"})});
  model.build({-1, 5});
  return model;
}

Sequential quantized(const std::string& mode) {
  Sequential model = two_layers();
  model.quantize(mode);
  return model;
}

// The text of the error of f, which must change no weight of the model.
template <class E, class F>
std::string refused_whole(const Layer& model, F f) {
  const std::vector<Tensor> before = model.get_weights();
  const std::string text = refused<E>(f);
  const std::vector<Tensor> after = model.get_weights();
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(after[i].equal(before[i]), i);
  return text;
}

// Saves a model with other numbers of one tensor.
void save_with(const Layer& model, const std::string& path, const std::string& name, const Tensor& numbers) {
  model.save_weights(path);
  const SafetensorsFile file(path);
  NamedTensors tensors;
  for (const auto& entry : file.entries()) {
    tensors.emplace_back(entry.name, entry.name == name ? numbers : file.read(entry.name).owned());
  }
  save_safetensors(path, tensors, file.metadata());
}

const std::size_t scale_of_b = 5;  // in get_weights(): a kernel, bias, scale; b kernel, bias, scale

}  // namespace

BOOST_AUTO_TEST_SUITE(new_numbers)

BOOST_AUTO_TEST_CASE(floats_for_a_quantized_weight_are_refused_beside_its_scales) {
  for (const char* mode : {"int8", "int4/2", "nf4/2"}) {
    BOOST_TEST_CONTEXT(mode) {
      Sequential model = quantized(mode);
      std::vector<Tensor> arrays = model.get_weights();
      arrays[0] = random_tensor({5, 4}, DType::float32, 3);
      BOOST_TEST(
          refused_whole<DTypeError>(model, [&] { model.set_weights(arrays); }) ==
          "[Sequential] set_weights: array 0 must be int8 codes (a/kernel is quantized, and its scales are among "
          "the arrays); got float32: assign() of the weight quantizes floats");
    }
  }
}

BOOST_AUTO_TEST_CASE(set_weights_changes_all_weights_or_none) {
  Sequential model = quantized("int8");
  std::vector<Tensor> arrays = model.get_weights();
  arrays[1] = Tensor({4}, std::vector<double>{1, 2, 3, 4});
  arrays[3] = Tensor({4, 3}, std::vector<double>(12, -128)).cast(DType::int8);
  BOOST_TEST(refused_whole<ValueError>(model, [&] { model.set_weights(arrays); }) ==
             "[Sequential] set_weights: array 3 (b/kernel) of a quantized weight must have codes in [-127, 127]; got "
             "-128");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, infinity, 1e300}) {
    arrays = model.get_weights();
    arrays[1] = Tensor({4}, std::vector<double>{1, 2, 3, 4});
    arrays[scale_of_b] = Tensor({3}, std::vector<double>{1, bad, 1});
    BOOST_TEST(refused_whole<ValueError>(model, [&] { model.set_weights(arrays); }) ==
               fmt::format("[Sequential] set_weights: array 5 (b/kernel_scale) of scales must have finite numbers "
                           "above 0; got {}",
                           bad == 1e300 ? infinity : bad));
  }
}

BOOST_AUTO_TEST_CASE(zero_points_out_of_range_are_refused) {
  Sequential model = quantized("int4/2");
  std::vector<Tensor> arrays = model.get_weights();
  arrays[3] = Tensor({3, 4}, std::vector<double>(12, 100)).cast(DType::int8);
  BOOST_TEST(refused_whole<ValueError>(model, [&] { model.set_weights(arrays); }) ==
             "[Sequential] set_weights: array 3 (a/kernel_zero) of zero points must have numbers in [-8, 7]; got 100");
}

BOOST_AUTO_TEST_CASE(scales_of_zeros_are_kept) {
  for (const char* mode : {"int8", "int4/-1", "int4/2", "nf4/2"}) {
    BOOST_TEST_CONTEXT(mode) {
      Sequential model = two_layers();
      model.weights()[0].assign(Tensor({5, 4}));
      model.quantize(mode);
      const std::vector<Tensor> arrays = model.get_weights();
      model.set_weights(arrays);
      const Folder folder;
      model.save_weights(folder.path("zeros.safetensors"));
      model.load_weights(folder.path("zeros.safetensors"));
    }
  }
}

BOOST_AUTO_TEST_CASE(load_weights_changes_all_weights_or_none) {
  const Folder folder;
  const std::string path = folder.path("bad.safetensors");
  const Sequential source = quantized("int8");
  Sequential model = quantized("int8");
  const auto text = [&](const std::string& name, const Tensor& numbers) {
    save_with(source, path, name, numbers);
    return refused_whole<FileError>(model, [&] { model.load_weights(path); });
  };
  BOOST_TEST(text("b.weight", Tensor({3, 4}, std::vector<double>(12, -128)).cast(DType::int8))
                 .find("tensor \"b.weight\" of a quantized weight must have codes in [-127, 127]; got -128") !=
             std::string::npos);
  const Tensor infinite({3}, std::vector<double>{1, std::numeric_limits<double>::infinity(), 1});
  BOOST_TEST(text("b.weight_scale", infinite.cast(DType::float32))
                 .find("tensor \"b.weight_scale\" of scales must have finite numbers above 0; got inf") !=
             std::string::npos);
  BOOST_TEST(text("b.weight_scale", Tensor({3})).find("of scales must have finite numbers above 0; got 0") !=
             std::string::npos);
  save_with(two_layers(), path, "b.weight", Tensor({3, 4}, std::vector<double>(12, 1e300)).cast(DType::float64));
  BOOST_TEST(refused_whole<FileError>(model, [&] { model.load_weights(path); }).find("finite in float32") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
