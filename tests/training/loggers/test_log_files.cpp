// Files of CSVLogger and JSONLogger, and what all loggers share: folders, versions, hyperparameters.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/loggers/log_text.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(log_files)

BOOST_AUTO_TEST_CASE(csv_has_sorted_columns_that_grow) {
  const Folder folder;
  loggers::CSVLogger csv(folder.path("logs"));
  BOOST_TEST(csv.log_dir() == folder.path("logs/mezzo_logs/version_0"));
  BOOST_TEST(csv.version() == "version_0");
  const std::string path = csv.log_dir() + "/metrics.csv";
  csv.log_metrics({{"loss", 0.5}, {"epoch", 0}}, 49);
  BOOST_TEST(content(path) == "epoch,loss,step\r\n0,0.5,49\r\n");
  csv.log_metrics({{"val_loss", 2}, {"a, \"b\"", 1e-7}, {"epoch", 1}}, 99);
  csv.finalize("success");
  BOOST_TEST(content(path) == "\"a, \"\"b\"\"\",epoch,loss,step,val_loss\r\n,0,0.5,49,\r\n1e-07,1,,99,2.0\r\n");
  csv.log_metrics({}, 100);
  csv.save();
  BOOST_TEST(content(path).size() ==
             std::string("\"a, \"\"b\"\"\",epoch,loss,step,val_loss\r\n,0,0.5,49,\r\n1e-07,1,,99,2.0\r\n").size());
}

BOOST_AUTO_TEST_CASE(csv_is_continued_by_a_given_version) {
  const Folder folder;
  loggers::CSVLogger first(folder.path(), {.name = "run", .version = 7});
  first.log_metrics({{"loss", std::nan("")}}, 1);
  first.finalize("interrupted");
  loggers::CSVLogger second(folder.path(), {.name = "run", .version = "version_7", .prefix = "b"});
  second.log_metrics({{"loss", -infinity}}, 2);
  second.finalize("success");
  BOOST_TEST(content(folder.path("run/version_7/metrics.csv")) == "b-loss,loss,step\r\n,nan,1\r\n-inf,,2\r\n");
}

BOOST_AUTO_TEST_CASE(csv_is_flushed_every_n_steps) {
  const Folder folder;
  loggers::CSVLogger csv(folder.path(), {.name = "", .version = "a", .flush_logs_every_n_steps = 10});
  const std::string path = folder.path("a/metrics.csv");
  csv.log_metrics({{"x", 1}}, 4);
  csv.log_metrics({{"x", 2}}, 12);
  BOOST_TEST(!std::filesystem::exists(path));
  csv.log_metrics({{"x", 3}}, 13);
  BOOST_TEST(content(path) == "step,x\r\n4,1.0\r\n12,2.0\r\n13,3.0\r\n");
  for (int i = 0; i < 9; ++i) csv.log_metrics({{"x", 0}}, 14);
  BOOST_TEST(detail::csv_lines(content(path)).size() == 4U);
  csv.log_metrics({{"x", 0}}, 14);  // the tenth row
  BOOST_TEST(detail::csv_lines(content(path)).size() == 14U);
}

BOOST_AUTO_TEST_CASE(copies_share_a_file) {
  const Folder folder;
  loggers::CSVLogger csv(folder.path());
  const Any<Logger> copy = csv;
  copy->log_metrics({{"x", 1}}, 1);
  csv.log_metrics({{"x", 2}}, 2);
  copy->finalize("success");
  BOOST_TEST(content(csv.log_dir() + "/metrics.csv") == "step,x\r\n1,1.0\r\n2,2.0\r\n");
}

BOOST_AUTO_TEST_CASE(json_has_a_line_for_each_call) {
  const Folder folder;
  loggers::JSONLogger json(folder.path(), {.name = "", .version = "a"});
  json.log_hyperparams({{"rate", 0.1}, {"layers", 3}, {"name", "a \"b\"\n"}, {"flag", true}, {"limit", infinity}});
  json.log_metrics({{"loss", 0.1}, {"epoch", 3}, {"whole", 2}}, 49);
  const std::string path = folder.path("a/metrics.jsonl");
  const std::string two =
      "{\"hyperparameters\":{\"rate\":0.1,\"layers\":3,\"name\":\"a \\\"b\\\"\\n\",\"flag\":true,\"limit\":"
      "\"Infinity\"}}\n{\"step\":49,\"loss\":0.1,\"epoch\":3,\"whole\":2.0}\n";
  BOOST_TEST(content(path) == two);  // not buffered
  json.finalize("success");
  std::ofstream(path, std::ios::app) << "{\"step\":5";  // what a process that was killed left
  loggers::JSONLogger again(folder.path(), {.name = "", .version = "a", .prefix = "p"});
  again.log_metrics({{"x", std::nan("")}, {"y", infinity}, {"z", -infinity}}, 50);
  BOOST_TEST(content(path) ==
             two + "{\"step\":5\n{\"step\":50,\"p-x\":\"NaN\",\"p-y\":\"Infinity\",\"p-z\":\"-Infinity\"}\n");
}

