// Event files of TensorBoardLogger, read back by a reader of their records. read_with_tensorboard.py reads the folder
// that the last case writes.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "training/event_messages.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string events_path(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("events.out.tfevents.", 0) == 0) return entry.path().string();
  }
  return {};
}

std::map<std::string, Message> summaries_in(const std::string& folder) {
  std::map<std::string, Message> out;
  for (const auto& [name, message] : events_of(events_path(folder))) out[name] = message;
  return out;
}

// A message inside of others, by the numbers of fields.
Message inside(const Message& message, const std::vector<std::uint32_t>& fields) {
  Message out = message;
  for (const std::uint32_t field : fields) out = message_of(out.find(field)->second);
  return out;
}

// Nodes of the graph in a folder: name, op and inputs, separated by spaces.
std::vector<std::string> graph_in(const std::string& folder) {
  std::vector<std::string> nodes;
  for (const Message& event : records_of(events_path(folder))) {
    if (event.count(4) == 0) continue;
    const Message graph = message_of(event.find(4)->second);
    for (auto [entry, end] = graph.equal_range(1); entry != end; ++entry) {
      const Message node = message_of(entry->second);
      std::string text = node.find(1)->second + " " + node.find(2)->second;
      for (auto [input, last] = node.equal_range(3); input != last; ++input) text += " " + input->second;
      nodes.push_back(text);
    }
  }
  return nodes;
}

Model small_model() {
  const Value x = Input({4}, {.name = "x"});
  const Value hidden = Dense(3, {.activation = "relu", .name = "hidden"})(x);
  return Model({.inputs = {x}, .outputs = {Dense(2, {.name = "head"})(hidden)}});
}

void write_run(loggers::TensorBoardLogger& board, double rate) {
  board.log_hyperparams({{"rate", rate}, {"layers", 3}, {"optimizer", "adam"}, {"nesterov", true}});
  for (int step = 0; step < 20; ++step) {
    board.log_metrics({{"loss", std::exp(-rate * step)}, {"epoch", step / 10}}, step);
  }
  board.log_metrics({{"val_loss", 0.5 + rate}}, 19);
  std::vector<double> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(std::sin(i) * rate);
  board.log_histogram("weights", Tensor({1000}, numbers), 19);
  board.log_text("notes", "a **bold** word", 3);
  board.log_image("gray", Tensor({2, 3}, std::vector<double>{0, 0.5, 1, 2, -1, std::nan("")}), 4);
  board.log_images("pair", Tensor({2, 1, 1, 3}, std::vector<double>{255, 0, 0, 0, 0, 255}).cast(DType::uint8), 5);
  Model model = small_model();
  board.log_graph(model);
  board.finalize("success");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_board_logger)

BOOST_AUTO_TEST_CASE(numbers_are_written_at_once) {
  const Folder folder;
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a", .prefix = "p", .sub_dir = "b/c"});
  BOOST_TEST(board.log_dir() == folder.path("a/b/c"));
  BOOST_TEST(board.version() == "a");
  board.log_metrics({{"loss", 0.25}, {"acc", std::nan("")}}, 49);
  board.log_metrics({}, 50);
  const auto events = summaries_in(folder.path("a/b/c"));
  BOOST_TEST(events.size() == 2U);
  BOOST_TEST(number<float>(events.at("49 p-loss").find(2)->second) == 0.25F);
  BOOST_TEST(std::isnan(number<float>(events.at("49 p-acc").find(2)->second)));
}

