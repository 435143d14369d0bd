#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <mezzo/core/error.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>

#include "support/file_size_limit.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/safetensors.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;
using mezzo_tests::refused;
using mezzo_tests::safetensors_bytes;
using mezzo_tests::tensor;

namespace {

NamedTensors tensors_of_every_dtype() {
  NamedTensors out;
  for (const DType dtype : mezzo_tests::all_dtypes) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0, 2}, Shape{5}, Shape{1, 2, 3, 1, 2}}) {
      out.emplace_back(dtype_name(dtype) + to_string(shape),
                       mezzo_tests::random_tensor(shape, dtype, out.size(), dtype == DType::boolean ? 0 : -100, 100));
    }
  }
  return out;
}

std::string recorded_file(const std::string& name) {
  return (mezzo_tests::tests_dir() / "parity" / "recorded" / "tensor_files" / name).string();
}

/// Memory that the process has, pages of mapped files included.
std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safetensors)

BOOST_AUTO_TEST_CASE(every_dtype_and_shape_comes_back) {
  const Folder folder;
  const NamedTensors tensors = tensors_of_every_dtype();
  const Metadata metadata{{"", "nothing"}, {"format", "pt"}, {"über \"x\"\n", "\\"}};
  save_safetensors(folder.path("a"), tensors, metadata);
  const SafetensorsFile file(folder.path("a"));
  BOOST_TEST((file.metadata() == metadata));
  BOOST_TEST(file.entries().size() == tensors.size());
  for (const auto& item : tensors) {
    const SafetensorsFile::Entry* entry = file.find(item.first);
    BOOST_TEST_REQUIRE((entry != nullptr));
    BOOST_TEST((entry->shape == item.second.shape() && entry->dtype == item.second.dtype()));
    BOOST_TEST(file.read(item.first).equal(item.second));
  }
  BOOST_TEST((file.find("x") == nullptr));
  check_throws<NameError>("[safetensors \"" + folder.path("a") + "\"] unknown tensor \"x\"; the file has " +
                              std::to_string(tensors.size()) + " others",
                          [&] { file.read("x"); });
}

BOOST_AUTO_TEST_CASE(a_file_may_have_no_tensors) {
  const Folder folder;
  save_safetensors(folder.path("a"), {});
  BOOST_TEST(SafetensorsFile(folder.path("a")).entries().empty());
  BOOST_TEST(SafetensorsFile(folder.write("b", safetensors_bytes("{}"))).entries().empty());
}

BOOST_AUTO_TEST_CASE(tensors_are_written_widest_first_and_then_by_name) {
  const Folder folder;
  save_safetensors(folder.path("a"), {{"b", Tensor({3}, DType::uint8)},
                                      {"z", Tensor({1}, DType::int64)},
                                      {"d", Tensor({2})},
                                      {"c", Tensor({2}, DType::int32)},
                                      {"e", Tensor({}, DType::float16)}});
  const detail::Bytes bytes = detail::read_file(folder.path("a"), 1000);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  BOOST_TEST(length % 8 == 0U);
  const std::string header(bytes.begin() + 8, bytes.begin() + 8 + static_cast<std::ptrdiff_t>(length));
  BOOST_TEST(header.find_last_not_of(' ') == header.rfind('}'));
  const std::string tensors = tensor("z", "I64", "[1]", "[0,8]") + "," + tensor("c", "I32", "[2]", "[8,16]") + "," +
                              tensor("d", "F32", "[2]", "[16,24]") + "," + tensor("e", "F16", "[]", "[24,26]") + "," +
                              tensor("b", "U8", "[3]", "[26,29]") + "}";
  BOOST_TEST(header.find(tensors) != std::string::npos, header);
}

// The file was written with the reference library by tests/parity/weight_files.py --record.
BOOST_AUTO_TEST_CASE(a_file_of_the_reference_library_is_read) {
  const SafetensorsFile file((mezzo_tests::tests_dir() / "parity" / "recorded" / "reference.safetensors").string());
  BOOST_TEST((file.metadata() == Metadata{{"format", "pt"}, {"made by", "safetensors"}}));
  BOOST_TEST(file.entries().size() == 13U);
  for (const DType dtype : mezzo_tests::all_dtypes) {
    const bool boolean = dtype == DType::boolean;
    const std::vector<double> expected =
        boolean ? std::vector<double>{0, 1, 0, 1, 0, 1} : std::vector<double>{0, 1, 2, 3, 4, 5};
    const Tensor got = file.read(dtype_name(dtype));
    BOOST_TEST(got.describe() == dtype_name(dtype) + std::string(" (2, 3)"));
    BOOST_TEST(got.to_doubles() == expected, boost::test_tools::per_element());
  }
  BOOST_TEST(file.read("scalar").item() == -1.5);
  BOOST_TEST(file.read("empty").describe() == "float32 (0, 3)");
  BOOST_TEST(file.read("layer.naïve").item() == 7);
}

