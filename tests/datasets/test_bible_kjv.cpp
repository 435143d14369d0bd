#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <mezzo/datasets/bible_file.hpp>
#include <mezzo/datasets/bible_kjv.hpp>

#include "datasets/bible_data.hpp"
#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/skip.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::bible_data;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;

namespace {

// One book of each class with twenty chapters of three verses. The text repeats itself, so that it compresses.
std::string small_bible() {
  std::string text = "A title\n";
  for (const char* book : {"Ge", "Ruth", "Psa", "Mic", "Mark", "Acts", "1Jn", "Rev"}) {
    for (int chapter = 1; chapter <= 20; ++chapter) {
      for (int verse = 1; verse <= 3; ++verse) {
        text += book + std::to_string(chapter) + ":" + std::to_string(verse) + " Verse of " + book + " " +
                std::to_string(chapter) + ": and it came to pass.\n";
      }
    }
  }
  return text;
}

std::string write(const Folder& folder, const std::string& text) {
  return folder.write("bible.data", bible_data(text, 4096));
}

// Returns "Verse of Ge 17" from "Verse of Ge 17: and it came ...".
std::string chapter_of(const std::string& verse) { return verse.substr(0, verse.find(':')); }

}  // namespace

BOOST_AUTO_TEST_SUITE(bible_kjv)

BOOST_AUTO_TEST_CASE(verses_have_the_class_of_their_book) {
  const Folder folder;
  write(folder, small_bible());
  const auto [train, test] = datasets::bible_kjv({.root = folder.path()});
  BOOST_TEST(train.texts.size() + test.texts.size() == 480U);
  const std::vector<std::string> books{"Ge", "Ruth", "Psa", "Mic", "Mark", "Acts", "1Jn", "Rev"};
  BOOST_TEST(datasets::bible_kjv_classes().size() == books.size());
  std::set<std::string> seen;
  for (const auto* part : {&train, &test}) {
    BOOST_TEST(part->labels.describe() == "int64 (" + std::to_string(part->texts.size()) + ",)");
    for (std::size_t i = 0; i < part->texts.size(); ++i) {
      const auto label = static_cast<std::size_t>(part->labels.data<std::int64_t>()[i]);
      BOOST_TEST(part->texts[i].find("Verse of " + books.at(label) + " ") == 0U);
      seen.insert(books.at(label));
    }
  }
  BOOST_TEST(seen.size() == books.size());
}

BOOST_AUTO_TEST_CASE(a_chapter_is_either_for_training_or_for_testing) {
  const Folder folder;
  write(folder, small_bible());
  const auto [train, test] = datasets::bible_kjv({.root = folder.path()});
  std::set<std::string> trained;
  std::set<std::string> tested;
  for (const std::string& verse : train.texts) trained.insert(chapter_of(verse));
  for (const std::string& verse : test.texts) tested.insert(chapter_of(verse));
  BOOST_TEST(trained.size() + tested.size() == 160U);
  BOOST_TEST((tested.size() > 8 && tested.size() < 28), tested.size());
  for (const std::string& chapter : tested) BOOST_TEST(trained.count(chapter) == 0U);
}

BOOST_AUTO_TEST_CASE(the_text_is_a_verse_a_line) {
  const Folder folder;
  write(folder, "A title\nGe1:1 In the beginning\n3Jn1:14 Peace be to thee.\n");
  BOOST_TEST(datasets::bible_kjv_text({.root = folder.path()}) == "In the beginning\nPeace be to thee.\n");
}

