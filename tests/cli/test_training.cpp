// Trains, evaluates, predicts, converts and continues by the `mezzo` command, in a folder of its own.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <mezzo/io/npy.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/model/saving.hpp>

#include "cli/work.hpp"

using mezzo_tests::CommandRun;
using mezzo_tests::has;
using mezzo_tests::Work;

BOOST_AUTO_TEST_SUITE(training)

BOOST_AUTO_TEST_CASE(a_run_folder_repeats_its_training) {
  const Work work;
  const CommandRun first = work.succeed("train config.json --trainer.max_epochs 3");
  BOOST_TEST(has(first.text, "epoch 3: loss "), first.text);
  for (const char* file : {"config.json", "model.mezzo", "checkpoints/last.ckpt", "logs/metrics.csv"}) {
    BOOST_TEST(work.exists(std::string("runs/version_0/") + file), file);
  }
  work.succeed("train runs/version_0/config.json");
  BOOST_TEST(work.text("runs/version_1/config.json") == work.text("runs/version_0/config.json"));
  work.check_equal_tensors("runs/version_0/model.mezzo", "runs/version_1/model.mezzo");
}

BOOST_AUTO_TEST_CASE(a_training_continues_from_its_last_checkpoint) {
  const Work work;
  work.succeed("train config.json --run_dir whole --trainer.max_epochs 4");
  work.succeed("train config.json --run_dir parts");
  work.refuse("train config.json --run_dir parts", 2, "\"parts\" has a training: name another --run_dir");
  const CommandRun rest = work.succeed("train config.json --run_dir parts --ckpt_path last --trainer.max_epochs 4");
  BOOST_TEST(has(rest.text, "epoch 4: "), rest.text);
  work.check_equal_tensors("whole/model.mezzo", "parts/model.mezzo");
  work.refuse("train config.json --ckpt_path last", 2, "--ckpt_path last needs --run_dir");
}

BOOST_AUTO_TEST_CASE(a_training_that_can_not_begin_leaves_its_folder_as_it_was) {
  const Work work;
  work.refuse("train config.json --data.features a", 1, "(rows of kernel)");
  BOOST_TEST(!work.exists("runs/version_0"));
  work.succeed("train config.json --run_dir run");
  const std::string config = work.text("run/config.json");
  work.refuse("train config.json --run_dir run --ckpt_path last --model.config.layers.1.config.units 8", 1,
              "does not fit");
  BOOST_TEST(work.text("run/config.json") == config);
}

BOOST_AUTO_TEST_CASE(print_config_is_complete_and_trains_nothing) {
  const Work work;
  const CommandRun out = work.succeed("train config.json --print_config --optimizer.config.learning_rate 0.5");
  for (const char* part : {"\"seed_everything\": 0", "\"learning_rate\": 0.5", "\"beta_1\": 0.9", "\"use_bias\": true",
                           "\"accumulate_grad_batches\": 1", "\"restore_best_weights\": false"}) {
    BOOST_TEST(has(out.text, part), part << " in " << out.text);
  }
  BOOST_TEST(!work.exists("runs"));
  work.write("complete.json", out.text);
  BOOST_TEST(work.succeed("train complete.json --print_config").text == out.text);
}

BOOST_AUTO_TEST_CASE(misspelled_names_are_errors_with_the_nearest) {
  const Work work;
  work.refuse_training("--trainer.max_epoch 2", "trainer: unknown key \"max_epoch\"; valid names: ");
  work.refuse_training("--trainr.max_epochs 2", "unknown option --trainr.max_epochs; nearest: --trainer");
  work.refuse_training("--model.config.layers.1.config.unit 3", "nearest: \"units\"");
  work.refuse_training("--model.config.layers.1.class_name Dens", "nearest: \"Dense\"");
  work.refuse_training("--model.config.layers.7.class_name Dense",
                       "\"7\" must be the number of one of 3 items, from 0");
  work.refuse_training("--optimizer adm", "nearest: \"adam\"");
  work.refuse_training("--optimizer.config.learning_rat 0.1", "nearest: \"learning_rate\"");
  work.refuse_training("--callbacks.0.config.patienc 3", "callbacks.0.config: unknown key \"patienc\"; valid names: ");
  work.refuse_training("--callbacks.0.class_name EarlyStop", "nearest: \"EarlyStopping\"");
  work.refuse_training("--data.name cvs", "data.name: unknown data \"cvs\"; valid names: ");
  work.refuse_training("--print_confg", "mezzo train: unknown option --print_confg; nearest: --print_config");
  work.refuse_training("--trainer.max_epochs two", "trainer.max_epochs must be an integer; got \"two\"");
  work.refuse_training("--trainer.max_epochs", "--trainer.max_epochs needs a value");
  BOOST_TEST(!work.exists("runs"));
}