BOOST_AUTO_TEST_CASE(float8_is_read_and_written) {
  const SafetensorsFile file(recorded_file("float8.safetensors"));
  const Folder folder;
  for (const auto& [name, dtype] :
       {std::pair("F8_E4M3", DType::float8_e4m3fn), std::pair("F8_E5M2", DType::float8_e5m2)}) {
    const Tensor x = file.read(name);
    BOOST_TEST((x.dtype() == dtype));
    BOOST_TEST((x.to_doubles() == std::vector<double>{0, 1, 2, 3, 4, 5}));
    save_safetensors(folder.path(name), {{"x", x}});
    BOOST_TEST((SafetensorsFile(folder.path(name)).find("x")->type == name));
    BOOST_TEST(SafetensorsFile(folder.path(name)).read("x").equal(x));
  }
}

// float8.safetensors was written by tests/parity/tensor_files.py.
BOOST_AUTO_TEST_CASE(dtypes_that_mezzo_lacks_are_read_as_bytes) {
  const SafetensorsFile file(recorded_file("float8.safetensors"));
  BOOST_TEST(file.names().size() == 9U);
  for (const std::string name : {"F8_E4M3FNUZ", "F8_E5M2FNUZ"}) {
    BOOST_TEST((!file.find(name)->dtype && file.find(name)->type == name));
    BOOST_TEST(file.read(name).describe() == "uint8 (2, 3)");
  }
  BOOST_TEST(file.read("F8_E4M3FNUZ").to_doubles()[1] == 0x40);  // 1
  const Tensor words = file.read("U16"), numbers = file.read("U64");
  BOOST_TEST(words.describe() == "uint8 (2, 3, 2)");
  BOOST_TEST((words.to_doubles() == std::vector<double>{0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0}));
  BOOST_TEST(numbers.describe() == "uint8 (2, 3, 8)");
  BOOST_TEST(file.read("C64").describe() == "uint8 (2, 3, 8)");
  const Folder folder;
  const SafetensorsFile packed(
      folder.write("a", safetensors_bytes("{" + tensor("a", "F4", "[3,2]", "[0,3]") + "}", 3)));
  BOOST_TEST(packed.read("a").describe() == "uint8 (3,)");
}

BOOST_AUTO_TEST_CASE(all_tensors_are_read_at_once) {
  const Folder folder;
  save_safetensors(folder.path("a"), {{"x", Tensor({2}, std::vector<float>{1, 2})}});
  const NamedTensors all = load_safetensors(folder.path("a"));
  BOOST_TEST(
      (all.size() == 1 && all[0].first == "x" && all[0].second.equal(SafetensorsFile(folder.path("a")).read("x"))));
}

// 1 GB of holes.
BOOST_AUTO_TEST_CASE(a_large_file_costs_the_tensors_that_are_read) {
  const Folder folder;
  const std::string header = "{" + tensor("large", "U8", "[1073741824]", "[0,1073741824]") + "," +
                             tensor("small", "U8", "[4096]", "[1073741824,1073745920]") + "}";
  const std::string path = folder.write("a", safetensors_bytes(header));
  std::filesystem::resize_file(path, 8 + header.size() + 1073745920);
  const std::uint64_t before = resident_bytes();
  const SafetensorsFile file(path);
  BOOST_TEST(file.read("small").bytes() == 4096U);
  file.check("large");
  BOOST_TEST(resident_bytes() - before < 64U << 20U);
}

BOOST_AUTO_TEST_CASE(shards_are_read_as_one_file) {
  const SafetensorsFile shards(recorded_file("model.safetensors.index.json")),
      whole(recorded_file("whole.safetensors"));
  BOOST_TEST(shards.entries().size() == whole.entries().size());
  for (const std::string& name : whole.names()) BOOST_TEST(shards.read(name).equal(whole.read(name)), name);
  BOOST_TEST((shards.metadata() == Metadata{{"format", "pt"}}));
  BOOST_TEST((shards.checksums() == SafetensorsFile::Checksums::none));
}

