// Files that change while they are open. A page of a mapped file that is cut off would end the process.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/io/zip_file.hpp>
#include <mezzo/io/zip_writer.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::size_t page = 4096;

/// Cuts a file to that many bytes in `read`, as another process may, and returns the error of reading it.
template <class Read>
std::string text_of_cut(const std::string& path, std::uint64_t bytes, const Read& read) {
  std::filesystem::resize_file(path, bytes);
  return refused<FileError>(read);
}

std::string must_have(std::uint64_t before, std::uint64_t after) {
  return "the file must have " + std::to_string(before) + " bytes, as when it was opened; got " + std::to_string(after);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_files)

BOOST_AUTO_TEST_CASE(a_safetensors_file_that_is_cut_is_an_error) {
  const Folder folder;
  const std::string path = folder.path("a");
  save_safetensors(path, {{"x", Tensor({64 * page})}});
  const std::uint64_t size = std::filesystem::file_size(path);
  const SafetensorsFile file(path);
  const std::string expected = "[safetensors \"" + path + "\"] tensor \"x\": " + must_have(size, page);
  BOOST_TEST(text_of_cut(path, page, [&] { file.read("x"); }) == expected);
  BOOST_TEST(refused<FileError>([&] { file.check("x"); }) == expected);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_written_to_is_an_error) {
  const Folder folder;
  const std::string path = folder.path("a");
  save_safetensors(path, {{"x", Tensor({4})}});
  const SafetensorsFile file(path);
  file.check("x");
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  BOOST_TEST(refused<FileError>([&] { file.read("x"); }) ==
             "[safetensors \"" + path +
                 "\"] tensor \"x\": the file must stay as it was when it was opened; it has been written to");
}

BOOST_AUTO_TEST_CASE(an_archive_that_is_cut_is_an_error) {
  const Folder folder;
  const std::string path = folder.path("a.zip"), content(64 * page, 'x');
  detail::ZipWriter writer(path, "[zip]");
  writer.add("a", [&](const auto& write) { write(content.data(), content.size()); });
  writer.commit();
  const std::uint64_t size = std::filesystem::file_size(path);
  const detail::ZipFile zip(path, "[zip]");
  const detail::ZipEntry& entry = *zip.find("a");
  const std::string expected = "[zip] " + must_have(size, page);
  BOOST_TEST(text_of_cut(path, page, [&] { zip.read(entry, "[zip]"); }) == expected);
  BOOST_TEST(refused<FileError>([&] { zip.check(entry, "[zip]"); }) == expected);
  std::string part(page, ' ');
  BOOST_TEST(refused<FileError>([&] { zip.read_stored(entry, 8 * page, part.data(), page, "[zip]"); }) == expected);
}

BOOST_AUTO_TEST_CASE(a_file_of_torch_that_is_cut_is_an_error) {
  const Folder folder;
  for (const char* name : {"tensors.pt", "deflated.pt"}) {
    const std::string path = folder.path(name);
    std::filesystem::copy(tests_dir() / "parity" / "recorded" / "tensor_files" / name, path);
    const TorchFile file(path);
    const std::string first = file.names().front();
    const std::string text = text_of_cut(path, 100, [&] { file.read(first); });
    BOOST_TEST(text.find("as when it was opened; got 100") != text.npos, text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