BOOST_AUTO_TEST_CASE(hyperparameters_have_values_status_and_metrics) {
  const Folder folder;
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a"});
  board.log_hyperparams({{"rate", 0.5}, {"layers", 3}, {"optimizer", "adam"}, {"nesterov", true}});
  auto events = summaries_in(folder.path("a"));
  BOOST_TEST(number<float>(events.at("0 hp_metric").find(2)->second) == -1);
  BOOST_TEST(events.count("0 _hparams_/experiment") == 0U);  // all numbers of the run are metrics
  const Message plugin = inside(events.at("0 _hparams_/session_start_info"), {9, 1});
  BOOST_TEST(plugin.find(1)->second == "hparams");
  const Message start = inside(plugin, {2, 3});
  std::map<std::string, Message> values;
  for (auto [entry, end] = start.equal_range(1); entry != end; ++entry) {
    const Message pair = message_of(entry->second);
    values[pair.find(1)->second] = message_of(pair.find(2)->second);
  }
  BOOST_TEST(number<double>(values.at("rate").find(2)->second) == 0.5);
  BOOST_TEST(number<double>(values.at("layers").find(2)->second) == 3);
  BOOST_TEST(values.at("optimizer").find(3)->second == "adam");
  BOOST_TEST(values.at("nesterov").find(4)->second == "1");
  BOOST_TEST(std::filesystem::exists(folder.path("a/hparams.yaml")));
  BOOST_TEST(events.count("0 _hparams_/session_end_info") == 0U);
  board.finalize("failed");
  events = summaries_in(folder.path("a"));
  BOOST_TEST(inside(events.at("0 _hparams_/session_end_info"), {9, 1, 2, 4}).find(1)->second == "2");

  loggers::TensorBoardLogger other(folder.path(), {.name = "", .version = "b", .default_hp_metric = false});
  other.log_hyperparams({{"rate", 0.5}});
  BOOST_TEST(summaries_in(folder.path("b")).count("0 hp_metric") == 0U);
  other.log_hyperparams({{"name", "x"}}, {{"val_loss", 7}});
  events = summaries_in(folder.path("b"));
  BOOST_TEST(number<float>(events.at("0 val_loss").find(2)->second) == 7);
  const Message list = inside(events.at("0 _hparams_/experiment"), {9, 1, 2, 2});
  BOOST_TEST(message_of(list.find(4)->second).find(1)->second == "name");
  BOOST_TEST(message_of(list.find(4)->second).find(4)->second == "1");  // a text
  BOOST_TEST(inside(list, {5, 1}).find(2)->second == "val_loss");
  other.finalize("success");
  events = summaries_in(folder.path("b"));
  BOOST_TEST(inside(events.at("0 _hparams_/session_end_info"), {9, 1, 2, 4}).find(1)->second == "1");
}

