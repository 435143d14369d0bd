// Runs the `mezzo` command through a shell.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdio>
#include <string>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/version.hpp>

namespace {

struct Run {
  std::string text;
  int code = 0;
};

Run run(const std::string& arguments, const std::string& environment = "") {
  const std::string line = environment + " \"" MEZZO_COMMAND "\" " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(line.c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  Run out;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out.text += buffer.data();
  const int status = ::pclose(pipe);
  out.code = WEXITSTATUS(status);
  return out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(command)

BOOST_AUTO_TEST_CASE(hardware_shows_each_dtype) {
  const Run out = run("hardware");
  BOOST_TEST(out.code == 0);
  for (const char* part :
       {"cores ", "instruction set ", "\nfloat32   native     native", "\nbfloat16 ", "\nfloat16 ", "\nfloat64 "}) {
    BOOST_TEST(contains(out.text, part), part << " in " << out.text);
  }
}

BOOST_AUTO_TEST_CASE(an_older_cpu_has_no_bfloat16) {
  const Run out = run("hardware", "MEZZO_MAX_ISA=AVX2 ONEDNN_MAX_CPU_ISA=AVX2");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(contains(out.text, "\nbfloat16  absent     emulated"), out.text);
  BOOST_TEST(contains(out.text, "\nfloat16   absent     emulated"), out.text);
}

BOOST_AUTO_TEST_CASE(env_shows_settings_and_what_sets_them) {
  const Run out = run("env", "OMP_NUM_THREADS=1 MEZZO_FLUSH_DENORMALS=0");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(contains(out.text, "\nthreads           1 "), out.text);
  BOOST_TEST(contains(out.text, "OMP_NUM_THREADS=1; set_thread_count()"), out.text);
  BOOST_TEST(contains(out.text, "\nflush denormals   off "), out.text);
  BOOST_TEST(contains(out.text, "\nhuge pages        on "), out.text);
  BOOST_TEST(contains(out.text, "set_thread_binding() or MEZZO_BIND_THREADS"), out.text);
}

BOOST_AUTO_TEST_CASE(a_bad_setting_is_refused) {
  const Run out = run("env", "MEZZO_HUGE_PAGES=yes");
  BOOST_TEST(out.code == 1);
  BOOST_TEST(out.text == "mezzo: MEZZO_HUGE_PAGES must be 0 or 1; got \"yes\"\n");
}

BOOST_AUTO_TEST_CASE(an_unknown_command_is_refused) {
  const Run out = run("hardwear now");
  BOOST_TEST(out.code == 2);
  BOOST_TEST(contains(out.text, "mezzo: The following arguments were not expected: "), out.text);
  for (const char* part : {"hardwear", "\n  env ", "\n  hardware "}) BOOST_TEST(contains(out.text, part), out.text);
  BOOST_TEST(run("env now").code == 2);
  BOOST_TEST(run("env hardware").code == 2);
  BOOST_TEST(run("--fast").code == 2);
}

BOOST_AUTO_TEST_CASE(help_lists_the_commands) {
  const Run out = run("");
  BOOST_TEST(out.code == 0);
  for (const char* part : {"\n  env ", "\n  hardware "}) BOOST_TEST(contains(out.text, part), out.text);
  BOOST_TEST(run("help").text == out.text);
  BOOST_TEST(run("--help").text == out.text);
  BOOST_TEST(run("--help").code == 0);
  BOOST_TEST(run("hardware --help").code == 0);
}

BOOST_AUTO_TEST_CASE(version_is_that_of_the_project) {
  const Run out = run("--version");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(out.text == std::string("mezzo ") + mezzo::version() + "\n");
}

BOOST_AUTO_TEST_SUITE_END()