BOOST_AUTO_TEST_CASE(variables_of_options_that_the_command_sets_are_errors) {
  const Work work;
  const std::string folder = "cd '" + work.folder.path() + "'; ";
  const CommandRun logger = mezzo_tests::run_command("train config.json", folder + "MEZZO_TRAINER_LOGGER=csv");
  BOOST_TEST(logger.code == 2);
  BOOST_TEST(has(logger.text, "MEZZO_TRAINER_LOGGER has no effect here; set trainer.logger"), logger.text);
  const CommandRun root = mezzo_tests::run_command("train config.json", folder + "MEZZO_TRAINER_DEFAULT_ROOT_DIR=x");
  BOOST_TEST(root.code == 2);
  BOOST_TEST(has(root.text, "set --run_dir"), root.text);
}

BOOST_AUTO_TEST_CASE(columns_of_a_table_are_read_by_name) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  BOOST_TEST(has(work.text("run/config.json"), "\"features\": [\n      \"a\",\n      \"b\"\n    ]"),
             work.text("run/config.json"));
  work.write("ab.csv", "a,b,y\n1,20,3\n4,50,6\n");
  work.write("ba.csv", "more,b,y,a\n7,20,3,1\n8,50,6,4\n");
  const std::string loss = work.succeed("evaluate run --data.test ab.csv").text;
  BOOST_TEST(work.succeed("evaluate run --data.test ba.csv").text == loss);
  BOOST_TEST(work.succeed("evaluate run/model.mezzo --config config.json --data.test ba.csv").text == loss);
  work.succeed("train config.json --run_dir val --data.validation_split 0 --data.val ba.csv");
  BOOST_TEST(has(work.succeed("evaluate val --part val").text, "samples 2 (val)"));
  work.write("b.csv", "b,a\n20,1\n50,4\n");
  work.succeed("predict run --data.test ab.csv --output ab.npy");
  for (const char* model : {"run", "run/model.mezzo --config config.json"}) {
    work.succeed(std::string("predict ") + model + " --data.test b.csv --data.targets [] --output ba.npy");
    BOOST_TEST(work.text("ba.npy") == work.text("ab.npy"));
  }
  work.write("other.csv", "a,c,y\n1,20,3\n");
  work.refuse("evaluate run --data.test other.csv", 2, "other.csv\"] unknown column \"b\"");
}

BOOST_AUTO_TEST_CASE(missing_values_of_a_table_are_errors_without_an_option) {
  const Work work;
  work.write("gaps.csv", "a,b,y\n1,2,3\n4,,6\n");
  work.succeed("train config.json --run_dir run");
  work.refuse("predict run --data.test gaps.csv", 1, "line 3, column \"b\" must have a value; it is missing");
  work.succeed("predict run --data.test gaps.csv --data.allow_missing true --output out.csv");
  BOOST_TEST(has(work.text("out.csv"), "nan"));
}

BOOST_AUTO_TEST_CASE(tables_have_the_separators_and_missing_values_of_the_options) {
  const Work work;
  work.write("plain.csv", "a,b,y\n1000.5,2,3\n4,nan,6\n");
  work.write("other.csv", "a;b;y\n1.000,5;2;3\n4;-9;6\n");
  work.succeed("train config.json --run_dir run --data.allow_missing true");
  work.succeed("predict run --data.test plain.csv --output plain.npy");
  work.succeed(
      "predict run --data.test other.csv --data.sep ';' --data.decimal , --data.thousands . "
      "--data.na_values '[\"-9\"]' --output other.npy");
  BOOST_TEST(work.text("other.npy") == work.text("plain.npy"));
  work.refuse("predict run --data.test other.csv --data.sep ';' --data.decimal ,,", 1, "decimal must be");
}

