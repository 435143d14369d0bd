// The findings of `mezzo doctor`, and scripts of `mezzo completion`.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "cli/command.hpp"
#include "support/paths.hpp"

namespace {

using mezzo_tests::CommandRun;
using mezzo_tests::has;
using mezzo_tests::run_command;

/// Names of variables that are literals in the library's sources, or that tests read.
std::set<std::string> variables_in_sources() {
  std::set<std::string> out;
  const std::filesystem::path root = mezzo_tests::tests_dir().parent_path();
  for (const char* folder : {"framework", "datasets", "models", "tests"}) {
    const std::string before = folder == std::string("tests") ? "getenv(\"" : "\"";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const std::string start = before + "MEZZO_";
      for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const std::size_t begin = at + before.size();
        const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", begin);
        if (text[end] == '"' && text[end - 1] != '_') out.insert(text.substr(begin, end - begin));
      }
    }
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(doctor)

BOOST_AUTO_TEST_CASE(a_misspelled_variable_is_named_with_the_nearest) {
  const CommandRun out = run_command("doctor", "MEZZO_HUGE_PAGE=1");
  BOOST_TEST(out.code == 1);
  BOOST_TEST(has(out.text,
                 "PROBLEM environment: MEZZO_HUGE_PAGE has no effect: mezzo has no such variable\n"
                 "        -> unset it; nearest: MEZZO_HUGE_PAGES\n"),
             out.text);
  BOOST_TEST(has(out.text, "mezzo: doctor found "), out.text);
}

BOOST_AUTO_TEST_CASE(the_library_warns_once_of_unknown_variables) {
  const CommandRun out = run_command("env", "MEZZO_HUGE_PAGE=1 MEZZO_DATAS=x MEZZO_TEST_X=1");
  BOOST_TEST(out.code == 0);
  const std::string warning =
      "mezzo: warning: unknown environment variable \"MEZZO_HUGE_PAGE\" has no effect; nearest: \"MEZZO_HUGE_PAGES\"\n";
  BOOST_TEST(has(out.text, warning), out.text);
  BOOST_TEST(out.text.find(warning) == out.text.rfind(warning), out.text);
  BOOST_TEST(has(out.text, "\"MEZZO_DATAS\" has no effect; nearest: \"MEZZO_DATA\"\n"), out.text);
  BOOST_TEST(!has(out.text, "MEZZO_TEST_X"), out.text);
  const CommandRun trained =
      run_command("bench lenet --steps 1 --batch_size 1 --precision 32,bf16", "MEZZO_HUGE_PAGE=1");
  BOOST_TEST(trained.code == 0);
  BOOST_TEST(trained.text.find(warning) != std::string::npos, trained.text);
  BOOST_TEST(trained.text.find(warning) == trained.text.rfind(warning), trained.text);
  BOOST_TEST(!has(run_command("doctor", "MEZZO_HUGE_PAGE=1").text, "mezzo: warning"));
}

BOOST_AUTO_TEST_CASE(variables_of_the_sources_are_known) {
  const std::set<std::string> variables = variables_in_sources();
  BOOST_TEST(variables.count("MEZZO_DATA") == 1U);
  BOOST_TEST(variables.count("MEZZO_MINILM") == 1U);
  std::string environment;
  for (const std::string& variable : variables) environment += variable + "= ";
  const CommandRun out = run_command("doctor", environment);
  for (const std::string& variable : variables) {
    BOOST_TEST(!has(out.text, variable + " has no effect"), out.text);
  }
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_problems) {
  BOOST_TEST(has(run_command("doctor", "MEZZO_DATA=/nothing").text, "MEZZO_DATA=/nothing is no folder"));
  BOOST_TEST(has(run_command("doctor", "MEZZO_MAX_ISA=AVX2").text, "limited by MEZZO_MAX_ISA=AVX2"));
  BOOST_TEST(has(run_command("doctor", "MEZZO_MPI_PLUGIN=/nothing.so").text, "-> unset MEZZO_MPI_PLUGIN"));
  BOOST_TEST(has(run_command("doctor", "MALLOC_PERTURB_=7").text,
                 "which fills each array by MALLOC_PERTURB_=7\n        -> unset MALLOC_PERTURB_"));
  BOOST_TEST(has(run_command("doctor", "GLIBC_TUNABLES=glibc.malloc.perturb=7").text,
                 "-> remove glibc.malloc.perturb from GLIBC_TUNABLES"));
  BOOST_TEST(has(run_command("doctor").text, "ok      memory allocator: "));
}

BOOST_AUTO_TEST_CASE(wrong_values_of_settings_are_problems) {
  const auto check = [](const std::string& variable, const std::string& text) {
    const CommandRun out = run_command("doctor", variable);
    BOOST_TEST(out.code == 1, variable);
    BOOST_TEST(has(out.text, "PROBLEM environment: " + text), out.text);
  };
  check("MEZZO_BIND_THREADS=yes", "MEZZO_BIND_THREADS must be 0 or 1; got \"yes\"");
  check("MEZZO_FLUSH_DENORMALS=2", "MEZZO_FLUSH_DENORMALS must be 0 or 1; got \"2\"");
  check("MEZZO_PLAN_CACHE=-5", "MEZZO_PLAN_CACHE must be a number of 1 or more; got \"-5\"");
  check("MEZZO_VERBOSE=9", "MEZZO_VERBOSE must be 0 or dispatch; got \"9\"");
}

BOOST_AUTO_TEST_CASE(completion_has_commands_and_options) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const CommandRun out = run_command(std::string("completion ") + shell);
    BOOST_TEST(out.code == 0);
    for (const char* part : {"train", "doctor", "print_config"}) BOOST_TEST(has(out.text, part), out.text);
  }
  BOOST_TEST(run_command("completion bash | bash -n").code == 0);
  BOOST_TEST(run_command("completion tcsh").code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
