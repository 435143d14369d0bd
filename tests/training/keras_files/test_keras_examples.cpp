// Models of the programs of tests/parity/programs in Keras' files: see keras_examples.py.
#include <mezzo/mezzo.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "training/keras_files/example_layers.hpp"
#include "training/keras_files/keras_case.hpp"

namespace {

namespace files = std::filesystem;

/// A case, or a file that is refused with the text of error.txt.
void check_example(const files::path& folder, const std::string& written) {
  std::ifstream error(folder / "error.txt");
  if (!error) return mezzo_tests::check_case(folder, "keras.keras", written);
  std::string text;
  std::getline(error, text);
  const std::string path = (folder / "keras.keras").string();
  BOOST_TEST(mezzo_tests::refused<mezzo::FileError>([&] { mezzo::load_model(path); }).find(text) != std::string::npos);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_examples)

BOOST_AUTO_TEST_CASE(models_of_examples_are_read_and_written) {
  const char* const folder = std::getenv("MEZZO_KERAS_EXAMPLES");
  if (folder == nullptr) return mezzo_tests::skip("tests/parity/keras_examples.py makes the files");
  mezzo::example_layers::register_all();
  for (const auto& entry : files::directory_iterator(folder)) {
    try {
      check_example(entry.path(), (entry.path() / "mezzo.keras").string());
    } catch (const std::exception& error) {
      BOOST_ERROR(entry.path().filename() << ": " << error.what());
    }
  }
}

BOOST_AUTO_TEST_CASE(recorded_examples_predict_and_train_the_same) {
  const mezzo_tests::Folder folder;
  mezzo::example_layers::register_all();
  for (const char* name : {"patch_mixer_0", "mosaic_transformer_0", "bearing_faults_0", "wine_pairings_0"}) {
    const files::path original = mezzo_tests::recorded_files() / "examples" / name;
    check_example(original, folder.path("again.keras"));
    files::create_directory(folder.path(name));
    files::copy(original / "expected.npz", files::path(folder.path(name)) / "expected.npz");
    files::rename(folder.path("again.keras"), files::path(folder.path(name)) / "again.keras");
    mezzo_tests::check_case(folder.path(name), "again.keras", "");
  }
}

BOOST_AUTO_TEST_SUITE_END()