BOOST_AUTO_TEST_CASE(values_out_of_range_are_wrong_use) {
  const Work work;
  work.refuse_training("--data.targets z", "unknown column \"z\"");
  work.refuse_training("--data.batch_size 0", "data.batch_size must be at least 1; got 0");
  work.refuse_training("--data.workers -1", "data.workers must be at least 0; got -1");
  work.refuse_training("--trainer.max_epochs -3", "max_epochs must be at least -1; got -3");
  work.refuse_training("--trainer.gradient_clip_algorithm nrm", "nearest: \"norm\"");
  work.refuse_training("--data.validation_split 0.001",
                       "data.validation_split 0.001 of 96 samples leaves none for val");
  // --print_config checks all that needs no data.
  work.refuse_training("--print_config --trainer.max_epochs -3", "max_epochs must be at least -1; got -3");
  work.refuse_training("--print_config --trainer.gradient_clip_algorithm nrm", "nearest: \"norm\"");
  work.refuse_training("--print_config --callbacks.0.config.mode up", "valid names: ");
  work.refuse_training(R"(--print_config --data '{"name": "images", "train": "t", "color_mode": "rgba"}')",
                       "data.color_mode: unknown color mode \"rgba\"; valid names: ");
  work.refuse_training(R"(--print_config --data '{"name": "images", "train": "t", "unreadable": "skp"}')",
                       "data.unreadable: unknown value \"skp\"; valid names: error, skip; nearest: \"skip\"");
  BOOST_TEST(!work.exists("runs"));
}

BOOST_AUTO_TEST_CASE(wrong_files_are_errors) {
  const Work work;
  work.write("empty.json", "");
  work.write("list.json", "[1]");
  work.write("no_loss.json", R"({"model": {"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Input", "config": {"shape": [2]}}, {"class_name": "Dense", "config": {"units": 1}}]}}})");
  work.refuse("train nothing.json", 1, "[config \"nothing.json\"] no such file or directory");
  work.refuse("train .", 1, "[config \".\"] can't be read");
  work.refuse("train empty.json", 2, "the file is empty");
  work.refuse("train list.json", 2, "[config \"list.json\"] must be a JSON object");
  work.refuse("train train.csv", 2, "[config \"train.csv\"] must be JSON");
  work.refuse("train no_loss.json", 2, "loss must be given");
  work.refuse("train config.json --data.train other.csv", 1, "other.csv");
  work.refuse("train config.json --data.train ''", 2, "data.train must name samples");
  work.refuse("train config.json --run_dir /proc/mezzo", 1, "[run folder \"/proc/mezzo\"] can't be made");
  work.refuse("inspect nothing.npz", 1, "[inspect \"nothing.npz\"] no such file or directory");
  work.refuse("inspect empty.json", 1, "empty");
  work.refuse("evaluate nothing.mezzo --data.test train.csv", 1, "nothing.mezzo");
  work.refuse("evaluate .", 1, "[run folder \".\"] has no model.mezzo");
  work.refuse("evaluate /proc --data.test train.csv", 1, "[config \"/proc/config.json\"] no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_run_is_evaluated_and_predicts) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  const CommandRun evaluated = work.succeed("evaluate run");
  BOOST_TEST(has(evaluated.text, "samples 96 (test)\nloss "), evaluated.text);
  BOOST_TEST(has(evaluated.text, "\nmae "), evaluated.text);
  BOOST_TEST(has(work.succeed("evaluate run --part val").text, "samples 24 (val)"));
  work.refuse("evaluate run --trainer.max_epochs 3", 2, "--trainer.max_epochs has no effect here");
  work.refuse("evaluate run --precision bf61", 2, "bf61");
  work.refuse("evaluate run --precision auto", 2, "--precision auto is for trainings only");
  work.refuse("evaluate nothing", 1, "[model \"nothing\"] no such file or directory");

  work.succeed("predict run");
  work.succeed("predict run/model.mezzo --config config.json --output out.npy");
  work.succeed("predict run --output out.safetensors");
  const mezzo::Tensor y = mezzo::load_npy(work.folder.path("out.npy"));
  BOOST_TEST((y.shape() == mezzo::Shape{96, 1}));
  BOOST_TEST(mezzo::load_safetensors(work.folder.path("out.safetensors")).front().second.to_doubles() ==
             y.to_doubles());
  const std::string table = work.text("predictions.csv");
  BOOST_TEST(std::count(table.begin(), table.end(), '\n') == 96);
  work.refuse("predict run --output out.txt", 2, "--output must end in .csv, .npy, .npz or .safetensors");
}

BOOST_AUTO_TEST_CASE(files_are_inspected_and_converted) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  const CommandRun model = work.succeed("inspect run/model.mezzo");
  BOOST_TEST(work.succeed("inspect run").text == model.text);
  work.refuse("inspect run/logs", 1, "[run folder \"run/logs\"] has no model.mezzo");
  for (const char* part : {"dense", "policy float32\n", "compiled yes\n", "format = mezzo_model\n", " tensors, "}) {
    BOOST_TEST(has(model.text, part), part << " in " << model.text);
  }
  BOOST_TEST(has(work.succeed("inspect run/checkpoints/last.ckpt").text, "model.dense."));
  BOOST_TEST(has(work.succeed("inspect train.csv").text, "y"));

  const CommandRun weights = work.succeed("convert run w.safetensors");
  BOOST_TEST(has(weights.text, "not in the new file: layers, options of compile(), state of the optimizer\n"));
  work.succeed("convert w.safetensors w.npz");
  BOOST_TEST(has(work.succeed("inspect w.npz").text, "float32"));
  BOOST_TEST(mezzo::load_npz(work.folder.path("w.npz")).size() == 4U);
  work.refuse("convert w.npz w.safetensors", 2, "\"w.safetensors\" exists; replace it by --overwrite");
  work.succeed("convert w.npz w.safetensors --overwrite");
  work.refuse("convert w.npz w.mezzo", 2, "weights without layers become .safetensors or .npz");
  work.refuse("convert run x.pt", 2, "a model becomes .mezzo, .keras, .onnx, .safetensors or .weights.h5");
  work.succeed("convert run copy.mezzo");
  BOOST_TEST(mezzo::load_model(work.folder.path("copy.mezzo"))->compile_options() != nullptr);
}

