// Files of torch.save(), which tests/parity/tensor_files.py recorded with their tensors as safetensors.
#include <mezzo/io/torch_file.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/zip_writer.hpp>

#include "io/numpy_files.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string recorded_path(const std::string& name) {
  return (tests_dir() / "parity" / "recorded" / "tensor_files" / name).string();
}

/// The error text of a file in refused/, without its label.
std::string text_of_refused(const std::string& name) {
  const std::string path = recorded_path("refused/" + name), label = "[torch \"" + path + "\"] ";
  const std::string text = refused<FileError>([&] { TorchFile{path}; });
  return text.rfind(label, 0) == 0 ? text.substr(label.size()) : text;
}

/// The bytes of a literal, zeros included.
template <std::size_t N>
std::string bytes_of(const char (&literal)[N]) {
  return {literal, N - 1};
}

void read_all(const std::string& path) {
  const TorchFile file(path);
  for (const std::string& name : file.names()) file.read(name);
}

/// A stored zip archive with the pickle as archive/data.pkl, whose checksum is right.
std::string archive_of(const Folder& folder, const std::string& pickle) {
  detail::ZipWriter zip(folder.path("a.pt"), "");
  zip.add("archive/data.pkl", [&](const auto& write) { write(pickle.data(), pickle.size()); });
  zip.add("archive/data/0", [&](const auto& write) { write(std::string(16, '\1').data(), 16); });
  zip.commit();
  return folder.path("a.pt");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_file)