BOOST_AUTO_TEST_CASE(versions_are_the_next_free_numbers) {
  const Folder folder;
  for (const char* name : {"a/version_3", "a/version_x", "a/version_", "a/other"}) {
    std::filesystem::create_directories(folder.path(name));
  }
  std::ofstream(folder.path("a/version_9")) << "a file";
  loggers::CSVLogger first(folder.path(), {.name = "a"});
  loggers::JSONLogger second(folder.path(), {.name = "a"});
  const loggers::JSONLogger third(folder.path(), {.name = "a", .version = second.version()});
  BOOST_TEST(second.version() == "version_4");  // in the order of the first use
  BOOST_TEST(first.version() == "version_5");
  BOOST_TEST(third.log_dir() == second.log_dir());
}

BOOST_AUTO_TEST_CASE(hyperparameters_are_yaml) {
  const Folder folder;
  loggers::CSVLogger csv(folder.path(), {.name = "", .version = "a"});
  csv.log_hyperparams({{"rate", 1e-7}, {"layers", 3}, {"no", false}, {"a b", "x: \"y\"\n"}});
  csv.log_hyperparams({{"layers", 4}, {"big", 1e20}, {"x", infinity}, {"y", -infinity}, {"z", std::nan("")}});
  BOOST_TEST(content(folder.path("a/hparams.yaml")) ==
             "rate: 1.0e-07\nlayers: 4\n\"no\": false\n\"a b\": \"x: \\\"y\\\"\\n\"\nbig: 1.0e+20\nx: .inf\n\"y\": "
             "-.inf\nz: .nan\n");
}

BOOST_AUTO_TEST_CASE(names_give_loggers) {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {"csv", "json", "tensorboard"}) {
    const Any<Logger> logger = name;
    logger->log_metrics({{"x", 1}}, 1);
    logger->finalize("success");
  }
  std::filesystem::current_path(before);
  BOOST_TEST(std::filesystem::exists(folder.path("mezzo_logs/version_0/metrics.csv")));
  BOOST_TEST(std::filesystem::exists(folder.path("mezzo_logs/version_1/metrics.jsonl")));
  BOOST_TEST(std::filesystem::exists(folder.path("mezzo_logs/version_2")));
  BOOST_TEST(refused<NameError>([] { Any<Logger>("wandb"); }) ==
             "unknown logger \"wandb\"; valid names: csv, json, tensorboard");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { loggers::CSVLogger("", {}); }) ==
             "[loggers::CSVLogger] save_dir must not be empty; \".\" is the current folder");
  BOOST_TEST(refused<ValueError>([] { loggers::CSVLogger(".", {.flush_logs_every_n_steps = 0}); }) ==
             "[loggers::CSVLogger] flush_logs_every_n_steps must be 1 or more; got 0");
  BOOST_TEST(refused<ValueError>([] { loggers::LogVersion(-1); }) ==
             "version of a logger must be 0 or more, or a name; got -1");
  BOOST_TEST(refused<ValueError>([] { loggers::LogVersion(""); }) ==
             "version of a logger must be 0 or more, or a name; got \"\"");
  const Folder folder;
  BOOST_TEST(refused<ValueError>([&] {
               loggers::CSVLogger(folder.path()).log_metrics({{"step", 1}}, 1);
             }) == "[loggers::CSVLogger] names of numbers must not be \"step\", the column of steps");
  BOOST_TEST(refused<ValueError>([&] {
               loggers::JSONLogger(folder.path()).log_metrics({{"step", 1}}, 1);
             }) == "[loggers::JSONLogger] names of numbers must not be \"step\", the key of steps");
}

BOOST_AUTO_TEST_CASE(full_disks_and_bad_folders_are_errors) {
  const Folder folder;
  std::filesystem::create_directories(folder.path("a"));
  for (const char* name : {"metrics.csv", "metrics.jsonl"}) {
    std::filesystem::create_symlink("/dev/full", folder.path(std::string("a/") + name));
  }
  loggers::CSVLogger csv(folder.path(), {.name = "", .version = "a"});
  BOOST_TEST(refused<FileError>([&] {
               csv.log_metrics({{"x", 1}}, 1);
             }) == "[loggers::CSVLogger] \"" + folder.path("a/metrics.csv") +
                       "\": cannot be written: No space left on device");
  loggers::JSONLogger json(folder.path(), {.name = "", .version = "a"});
  BOOST_TEST(refused<FileError>([&] {
               json.log_metrics({{"x", 1}}, 1);
             }) == "[loggers::JSONLogger] \"" + folder.path("a/metrics.jsonl") +
                       "\": cannot be written: No space left on device");
  std::ofstream(folder.path("file")) << "x";
  const std::string text =
      refused<FileError>([&] { static_cast<void>(loggers::CSVLogger(folder.path("file")).log_dir()); });
  BOOST_TEST(text ==
             "[loggers::CSVLogger] folder \"" + folder.path("file/mezzo_logs") + "\" can't be made: Not a directory");
}

BOOST_AUTO_TEST_CASE(lines_of_csv_are_read) {
  const std::vector<std::vector<std::string>> lines{{"a", "b,\"c\"\n"}, {"", ""}, {"1", "2"}};
  std::string text;
  for (const auto& line : lines) text += detail::csv_line(line);
  BOOST_TEST((detail::csv_lines(text) == lines));
  BOOST_TEST((detail::csv_lines("1,2") == std::vector<std::vector<std::string>>{{"1", "2"}}));
  BOOST_TEST(detail::csv_lines("").empty());
}

BOOST_AUTO_TEST_SUITE_END()
