// Tables, traces and plans that profilers write.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <mezzo/mezzo.hpp>
#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// Two batches of an epoch.
void run_actions(Profiler& profiler) {
  profiler.start("epoch");
  for (int i = 0; i < 2; ++i) {
    profiler.start("batch");
    wait();
    profiler.stop("batch");
  }
  profiler.stop("epoch");
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Tells a profiler of epochs.
class EpochEnds : public Callback {
 public:
  explicit EpochEnds(Any<Profiler> profiler) : profiler_(std::move(profiler)) {}
  void on_train_begin(Logs&) override { profiler_->start("fit"); }
  void on_epoch_begin(int, Logs&) override { profiler_->start("epoch"); }
  void on_epoch_end(int epoch, Logs&) override {
    profiler_->stop("epoch");
    profiler_->on_epoch_end(module(), epoch);
  }
  void on_train_end(Logs&) override {
    profiler_->stop("fit");
    profiler_->describe();
  }

 private:
  Any<Profiler> profiler_;
};

void fit(const Any<Profiler>& profiler, int epochs = 2, int batch_size = 1) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD(0.01), .loss = "mse"});
  model.fit(column({1, 2, 3}), column({2, 3, 7}),
            {.batch_size = batch_size, .epochs = epochs, .verbose = 0, .callbacks = {EpochEnds(profiler)}});
}

// Checks that events of each track nest and that their times don't fall; returns the names of the events that begin.
std::map<int, std::vector<std::string>> checked(const Json& trace) {
  std::map<int, std::vector<std::string>> names, open;
  std::map<int, double> last;
  for (const Json& event : trace) {
    const std::string kind = event.at("ph");
    const int track = event.at("tid");
    if (kind == "M") continue;
    BOOST_TEST(event.at("ts").get<double>() >= last[track]);
    last[track] = event.at("ts");
    if (kind == "B") {
      open[track].push_back(event.at("name"));
      names[track].push_back(event.at("name"));
    } else {
      BOOST_TEST(kind == "E");
      BOOST_TEST_REQUIRE(!open[track].empty());
      open[track].pop_back();
    }
  }
  for (const auto& entry : open) BOOST_TEST(entry.second.empty());
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profiler_reports)

BOOST_AUTO_TEST_CASE(simple_sums_calls) {
  const CapturedOutput captured;
  profilers::SimpleProfiler profiler;
  run_actions(profiler);
  profiler.describe();
  std::istringstream lines(captured.text());
  std::vector<std::string> all;
  for (std::string text; std::getline(lines, text);) all.push_back(text);
  BOOST_TEST_REQUIRE(all.size() == 6U);
  BOOST_TEST(all[0] == "Profiler report");
  BOOST_TEST(all[1].find("Action  Mean duration (s)  Num calls  Total time (s)  Percentage %") == 0U);
  BOOST_TEST(words(all[3])[0] + words(all[3])[2] == "Total3");
  const auto epoch = words(all[4]), batch = words(all[5]);
  BOOST_TEST(epoch[0] + epoch[2] == "epoch1");
  BOOST_TEST(batch[0] + batch[2] == "batch2");
  BOOST_TEST(std::stod(batch[1]) >= 0.002);
  BOOST_TEST(std::stod(batch[3]) >= 0.004);
  BOOST_TEST(std::stod(epoch[3]) >= std::stod(batch[3]));
  BOOST_TEST(std::stod(epoch[4]) <= 100);
  BOOST_TEST(profiler.summary() == "Profiler report: no actions\n");  // the next call begins anew
}

