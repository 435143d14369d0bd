// Runs the `mezzo` command through a shell.
#include <boost/test/unit_test.hpp>

#include <string>

#include <mezzo/core/version.hpp>

#include "cli/command.hpp"

using mezzo_tests::has;
using mezzo_tests::run_command;

BOOST_AUTO_TEST_SUITE(command)

BOOST_AUTO_TEST_CASE(hardware_shows_each_dtype) {
  const mezzo_tests::CommandRun out = run_command("hardware");
  BOOST_TEST(out.code == 0);
  for (const char* part :
       {"cores ", "instruction set ", "\nfloat32   native     native", "\nbfloat16 ", "\nfloat16 ", "\nfloat64 "}) {
    BOOST_TEST(has(out.text, part), part << " in " << out.text);
  }
}

BOOST_AUTO_TEST_CASE(an_older_cpu_has_no_bfloat16) {
  const mezzo_tests::CommandRun out = run_command("hardware", "MEZZO_MAX_ISA=AVX2 ONEDNN_MAX_CPU_ISA=AVX2");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(has(out.text, "\nbfloat16  absent     emulated"), out.text);
  BOOST_TEST(has(out.text, "\nfloat16   absent     emulated"), out.text);
}

BOOST_AUTO_TEST_CASE(env_shows_settings_and_what_sets_them) {
  const mezzo_tests::CommandRun out = run_command("env", "OMP_NUM_THREADS=1 MEZZO_FLUSH_DENORMALS=0");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(has(out.text, "\nthreads           1 "), out.text);
  BOOST_TEST(has(out.text, "OMP_NUM_THREADS=1; set_thread_count()"), out.text);
  BOOST_TEST(has(out.text, "\nflush denormals   off "), out.text);
  BOOST_TEST(has(out.text, "\nhuge pages        on "), out.text);
  BOOST_TEST(has(out.text, "set_thread_binding() or MEZZO_BIND_THREADS"), out.text);
}

BOOST_AUTO_TEST_CASE(a_bad_setting_is_refused) {
  const mezzo_tests::CommandRun out = run_command("env", "MEZZO_HUGE_PAGES=yes");
  BOOST_TEST(out.code == 1);
  BOOST_TEST(out.text == "mezzo: MEZZO_HUGE_PAGES must be 0 or 1; got \"yes\"\n");
}

BOOST_AUTO_TEST_CASE(an_unknown_command_is_refused) {
  const mezzo_tests::CommandRun out = run_command("hardwear now");
  BOOST_TEST(out.code == 2);
  BOOST_TEST(out.text == "mezzo: unknown command \"hardwear\"; nearest: \"hardware\"; `mezzo help` lists all\n");
  BOOST_TEST(run_command("env now").code == 2);
  BOOST_TEST(run_command("env hardware").code == 2);
  BOOST_TEST(run_command("--fast").code == 2);
}

BOOST_AUTO_TEST_CASE(help_lists_the_commands) {
  const mezzo_tests::CommandRun out = run_command("");
  BOOST_TEST(out.code == 0);
  for (const char* part : {"\n  env ", "\n  hardware "}) BOOST_TEST(has(out.text, part), out.text);
  BOOST_TEST(run_command("help").text == out.text);
  BOOST_TEST(run_command("--help").text == out.text);
  BOOST_TEST(run_command("--help").code == 0);
  BOOST_TEST(run_command("hardware --help").code == 0);
  BOOST_TEST(run_command("help train").text == run_command("train --help").text);
  BOOST_TEST(run_command("help trian").text ==
             "mezzo: unknown command \"trian\"; nearest: \"train\"; `mezzo help` lists all\n");
}

BOOST_AUTO_TEST_CASE(version_is_that_of_the_project) {
  const mezzo_tests::CommandRun out = run_command("--version");
  BOOST_TEST(out.code == 0);
  BOOST_TEST(out.text == std::string("mezzo ") + mezzo::version() + "\n");
}

BOOST_AUTO_TEST_CASE(output_that_can_not_be_written_is_a_failure) {
  BOOST_TEST(run_command("help 2>&1 >/dev/full; echo $?").text == "mezzo: the output can't be written\n1\n");
  BOOST_TEST(run_command("evaluate nothing 2>/dev/full; echo $?").text == "1\n");
}

BOOST_AUTO_TEST_SUITE_END()
