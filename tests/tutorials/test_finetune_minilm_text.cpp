// Runs the program on a few verses, where the pretrained model is.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <regex>

#include "program.hpp"
#include "support/skip.hpp"

using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(finetune_minilm_text)

BOOST_AUTO_TEST_CASE(a_few_verses_run_through) {
  const char* model = std::getenv("MEZZO_MINILM");
  if (model == nullptr) return skip("MEZZO_MINILM names no folder with the pretrained all-MiniLM-L6-v2");
  const Folder folder;
  const Outcome outcome = run_program(MEZZO_TEXT_PROGRAM, folder, {model, "32", "1"});
  BOOST_TEST(outcome.code == 0, outcome.err);
  const std::regex last_line(
      "accuracy on 32 verses of chapters not trained on:\n"
      "frozen backbone [01]\\.[0-9]{3}, finetuned [01]\\.[0-9]{3}, from scratch [01]\\.[0-9]{3}\n");
  BOOST_TEST(std::regex_search(outcome.out, last_line), outcome.out);
}

BOOST_AUTO_TEST_CASE(missing_files_are_named) {
  const Folder folder;
  const Outcome outcome = run_program(MEZZO_TEXT_PROGRAM, folder, {folder.path("absent")});
  BOOST_TEST(outcome.code == 1);
  BOOST_TEST(outcome.err.find("absent/vocab.txt") != std::string::npos, outcome.err);
  BOOST_TEST(run_program(MEZZO_TEXT_PROGRAM, folder, {}).err ==
             "finetune_minilm_text: usage: finetune_minilm_text MODEL [texts] [epochs] [precision] [seed]\n");
}

BOOST_AUTO_TEST_SUITE_END()
