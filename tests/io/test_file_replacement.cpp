#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_replacement.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"

using mezzo::FileError;
using mezzo::detail::FileReplacement;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;

namespace {

namespace fs = std::filesystem;

int folder_error = 0;  // of fsync for folders; 0: none

void save(const std::string& path, const std::string& text = "new") {
  FileReplacement file(path, "[save]");
  file.write(text.data(), text.size());
  file.commit();
}

std::string text_in(const std::string& path) {
  const mezzo::detail::Bytes bytes = mezzo::detail::read_file(path, 1000);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  return out;
}

}  // namespace

// Takes the place of the C library's function in this program.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (folder_error != 0 && ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = folder_error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

BOOST_AUTO_TEST_SUITE(file_replacement)

// In a container every start has the same process number.
BOOST_AUTO_TEST_CASE(files_left_by_a_process_of_the_same_number_do_not_matter) {
  const Folder folder;
  for (int i = 0; i < 100; ++i)
    folder.write(".mezzo-" + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp", {1});
  for (int i = 0; i < 3; ++i) save(folder.path("a"), std::to_string(i));
  BOOST_TEST(text_in(folder.path("a")) == "2");
  BOOST_TEST((files_in(folder.path()) == std::vector<std::string>{"a"}));
}

BOOST_AUTO_TEST_CASE(the_next_save_deletes_the_file_of_a_killed_one) {
  const Folder folder;
  folder.write("a", {'o', 'l', 'd'});
  const ::pid_t child = ::fork();
  if (child == 0) {
    FileReplacement file(folder.path("a"), "[save]");
    file.write("half", 4);
    ::raise(SIGKILL);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  BOOST_TEST(text_in(folder.path("a")) == "old");
  BOOST_TEST(files_in(folder.path()).size() == 2U);
  save(folder.path("b"));
  BOOST_TEST(text_in(folder.path("a")) == "old");
  BOOST_TEST(files_in(folder.path()).size() == 2U);  // a and b
}

BOOST_AUTO_TEST_CASE(files_of_others_stay) {
  const Folder folder;
  FileReplacement running(folder.path("a"), "[save]");
  running.write("first", 5);
  for (const char* name : {".mezzo-.tmp", ".mezzo-12.txt", ".mezzo-notes.tmp", "mezzo-12.tmp"}) folder.write(name, {1});
  fs::create_directory(folder.path(".mezzo-12.tmp"));
  fs::create_symlink("mezzo-12.tmp", folder.path(".mezzo-13.tmp"));
  save(folder.path("b"));
  running.commit();
  BOOST_TEST(text_in(folder.path("a")) == "first");
  BOOST_TEST(files_in(folder.path()).size() == 8U);
}

BOOST_AUTO_TEST_CASE(links_are_followed_to_their_end) {
  const Folder folder;
  fs::create_directories(folder.path("runs/1"));
  fs::create_directory_symlink("runs/1", folder.path("run"));
  fs::create_symlink("run/last", folder.path("latest"));
  fs::create_symlink("../weights", folder.path("runs/1/last"));
  save(folder.path("latest"), "one");  // the file at the end doesn't exist yet
  BOOST_TEST(text_in(folder.path("runs/weights")) == "one");
  save(folder.path("latest"), "two");
  BOOST_TEST(text_in(folder.path("runs/weights")) == "two");
  BOOST_TEST((fs::is_symlink(folder.path("latest")) && fs::is_symlink(folder.path("runs/1/last"))));
  BOOST_TEST((files_in(folder.path("runs/1")) == std::vector<std::string>{"last"}));
  fs::create_symlink("loop", folder.path("loop"));
  check_throws<FileError>("[save] must not be a symbolic link that leads through more than 40 others",
                          [&] { save(folder.path("loop")); });
}

BOOST_AUTO_TEST_CASE(a_read_only_file_is_refused) {
  const Folder folder;
  const std::string path = folder.write("a", {'o', 'l', 'd'});
  fs::create_symlink("a", folder.path("link"));
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read);
  for (const char* name : {"a", "link"}) {
    check_throws<FileError>("[save] must be writable; got a read-only file", [&] { save(folder.path(name)); });
  }
  BOOST_TEST(text_in(path) == "old");
  BOOST_TEST(files_in(folder.path()).size() == 2U);
}

BOOST_AUTO_TEST_CASE(an_error_after_the_rename_says_that_the_file_is_new) {
  const Folder folder;
  folder.write("a", {'o', 'l', 'd'});
  folder_error = EIO;
  check_throws<FileError>(
      "[save] has the new content, but its folder cannot be flushed to the disk: a power failure may bring back what "
      "was there before: Input/output error",
      [&] { save(folder.path("a")); });
  BOOST_TEST(text_in(folder.path("a")) == "new");
  folder_error = EINVAL;  // a file system without fsync of folders
  save(folder.path("a"), "newer");
  folder_error = 0;
  BOOST_TEST(text_in(folder.path("a")) == "newer");
  BOOST_TEST((files_in(folder.path()) == std::vector<std::string>{"a"}));
}

// The current folder and the target's may change while a long save runs.
BOOST_AUTO_TEST_CASE(a_folder_may_be_renamed_meanwhile) {
  const Folder folder;
  fs::create_directory(folder.path("old"));
  FileReplacement file(folder.path("old/a"), "[save]");
  file.write("x", 1);
  fs::rename(folder.path("old"), folder.path("new"));
  file.commit();
  BOOST_TEST(text_in(folder.path("new/a")) == "x");
}

BOOST_AUTO_TEST_SUITE_END()
