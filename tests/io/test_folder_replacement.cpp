#include <mezzo/io/folder_replacement.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_replacement.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo_tests;
using mezzo::FileError;
using mezzo::detail::FolderReplacement;

namespace {

namespace fs = std::filesystem;

bool is_none(const std::string&) { return false; }

/// Error of a replacement of two files, a.txt first.
std::string text_of_replacing(const std::string& path) {
  return refused<FileError>([&] {
    FolderReplacement files(path, "[save]");
    for (const char* name : {"a.txt", "b.txt"}) mezzo::detail::replace_file(files.file(name), "new", "");
    files.commit("b.txt", is_none);
  });
}

std::string content(const std::string& path) {
  const auto bytes = mezzo::detail::read_file(path, 100);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(folder_replacement)

BOOST_AUTO_TEST_CASE(a_file_in_the_way_is_named) {
  const Folder folder;
  const std::string file = folder.write("file", {1});
  const std::string expected = "[save] must be the path of a folder; \"" + file + "\" is a file";
  BOOST_TEST(text_of_replacing(file + "/a") == expected);
  BOOST_TEST(text_of_replacing(file + "/a/b") == expected);
  BOOST_TEST(text_of_replacing(file) == "[save] must be a folder; got a file");
  BOOST_TEST(text_of_replacing("") == "[save] must be the path of a folder; got \"\"");
}

BOOST_AUTO_TEST_CASE(folders_with_the_names_of_files_are_errors_that_change_nothing) {
  for (const std::string name : {"a.txt", "b.txt"}) {
    const Folder folder;
    const std::string other = name == "a.txt" ? "b.txt" : "a.txt";
    fs::create_directory(folder.path(name));
    folder.write(other, {'o', 'l', 'd'});
    BOOST_TEST(text_of_replacing(folder.path()) ==
               "[save] \"" + folder.path(name) + "\" must be a file, which is replaced; got a folder");
    BOOST_TEST(fs::is_directory(folder.path(name)));
    BOOST_TEST(content(folder.path(other)) == "old");
    BOOST_TEST(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
  }
}

BOOST_AUTO_TEST_CASE(stale_files_go_and_folders_stay) {
  const Folder folder;
  folder.write("old.txt", {1});
  folder.write("old", {1});
  fs::create_directory(folder.path("folder.txt"));
  FolderReplacement files(folder.path(), "[save]");
  mezzo::detail::replace_file(files.file("b.txt"), "new", "");
  files.commit("b.txt", [](const std::string& name) { return name.ends_with(".txt"); });
  BOOST_TEST(!fs::exists(folder.path("old.txt")));
  BOOST_TEST(fs::exists(folder.path("old")));
  BOOST_TEST(fs::is_directory(folder.path("folder.txt")));
  BOOST_TEST(content(folder.path("b.txt")) == "new");
}

BOOST_AUTO_TEST_CASE(a_folder_that_stays_incomplete_is_an_error_that_names_the_file) {
  const Folder folder;
  folder.write("b.txt", {'o', 'l', 'd'});
  BOOST_TEST(refused<FileError>([&] {
               FolderReplacement files(folder.path(), "[save]");
               files.commit("b.txt", is_none);  // it was not written
             }) == "[save] the folder is incomplete, without a new b.txt: \"" + folder.path("b.txt") +
                       "\" can't be replaced: No such file or directory");
  BOOST_TEST(fs::is_empty(folder.path()));
}

BOOST_AUTO_TEST_SUITE_END()
