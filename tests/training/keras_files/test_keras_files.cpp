// Whole models in Keras' files: those of tests/parity/keras_files.py.
#include <mezzo/mezzo.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"

namespace {

using namespace mezzo;
using mezzo_tests::Folder;
using mezzo_tests::refused;
namespace files = std::filesystem;

std::vector<Tensor> arrays_of(const std::map<std::string, Tensor>& all, const std::string& prefix) {
  std::vector<Tensor> out;
  for (int i = 0; all.count(prefix + std::to_string(i)) != 0; ++i) out.push_back(all.at(prefix + std::to_string(i)));
  return out;
}

/// Largest difference, relative to the largest number if that is above 1.
double difference(const Tensor& a, const Tensor& b) {
  if (a.size() != b.size()) return 1e9;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

files::path recorded_files() { return mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files"; }

std::map<std::string, Tensor> expected_of(const files::path& folder) {
  const auto listed = load_npz((folder / "expected.npz").string());
  return {listed.begin(), listed.end()};
}

/// Compares the outputs, saves the model again, and compares the losses of further training.
void check_case(const files::path& folder, const std::string& name, const std::string& written) {
  const std::map<std::string, Tensor> arrays = expected_of(folder);
  const auto model = load_model((folder / name).string());
  const Tensors outputs = model->predict_all(Tensors(arrays_of(arrays, "x")));
  const double tolerance = folder.filename().string().find("bfloat16") != std::string::npos ? 2e-2 : 1e-5;
  std::size_t i = 0;
  for (const auto& [output, y] : outputs) {
    if (arrays.count("y0") == 0) continue;
    BOOST_TEST(difference(y, arrays.at("y" + std::to_string(i++))) <= tolerance, folder.filename() << " " << output);
  }
  if (!written.empty()) model->save(written);
  const auto losses = arrays.find("losses");
  if (losses == arrays.end() || name.find(".h5") != std::string::npos) return;
  const Tensors x(arrays_of(arrays, "train_x")), y(arrays_of(arrays, "train_y"));
  double worst = 0;
  std::string text;
  for (const double loss : losses->second.to_doubles()) {
    const double got = model->train_on_batch(x, y)["loss"];
    text += ", " + std::to_string(got);
    worst = std::max(worst, std::abs(got - loss) / std::max(1.0, std::abs(loss)));
  }
  BOOST_TEST(worst <= 1e-4, folder.filename() << " losses differ by " << worst << text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_files)

BOOST_AUTO_TEST_CASE(files_of_keras_are_read_and_written) {
  const char* const folder = std::getenv("MEZZO_KERAS_FILES");
  if (folder == nullptr) return mezzo_tests::skip("tests/parity/keras_files.py makes the files");
  for (const auto& entry : files::directory_iterator(folder)) {
    try {
      check_case(entry.path(), "keras.keras", (entry.path() / "mezzo.keras").string());
    } catch (const std::exception& error) {
      BOOST_ERROR(entry.path().filename() << ": " << error.what());
    }
  }
}

BOOST_AUTO_TEST_CASE(recorded_files_of_keras_predict_and_train_the_same) {
  const Folder folder;
  for (const char* name : {"dense", "graph", "shared", "adam", "bidirectional", "mixed_bfloat16"}) {
    const files::path original = recorded_files() / name;
    check_case(original, "keras.keras", folder.path("again.keras"));
    files::create_directory(folder.path(name));
    files::copy(original / "expected.npz", files::path(folder.path(name)) / "expected.npz");
    files::rename(folder.path("again.keras"), files::path(folder.path(name)) / "again.keras");
    check_case(folder.path(name), "again.keras", "");
  }
}

BOOST_AUTO_TEST_CASE(files_of_keras_2_predict_the_same) {
  for (const char* name : {"keras_2_graph", "keras_2_list"}) {
    check_case(recorded_files() / name, "keras.h5", "");
    const auto model = load_model((recorded_files() / name / "keras.h5").string(), {.compile = false});
    BOOST_TEST(model->compile_options() == nullptr);
    const std::vector<Tensor> before = model->get_weights();
    for (const Variable& weight : model->weights()) weight.assign(Tensor(weight.shape()));
    model->load_weights((recorded_files() / name / "weights.h5").string());
    for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(model->get_weights()[i].equal(before[i]));
  }
}

BOOST_AUTO_TEST_CASE(weights_of_keras_are_read_and_written) {
  const Folder folder;
  for (const char* name : {"adam", "graph"}) {
    const files::path original = recorded_files() / name;
    const auto model = load_model((original / "keras.keras").string());
    const std::vector<Tensor> before = model->get_weights();
    model->save_weights(folder.path("a.weights.h5"));
    for (const std::string& path :
         {folder.path("a.weights.h5"), (original / "keras.weights.h5").string(), (original / "keras.keras").string()}) {
      for (const Variable& weight : model->weights()) weight.assign(Tensor(weight.shape()));
      model->load_weights(path);
      for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(model->get_weights()[i].equal(before[i]));
    }
  }
  Sequential other({Input({4}), Dense(3)});
  const std::string path = folder.path("a.weights.h5");
  BOOST_TEST(refused<FileError>([&] { other.load_weights(path); }).find("the weights do not fit the layers: ") !=
             std::string::npos);
  BOOST_TEST(refused<ValueError>([&] { other.load_weights(path, {.strict = false}); }) ==
             "[load_weights \"" + path +
                 "\"] options must be the defaults for an HDF5 file of Keras, whose arrays have no names");
  BOOST_TEST(refused<ValueError>([&] {
               other.save_weights(path, {.max_shard_size = 10});
             }).find("a .weights.h5 file has no shards") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(training_goes_on_after_a_way_through_keras_form) {
  const Folder folder;
  const Tensor x = random::normal(Tensor({8, 3})).tensor(), y = random::normal(Tensor({8, 2})).tensor();
  Sequential model({Input({3}), Dense(4, {.activation = "relu"}), BatchNormalization(), Dense(2)});
  model.compile(
      {.optimizer = AdamW(CosineDecay(1e-2, 20), {.clipnorm = 1, .use_ema = true}), .loss = "mse", .metrics = {"mae"}});
  for (int i = 0; i < 3; ++i) model.train_on_batch(x, y);
  model.save(folder.path("a.keras"));
  const auto again = load_model(folder.path("a.keras"));
  for (int i = 0; i < 5; ++i) {
    const double loss = model.train_on_batch(x, y)["loss"];
    BOOST_TEST(again->train_on_batch(x, y)["loss"] == loss);
  }
}

BOOST_AUTO_TEST_SUITE_END()
