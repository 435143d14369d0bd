#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <fmt/format.h>

#include <mezzo/core/error.hpp>
#include <mezzo/io/append_file.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_replacement.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using mezzo::FileError;
using mezzo_tests::check_throws;

BOOST_AUTO_TEST_SUITE(file)

BOOST_AUTO_TEST_CASE(all_bytes_are_read) {
  const mezzo_tests::Folder folder;
  const mezzo::detail::Bytes bytes = {0, 255, 10, 13, 26};
  BOOST_TEST(mezzo::detail::read_file(folder.write("a", bytes), 5) == bytes, boost::test_tools::per_element());
  BOOST_TEST(mezzo::detail::read_file(folder.write("empty", {}), 0).empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named) {
  const mezzo_tests::Folder folder;
  const std::string missing = folder.path("none");
  check_throws<FileError>("[read_file] \"" + missing + "\": no such file or directory",
                          [&] { mezzo::detail::read_file(missing, 10); });
  check_throws<FileError>("[read_file] \"" + folder.path() + "\": must be a regular file; got another kind of file",
                          [&] { mezzo::detail::read_file(folder.path(), 10); });
  check_throws<FileError>("[read_file] \"/dev/zero\": must be a regular file; got another kind of file",
                          [] { mezzo::detail::read_file("/dev/zero", 10); });
  const std::string pipe = folder.path("pipe");
  BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  check_throws<FileError>("[read_file] \"" + pipe + "\": must be a regular file; got another kind of file",
                          [&] { mezzo::detail::read_file(pipe, 10); });
  const std::string large = folder.write("large", {1, 2, 3});
  check_throws<FileError>("[read_file] \"" + large + "\": must have at most 2 bytes; got 3",
                          [&] { mezzo::detail::read_file(large, 2); });
}

BOOST_AUTO_TEST_CASE(paths_are_those_of_the_file_system) {
  const mezzo_tests::Folder folder;
  for (const char* url : {"s3://bucket/a.bin", "gs://b/c", "hdfs://host:9000/a", "file:///tmp/a", "https://a.b/c"}) {
    check_throws<FileError>(fmt::format("[read_file] \"{0}\": a path must be one of the file system; got the URL "
                                        "\"{0}\": mount the storage or copy the files",
                                        url),
                            [&] { mezzo::detail::read_file(url, 10); });
  }
  check_throws<FileError>(
      "[save] a path must be one of the file system; got the URL \"s3://b/c\": mount the storage or "
      "copy the files",
      [] { mezzo::detail::FileReplacement("s3://b/c", "[save]"); });
  check_throws<FileError>(
      "[log] \"gs://b/c\": a path must be one of the file system; got the URL \"gs://b/c\": mount the "
      "storage or copy the files",
      [] { mezzo::detail::AppendFile("gs://b/c", "[log]"); });
  const std::string cut = folder.path("a") + std::string(1, '\0') + "b";
  folder.write("a", {1});
  BOOST_TEST(mezzo_tests::refused<FileError>([&] {
               mezzo::detail::read_file(cut, 10);
             }).find("a path must have no NUL bytes") != std::string::npos);
  // No schemes.
  for (const char* name : {"a:b", "c:", "1://a", "x", "a//b"}) mezzo::detail::check_path(name, "");
}

BOOST_AUTO_TEST_SUITE_END()
