// Quantized models in Keras' files: those of tests/parity/keras_quantized.py.
#include <mezzo/core/cpu.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "support/tensors.hpp"
#include "training/keras_files/keras_case.hpp"

using namespace mezzo;
using mezzo_tests::arrays_of;
using mezzo_tests::check_case;
using mezzo_tests::expected_of;
using mezzo_tests::Folder;
using mezzo_tests::largest_difference;
using mezzo_tests::refused;
namespace files = std::filesystem;

namespace {

files::path recorded_quantized() { return mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_quantized"; }

// "int4/-1" of "attention_int4_-1_float32".
std::string mode_of(const std::string& name) {
  const std::size_t first = name.find('_') + 1;
  const std::string mode = name.substr(first, name.rfind('_') - first);
  const std::size_t mark = mode.find('_');
  return mark == std::string::npos ? mode : mode.substr(0, mark) + "/" + mode.substr(mark + 1);
}

// Quantizes the floating model of a case, and writes it with its outputs.
void write_quantized(const files::path& folder) {
  const auto model = load_model((folder / "float.keras").string());
  const auto arrays = expected_of(folder);
  const std::string mode = mode_of(folder.filename().string());
  if (mode.rfind("gptq/", 0) == 0) {
    model->quantize("gptq", GPTQConfig{.dataset = arrays_of(arrays, "x"), .group_size = std::stoll(mode.substr(5))});
  } else {
    model->quantize(mode);
  }
  const Tensors outputs = model->predict_all(Tensors(arrays_of(arrays, "x")));
  save_npz((folder / "quantized.npz").string(), {{"y0", outputs[0].cast(DType::float32)}});
  model->save((folder / "quantized.keras").string());
  model->save_weights((folder / "quantized.weights.h5").string());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_quantized)

BOOST_AUTO_TEST_CASE(quantized_files_of_keras_are_read_and_written) {
  const char* const folder = std::getenv("MEZZO_KERAS_QUANTIZED");
  if (folder == nullptr) return mezzo_tests::skip("tests/parity/keras_quantized.py makes the files");
  for (const auto& entry : files::directory_iterator(folder)) {
    try {
      check_case(entry.path(), "keras.keras", (entry.path() / "mezzo.keras").string());
      write_quantized(entry.path());
    } catch (const std::exception& error) {
      BOOST_ERROR(entry.path().filename() << ": " << error.what());
    }
  }
}

BOOST_AUTO_TEST_CASE(recorded_quantized_files_predict_the_same) {
  const Folder folder;
  int count = 0;
  for (const auto& entry : files::directory_iterator(recorded_quantized())) {
    BOOST_TEST_CONTEXT(entry.path().filename()) {
      if (mode_of(entry.path().filename().string()) == "int8" && !has_int8_products()) {  // computes with floats
        load_model((entry.path() / "keras.keras").string())->save(folder.path("again.keras"));
      } else {
        check_case(entry.path(), "keras.keras", folder.path("again.keras"));
      }
      const auto before = load_model((entry.path() / "keras.keras").string());
      const auto after = load_model(folder.path("again.keras"));
      const Tensors x(arrays_of(expected_of(entry.path()), "x"));
      BOOST_TEST(before->predict_all(x)[0].equal(after->predict_all(x)[0]));
      BOOST_TEST(before->count_params() == after->count_params());
      ++count;
    }
  }
  BOOST_TEST(count == 14);
}

BOOST_AUTO_TEST_CASE(an_attention_layer_has_one_form_in_files_of_keras) {
  const Folder folder;
  const Input x({5, 8});
  Model model(x, MultiHeadAttention(2, 4, {.name = "attention"})(x, x));
  model.quantize("int4/4", {.filters = ".*/query"});
  BOOST_TEST(refused<ValueError>([&] { model.save(folder.path("a.keras")); })
                 .find("[MultiHeadAttention \"attention\"] Keras quantizes all projections or none; got some; save as "
                       ".mezzo") != std::string::npos);
}

// Keras also accumulates the scales of layers in float8.
BOOST_AUTO_TEST_CASE(accumulated_gradients_beside_float8_are_refused) {
  const Folder folder;
  Sequential model({Input({8}), Dense(4, {.name = "fc"})});
  model.quantize("float8");
  model.compile({.optimizer = SGD({.learning_rate = 0.1, .gradient_accumulation_steps = 2}), .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] { model.save(folder.path("a.keras")); })
                 .find("Keras has other states of an optimizer with gradient_accumulation_steps for models with layers "
                       "in float8") != std::string::npos);
  model.save(folder.path("a.keras"), {.compile = false});
  BOOST_TEST(load_model(folder.path("a.keras"))->weights().size() == 8U);
}

BOOST_AUTO_TEST_CASE(other_lengths_of_histories_are_refused) {
  BOOST_TEST(refused<ValueError>([] {
               detail::policy_name_in(
                   {{"module", "keras.dtype_policies"},
                    {"class_name", "QuantizedFloat8DTypePolicy"},
                    {"config", {{"mode", "float8"}, {"source_name", "float32"}, {"amax_history_length", 16}}}},
                   "[Dense]");
             }) == "[Dense] amax_history_length of a float8 policy must be 1024; got 16");
}

// Keras merges adapters into the codes when it saves, which changes the numbers.
BOOST_AUTO_TEST_CASE(adapters_beside_codes_are_refused) {
  const Folder folder;
  Sequential model({Input({8}), Dense(4, {.name = "fc"})});
  model.quantize("int8");
  model.enable_lora({.targets = "fc", .rank = 2});
  for (const char* name : {"a.keras", "a.weights.h5"}) {
    const auto save = [&] {
      if (std::string(name) == "a.keras") return model.save(folder.path(name));
      model.save_weights(folder.path(name));
    };
    BOOST_TEST(refused<ValueError>(save).find(
                   "[Dense \"fc\"] Keras has no adapters beside quantized kernels; save as .mezzo") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(formats_of_inputs_of_int4_pass_through_files_of_keras) {
  const Folder folder;
  const Tensor x = random::normal({3, 12}, {.seed = 3}).tensor();
  for (const char* activations : {"none", "dynamic"}) {
    Sequential model({Input({12}), Dense(5, {.name = "fc"})});
    model.quantize("int4/4", {.activations = activations});
    model.save(folder.path("a.keras"));
    const auto again = load_model(folder.path("a.keras"));
    BOOST_TEST(again->predict(x).equal(model.predict(x)));
  }
}

// Keras groups inputs in the order of rounding.
BOOST_AUTO_TEST_CASE(groups_in_another_order_are_refused) {
  const Folder folder;
  Sequential model({Input({4}), Dense(3, {.name = "fc", .dtype = "gptq/4/2_from_float32"})});
  model.save_weights(folder.path("a.weights.h5"));
  model.load_weights(folder.path("a.weights.h5"));
  Sequential other({Input({4}), Dense(3, {.name = "fc", .dtype = "gptq/4/3_from_float32"})});
  BOOST_TEST(
      refused<FileError>([&] { other.load_weights(folder.path("a.weights.h5")); })
          .find("must have groups of consecutive inputs ([Dense \"fc\"]), not those of activation_order with several "
                "groups") != std::string::npos);
  Sequential both({Input({4}), Dense(3, {.name = "fc", .dtype = "gptq/4/2_from_float32"}), Dense(2, {.name = "head"})});
  Sequential saved(
      {Input({4}), Dense(3, {.name = "fc", .dtype = "gptq/4/3_from_float32"}), Dense(2, {.name = "head"})});
  saved.save_weights(folder.path("b.weights.h5"));
  const Tensor before = both.weights()[0].value();
  const LoadWeightsReport report = both.load_weights(folder.path("b.weights.h5"), {.skip_mismatch = true});
  BOOST_TEST(report.mismatched_keys.size() > 0);
  BOOST_TEST(both.weights()[0].value().equal(before));
}

BOOST_AUTO_TEST_CASE(kernels_that_keras_takes_as_another_matrix_are_refused) {
  const Folder folder;
  Sequential model({Input({2, 4}), EinsumDense("abc,cde->abde", {-1, 2, 8}, {.name = "fc"})});
  model.quantize("gptq", GPTQConfig{.dataset = {random::normal({3, 2, 4}, {.seed = 3}).tensor()}, .group_size = 2});
  BOOST_TEST(
      refused<ValueError>([&] { model.save(folder.path("a.keras")); })
          .find("[EinsumDense \"fc\"] Keras takes a kernel of shape (4, 2, 8) under gptq as a matrix with 8 inputs, "
                "by its largest size; got one with 4; save as .mezzo") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(attention_under_gptq_passes_through_files_of_keras) {
  const Folder folder;
  const Tensor x = random::normal({3, 5, 8}, {.seed = 3}).tensor();
  for (const std::int64_t group_size : {2, -1}) {
    const Input input({5, 8});
    Model model(input, MultiHeadAttention(2, 4)(input, input));
    model.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = group_size});
    model.save(folder.path("a.keras"));
    const auto again = load_model(folder.path("a.keras"));
    BOOST_TEST(again->predict(x).equal(model.predict(x)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
