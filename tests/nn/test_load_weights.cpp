// Options of load_weights, and the kinds of files that it reads.
#include <boost/test/unit_test.hpp>

#include <fstream>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/memory.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Names = std::vector<std::string>;

std::string recorded_path(const std::string& name) {
  return (tests_dir() / "parity" / "recorded" / "tensor_files" / name).string();
}

/// The model of tests/parity/tensor_files.py.
Sequential recorded_model() {
  return Sequential({Input({4, 4, 2}), Conv2D(3, 2, {.name = "conv"}), BatchNormalization({.name = "bn"}),
                     GlobalAveragePooling2D(), Dense(4, {.name = "fc"})});
}

/// Checks that the weights are those of a recorded safetensors file with torch's names.
void check_weights(Sequential& model, const std::string& name, const std::string& prefix = "") {
  const SafetensorsFile expected(recorded_path(name));
  const Folder folder;
  model.save_weights(folder.path("a"));
  const SafetensorsFile saved(folder.path("a"));
  BOOST_TEST(saved.entries().size() == 8U);
  for (const std::string& tensor : saved.names())
    BOOST_TEST(saved.read(tensor).equal(expected.read(prefix + tensor)), tensor);
}

Sequential two_dense() { return Sequential({Input({2}), Dense(3, {.name = "a"}), Dense(1, {.name = "b"})}); }

NamedTensors tensors_of_two_dense(const std::string& prefix = "") {
  return {{prefix + "a.weight", random_tensor({3, 2})},
          {prefix + "a.bias", random_tensor({3})},
          {prefix + "b.weight", random_tensor({1, 3})},
          {prefix + "b.bias", random_tensor({1})}};
}

/// Largest memory of the process since reset_peak(), in bytes.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

