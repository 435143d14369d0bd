// Names of classes: `mezzo train` stores them, and `mezzo predict` prints and writes them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

#include "cli/work.hpp"

using mezzo_tests::CommandRun;
using mezzo_tests::has;
using mezzo_tests::Work;

namespace {

/// A picture of 2 x 2 pixels in one gray: a BMP file with 24 bits.
std::string picture(char gray) {
  const auto number = [](std::size_t value) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((value >> shift) & 255U);
    return bytes;
  };
  constexpr std::size_t header = 54, row = 8;
  std::string file = "BM" + number(header + 2 * row) + number(0) + number(header);
  file += number(40) + number(2) + number(2) + std::string{1, 0, 24, 0} + number(0) + number(2 * row);
  for (int i = 0; i < 4; ++i) file += number(0);
  for (int i = 0; i < 2; ++i) file += std::string(6, gray) + std::string(2, '\0');
  return file;
}

/// A folder of pictures of two classes, and a configuration.
struct Pictures : Work {
  Pictures() {
    for (const char* part : {"train", "val"}) {
      for (const char* name : {"1.bmp", "2.bmp"}) {
        write(std::string(part) + "/a cat, black/" + name, picture(1));
        write(std::string(part) + "/dog/" + name, picture(120));
      }
    }
    write("new/one.bmp", picture(2));
    write("new/two.bmp", picture(110));
    write("pictures.json", R"({
      "data": {"name": "images", "train": "train", "val": "val", "image_size": [2, 2]},
      "model": {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Input", "config": {"shape": [2, 2, 3]}},
        {"class_name": "Rescaling", "config": {"scale": 0.01}},
        {"class_name": "Flatten", "config": {}},
        {"class_name": "Dense", "config": {"units": 2}}]}},
      "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}},
      "loss": {"class_name": "SparseCategoricalCrossentropy", "config": {"from_logits": true}},
      "trainer": {"max_epochs": 40, "enable_progress_bar": false, "logger": "csv"}
    })");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(class_names)

BOOST_AUTO_TEST_CASE(labels_are_printed_and_written_by_name) {
  const Pictures work;
  work.succeed("train pictures.json --run_dir run");
  BOOST_TEST(work.text("run/class_names.json") == "[\n  \"a cat, black\",\n  \"dog\"\n]\n");

  const CommandRun known = work.succeed("predict run");
  BOOST_TEST(has(known.text, "a cat, black/1.bmp: a cat, black\n"), known.text);
  BOOST_TEST(has(known.text, "dog/2.bmp: dog\n4 samples (val): predictions.csv\n"), known.text);

  // Pictures without folders of classes. A hidden folder is none.
  work.write("new/.thumbnails/one.txt", "x");
  const CommandRun fresh = work.succeed("predict run --data.test new --output new.csv");
  BOOST_TEST(has(fresh.text, "one.bmp: a cat, black\ntwo.bmp: dog\n2 samples (test): new.csv\n"), fresh.text);
  const std::string table = work.text("new.csv");
  BOOST_TEST(table.rfind("file,label,\"a cat, black\",dog\none.bmp,\"a cat, black\",", 0) == 0U, table);
  BOOST_TEST(has(table, "\ntwo.bmp,dog,"), table);
  BOOST_TEST(std::count(table.begin(), table.end(), '\n') == 3);
  work.refuse("evaluate run --data.test new", 1, "in sub-folders; there is none");

  work.write("new/three.bmp", "x");
  BOOST_TEST(has(work.succeed("predict run --data.test new --data.verify true").text, "2 samples (test)"));
  work.refuse("predict run --data.test new --data.unreadable error", 1, ".thumbnails/one.txt\"");
}

BOOST_AUTO_TEST_CASE(predictions_of_the_training_part_are_in_order) {
  const Pictures work;
  work.succeed("train pictures.json --run_dir run");
  const CommandRun out = work.succeed("predict run --part train");
  BOOST_TEST(has(out.text, "cat, black/1.bmp: a cat, black\na cat, black/2.bmp: a cat, black\ndog/1.bmp: dog\n"),
             out.text);
}

BOOST_AUTO_TEST_CASE(scores_of_float64_have_all_digits) {
  const Pictures work;
  work.succeed("train pictures.json --run_dir run");
  work.succeed("predict run --precision float64 --output wide.csv");
  const std::string table = work.text("wide.csv");
  std::size_t longest = 0;
  for (std::size_t start = 0; start != std::string::npos; start = table.find_first_of(",\n", start)) {
    const std::size_t end = table.find_first_of(",\n", ++start);
    longest = std::max(longest, std::min(end, table.size()) - start);
  }
  BOOST_TEST(longest > 15, table);
}

BOOST_AUTO_TEST_CASE(scores_that_are_no_numbers_have_no_label) {
  const Pictures work;
  std::string config = work.text("pictures.json");
  config.replace(config.find("\"units\": 2"), 10, "\"units\": 2, \"activation\": \"softmax\"");
  work.write("large.json", config);
  // The products of light pictures are infinite after the only step.
  work.succeed(
      "train large.json --run_dir run --trainer.max_epochs 1 --data.val '' --optimizer.config.learning_rate 1e38");
  work.refuse("predict run --data.test val", 1, "[predict] scores of classes must be numbers; got NaN for sample 2");
  BOOST_TEST(!work.exists("predictions.csv"));
  work.refuse("predict run --data.test val --output scores.npy", 1, "got NaN for sample 2");
  BOOST_TEST(!work.exists("scores.npy"));
}

BOOST_AUTO_TEST_CASE(other_outputs_have_no_labels) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  BOOST_TEST(!work.exists("run/class_names.json"));
  BOOST_TEST(work.succeed("predict run").text == "96 samples (test): predictions.csv\n");
  work.write("run/class_names.json", "[1]");
  work.refuse("predict run", 1, "[run folder \"run\"] class_names.json must be a list of texts");
  work.succeed("evaluate run");  // has no labels to print
  work.succeed("train config.json --run_dir run --ckpt_path last --trainer.max_epochs 3");
  BOOST_TEST(!work.exists("run/class_names.json"));
}

BOOST_AUTO_TEST_SUITE_END()