BOOST_AUTO_TEST_CASE(malformed_indices_are_refused) {
  const Folder folder;
  save_safetensors(folder.path("a.safetensors"), {{"x", Tensor({2})}, {"y", Tensor({3})}});
  const std::string path = folder.path("model.safetensors.index.json"), where = "[safetensors \"" + path + "\"] ";
  const auto text = [&](const std::string& index) {
    folder.write("model.safetensors.index.json", detail::Bytes(index.begin(), index.end()));
    return refused<FileError>([&] { SafetensorsFile{path}; });
  };
  BOOST_TEST(text(R"({"weight_map": {"x": "a.safetensors"}})") == "");
  BOOST_TEST(SafetensorsFile(path).names() == std::vector<std::string>{"x"}, boost::test_tools::per_element());
  const std::string must = where + "an index must be a JSON object with an object \"weight_map\"; got ";
  for (const char* other : {"{         ", "[1, 2]", "x"}) BOOST_TEST(text(other) == must + "another text");
  for (const char* other : {"{}", "{\"weight_map\": []}", "{\"weights\": {}}"})
    BOOST_TEST(text(other) == must + "a JSON object without it");
  BOOST_TEST(text("") ==
             where + "must be a safetensors file or an index of shards; it is an empty file: get the file again");
  BOOST_TEST(text(R"({"weight_map": {"z": "a.safetensors"}})") ==
             where + "tensor \"z\" must be in \"" + folder.path("a.safetensors") + "\"; that file lacks it");
  for (const char* file : {"../a.safetensors", "/etc/passwd", "..", ""}) {
    BOOST_TEST(text(std::string(R"({"weight_map": {"x": ")") + file + "\"}}") ==
               where + "tensor \"x\": must be in a file of the index's folder; got \"" + file + "\"");
  }
  BOOST_TEST(text(R"({"weight_map": {"x": 3}})") ==
             where + "tensor \"x\": must be in a file of the index's folder; got no name");
  BOOST_TEST(text(R"({"weight_map": {"x": "none.safetensors"}})").find("no such file or directory") !=
             std::string::npos);
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
  const std::string shard = folder.write("b.safetensors", {pointer.begin(), pointer.end()});
  BOOST_TEST(text(R"({"weight_map": {"x": "b.safetensors"}})") ==
             "[safetensors \"" + shard +
                 "\"] must be a safetensors file; it is a pointer of Git LFS: get the file itself with `git lfs pull`");
}

BOOST_AUTO_TEST_CASE(tensors_may_be_listed_in_any_order) {
  const Folder folder;
  const std::string header = "{" + tensor("b", "U8", "[2]", "[1,3]") + ", " + tensor("a", "U8", "[]", "[0,1]") + "}  ";
  const SafetensorsFile file(folder.write("a", safetensors_bytes(header, 3)));
  BOOST_TEST(file.entries()[0].name == "a");
  BOOST_TEST(file.read("b").describe() == "uint8 (2,)");
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_refused) {
  const Folder folder;
  check_throws<FileError>("[safetensors \"" + folder.path("x") + "\"] no such file or directory",
                          [&] { SafetensorsFile{folder.path("x")}; });
  check_throws<FileError>("[safetensors \"" + folder.path() + "\"] must be a regular file; got another kind of file",
                          [&] { SafetensorsFile{folder.path()}; });
}

BOOST_AUTO_TEST_CASE(mutations_are_refused_or_harmless) {
  const Folder folder;
  const NamedTensors tensors = tensors_of_every_dtype();
  save_safetensors(folder.path("good"), tensors, {{"format", "pt"}});
  const detail::Bytes good = detail::read_file(folder.path("good"), 1U << 20U);
  const int mutations = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 1'000 : 20'000;
  int refused = 0;
  for (int i = 0; i < mutations; ++i) {
    const auto random = philox(7, static_cast<std::uint64_t>(i));
    detail::Bytes bytes = good;
    const std::size_t at = random[0] % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto value = static_cast<std::uint8_t>(random[1]);
    switch (random[2] % 5) {
      case 0:
        *place ^= static_cast<std::uint8_t>(1U << (random[1] % 8));
        break;
      case 1:
        *place = value;
        break;
      case 2:
        bytes.erase(place);
        break;
      case 3:
        bytes.insert(place, value);
        break;
      default:
        bytes.resize(at);
    }
    try {
      const SafetensorsFile file(folder.write("bad", bytes));
      NamedTensors read;
      for (const auto& entry : file.entries()) read.emplace_back(entry.name, file.read(entry.name));
      BOOST_TEST_REQUIRE(read.size() == tensors.size());
      for (const auto& item : tensors) BOOST_TEST_REQUIRE(file.read(item.first).equal(item.second), "mutation " << i);
    } catch (const FileError&) {
      ++refused;
    }
  }
  BOOST_TEST(refused > mutations / 2);
  BOOST_TEST(refused < mutations);  // some mutations change nothing, or the key of the checksums
}

