// Whole models in Keras' files: those of tests/parity/keras_files.py.
#include <mezzo/mezzo.hpp>

#include <cstdlib>
#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "training/keras_files/keras_case.hpp"

namespace {

using namespace mezzo;
using mezzo_tests::check_case;
using mezzo_tests::Folder;
using mezzo_tests::recorded_files;
using mezzo_tests::refused;
namespace files = std::filesystem;

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
  for (const char* name : {"dense", "graph", "shared", "adam", "bidirectional", "mixed_bfloat16", "named_outputs",
                           "open_dropout", "op_clip", "op_get_item_of_open", "op_pad", "op_take", "op_where"}) {
    const files::path original = recorded_files() / name;
    check_case(original, "keras.keras", folder.path("again.keras"));
    files::create_directory(folder.path(name));
    files::copy(original / "expected.npz", files::path(folder.path(name)) / "expected.npz");
    files::rename(folder.path("again.keras"), files::path(folder.path(name)) / "again.keras");
    check_case(folder.path(name), "again.keras", "");
  }
}

// Keras can't open its own files of such models.
BOOST_AUTO_TEST_CASE(layers_that_models_share_are_one_layer) {
  const Folder folder;
  for (const auto& [name, count] : {std::pair("shared_inside", 15), std::pair("shared_encoder", 31)}) {
    check_case(recorded_files() / name, "keras.keras", folder.path("again.keras"));
    BOOST_TEST(load_model((recorded_files() / name / "keras.keras").string())->count_params() == count);
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
                 "\"] skip_mismatch is the only option for an HDF5 file of Keras, whose arrays have no names; got "
                 "strict = false");
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
