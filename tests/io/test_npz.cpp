#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <mezzo/core/error.hpp>
#include <mezzo/io/array_entries.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/npz_lists.hpp>
#include <mezzo/io/zip_writer.hpp>

#include "io/numpy_files.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(npz)

BOOST_AUTO_TEST_CASE(every_dtype_makes_the_round_trip) {
  const Folder folder;
  std::map<std::string, Tensor> tensors{
      {"größe", Tensor({2, 3})}, {"a/b", Tensor::scalar(4)}, {"empty", Tensor({0, 2})}};
  for (const DType dtype : all_dtypes) {
    if (dtype != DType::bfloat16) tensors[dtype_name(dtype)] = random_tensor({3, 4}, dtype, 1, 0, 90);
  }
  save_npz(folder.path("a.npz"), tensors);
  const std::map<std::string, Tensor> back = load_npz(folder.path("a.npz"));
  BOOST_TEST_REQUIRE(back.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) BOOST_TEST(back.at(name).equal(tensor), name);
  save_npz(folder.path("b.npz"), {});
  BOOST_TEST(load_npz(folder.path("b.npz")).empty());
}

BOOST_AUTO_TEST_CASE(files_of_numpy_are_read) {
  const Folder folder;
  for (const auto& [name, recorded] : recorded("npy").at("archives").items()) {
    BOOST_TEST_CONTEXT(name) {
      const CapturedOutput warnings;
      const auto tensors = load_npz(folder.write("a.npz", file_bytes(recorded)));
      BOOST_TEST(tensors.size() == recorded.at("arrays").size());
      for (const auto& [key, array] : recorded.at("arrays").items()) check_array(tensors.at(key), array);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_numbers_is_skipped_with_a_warning) {
  const Folder folder;
  const std::string path = folder.write("a.npz", file_bytes(recorded("npy").at("archives").at("mixed")));
  const CapturedOutput output;
  load_npz(path);
  BOOST_TEST(output.text() == "mezzo: warning: [load_npz \"" + path +
                                  "\"] skipped arrays that are not of numbers: \"names\" (<U1 (texts)), "
                                  "\"objects\" (|O (objects)), \"records\" (fields a)\n");
}

BOOST_AUTO_TEST_CASE(one_array_is_read_by_name) {
  const Folder folder;
  const nlohmann::json& mixed = recorded("npy").at("archives").at("mixed");
  const std::string path = folder.write("a.npz", file_bytes(mixed)), where = "[load_npz \"" + path + "\"] ";
  const CapturedOutput output;
  check_array(load_npz(path, "y"), mixed.at("arrays").at("y"));
  BOOST_TEST((load_npz(path, "records", {.field = "a"}).shape() == Shape{2}));
  BOOST_TEST(output.text() == "");
  check_throws<NameError>(where + "unknown array \"z\"; valid names: x, names, objects, records, y",
                          [&] { load_npz(path, "z"); });
  check_throws<FileError>(where +
                              "entry \"records.npy\": the array is structured: name one of its fields, "
                              "{.field = \"a\"}; it has a",
                          [&] { load_npz(path, "records"); });
  const std::string names = refused<FileError>([&] { load_npz(path, "names"); });
  BOOST_TEST(names.find("entry \"names.npy\": the dtype must be one of float32, ") != names.npos, names);
}

BOOST_AUTO_TEST_CASE(headers_alone_describe_arrays) {
  const Folder folder;
  const std::string path = folder.write("a.npz", file_bytes(recorded("npy").at("archives").at("mixed")));
  std::string text;
  for (const TensorEntry& entry : detail::npz_entries(path)) {
    text += fmt::format("{}: {} {}; ", entry.name, detail::type_text(entry), to_string(entry.shape));
  }
  for (const char* part : {"names: <U1 (texts) ", "objects: |O (objects) ", "records: fields a (2,)"}) {
    BOOST_TEST(text.find(part) != text.npos, text);
  }
  // The numbers are not looked at: damaged ones are no error here.
  save_npz(folder.path("b.npz"), {{"x", Tensor({50, 3})}});
  detail::Bytes bytes = detail::read_file(folder.path("b.npz"), 10'000);
  bytes[400] ^= 1U;
  const std::string damaged = folder.write("c.npz", bytes);
  BOOST_CHECK_THROW(load_npz(damaged), FileError);
  BOOST_TEST((detail::npz_entries(damaged).at(0).shape == Shape{50, 3}));
  BOOST_TEST(detail::npz_entries(damaged).at(0).bytes == 600U);
}

BOOST_AUTO_TEST_CASE(headers_of_compressed_arrays_are_read) {
  const Folder folder;
  for (const auto& [name, file] : recorded("npy").at("archives").items()) {
    BOOST_TEST_CONTEXT(name) {
      const CapturedOutput warnings;
      const std::string path = folder.write("a.npz", file_bytes(file));
      const std::map<std::string, Tensor> arrays = load_npz(path);
      for (const TensorEntry& entry : detail::npz_entries(path)) {
        const auto found = arrays.find(entry.name);
        if (found != arrays.end()) BOOST_TEST((entry.shape == found->second.shape()), entry.name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(other_archives_are_refused) {
  const Folder folder;
  const auto text_of_archive = [&](const char* name) {
    const nlohmann::json& file = recorded("npy").at("refused archives").at(name);
    return refused<FileError>([&] { load_npz(folder.write("a.npz", from_hex(file.get<std::string>()))); });
  };
  const std::string where = "[load_npz \"" + folder.path("a.npz") + "\"] ";
  BOOST_TEST(text_of_archive("lzma") ==
             where + "entry \"x.npy\": must be stored (method 0) or deflated (method 8); got method 14");
  detail::Bytes twice = file_bytes(recorded("npy").at("archives").at("mixed"));
  for (std::size_t i = 0; i + 5 < twice.size(); ++i) {
    if (twice[i] == 'y' && twice[i + 1] == '.' && twice[i + 2] == 'n') twice[i] = 'x';
  }
  const CapturedOutput output;
  BOOST_TEST(refused<FileError>([&] { load_npz(folder.write("a.npz", twice)); }) ==
             where + "entry \"x.npy\": names must differ; got two arrays \"x\"");
}

// Each entry of such an archive would be as large as all others together.
BOOST_AUTO_TEST_CASE(overlapping_entries_are_refused) {
  const Folder folder;
  save_npz(folder.path("a.npz"), {{"x", Tensor({2})}, {"y", Tensor({2})}});
  detail::Bytes bytes = detail::read_file(folder.path("a.npz"), 10'000);
  const std::size_t second = bytes.size() - 22 - (46 + 5);
  for (std::size_t i = 0; i < 4; ++i) bytes[second + 42 + i] = 0;  // the offset of the second entry
  BOOST_TEST(refused<FileError>([&] { load_npz(folder.write("a.npz", bytes)); }) ==
             "[load_npz \"" + folder.path("a.npz") +
                 "\"] must be a whole zip archive; its entries must lie in front of the directory and not overlap");
}

BOOST_AUTO_TEST_CASE(an_entry_without_bytes_is_refused) {
  const Folder folder;
  const std::string path = folder.path("a.npz");
  detail::ZipWriter zip(path, "[test]");
  zip.add("x.npy", [](const detail::ZipWriter::Write&) {});
  zip.commit();
  BOOST_CHECK_THROW(load_npz(path), FileError);
  BOOST_CHECK_THROW(detail::load_npz_lists(path), FileError);
}

BOOST_AUTO_TEST_CASE(bad_names_and_dtypes_are_refused) {
  const Folder folder;
  const std::string path = folder.path("a.npz"), where = "[save_npz \"" + path + "\"] ";
  check_throws<DTypeError>(
      where + "array \"x\": the dtype must be one that numpy has; got bfloat16: cast to float32 first", [&] {
        save_npz(path, {{"x", Tensor({2}, DType::bfloat16)}});
      });
  check_throws<NameError>(where + "names must be UTF-8 of 1 to 65531 bytes, without zero bytes; got \"\"", [&] {
    save_npz(path, {{"", Tensor({2})}});
  });
  BOOST_CHECK_THROW(save_npz(path, {{"\xff", Tensor({2})}}), NameError);
  BOOST_CHECK_THROW(load_npz(path), FileError);
  BOOST_CHECK_THROW(load_npz(folder.path()), FileError);
}

BOOST_AUTO_TEST_CASE(damaged_files_are_read_or_refused) {
  const Folder folder;
  save_npz(folder.path("a.npz"), {{"x", random_tensor({2, 3})}, {"y", random_tensor({4}, DType::int8)}});
  const CapturedOutput warnings;
  const detail::Bytes own = detail::read_file(folder.path("a.npz"), 10'000);
  for (std::size_t size = 0; size < own.size(); ++size) {
    const std::string path =
        folder.write("b.npz", detail::Bytes(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(size)));
    BOOST_CHECK_THROW(load_npz(path), FileError);
    BOOST_CHECK_THROW(detail::npz_entries(path), FileError);
  }
  check_mutations(own, [&](const detail::Bytes& bytes) { load_npz(folder.write("b.npz", bytes)); });
  const detail::Bytes deflated = file_bytes(recorded("npy").at("archives").at("deflated"));
  check_mutations(deflated, [&](const detail::Bytes& bytes) { load_npz(folder.write("b.npz", bytes)); });
  const detail::Bytes wide = file_bytes(recorded("npy").at("archives").at("zip64"));
  check_mutations(wide, [&](const detail::Bytes& bytes) { load_npz(folder.write("b.npz", bytes)); });
}

BOOST_AUTO_TEST_SUITE_END()
