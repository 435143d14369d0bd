// Shards that save_safetensors() writes.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>

#include "support/file_size_limit.hpp"
#include "support/folder.hpp"
#include "support/killed_saves.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Names = std::vector<std::string>;

const char* const first_of_two = "model-00001-of-00002.safetensors";
const char* const second_of_two = "model-00002-of-00002.safetensors";
const char* const index_name = "model.safetensors.index.json";

Names sorted_files(const std::string& folder) {
  Names out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

nlohmann::json index_in(const Folder& folder) {
  const detail::Bytes bytes = detail::read_file(folder.path(index_name), 100'000);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

/// Tensors of 16, 8, 40 and 4 bytes, full of a number.
NamedTensors four_tensors(float value) {
  NamedTensors out;
  for (const auto& [name, count] :
       std::vector<std::pair<std::string, std::int64_t>>{{"d", 4}, {"c", 2}, {"b", 10}, {"a", 1}}) {
    out.emplace_back(name, Tensor({count}, std::vector<float>(static_cast<std::size_t>(count), value)));
  }
  return out;
}

/// The number that all tensors of a save have; -1 if it can't be read, -2 if they differ.
double number_of(const std::string& path) {
  try {
    double number = -1;
    for (const auto& [name, tensor] : load_safetensors(path)) {
      for (const double value : tensor.to_doubles()) {
        if (number != -1 && value != number) return -2;
        number = value;
      }
    }
    return number;
  } catch (const FileError&) {
    return -1;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shards)

BOOST_AUTO_TEST_CASE(tensors_are_divided_in_their_order) {
  const Folder folder;
  const std::string path = folder.path("model.safetensors");
  const NamedTensors tensors = four_tensors(1);
  save_safetensors(path, tensors, {{"format", "pt"}}, {.max_shard_size = 24});
  BOOST_TEST(
      (sorted_files(folder.path()) == Names{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                            "model-00003-of-00003.safetensors", index_name}));
  const nlohmann::json index = index_in(folder), &map = index.at("weight_map");
  BOOST_TEST(index.at("metadata") == nlohmann::json({{"total_size", 68}}));
  BOOST_TEST(map.at("d") == "model-00001-of-00003.safetensors");
  BOOST_TEST(map.at("c") == map.at("d"));
  BOOST_TEST(map.at("b") == "model-00002-of-00003.safetensors");  // larger than a shard
  BOOST_TEST(map.at("a") == "model-00003-of-00003.safetensors");
  for (const std::string& opened : {path, folder.path(index_name)}) {
    const SafetensorsFile file(opened);
    BOOST_TEST(file.path() == folder.path(index_name));
    BOOST_TEST((file.metadata() == Metadata{{"format", "pt"}}));
    BOOST_TEST((file.checksums() == SafetensorsFile::Checksums::all));
    for (const auto& [name, tensor] : tensors) BOOST_TEST(file.read(name).equal(tensor), name);
  }
}

BOOST_AUTO_TEST_CASE(tensors_that_fit_are_one_file) {
  const Folder folder;
  const std::string path = folder.path("model.safetensors");
  save_safetensors(path, four_tensors(1), {}, {.max_shard_size = 68});
  BOOST_TEST(sorted_files(folder.path()) == Names{"model.safetensors"}, boost::test_tools::per_element());
  save_safetensors(folder.path("x"), {}, {}, {"1KB"});
  BOOST_TEST(SafetensorsFile(folder.path("x")).entries().empty());
}

BOOST_AUTO_TEST_CASE(an_earlier_save_is_replaced_as_a_whole) {
  const Folder folder;
  const std::string path = folder.path("model.safetensors");
  for (const char* other : {"model-00001.safetensors", "other-00001-of-00003.safetensors", "model-00001-of-00003.txt"})
    folder.write(other, {1});
  const auto shards_now = [&] {
    Names out;
    for (const std::string& name : sorted_files(folder.path())) {
      if (number_of(folder.path(name)) != -1) out.push_back(name);
    }
    return out;
  };
  save_safetensors(path, four_tensors(1));
  save_safetensors(path, four_tensors(2), {}, {.max_shard_size = 24});
  BOOST_TEST(shards_now().size() == 4U);
  BOOST_TEST(number_of(path) == 2);
  save_safetensors(path, four_tensors(3), {}, {.max_shard_size = 64});
  BOOST_TEST((shards_now() == Names{first_of_two, second_of_two, index_name}));
  BOOST_TEST(number_of(path) == 3);
  save_safetensors(path, four_tensors(4), {}, {.max_shard_size = "1 GB"});
  BOOST_TEST((shards_now() == Names{"model.safetensors"}));
  BOOST_TEST(number_of(path) == 4);
  BOOST_TEST(sorted_files(folder.path()).size() == 4U);  // with the others
  save_safetensors(path, four_tensors(5), {}, {.max_shard_size = 64});
  save_safetensors(path, four_tensors(6));
  BOOST_TEST((shards_now() == Names{"model.safetensors"}));
  BOOST_TEST(number_of(path) == 6);
}

BOOST_AUTO_TEST_CASE(a_path_that_no_file_can_have_gets_no_shards) {
  const Folder folder;
  const std::string path = folder.path("a.safetensors");
  std::filesystem::create_directory(path);
  const auto text = [](const std::string& to) {
    return refused<FileError>([&] { save_safetensors(to, four_tensors(1), {}, {.max_shard_size = 24}); });
  };
  BOOST_TEST(text(path) == "[safetensors \"" + path + "\"] must be a regular file; got another kind of file");
  BOOST_TEST(sorted_files(folder.path()) == Names{"a.safetensors"}, boost::test_tools::per_element());
  const std::string inside = folder.path("none/");
  std::filesystem::create_directory(inside);
  BOOST_TEST(text(inside) == "[safetensors \"" + inside + "\"] must be a regular file; got another kind of file");
  BOOST_TEST(std::filesystem::is_empty(inside));
  BOOST_TEST(text("") == "[safetensors \"\"] the path must not be empty");
  BOOST_TEST(!std::filesystem::exists("-00001-of-00003"));
}

BOOST_AUTO_TEST_CASE(a_folder_with_the_name_of_an_old_shard_stays) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("model-00007-of-00009.safetensors"));
  save_safetensors(folder.path("model.safetensors"), four_tensors(1), {}, {.max_shard_size = 64});
  BOOST_TEST(number_of(folder.path("model.safetensors")) == 1);
  BOOST_TEST(std::filesystem::exists(folder.path("model-00007-of-00009.safetensors")));
}

// A limit of the file size simulates a full disk.
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_earlier_save) {
  const Folder folder;
  const std::string path = folder.path("model.safetensors");
  save_safetensors(path, four_tensors(1), {}, {.max_shard_size = 64});
  {
    const FileSizeLimit full(350);  // the first shard fits
    const std::string text = refused<FileError>([&] {
      save_safetensors(path, {{"a", Tensor({8})}, {"b", Tensor({2000})}}, {}, {.max_shard_size = 64});
    });
    BOOST_TEST(text == "[safetensors \"" + folder.path(second_of_two) + "\"] cannot be written: File too large");
  }
  BOOST_TEST(number_of(path) == 1);
  BOOST_TEST((sorted_files(folder.path()) == Names{first_of_two, second_of_two, index_name}));
}

// Both saves have the same names of shards.
BOOST_AUTO_TEST_CASE(a_killed_save_never_mixes_shards) {
  int old = 0, none = 0, calls = 0;
  for (bool killed = true; killed; ++calls) {
    const Folder folder;
    const std::string path = folder.path("model.safetensors");
    save_safetensors(path, four_tensors(1), {}, {.max_shard_size = 64});
    const ::pid_t child = ::fork();
    if (child == 0) {
      kill_in_save(calls);
      save_safetensors(path, four_tensors(2), {}, {.max_shard_size = 64});
      ::_exit(0);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    killed = WIFSIGNALED(status);
    const double number = number_of(path);
    BOOST_TEST((number == 1 || number == 2 || number == -1), "call " << calls << ": " << number);
    old += number == 1 ? 1 : 0;
    none += number == -1 ? 1 : 0;
    BOOST_TEST((killed || number == 2));
    save_safetensors(path, four_tensors(3), {}, {.max_shard_size = 64});  // cleans up
    BOOST_TEST((number_of(path) == 3 && sorted_files(folder.path()).size() == 3U));
  }
  BOOST_TEST((calls > 10 && old > 5 && none > 0));
}

BOOST_AUTO_TEST_CASE(sizes_have_units) {
  const auto bytes = [](const char* text) { return ShardSize(text).bytes(); };
  BOOST_TEST(bytes("5GB") == 5'000'000'000U);
  BOOST_TEST(bytes("1.5 kib") == 1536U);
  BOOST_TEST(bytes("200") == 200U);
  BOOST_TEST(bytes("2MB") == 2'000'000U);
  BOOST_TEST(bytes("1TiB") == 1ULL << 40U);
  BOOST_TEST(ShardSize(7).bytes() == 7U);
  BOOST_TEST(ShardSize().bytes() == 0U);
  for (const char* bad : {"", "GB", "5 cats", "-1GB", "1e3", "nan", "99999999TB", "5GB "}) {
    BOOST_TEST(refused<ValueError>([&] { bytes(bad); }) ==
               "[ShardSize] must be a number of bytes, or a number with a unit such as \"5GB\" or \"500 MiB\"; got \"" +
                   std::string(bad) + "\"");
  }
  BOOST_TEST(refused<ValueError>([] { ShardSize{0}; }) == "[ShardSize] must be at least 1 byte; got less");
  BOOST_TEST(refused<ValueError>([] { ShardSize{-5}; }) == "[ShardSize] must be at least 1 byte; got less");
  BOOST_TEST(refused<ValueError>([] { ShardSize{"0.2"}; }) == "[ShardSize] must be at least 1 byte; got less");
}

BOOST_AUTO_TEST_SUITE_END()