BOOST_AUTO_TEST_CASE(tensors_equal_torchs) {
  for (const char* name : {"tensors", "state_dict", "checkpoint", "one_tensor", "protocol_4", "wrapped", "deflated"}) {
    BOOST_TEST_CONTEXT(name) {
      const TorchFile file(recorded_path(name + std::string(".pt")));
      const SafetensorsFile expected(recorded_path(name + std::string(".safetensors")));
      BOOST_TEST(file.entries().size() == expected.entries().size());
      for (const SafetensorsFile::Entry& entry : expected.entries()) {
        const TorchFile::Entry* const found = file.find(entry.name);
        BOOST_TEST_REQUIRE((found != nullptr), entry.name);
        BOOST_TEST((found->shape == entry.shape && found->dtype == entry.dtype && found->bytes == entry.bytes));
        BOOST_TEST(file.read(entry.name).equal(expected.read(entry.name)), entry.name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(names_have_the_order_of_the_file) {
  const TorchFile file(recorded_path("state_dict.pt"));
  const std::vector<std::string> expected{
      "conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", "bn.num_batches_tracked",
      "fc.weight",   "fc.bias"};
  BOOST_TEST(file.names() == expected, boost::test_tools::per_element());
  BOOST_TEST(file.find("fc.weight")->type == "FloatStorage");
  BOOST_TEST((file.find("x") == nullptr));
  check_throws<NameError>("[torch \"" + file.path() + "\"] unknown tensor \"x\"; the file has 9 others",
                          [&] { file.read("x"); });
}

BOOST_AUTO_TEST_CASE(complex_numbers_are_read_as_bytes) {
  const TorchFile file(recorded_path("complex.pt"));
  const Tensor bytes = file.read("complex");
  BOOST_TEST(bytes.describe() == "uint8 (1, 8)");
  BOOST_TEST((!file.find("complex")->dtype && file.find("complex")->type == "ComplexFloatStorage"));
}

BOOST_AUTO_TEST_CASE(names_of_code_are_refused_and_named) {
  const std::string only = "must hold tensors and dicts alone; it names ",
                    run =
                        ", which could run code and is not called: save model.state_dict(), whose values are tensors "
                        "of the usual dtypes";
  BOOST_TEST(text_of_refused("model.pt") == only + "__main__.Net" + run);
  BOOST_TEST(text_of_refused("attack.pt") == only + "__builtin__.print" + run);
  BOOST_TEST(text_of_refused("device.pt") == only + "torch.device" + run);
  BOOST_TEST(text_of_refused("float8.pt") == only + "torch._utils._rebuild_tensor_v3" + run);
  BOOST_TEST(text_of_refused("sparse.pt") == only + "torch._utils._rebuild_sparse_tensor" + run);
}

BOOST_AUTO_TEST_CASE(other_forms_are_refused) {
  const std::string expected = "must be a file of torch.save() (.pt, .pth, .bin); it is ";
  BOOST_TEST(text_of_refused("old.pt") == expected +
                                              "a PyTorch file in the form from before 1.6: mezzo reads the newer form: "
                                              "torch.save(torch.load(path, map_location=\"cpu\"), path)");
  BOOST_TEST(text_of_refused("script.pt") == expected +
                                                 "a TorchScript program: mezzo doesn't read it: save its weights, "
                                                 "torch.save(torch.jit.load(path).state_dict(), path)");
  BOOST_TEST(text_of_refused("big_endian.pt") == "the byte order must be little; got \"big\"");
  BOOST_TEST(text_of_refused("expanded.pt") ==
             "a tensor of shape (1000,) must have at most the 1 elements of its storage: copy an expanded tensor, "
             "x.contiguous(), before it is saved");
  BOOST_CHECK_THROW(TorchFile{recorded_path("none.pt")}, FileError);
}

BOOST_AUTO_TEST_CASE(damaged_numbers_are_noticed) {
  const Folder folder;
  detail::Bytes bytes = detail::read_file(recorded_path("one_tensor.pt"), 10'000);
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t two = text.find(std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  BOOST_TEST_REQUIRE(two != text.npos);
  bytes[two + 6] ^= 1U;
  const TorchFile file(folder.write("a.pt", bytes));
  BOOST_TEST_REQUIRE(file.entries().size() == 1U);
  BOOST_CHECK_THROW(file.read(file.names().front()), FileError);
}

BOOST_AUTO_TEST_CASE(mutations_are_read_or_refused) {
  const Folder folder;
  for (const char* name : {"one_tensor.pt", "deflated.pt"}) {
    const detail::Bytes file = detail::read_file(recorded_path(name), 100'000);
    check_mutations(file, [&](const detail::Bytes& bytes) { read_all(folder.write("a.pt", bytes)); });
    for (std::size_t size = 0; size < file.size(); size += 7) {
      const detail::Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      BOOST_CHECK_THROW(read_all(folder.write("a.pt", cut)), FileError);
    }
  }
}

// A dict that contains itself, and dicts in dicts whose values are used twice.
BOOST_AUTO_TEST_CASE(endless_pickles_are_refused) {
  const Folder folder;
  const std::string loop = bytes_of(
      "\x80\x02}q\0X\x01\0\0\0"
      "ah\0s.");
  check_throws<FileError>("[torch \"" + folder.path("a.pt") +
                              "\"] must have at most 4000000 values in 32 levels of dicts and lists; got more",
                          [&] { TorchFile{archive_of(folder, loop)}; });
  std::string twice = bytes_of("\x80\x02]q\0");
  for (char i = 0; i < 31; ++i) twice += std::string("](h") + i + "h" + i + "eq" + static_cast<char>(i + 1);
  BOOST_CHECK_THROW(TorchFile{archive_of(folder, twice + ".")}, FileError);
  check_throws<FileError>(
      "[torch \"" + folder.path("a.pt") + "\"] must hold tensors and dicts alone; its pickle has the opcode 0x8f",
      [&] { TorchFile{archive_of(folder, "\x80\x04\x8f.")}; });
}

BOOST_AUTO_TEST_CASE(views_lie_in_their_storages) {
  const Folder folder;
  // A view (offset, size, stride) of the 4 floats of a storage.
  const auto text_of_view = [&](char offset, char size, char stride) {
    const std::string pickle = bytes_of(
                                   "\x80\x02"
                                   "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n"
                                   "FloatStorage\nX\x01\0\0\0"
                                   "0X\x03\0\0\0cpuK\x04tQK") +
                               offset + "K" + size + "\x85K" + stride + "\x85\x89}tR.";
    return refused<FileError>([&] { read_all(archive_of(folder, pickle)); });
  };
  BOOST_TEST(text_of_view(0, 4, 1) == "");
  BOOST_TEST(text_of_view(1, 2, 2) == "");
  BOOST_TEST(text_of_view(4, 0, 1) == "");
  BOOST_TEST(text_of_view(1, 4, 1).find(
                 "a tensor of shape (4,) and strides (1,) must lie in its storage of 4 elements") != std::string::npos);
  BOOST_TEST(text_of_view(0, 3, 2).find("must lie in its storage") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