BOOST_AUTO_TEST_CASE(weights_in_hdf5_are_listed) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  const CommandRun converted = work.run("convert run w.weights.h5");
  if (converted.code != 0) {
    BOOST_TEST(has(converted.text, "needs libhdf5"), converted.text);
    return;
  }
  const CommandRun out = work.succeed("inspect w.weights.h5");
  BOOST_TEST(has(out.text, "layers/dense/vars/0"), out.text);
  BOOST_TEST(has(out.text, "(2, 4)"), out.text);
  BOOST_TEST(has(out.text, "4 tensors, 68 bytes\n"), out.text);
}

BOOST_AUTO_TEST_CASE(arrays_are_described_by_their_headers) {
  const Work work;
  mezzo::save_npy(work.folder.path("a.npy"), mezzo::Tensor({2, 3}, mezzo::DType::int8));
  BOOST_TEST(has(work.succeed("inspect a.npy").text, "int8       (2, 3)\n1 tensor, 6 bytes\n"));
  mezzo::save_npz(work.folder.path("b.npz"), {{"x", mezzo::Tensor({5})}, {"y", mezzo::Tensor({1})}});
  const CommandRun out = work.succeed("inspect b.npz");
  for (const char* part : {"\nx ", "float32    (5,)\n", "\ny ", "2 tensors, 24 bytes\n"}) {
    BOOST_TEST(has(out.text, part), part << " in " << out.text);
  }
}

BOOST_AUTO_TEST_CASE(onnx_files_are_written_shown_and_used) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  work.succeed("convert run m.onnx");
  const CommandRun shown = work.succeed("inspect m.onnx");
  for (const char* part : {"ONNX file, IR version ", "opset 17\n", "input input: float32 (batch, 2)\n",
                           "output output: float32 (batch, 1)\n", "     1 Relu\n", "dense", " tensors, "}) {
    BOOST_TEST(has(shown.text, part), part << " in " << shown.text);
  }
  work.succeed("predict run --output a.npy");
  work.succeed("predict m.onnx --config config.json --output b.npy");
  const std::vector<double> expected = mezzo::load_npy(work.folder.path("a.npy")).to_doubles(),
                            actual = mezzo::load_npy(work.folder.path("b.npy")).to_doubles();
  BOOST_REQUIRE(expected.size() == actual.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(actual[i] == expected[i], boost::test_tools::tolerance(1e-5));
  work.succeed("convert m.onnx m.mezzo");
  work.succeed("predict m.mezzo --config config.json --output c.npy");
  BOOST_TEST(mezzo::load_npy(work.folder.path("c.npy")).to_doubles() == actual);
  work.write("damaged.onnx", "onnx");
  work.refuse("inspect damaged.onnx", 1, "damaged.onnx");
}

BOOST_AUTO_TEST_CASE(a_run_is_evaluated_in_the_precision_of_its_training) {
  const Work work;
  for (const char* precision : {"bf16-mixed", "int8-mixed"}) {
    const std::string run = std::string("run_") + precision;
    work.succeed("train config.json --run_dir " + run + " --trainer.precision " + precision);
    const CommandRun evaluated = work.succeed("evaluate " + run + " --part val");
    BOOST_TEST(has(evaluated.text, std::string("samples 24 (val), precision ") + precision + "\n"), evaluated.text);
    const std::string same = work.succeed("evaluate " + run + " --part val --precision " + precision).text;
    BOOST_TEST(same.substr(same.find('\n')) == evaluated.text.substr(evaluated.text.find('\n')));
    const std::string full = work.succeed("evaluate " + run + " --part val --precision 32").text;
    BOOST_TEST(full.substr(full.find('\n')) != evaluated.text.substr(evaluated.text.find('\n')));
  }
  // A precision that is chosen by measurements is not known afterwards: the file's policy.
  work.succeed("train config.json --run_dir auto --trainer.precision auto");
  BOOST_TEST(has(work.succeed("evaluate auto").text, "samples 96 (test)\n"));
}