BOOST_AUTO_TEST_CASE(bad_names_are_refused_before_anything_is_written) {
  const Folder folder;
  const std::string path = folder.path("a");
  const std::string where = "[safetensors \"" + path + "\"] ";
  check_throws<NameError>(where + "tensor \"__metadata__\": must have another name; this one is reserved", [&] {
    save_safetensors(path, {{"__metadata__", Tensor()}});
  });
  check_throws<NameError>(where + "tensor \"x\": the name must be unique; got it twice", [&] {
    save_safetensors(path, {{"x", Tensor()}, {"y", Tensor()}, {"x", Tensor({2}, DType::int8)}});
  });
  check_throws<NameError>(where + "metadata must not have the reserved entry crc32; got one", [&] {
    save_safetensors(path, {}, {{"crc32", ""}});
  });
  BOOST_CHECK_THROW(save_safetensors(path, {{"\xff", Tensor()}}), NameError);
  BOOST_CHECK_THROW(save_safetensors(path, {}, {{"a", "\xff"}}), NameError);
  check_throws<FileError>(where + "tensor \"x\": the rank must be at most 32; got 33", [&] {
    save_safetensors(path, {{"x", Tensor(Shape(33, 1))}});
  });
  BOOST_TEST(files_in(folder.path()).empty());
}

BOOST_AUTO_TEST_CASE(a_failed_save_leaves_the_previous_file_whole_and_nothing_else) {
  const Folder folder;
  const std::string inside = folder.path("is a folder");
  std::filesystem::create_directory(inside);
  check_throws<FileError>("[safetensors \"" + inside + "\"] must be a regular file; got another kind of file",
                          [&] { save_safetensors(inside, {}); });
  check_throws<FileError>("[safetensors \"\"] the path must not be empty", [] { save_safetensors("", {}); });
  const std::string missing = folder.path("none/a");
  check_throws<FileError>("[safetensors \"" + missing +
                              "\"] cannot be written: no file can be created in its folder: No such file or directory",
                          [&] { save_safetensors(missing, {}); });

  const std::string path = inside + "/a";
  save_safetensors(path, {{"x", Tensor({2})}});
  std::filesystem::permissions(inside, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  bool failed = false;
  try {
    save_safetensors(path, {{"x", Tensor({3})}});
  } catch (const FileError& error) {
    failed = true;
    BOOST_TEST(error.what() == "[safetensors \"" + path +
                                   "\"] cannot be written: no file can be created in its folder: Permission denied");
  }
  std::filesystem::permissions(inside, std::filesystem::perms::owner_all);
  BOOST_TEST((SafetensorsFile(path).find("x")->shape == Shape{failed ? 2 : 3}));  // root may write anywhere
  BOOST_TEST((files_in(inside) == std::vector<std::string>{"a"}));
}

// A limit of the file size simulates a full disk.
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_previous_file_whole_and_nothing_else) {
  const Folder folder;
  const std::string path = folder.path("a");
  save_safetensors(path, {{"x", Tensor({2})}});
  for (const std::uint64_t limit : {0, 4, 100, 4096}) {
    const mezzo_tests::FileSizeLimit full(limit);
    check_throws<FileError>("[safetensors \"" + path + "\"] cannot be written: File too large", [&] {
      save_safetensors(path, {{"x", Tensor({2000})}});
    });
  }
  BOOST_TEST((SafetensorsFile(path).find("x")->shape == Shape{2}));
  BOOST_TEST((files_in(folder.path()) == std::vector<std::string>{"a"}));
}

BOOST_AUTO_TEST_CASE(a_save_replaces_what_a_link_points_to) {
  const Folder folder;
  save_safetensors(folder.path("a"), {{"x", Tensor({2})}});
  std::filesystem::permissions(folder.path("a"),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("a", folder.path("link"));
  save_safetensors(folder.path("link"), {{"x", Tensor({3})}});
  BOOST_TEST(std::filesystem::is_symlink(folder.path("link")));
  BOOST_TEST((SafetensorsFile(folder.path("a")).find("x")->shape == Shape{3}));
  BOOST_TEST((std::filesystem::status(folder.path("a")).permissions() ==
              (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)));
}

BOOST_AUTO_TEST_SUITE_END()