bool reset_peak() {
  std::ofstream out("/proc/self/clear_refs");
  out << 5 << std::flush;
  return out.good();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(load_weights)

BOOST_AUTO_TEST_CASE(files_of_torch_are_read) {
  for (const std::string name : {"state_dict", "checkpoint", "protocol_4"}) {
    BOOST_TEST_CONTEXT(name) {
      Sequential model = recorded_model();
      const LoadWeightsReport report = model.load_weights(recorded_path(name + ".pt"));
      BOOST_TEST((report.missing_keys.empty() && report.unexpected_keys.empty() && !report.waiting));
      check_weights(model, name + ".safetensors", name == "checkpoint" ? "state_dict." : "");
    }
  }
  Sequential model = recorded_model();
  model.load_weights(recorded_path("wrapped.pt"), {.strip_prefixes = {"_orig_mod.", "module."}});
  check_weights(model, "wrapped.safetensors", "module._orig_mod.");
}

BOOST_AUTO_TEST_CASE(shards_are_read) {
  for (const char* name : {"model.safetensors.index.json", "pytorch_model.bin.index.json"}) {
    Sequential model = recorded_model();
    model.load_weights(recorded_path(name));
    check_weights(model, "whole.safetensors");
  }
}

BOOST_AUTO_TEST_CASE(whole_models_are_read) {
  const Folder folder;
  Sequential from = two_dense(), to = two_dense();
  from.compile({.optimizer = "adam", .loss = "mse"});
  from.fit(random_tensor({4, 2}), random_tensor({4, 1}), {.verbose = 0});
  from.save(folder.path("a.mezzo"));
  to.load_weights(folder.path("a.mezzo"));
  BOOST_TEST(changed_since(values_of(from), to) == "");
  Sequential renamed({Input({2}), Dense(3, {.name = "first"}), Dense(1, {.name = "b"})});
  renamed.load_weights(folder.path("a.mezzo"), {.rename = {{"^a\\.", "first."}}});
  BOOST_TEST(renamed.weights()[0].value().equal(from.weights()[0].value()));
}

BOOST_AUTO_TEST_CASE(other_files_are_named) {
  const Folder folder;
  Sequential model = two_dense();
  const std::string path = folder.write("x.h5", {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0});
  BOOST_TEST(refused<FileError>([&] { model.load_weights(path); }) ==
             "[load_weights \"" + path + "\"] a part of the file must have 4 bytes more: it is damaged");
  for (const char* name : {"x.h5", "x.hdf5", "x.onnx", "x.pt"}) {
    const std::string other = folder.path(std::string("new_") + name);
    BOOST_TEST(refused<FileError>([&] { model.save(other); }).find(" is the suffix of ") != std::string::npos);
    BOOST_TEST(refused<FileError>([&] { model.save_weights(other); }).find(" is the suffix of ") != std::string::npos);
    BOOST_TEST(!std::filesystem::exists(other));
  }
  BOOST_TEST(
      refused<FileError>([&] { model.save("x.pb"); }) ==
      "[model \"x.pb\"] the file must end in .mezzo or .keras, or have a suffix of its own; \".pb\" is the suffix of "
      "a TensorFlow graph, which is not written");
  BOOST_TEST(refused<FileError>([&] { model.save("x.onnx"); }) ==
             "[model \"x.onnx\"] the file must end in .mezzo or .keras, or have a suffix of its own; \".onnx\" is the "
             "suffix of an "
             "ONNX model, which export_onnx() of <mezzo/onnx.hpp> writes");
  BOOST_TEST(refused<FileError>([&] { load_model(path); }).find("a part of the file must have") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_are_replaced_in_order) {
  const Folder folder;
  const NamedTensors tensors = tensors_of_two_dense();
  save_safetensors(folder.path("a"), {{"encoder.0.kernel", tensors[0].second},
                                      {"encoder.0.bias", tensors[1].second},
                                      {"encoder.1.kernel", tensors[2].second},
                                      {"encoder.1.bias", tensors[3].second}});
  Sequential model = two_dense();
  model.load_weights(
      folder.path("a"),
      {.rename = {{"^encoder\\.(\\d)\\.", "layer$1."}, {"kernel$", "weight"}, {"^layer0", "a"}, {"^layer1", "b"}}});
  BOOST_TEST(model.weights()[1].value().equal(tensors[1].second));
  BOOST_TEST(model.weights()[3].value().equal(tensors[3].second));
  BOOST_TEST(refused<FileError>([&] {
               model.load_weights(folder.path("a"), {.rename = {{"encoder\\.\\d", "a"}}});
             }) ==
             "[safetensors \"" + folder.path("a") +
                 "\"] names must differ after rename and strip_prefixes; \"encoder.0.bias\" and \"encoder.1.bias\" "
                 "are both \"a.bias\"");
  BOOST_TEST(refused<ValueError>([&] {
               model.load_weights(folder.path("a"), {.rename = {{"(", ""}}});
             }).find("[Sequential] load_weights: rename must have regular expressions; got \"(\" (") == 0U);
  BOOST_TEST(refused<ValueError>([&] { model.load_weights(folder.path("a"), {.strip_prefixes = {""}}); }) ==
             "[Sequential] load_weights: strip_prefixes must not be empty texts; got one");
}

BOOST_AUTO_TEST_CASE(prefixes_are_stripped_in_any_order) {
  const Folder folder;
  Sequential model = two_dense();
  const LoadWeightsOptions all{.strip_prefixes = {"module.", "_orig_mod.", "model."}};
  for (const char* prefix : {"module.", "_orig_mod.module.", "model._orig_mod.", "model.module.model.", ""}) {
    const NamedTensors tensors = tensors_of_two_dense(prefix);
    save_safetensors(folder.path("a"), tensors);
    model.load_weights(folder.path("a"), all);
    BOOST_TEST(model.weights()[1].value().equal(tensors[1].second), prefix);
  }
  save_safetensors(folder.path("a"), tensors_of_two_dense("model."));
  BOOST_TEST(!refused<FileError>([&] { model.load_weights(folder.path("a")); }).empty());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_reported) {
  const Folder folder;
  NamedTensors tensors = tensors_of_two_dense();
  tensors[0].second = random_tensor({5, 2});
  tensors[2].second = Tensor({1, 3}, DType::int32);
  tensors[3].first = "head.bias";
  save_safetensors(folder.path("a"), tensors);
  Sequential model = two_dense();
  const auto before = values_of(model);
  const CapturedOutput output;
  const LoadWeightsReport report = model.load_weights(folder.path("a"), {.strict = false});
  BOOST_TEST(report.missing_keys == Names{"b.bias"}, boost::test_tools::per_element());
  BOOST_TEST(report.unexpected_keys == Names{"head.bias"}, boost::test_tools::per_element());
  BOOST_TEST((report.mismatched_keys == Names{"a.weight", "b.weight"}));
  BOOST_TEST(!report.waiting);
  BOOST_TEST(output.text() == "");
  BOOST_TEST(changed_since(before, model) == "a/bias");
  BOOST_TEST(model.weights()[1].value().equal(tensors[1].second));

  save_safetensors(folder.path("b"), {{"a.bias", Tensor({4})},
                                      {"a.weight", tensors[0].second},
                                      {"b.weight", random_tensor({1, 3})},
                                      {"b.bias", random_tensor({1})}});
  BOOST_TEST(
      (model.load_weights(folder.path("b"), {.skip_mismatch = true}).mismatched_keys == Names{"a.weight", "a.bias"}));
}

BOOST_AUTO_TEST_CASE(a_load_that_skips_everything_is_an_error) {
  const Folder folder;
  const std::string path = folder.path("a"), where = "[safetensors \"" + path + "\"] ";
  save_safetensors(path, tensors_of_two_dense("encoder."));
  Sequential model = two_dense();
  const auto before = values_of(model);
  const auto text = [&] { return refused<FileError>([&] { model.load_weights(path, {.strict = false}); }); };
  BOOST_TEST(text().rfind(where + "must have a tensor of [", 0) == 0U, text());
  BOOST_TEST(text().find("]; no name matches: the file has \"encoder.a.bias\", \"encoder.a.weight\", "
                         "\"encoder.b.bias\" and 1 more, the layer \"a.weight\", \"a.bias\", \"b.weight\" and 1 "
                         "more") != std::string::npos,
             text());
  save_safetensors(path, {{"a.weight", Tensor({3, 3})}, {"c", Tensor({1})}});
  BOOST_TEST(text().find("no tensor fits [") != std::string::npos, text());
  BOOST_TEST(text().find("]: tensor \"a.weight\" must have shape (3, 2), got (3, 3)") != std::string::npos, text());
  save_safetensors(path, {});
  BOOST_TEST(text().find("; no name matches: the file has none, the layer \"a.weight\"") != std::string::npos, text());
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(float8_tensors_are_no_floats_of_mezzo) {
  Sequential model({Input({3}), Dense(2, {.use_bias = false, .name = "d"})});
  const std::string path = recorded_path("float8.safetensors");
  const std::string text = refused<FileError>([&] {
    model.load_weights(path, {.rename = {{"F8_E4M3$", "d.weight"}}});
  });
  BOOST_TEST(text.find("tensor \"d.weight\" must be a float, got float8_e4m3fn") != text.npos, text);
}

BOOST_AUTO_TEST_CASE(a_file_waits_until_the_layer_is_built) {
  const Folder folder;
  NamedTensors tensors = tensors_of_two_dense("module.");
  tensors.emplace_back("module.c", Tensor({1}));
  save_safetensors(folder.path("a"), tensors);
  Sequential model({Dense(3, {.name = "a"}), Dense(1, {.name = "b"})});
  const LoadWeightsReport report =
      model.load_weights(folder.path("a"), {.strict = false, .strip_prefixes = {"module."}});
  BOOST_TEST((report.waiting && report.unexpected_keys.empty()));
  const CapturedOutput output;
  model(Tensor({1, 2}));
  BOOST_TEST(output.text().find("skipped: unexpected tensor \"c\"\n") != std::string::npos, output.text());
  BOOST_TEST(model.weights()[1].value().equal(tensors[1].second));
}

BOOST_AUTO_TEST_CASE(shards_are_written_and_read) {
  const Folder folder;
  const std::string path = folder.path("model.safetensors");
  Sequential from = two_dense(), to = two_dense();
  from.save_weights(path, {.max_shard_size = 30});
  BOOST_TEST(!std::filesystem::exists(path));
  for (const char* name : {"1", "2"}) {
    BOOST_TEST(std::filesystem::exists(folder.path(std::string("model-0000") + name + "-of-00002.safetensors")), name);
  }
  to.load_weights(path);
  BOOST_TEST(changed_since(values_of(from), to) == "");
  from.weights()[1].assign(random_tensor({3}));
  from.save_weights(path, {"5GB"});
  BOOST_TEST(!std::filesystem::exists(path + ".index.json"));
  to.load_weights(path);
  BOOST_TEST(changed_since(values_of(from), to) == "");
}

// 64 MB of weights in 16 tensors: a second copy of them would be noticed.
BOOST_AUTO_TEST_CASE(weights_are_read_one_after_the_other) {
  const Folder folder;
  std::vector<Any<Layer>> layers{Input({1000})};
  for (int i = 0; i < 16; ++i) layers.emplace_back(Dense(1000, {.use_bias = false}));
  Sequential model(layers);
  model.save_weights(folder.path("a"));
  if (!reports_missing_memory() || !reset_peak()) return;
  const std::uint64_t before = peak_bytes();
  model.load_weights(folder.path("a"));
  // The allocator keeps some of the pieces: 28 MB were seen.
  BOOST_TEST(peak_bytes() - before < 40U << 20U);
}

BOOST_AUTO_TEST_SUITE_END()
