#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/npz.hpp>

#include "io/numpy_files.hpp"
#include "support/folder.hpp"
#include "support/skip.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// True if the library was built with libarchive.
bool has_archives() {
  try {
    load_npz("");
  } catch (const FileError&) {
    return true;
  } catch (const Error&) {
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npz)

BOOST_AUTO_TEST_CASE(every_dtype_makes_the_round_trip) {
  if (!has_archives()) return skip("built without libarchive");
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
  if (!has_archives()) return skip("built without libarchive");
  const Folder folder;
  for (const auto& [name, recorded] : recorded("npy").at("archives").items()) {
    BOOST_TEST_CONTEXT(name) {
      const auto tensors = load_npz(folder.write("a.npz", file_bytes(recorded)));
      BOOST_TEST(tensors.size() == recorded.at("arrays").size());
      for (const auto& [key, array] : recorded.at("arrays").items()) check_array(tensors.at(key), array);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_names_and_dtypes_are_refused) {
  if (!has_archives()) return skip("built without libarchive");
  const Folder folder;
  const std::string path = folder.path("a.npz"), where = "[save_npz \"" + path + "\"] ";
  check_throws<DTypeError>(
      where + "array \"x\": the dtype must be one that numpy has; got bfloat16: cast to float32 first", [&] {
        save_npz(path, {{"x", Tensor({2}, DType::bfloat16)}});
      });
  check_throws<NameError>(where + "names must be UTF-8 of at least one character, without zero bytes; got \"\"", [&] {
    save_npz(path, {{"", Tensor({2})}});
  });
  BOOST_CHECK_THROW(save_npz(path, {{"\xff", Tensor({2})}}), NameError);
  BOOST_CHECK_THROW(load_npz(path), FileError);
  BOOST_CHECK_THROW(load_npz(folder.path()), FileError);
}

BOOST_AUTO_TEST_CASE(damaged_files_are_read_or_refused) {
  if (!has_archives()) return skip("built without libarchive");
  const Folder folder;
  save_npz(folder.path("a.npz"), {{"x", random_tensor({2, 3})}, {"y", random_tensor({4}, DType::int8)}});
  const detail::Bytes own = detail::read_file(folder.path("a.npz"), 10'000);
  for (std::size_t size = 0; size < own.size(); ++size) {
    const std::string path =
        folder.write("b.npz", detail::Bytes(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(size)));
    BOOST_CHECK_THROW(load_npz(path), FileError);
  }
  check_mutations(own, [&](const detail::Bytes& bytes) { load_npz(folder.write("b.npz", bytes)); });
  const detail::Bytes deflated = file_bytes(recorded("npy").at("archives").at("deflated"));
  check_mutations(deflated, [&](const detail::Bytes& bytes) { load_npz(folder.write("b.npz", bytes)); });
}

BOOST_AUTO_TEST_SUITE_END()