BOOST_AUTO_TEST_CASE(simple_writes_files) {
  const Folder folder;
  std::ofstream(folder.path("p.txt")) << "old";
  profilers::SimpleProfiler profiler({.dirpath = folder.path(), .filename = "p", .extended = false});
  const Any<Profiler> copy = profiler;  // shares the sums
  copy->start("a");
  profiler.start("b");
  profiler.describe();  // a call inside of another one
  BOOST_TEST(content(folder.path("p.txt")) == "old");
  profiler.stop("b");
  const std::string first = profiler.summary();
  BOOST_TEST(first.find("Action  Mean duration (s)  Total time (s)\n") != std::string::npos);
  BOOST_TEST(first.find("Total  -") == std::string::npos);
  profiler.describe();  // with the action of the call, which is running
  profiler.stop("a");
  profiler.start("c");
  profiler.stop("c");
  profiler.describe();
  const std::string text = content(folder.path("p.txt"));
  const std::size_t second = text.find("Profiler report", 1);
  BOOST_TEST(text.find("Profiler report\n") == 0U);
  BOOST_TEST(text.find("\na ") < second);
  BOOST_TEST(text.find("\na ", second) == std::string::npos);
  BOOST_TEST(text.find("\nc ", second) != std::string::npos);
  BOOST_TEST(refused<ValueError>([] { profilers::SimpleProfiler({.dirpath = "x"}); }) ==
             "[profilers::SimpleProfiler] dirpath needs a filename; got dirpath \"x\" alone");
}

BOOST_AUTO_TEST_CASE(actions_that_an_error_left_end_with_the_outer_one) {
  profilers::SimpleProfiler profiler;
  profiler.start("a");
  profiler.start("b");
  profiler.start("a");
  profiler.stop("a");
  BOOST_TEST(profiler.summary().find("\nb") == std::string::npos);
  profiler.stop("a");
  BOOST_TEST(profiler.summary().find("\nb") != std::string::npos);
  BOOST_TEST(refused<ValueError>([&] { profiler.stop("b"); }) ==
             "[profilers::SimpleProfiler] stop: an action \"b\" must be running; got none of that name");
}

BOOST_AUTO_TEST_CASE(chrome_writes_nested_events) {
  const Folder folder;
  profilers::ChromeProfiler profiler({.dirpath = folder.path("new"), .filename = "t"});
  run_actions(profiler);
  profiler.start("left \"by\" an error");
  profiler.start("inner");
  profiler.stop("left \"by\" an error");
  profiler.describe();
  const Json trace = Json::parse(content(folder.path("new/t.json")));
  const std::vector<std::string> expected{"epoch", "batch", "batch", "left \"by\" an error", "inner"};
  BOOST_TEST(checked(trace)[1] == expected, boost::test_tools::per_element());
  double begin = 0;
  for (const Json& event : trace) {
    if (event.value("name", "") == "batch") begin = event.at("ts");
    if (event.at("ph") == "E" && begin > 0) {
      BOOST_TEST(event.at("ts").get<double>() - begin >= 2000);  // microseconds
      break;
    }
  }
  profiler.start("fit");
  run_actions(profiler);  // a later call is added
  profiler.describe();    // while its own action is running
  profiler.stop("fit");
  profiler.describe();
  BOOST_TEST(checked(Json::parse(content(folder.path("new/t.json"))))[1].size() == 9U);
  profilers::ChromeProfiler other({.dirpath = folder.path("new"), .filename = "t"});
  run_actions(other);
  other.describe();
  BOOST_TEST(checked(Json::parse(content(folder.path("new/t.json"))))[1].size() == 3U);
}

BOOST_AUTO_TEST_CASE(chrome_is_bounded) {
  const Folder folder;
  const CapturedOutput captured;
  profilers::ChromeProfiler profiler({.dirpath = folder.path(), .filename = "t", .max_events = 5});
  profiler.start("fit");
  for (int i = 0; i < 4; ++i) run_actions(profiler);
  profiler.stop("fit");
  profiler.describe();
  const auto names = checked(Json::parse(content(folder.path("t.json"))));
  BOOST_TEST(names.at(1).size() == 2U);  // fit, epoch
  BOOST_TEST(captured.text() == "mezzo: warning: [profilers::ChromeProfiler] \"" + folder.path("t.json") +
                                    "\" has 4 events, the first ones; max_events left out 11 later actions\n");
}

