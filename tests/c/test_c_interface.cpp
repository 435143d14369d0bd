// The C interface, in programs of C and Python, has the results of the C++ one, bit for bit.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Ran {
  std::string text;
  int code = 0;
};

Ran run(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  Ran out;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out.text += buffer.data();
  out.code = WEXITSTATUS(::pclose(pipe));
  return out;
}

/// The line of a text that begins with a word, without it.
std::string line_of(const std::string& text, const std::string& word, int number = 0) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(word + " ", 0) == 0 && number-- == 0) return line.substr(word.size() + 1);
  }
  return "no line " + word + " in " + text;
}

std::string text_of(const Tensor& numbers) {
  std::string out;
  std::array<char, 32> text{};
  for (const double number : numbers.to_doubles()) {
    std::snprintf(text.data(), text.size(), "%s%.9g", out.empty() ? "" : " ", number);
    out += text.data();
  }
  return out;
}

std::string text_of(const Logs& logs) {
  std::string out;
  std::array<char, 96> text{};
  for (const auto& [name, number] : logs) {
    std::snprintf(text.data(), text.size(), "%s%s=%.17g", out.empty() ? "" : " ", name.c_str(), number);
    out += text.data();
  }
  return out;
}

/// Files of the programs: models and arrays.
struct Files {
  Files() {
    seed_everything(5);
    const Input pixels({4}, {.name = "pixels"});
    Model model(pixels, Dense(3, {.name = "scores"})(Dense(8, {.activation = "tanh"})(pixels)));
    model.save(folder.path("plain.mezzo"));
    model.compile({.optimizer = Adam(0.05),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"}});
    model.save(folder.path("model.mezzo"));
    const Input a({2}, {.name = "a"}), b({2}, {.name = "b"});
    Model two({a, b}, {Add({.name = "sum"})(Values{a, b}), Subtract({.name = "difference"})(Values{a, b})});
    two({Tensor({1, 2}), Tensor({1, 2})});
    two.save(folder.path("two.mezzo"));
    write("x.bin", x);
    write("y.bin", y);
  }

  void write(const std::string& name, const Tensor& tensor) const {
    const auto* bytes = static_cast<const std::uint8_t*>(tensor.raw());
    folder.write(name, {bytes, bytes + tensor.bytes()});
  }

  Folder folder;
  Tensor x = random::normal({6, 4}), y = array({0, 1, 2, 2, 1, 0}).cast(DType::int64);
};

/// Compares what a program has printed with the results of the same calls in C++.
void check_results(const Files& files, const std::string& text) {
  const Any<Model> model = load_model(files.folder.path("model.mezzo"));
  const Tensor weights = array({1, 0, 1, 2, 1, 1}).cast(DType::float32);
  BOOST_TEST(line_of(text, "version") == version());
  BOOST_TEST(line_of(text, "before") == text_of(model->predictor()(files.x)));
  for (int i = 0; i < 3; ++i) {
    const TrainOnBatchOptions options{.sample_weight = i == 2 ? Tensors(weights) : Tensors()};
    BOOST_TEST(line_of(text, "train", i) == text_of(model->train_on_batch(files.x, files.y, options)));
  }
  BOOST_TEST(line_of(text, "evaluate") == text_of(model->test_on_batch(files.x, files.y)));
  model->train_on_batch(files.x, files.y);
  BOOST_TEST(line_of(text, "after") == text_of(model->predictor()(files.x)));
  const Any<Model> saved = load_model(files.folder.path("saved.mezzo"));
  BOOST_TEST(saved->predict(files.x).equal(model->predict(files.x)));
  BOOST_TEST(text_of(saved->train_on_batch(files.x, files.y)) == text_of(model->train_on_batch(files.x, files.y)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(c_interface)

BOOST_AUTO_TEST_CASE(a_program_in_c_has_the_results_of_cpp) {
  const Files files;
  const Ran out = run("\"" MEZZO_C_PROGRAM "\" \"" + files.folder.path() + "\"");
  BOOST_TEST(out.code == 0, out.text);
  check_results(files, out.text);
}

BOOST_AUTO_TEST_CASE(a_program_in_python_has_the_results_of_cpp) {
  const std::string python = MEZZO_PYTHON;
  if (python.empty()) return skip("needs Python, and no sanitizer");
  const Files files;
  const std::string script = (tests_dir() / "c/calls.py").string();
  std::string command = "\"" + python + "\" \"" + script + "\" \"" MEZZO_C_LIBRARY "\" \"" + files.folder.path() + "\"";
  const std::string onnx = MEZZO_ONNX_LIBRARY;
  const std::string model = (tests_dir() / "../tutorials/fashion_cnn.onnx").string();
  if (!onnx.empty()) command += " \"" + onnx + "\" \"" + model + "\"";
  const Ran out = run(command);
  BOOST_TEST(out.code == 0, out.text);
  check_results(files, out.text);
}

BOOST_AUTO_TEST_CASE(the_program_of_the_docs_runs) {
  const Files files;
  std::ifstream page(tests_dir() / "../docs/c_api.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  const std::size_t begin = text.find("```c\n") + 5;
  std::ofstream(files.folder.path("example.c")) << text.substr(begin, text.find("```", begin) - begin);
  const std::string compiled = run("cd \"" + files.folder.path() +
                                   "\" && \"" MEZZO_C_COMPILER "\" " MEZZO_C_FLAGS
                                   " -x c -std=c99 -Wall -Wextra -Werror -pedantic example.c -x none -I \"" +
                                   (tests_dir() / "../framework").string() +
                                   "\" \"" MEZZO_C_LIBRARY "\" -Wl,-rpath,\"" MEZZO_C_FOLDER "\" -o example")
                                   .text;
  BOOST_TEST(compiled == "");
  const Ran out = run("cd \"" + files.folder.path() + "\" && ./example");
  BOOST_TEST(out.code == 0, out.text);
  const Tensor x = array({{1, 2, 3, 4}, {5, 6, 7, 8}}).cast(DType::float32);
  const Tensor y = load_model(files.folder.path("model.mezzo"))->predictor()(x);
  std::array<char, 96> expected{};
  std::snprintf(expected.data(), expected.size(), "%g %g %g\n", y(0, 0).item(), y(0, 1).item(), y(0, 2).item());
  BOOST_TEST(out.text == expected.data());
}

BOOST_AUTO_TEST_SUITE_END()