BOOST_AUTO_TEST_CASE(a_folder_of_pictures_is_listed_once) {
  const Work work;
  for (const char* name : {"train/cat/1.png", "train/cat/2.png", "train/dog/1.png", "train/dog/notes.txt",
                           "val/cat/1.png", "val/dog/1.png"}) {
    work.write(name, "x");
  }
  const auto warnings = [&](const std::string& data) {
    const std::string text = work.run("train config.json --callbacks [] --data '" + data + "'").text;
    std::size_t count = 0;
    for (std::size_t at = text.find("left out"); at != std::string::npos; at = text.find("left out", at + 1)) ++count;
    return count;
  };
  const std::string images = R"({"name": "images", "train": "train", "image_size": [2, 2])";
  BOOST_TEST(warnings(images + R"(, "val": "val"})") == 1U);
  BOOST_TEST(warnings(images + R"(, "validation_split": 0.5})") == 1U);
}

BOOST_AUTO_TEST_CASE(folders_of_pictures_must_have_the_classes_of_the_training) {
  const Work work;
  for (const char* name : {"train/cat/1.png", "train/dog/1.png", "val/dog/1.png"}) work.write(name, "x");
  const std::string images = R"('{"name": "images", "train": "train", "val": "val", "image_size": [2, 2]}')";
  work.refuse("train config.json --callbacks [] --data " + images, 2,
              "data.val must have the classes of data.train, also as empty folders: cat, dog; got dog");
}

BOOST_AUTO_TEST_CASE(bench_measures_each_precision) {
  const Work work;
  work.succeed("train config.json --run_dir run");
  const CommandRun out = work.succeed("bench run --steps 3 --precision 32,bf16-mixed");
  for (const char* part : {"batches of 32\n", "\n32 ", "\nbf16-mixed "}) BOOST_TEST(has(out.text, part), out.text);
  const CommandRun wrong = work.run("bench run --steps 3 --precision 32,bf61");
  BOOST_TEST(wrong.code == 2);
  BOOST_TEST(!has(wrong.text, "batches of"), wrong.text);
  work.refuse("bench run --batch_size 8", 2, "--batch_size is for models of the catalogue; set --data.batch_size");
}

BOOST_AUTO_TEST_CASE(bench_measures_models_of_the_catalogue) {
  const Work work;
  const CommandRun out = work.succeed("bench lenet --steps 2 --batch_size 4 --precision 32,int8-mixed");
  for (const char* part : {"batches of 4\n", "\n32 ", "\nint8-mixed "}) BOOST_TEST(has(out.text, part), out.text);
  work.refuse("bench lenett", 1, "[model \"lenett\"] no such file or directory; models of the catalogue: mlp, ");
  work.refuse("bench lenett", 1, "nearest: \"lenet\"");
  work.refuse("bench lenet --data.batch_size 4", 2, "--data.batch_size has no effect for a model of the catalogue");
  work.refuse("bench lenet --config config.json", 2, "--config has no effect for a model of the catalogue");
  BOOST_TEST(has(work.succeed("bench --help").text, "gpt2"));
}

BOOST_AUTO_TEST_CASE(an_interrupted_training_leaves_a_checkpoint) {
  const Work work;
  // The shell waits for the run folder's first checkpoint, then interrupts the command.
  const std::string script = "cd '" + work.folder.path() +
                             "'; (trap - INT; exec \"" MEZZO_COMMAND
                             "\" train config.json --run_dir run --trainer.max_epochs -1) > log 2>&1 & pid=$!;"
                             " for i in $(seq 600); do [ -e run/checkpoints/last.ckpt ] && break; sleep 0.1; done;"
                             " kill -TERM $pid; wait $pid";
  const int status = std::system(script.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  BOOST_TEST(WEXITSTATUS(status) == 128 + SIGTERM, work.text("log"));
  BOOST_TEST(work.exists("run/checkpoints/interrupted.ckpt"));
  work.refuse("evaluate run", 1, "has no model.mezzo: its training has not ended");
}

BOOST_AUTO_TEST_SUITE_END()