BOOST_AUTO_TEST_CASE(chrome_shows_the_kernels_of_steps) {
  const Folder folder;
  const profilers::ChromeProfiler profiler({.dirpath = folder.path(), .filename = "t"});
  fit(profiler);
  const Json trace = Json::parse(content(folder.path("t.json")));
  auto names = checked(trace);
  const auto count = [&](const std::string& name) { return std::count(names[2].begin(), names[2].end(), name); };
  BOOST_TEST(count("last step of epoch 1") == 1);
  BOOST_TEST(count("last step of epoch 2") == 1);
  BOOST_TEST(count("(commits)") == 2);
  std::map<std::string, std::pair<double, double>> epochs;  // begin and end of actions
  std::vector<std::string> open;
  int seen = 0;
  for (const Json& event : trace) {
    if (event.at("tid") != 1 || event.at("ph") == "M") continue;
    if (event.at("ph") == "B") {
      open.push_back(event.at("name").get<std::string>() + (event.at("name") == "epoch" ? std::to_string(++seen) : ""));
      epochs[open.back()].first = event.at("ts");
    } else {
      epochs[open.back()].second = event.at("ts");
      open.pop_back();
    }
  }
  for (const Json& event : trace) {
    const std::string name = event.value("name", "");
    if (name.rfind("last step", 0) != 0) continue;
    const auto& [begin, end] = epochs.at("epoch" + name.substr(name.size() - 1));
    BOOST_TEST(event.at("ts").get<double>() >= begin);
    BOOST_TEST(event.at("ts").get<double>() <= end);
  }
  const auto kernel = std::find_if(trace.begin(), trace.end(), [](const Json& event) {
    return event.contains("args") && event["args"].contains("kernel");
  });
  BOOST_TEST_REQUIRE((kernel != trace.end()));
  BOOST_TEST(!(*kernel)["args"].at("outputs").get<std::string>().empty());
}

// read_with_perfetto.py reads the trace.
BOOST_AUTO_TEST_CASE(write_for_perfetto) {
  const char* path = std::getenv("MEZZO_PERFETTO_TRACE");
  const Folder folder;
  const std::string traces = path != nullptr ? path : folder.path();
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD(0.01), .loss = "mse"});
  const DataLoader data(pairs({1, 2, 3}, {2, 3, 7}), {.batch_size = 1});
  Trainer({.max_epochs = 2,
           .profiler = profilers::ChromeProfiler({.dirpath = traces, .filename = "trace"}),
           .enable_progress_bar = false})
      .fit(model, data, data);
  auto names = checked(Json::parse(content(traces + "/trace.json")));
  BOOST_TEST(std::count(names[1].begin(), names[1].end(), "run_training_batch") == 6);
  BOOST_TEST(std::count(names[1].begin(), names[1].end(), "run_validation") == 2);
}

BOOST_AUTO_TEST_CASE(explain_shows_plans_after_epochs) {
  const Folder folder;
  fit(profilers::ExplainProfiler({.dirpath = folder.path(), .filename = "e"}));
  const std::string text = content(folder.path("e.txt"));
  const std::size_t second = text.find("Epoch 2\n");
  BOOST_TEST(text.find("Epoch 1\n") == 0U);
  BOOST_TEST_REQUIRE(second != std::string::npos);
  BOOST_TEST(text.find("the mean of 2 after the first") < second);
  BOOST_TEST(text.find("the mean of 5 after the first") != std::string::npos);
  BOOST_TEST(text.find("line") != std::string::npos);
  const CapturedOutput captured;
  fit("explain", 1, 3);
  BOOST_TEST(captured.text().find("Epoch 1\n") == 0U);
  BOOST_TEST(captured.text().find(" kernels, ") != std::string::npos);  // one run has no times
}

BOOST_AUTO_TEST_CASE(names_give_profilers) {
  BOOST_TEST(refused<NameError>([] { Any<Profiler>("advanced"); }) ==
             "unknown profiler \"advanced\"; valid names: simple, chrome, explain");
  BOOST_TEST(refused<ValueError>([] { profilers::ChromeProfiler({.filename = ""}); }) ==
             "[profilers::ChromeProfiler] filename must not be empty");
  BOOST_TEST(refused<ValueError>([] { profilers::ChromeProfiler({.max_events = 1}); }) ==
             "[profilers::ChromeProfiler] max_events must be 2 or more; got 1");
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.path("t.json"));
  profilers::ChromeProfiler profiler({.dirpath = folder.path(), .filename = "t"});
  run_actions(profiler);
  BOOST_TEST(refused<FileError>([&] { profiler.describe(); }) == "[profilers::ChromeProfiler] \"" +
                                                                     folder.path("t.json") +
                                                                     "\": cannot be written: No space left on device");
}

BOOST_AUTO_TEST_SUITE_END()
