// Configurations in YAML: their values, lines of errors, anchors.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/work.hpp"

using mezzo_tests::CommandRun;
using mezzo_tests::has;
using mezzo_tests::Work;
using Json = nlohmann::ordered_json;

namespace {

/// A model to which layers are appended.
const std::string input_yaml = R"(
model:
  class_name: Sequential
  config:
    layers:
      - {class_name: Input, config: {shape: [2]}})";

const std::string model_yaml = input_yaml + R"(
      - class_name: Dense
        config: {units: 4, activation: relu}
      - class_name: Dense
        config: {units: 1}
)";

const std::string rest_yaml = R"(
data:
  name: csv
  train: train.csv
  test: train.csv
  targets: y          # a word, not a bool
  validation_split: 0.25
optimizer: adam
loss: mse
metrics: [mae]
callbacks:
  - {class_name: EarlyStopping, config: {patience: 50}}
trainer:
  max_epochs: 2
  enable_progress_bar: false
  logger: csv
)";

/// The complete configuration that the command makes of a file.
Json printed(const Work& work, const std::string& file) {
  return Json::parse(work.succeed("train " + file + " --print_config").text);
}

/// A file whose only line with a value is refused.
void refuse_line(const std::string& text, const std::string& part) {
  const Work work;
  work.write("c.yaml", text);
  work.refuse("train c.yaml", 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(yaml)

BOOST_AUTO_TEST_CASE(yaml_and_json_are_the_same_configuration) {
  const Work work;
  work.write("config.yaml", rest_yaml + model_yaml);
  BOOST_TEST(printed(work, "config.yaml") == printed(work, "config.json"));
  work.write("config.yml", rest_yaml + model_yaml);
  work.succeed("train config.yml --run_dir run --trainer.max_epochs 1");
  BOOST_TEST(has(work.succeed("evaluate run --config config.yaml").text, "samples 96 (test)"));
}

BOOST_AUTO_TEST_CASE(words_of_older_yaml_are_texts) {
  const Work work;
  const std::string text = rest_yaml + model_yaml + R"(
seed_everything: 0x10
)";
  work.write("c.yaml", text);
  const auto member = [&](const std::string& line) {
    work.write("d.yaml", "data: {name: npz, train: a.npz, x: " + line + "}\noptimizer: adam\nloss: mse\n" + model_yaml);
    return printed(work, "d.yaml")["data"]["x"].get<std::string>();
  };
  for (const char* word : {"yes", "no", "on", "off", "y", "n", "Yes", "NO", "1:30", "2026-11-27", "1_000", "0b1", "0x",
                           "0o9", "1e", "-", ".", "+.e1", "true story"}) {
    BOOST_TEST(member(word) == word);
  }
  for (const char* word : {"true", "null", "12", "1.5", ""})
    BOOST_TEST(member("\"" + std::string(word) + "\"") == word);
  BOOST_TEST(member("!!str 12") == "12");
  BOOST_TEST(printed(work, "c.yaml")["seed_everything"] == 16);
}

BOOST_AUTO_TEST_CASE(numbers_are_those_of_json) {
  const Work work;
  const auto rate = [&](const std::string& number) {
    work.write("d.yaml",
               "data: {name: npz, train: a.npz}\nloss: mse\noptimizer: {class_name: SGD, config: {learning_rate: " +
                   number + "}}\n" + model_yaml);
    return printed(work, "d.yaml")["optimizer"]["config"]["learning_rate"].get<double>();
  };
  BOOST_TEST(rate("1e-3") == 1e-3);
  BOOST_TEST(rate(".5") == 0.5);
  BOOST_TEST(rate("+5.") == 5.0);
  BOOST_TEST(rate("2") == 2.0);
  BOOST_TEST(rate("0o17") == 15.0);
  BOOST_TEST(rate("1.5E+1") == 15.0);
}

BOOST_AUTO_TEST_CASE(anchors_and_merge_keys_are_copies) {
  const Work work;
  work.write("c.yaml", rest_yaml + input_yaml + R"(
      - class_name: Dense
        config: &wide
          units: 4
          activation: relu
      - class_name: Dense
        config: {activation: tanh, <<: *wide}
      - class_name: Dense
        config: {<<: [{units: 1}, *wide], activation: linear}
)");
  const Json layers = printed(work, "c.yaml")["model"]["config"]["layers"];
  BOOST_TEST(layers[0]["config"]["units"] == 4);
  BOOST_TEST(layers[1]["config"]["units"] == 4);
  BOOST_TEST(layers[1]["config"]["activation"] == "tanh");
  BOOST_TEST(layers[2]["config"]["units"] == 1);
  BOOST_TEST(layers[2]["config"]["activation"] == "linear");
}

BOOST_AUTO_TEST_CASE(errors_of_the_schema_have_lines) {
  const Work work;
  work.write("c.yaml", "trainer:\n  max_epochs: 2\n  max_epoch: 3\n" + model_yaml + "data: {name: npz}\nloss: mse\n");
  work.refuse("train c.yaml", 2, "trainer: unknown key \"max_epoch\"; valid names: ");
  BOOST_TEST(has(work.run("train c.yaml").text, "; c.yaml line 3\n"));
  work.write("c.yaml", "loss: mse\ndata: {name: npz}\ntrainer:\n  min_epochs: yes\n" + model_yaml);
  work.refuse("train c.yaml", 2, "trainer.min_epochs must be an integer; got \"yes\"; c.yaml line 4\n");
  work.write("c.yaml", "loss: mse\ndata:\n  name: npz\n  shuffle: on\n" + model_yaml);
  work.refuse("train c.yaml", 2, "data.shuffle must be true or false; got \"on\"; c.yaml line 4\n");
  work.write("c.yaml", "loss: mse\ndata: {name: npz}\ntrainer:\n  accumulate_grad_batches: 0\n" + model_yaml);
  work.refuse("train c.yaml --print_config", 2,
              "[Trainer] accumulate_grad_batches must be at least 1; got 0; c.yaml line 4\n");
  work.refuse("train c.yaml --trainer.accumulate_grad_batches -1", 2, "must be at least 1; got -1\n");
  work.write("c.yaml", "los: mse\n" + model_yaml);
  work.refuse("train c.yaml", 2, "config: unknown key \"los\"; valid names: ");
  BOOST_TEST(has(work.run("train c.yaml").text, "; c.yaml line 1\n"));
  work.write("c.yaml", "loss: mse\ndata:\n  name: csv\n  train: train.csv\n  targets: z\n" + model_yaml);
  work.refuse("train c.yaml", 2, "unknown column \"z\"");
}

BOOST_AUTO_TEST_CASE(malformed_texts_have_lines) {
  refuse_line("loss: mse\nmetrics: [mae\n", "[config \"c.yaml\"] line 3, column 1: must be YAML; ");
  refuse_line("loss: mse\n\tmetrics: mae\n", "[config \"c.yaml\"] line 2, column ");
  refuse_line("loss: " + std::string(400, '9') + "\n", "[config \"c.yaml\"] line 1: numbers must fit float64; got 999");
  refuse_line("loss: *none\n", "[config \"c.yaml\"] line 1, column ");
  refuse_line("", "[config \"c.yaml\"] must be YAML; the file is empty");
  refuse_line("- loss\n", "[config \"c.yaml\"] must be a map of sections");
  refuse_line("loss: mse\n---\nloss: mae\n", "[config \"c.yaml\"] line 3: must be one document; got 2");
  refuse_line("loss: mse\nloss: mae\n", "[config \"c.yaml\"] line 2: keys must differ; got \"loss\" twice");
  refuse_line("loss: mse\n[1]: mae\n", "[config \"c.yaml\"] line 1: keys must be texts");
  refuse_line("loss: !!binary mse\n", "line 1: must have no tags except for !!str; got tag:yaml.org,2002:binary");
  refuse_line("loss: 007\n", "line 1: a number must not begin with 0, which may mean octal; got 007; quote it");
  refuse_line("\nloss: -.inf\n", "line 2: numbers must be finite; got -.inf");
  refuse_line("loss: 1e999\n", "line 1: numbers must fit float64; got 1e999");
  refuse_line("loss: 0x1ffffffffffffffff\n", "line 1: numbers must have at most 64 bits");
  refuse_line("loss: {<<: 3}\n", "line 1: << must be an anchor of a map, or a list of such");
}

BOOST_AUTO_TEST_CASE(anchors_that_grow_without_end_are_refused) {
  refuse_line("loss: &a [*a]\n", "must have at most 100 levels");
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string inner = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + inner;
    for (int j = 1; j < 10; ++j) text += ", " + inner;
    text += "]\n";
  }
  refuse_line(text, "must have at most 100000 values");
  refuse_line("loss: " + std::string(2000, '[') + "\n", "[config \"c.yaml\"] line ");
}

BOOST_AUTO_TEST_SUITE_END()