BOOST_AUTO_TEST_CASE(compressed_windows_are_expanded) {
  const std::string text = small_bible();
  std::string expected;
  const Folder whole;
  write(whole, text);
  expected = datasets::bible_kjv_text({.root = whole.path()});
  BOOST_TEST(std::count(expected.begin(), expected.end(), '\n') == 480);
  for (const std::size_t window : {100, 1000, 30000}) {
    for (const int clear_after : {256, 257, 300, 511, 512, 513, 700, 100000}) {  // from the second code width on
      const Folder folder;
      folder.write("bible.data", bible_data(text, window, clear_after));
      BOOST_TEST((datasets::bible_kjv_text({.root = folder.path()}) == expected),
                 window << " bytes, cleared after " << clear_after);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_files_are_refused) {
  const auto refuse = [](std::vector<std::uint8_t> bytes, const std::string& text) {
    const Folder folder;
    const std::string path = folder.write("bible.data", bytes);
    check_throws<FileError>("[bible_kjv] \"" + path + "\"" + text,
                            [&] { datasets::bible_kjv({.root = folder.path()}); });
  };
  const std::vector<std::uint8_t> good = bible_data("Title\nGe1:1 In the beginning\n", 16);
  const auto changed = [&](std::size_t at, std::uint8_t to) {
    std::vector<std::uint8_t> bytes = good;
    bytes.at(at) = to;
    return bytes;
  };
  const std::string header = ": must start with a header of 92 bytes that begins with EC02; got a file of ";
  refuse({}, header + "0 bytes");
  refuse(changed(3, '3'), header + "136 bytes");
  refuse({good.begin(), good.begin() + 0x60}, ": must have a header of 104 bytes; got a file of 96 bytes");
  refuse(changed(0x54, 255), ": must hold 1 to 67108864 bytes of text; got 2 windows of 4278190096 bytes");
  refuse(changed(0x5b, 0), ": must hold 1 to 67108864 bytes of text; got 0 windows of 16 bytes");
  refuse({good.begin(), good.end() - 1}, ": window 1 must lie in the file; got bytes 122 to 136 of 135");
  refuse(changed(0x57, 17), ": window 0 must have 17 bytes of text; got 16");
  refuse(changed(104 + 2, 255),
         ": window 0 must be compressed data; got 18 bytes that are not (libarchive: Invalid compressed data)");
}

BOOST_AUTO_TEST_CASE(memory_is_taken_for_the_text_not_for_the_size_of_the_window) {
  const std::string text = "Title\nGe1:1 In the beginning\n";
  std::vector<std::uint8_t> bytes = bible_data(text, 64);
  bytes[0x54] = 4;  // a window of 64 MiB + 64 bytes
  BOOST_CHECK_THROW(datasets::detail::read_bible_file(bytes, "x"), FileError);
  bytes[0x54] = 3;
  const std::string read = datasets::detail::read_bible_file(bytes, "x");
  BOOST_TEST(read == text);
  BOOST_TEST(read.capacity() < std::size_t{1} << 20U);
}

BOOST_AUTO_TEST_CASE(bad_verses_are_refused) {
  const auto refuse = [](const std::string& line) {
    const Folder folder;
    const std::string path = write(folder, "Title\nGe1:1 In the beginning\n" + line + "\n");
    check_throws<FileError>("[bible_kjv] \"" + path +
                                "\": line 3 of the text must be a verse like `Ge1:1 In the beginning`; got \"" + line +
                                "\"",
                            [&] { datasets::bible_kjv({.root = folder.path()}); });
  };
  for (const char* line : {"", "Ge1:2", "Ge1 2 And", "Ge:2 And", ":2 And", "12:2 And", "Ge1: And", "Ge1:x And",
                           "Tobit1:1 The book", "And the earth: was without form"}) {
    refuse(line);
  }
  const Folder folder;
  const std::string path = write(folder, "Title\n");
  check_throws<FileError>("[bible_kjv] \"" + path + "\" must have verses; got none",
                          [&] { datasets::bible_kjv({.root = folder.path()}); });
}

BOOST_AUTO_TEST_CASE(the_package_is_named_where_the_file_is_missing) {
  const Folder folder;
  const std::string root = folder.path();
  check_throws<FileError>("[bible-kjv] \"bible.data\", with or without .gz, must be in one of: " + root + ", " + root +
                              "/bible-kjv; Debian's package `bible-kjv-text` installs it",
                          [&] { datasets::bible_kjv({.root = root}); });
  const mezzo_tests::Environment data("MEZZO_DATA", root);
  folder.write("bible-kjv/bible.data", bible_data("Title\nGe1:1 Mine\n", 16));
  BOOST_TEST(datasets::bible_kjv_text() == "Mine\n");
}

BOOST_AUTO_TEST_CASE(the_real_text_is_whole) {
  std::optional<std::pair<datasets::LabeledTexts, datasets::LabeledTexts>> data;
  try {
    data = datasets::bible_kjv();
  } catch (const FileError& e) {
    return mezzo_tests::skip(e.what());
  }
  const auto& [train, test] = *data;
  BOOST_TEST(train.texts.size() + test.texts.size() == 31102U);
  BOOST_TEST((test.texts.size() > 2500 && test.texts.size() < 3700), test.texts.size());
  std::vector<std::int64_t> verses(8);
  for (const auto* part : {&train, &test}) {
    for (const double label : part->labels.to_doubles()) ++verses.at(static_cast<std::size_t>(label));
  }
  BOOST_TEST(verses == (std::vector<std::int64_t>{5852, 7018, 4785, 5490, 3779, 1007, 2767, 404}),
             boost::test_tools::per_element());
  const std::string text = datasets::bible_kjv_text();
  BOOST_TEST(text.find("In the beginning God created the heaven and the earth.\n") == 0U);
  BOOST_TEST(text.substr(text.size() - 58) == "The grace of our Lord Jesus Christ be with you all. Amen.\n");
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 31102);
}

BOOST_AUTO_TEST_SUITE_END()