BOOST_AUTO_TEST_CASE(texts_images_and_histograms) {
  const Folder folder;
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a"});
  board.log_text("t", "**x**", 1);
  board.log_image("i", Tensor({2, 3}, std::vector<double>{0, 0.5, 1, 2, -1, std::nan("")}), 2);
  board.log_images("p", zeros({2, 4, 5, 3}, DType::uint8), 3);
  board.log_histogram("h", Tensor({3}, std::vector<double>{1, 2, 3}), 4);
  board.log_histogram("none", Tensor({1}, std::vector<double>{std::nan("")}), 4);
  const auto events = summaries_in(folder.path("a"));
  BOOST_TEST(events.size() == 4U);
  BOOST_TEST(inside(events.at("1 t"), {8}).find(8)->second == "**x**");
  BOOST_TEST(inside(events.at("1 t"), {9, 1}).find(1)->second == "text");
  const auto strings = [&](const char* name) {
    std::vector<std::string> out;
    const Message tensor = inside(events.at(name), {8});
    for (auto [entry, end] = tensor.equal_range(8); entry != end; ++entry) out.push_back(entry->second);
    return out;
  };
  const std::vector<std::string> one = strings("2 i"), two = strings("3 p");
  BOOST_TEST(one.size() == 3U);
  BOOST_TEST(one[0] + " " + one[1] == "3 2");  // width, height
  const Tensor pixels = image::decode_image({one[2].begin(), one[2].end()}, "picture");
  BOOST_TEST(pixels.to_doubles() ==
                 (std::vector<double>{0, 0, 0, 128, 128, 128, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(two.size() == 4U);
  BOOST_TEST(two[0] + " " + two[1] == "5 4");
  BOOST_TEST(inside(events.at("3 p"), {9, 1}).find(1)->second == "images");
  BOOST_TEST(number<double>(inside(events.at("4 h"), {5}).find(3)->second) == 3);
  BOOST_TEST(refused<ShapeError>([&] { board.log_image("i", zeros({2}), 1); }) ==
             "[loggers::TensorBoardLogger] a picture must have shape (height, width) or (height, width, channels); got "
             "(2,)");
  BOOST_TEST(
      refused<ShapeError>([&] {
        board.log_images("i", zeros({2, 3, 4, 2}), 1);
      }) == "[loggers::TensorBoardLogger] pictures must have shape (samples, height, width, 1 or 3); got (2, 3, 4, 2)");
  BOOST_TEST(refused<DTypeError>([&] {
               board.log_image("i", zeros({2, 2}, DType::int32), 1);
             }) == "[loggers::TensorBoardLogger] a picture must be uint8, or floats from 0 to 1; got int32");
}

BOOST_AUTO_TEST_CASE(graphs_have_layers_ops_and_edges) {
  const Folder folder;
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a", .log_graph = true});
  Model model = small_model();
  const std::string summary = model.summary_text();
  board.log_graph(model);
  BOOST_TEST(model.summary_text() == summary);  // a call with another batch left no traces
  const std::vector<std::string> nodes = graph_in(folder.path("a"));
  std::set<std::string> names;
  std::string all;
  for (const std::string& node : nodes) {
    names.insert(node.substr(0, node.find(' ')));
    all += node + "\n";
  }
  BOOST_TEST_CONTEXT(all) {
    BOOST_TEST(names.size() == nodes.size());
    for (const char* name : {"input_1", "hidden/kernel", "hidden/bias", "head/kernel", "output_1"}) {
      BOOST_TEST(names.count(name) == 1U);
    }
    for (const std::string& node : nodes) {  // inputs are nodes
      for (std::size_t at = node.find(' ', node.find(' ') + 1); at != std::string::npos; at = node.find(' ', at + 1)) {
        const std::string input = node.substr(at + 1, node.find(' ', at + 1) - at - 1);
        BOOST_TEST(names.count(input.substr(0, input.find(':'))) == 1U);
      }
    }
    BOOST_TEST(all.find("hidden/matmul matmul input_1 hidden/kernel") != std::string::npos);
  }

  loggers::TensorBoardLogger without(folder.path(), {.name = "", .version = "b"});
  without.log_graph(model);
  BOOST_TEST(events_path(without.log_dir()).empty());
}

BOOST_AUTO_TEST_CASE(modules_that_are_not_called_give_their_layers) {
  class Steps : public Module {
   public:
    Value training_step(const Batch& batch) override { return mean(fc_(batch["x"])); }

   private:
    Dense fc_ = sub("fc", Dense(1));
  };
  const Folder folder;
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a", .log_graph = true});
  Steps module;
  board.log_graph(module);
  const std::vector<std::string> expected{"fc Dense"};
  BOOST_TEST(graph_in(folder.path("a")) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(full_disks_are_errors) {
  const Folder folder;
  std::filesystem::create_directories(folder.path("a"));
  std::ofstream(folder.path("a/b")) << "x";
  loggers::TensorBoardLogger board(folder.path(), {.name = "", .version = "a", .sub_dir = "b"});
  BOOST_TEST(refused<FileError>([&] { board.log_metrics({{"x", 1}}, 1); }).find("[loggers::TensorBoardLogger]") == 0U);
}

BOOST_AUTO_TEST_CASE(write_for_tensorboard) {
  const char* path = std::getenv("MEZZO_TENSORBOARD_LOGS");
  const Folder folder;
  const std::string logs = path != nullptr ? path : folder.path();
  for (const double rate : {0.1, 0.5}) {
    loggers::TensorBoardLogger board(logs, {.name = "runs", .log_graph = true});
    write_run(board, rate);
  }
  BOOST_TEST(summaries_in(logs + "/runs/version_1").size() == 2 * 20 + 8U);
}

BOOST_AUTO_TEST_SUITE_END()
