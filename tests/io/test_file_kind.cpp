#include <mezzo/io/file_kind.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/npy.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/zip_writer.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::FileKind;

namespace {

const std::string other_reader = "mezzo doesn't read it: save the weights as safetensors, or as .npz";

}  // namespace

BOOST_AUTO_TEST_SUITE(file_kind)

BOOST_AUTO_TEST_CASE(files_are_recognized_by_their_first_bytes) {
  const Folder folder;
  const auto kind = [&](const std::string& name, const std::string& bytes) {
    return detail::kind_of_file(folder.write(name, detail::Bytes(bytes.begin(), bytes.end())));
  };
  BOOST_TEST((kind("a.bin", "\x89HDF\r\n\x1a\n rest") == FileKind::hdf5));
  BOOST_TEST((kind("a", "GGUF rest of it") == FileKind::gguf));
  BOOST_TEST((kind("a", std::string("\x1c\0\0\0TFL3 rest", 13)) == FileKind::tflite));
  BOOST_TEST((kind("a", "\x80\x04\x95") == FileKind::pickle));
  BOOST_TEST((kind("a", "\x1f\x8b\x08") == FileKind::gzip));
  BOOST_TEST((kind("a", "\x89PNG\r\n\x1a\n") == FileKind::picture));
  BOOST_TEST((kind("a.onnx", "\x08\x07") == FileKind::onnx));
  BOOST_TEST((kind("a.H5", "\x01") == FileKind::hdf5));
  BOOST_TEST((kind("a", "\x01") == FileKind::unknown));
  BOOST_TEST((detail::kind_of_file(folder.path("none.h5")) == FileKind::unknown));
  // The length of this header looks like a gzip file.
  BOOST_TEST((kind("a", std::string("\x1f\x8b\0\0\0\0\0\0{\"a\"", 12)) == FileKind::safetensors));
  const auto recorded = tests_dir() / "parity" / "recorded" / "tensor_files";
  BOOST_TEST((detail::kind_of_file((recorded / "tensors.pt").string()) == FileKind::torch));
  BOOST_TEST((detail::kind_of_file((recorded / "refused" / "old.pt").string()) == FileKind::torch_legacy));
  BOOST_TEST((detail::kind_of_file((recorded / "refused" / "script.pt").string()) == FileKind::torch_script));
  BOOST_TEST((detail::kind_of_file((recorded / "model.safetensors.index.json").string()) == FileKind::shard_index));
}

BOOST_AUTO_TEST_CASE(texts_in_place_of_files_are_recognized) {
  const Folder folder;
  const auto kind = [&](const std::string& name, const std::string& bytes) {
    return detail::kind_of_file(folder.write(name, detail::Bytes(bytes.begin(), bytes.end())));
  };
  BOOST_TEST((kind("a.safetensors", "") == FileKind::empty));
  BOOST_TEST((kind("a.csv", "") == FileKind::empty));
  BOOST_TEST((kind("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:") == FileKind::lfs_pointer));
  BOOST_TEST((kind("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n") == FileKind::lfs_pointer));
  BOOST_TEST((kind("a.npy", "\r\n<!DOCTYPE HTML>") == FileKind::web_page));
  BOOST_TEST((kind("a.pt", "<html lang=en>") == FileKind::web_page));
  BOOST_TEST((kind("a.safetensors", "Entry not found") == FileKind::text));
  BOOST_TEST((kind("a", "T\xc3\xa4glich") == FileKind::text));
  BOOST_TEST((kind("a", std::string(63, 'x') + "\xc3\xa4") == FileKind::text));  // cut within a character
  BOOST_TEST((kind("a", "T\xe4glich") == FileKind::unknown));
  BOOST_TEST((kind("a", "text\x01") == FileKind::unknown));
  BOOST_TEST((kind("a.safetensors", " {\n \"error\": 404}") == FileKind::json));
  for (const char* json : {"{}", "{", "[1, 2]", "[]", "[{}]"}) BOOST_TEST((kind("a", json) == FileKind::json), json);
  BOOST_TEST((kind("a", "{x}") == FileKind::text));
  // Formats of texts are those of their suffixes.
  BOOST_TEST((kind("a.csv", "{}") == FileKind::table));
  BOOST_TEST((kind("tokenizer.json", "{}") == FileKind::tokenizer));
  BOOST_TEST((kind("a.index.json", "{}") == FileKind::shard_index));
}

BOOST_AUTO_TEST_CASE(archives_are_recognized_by_their_entries) {
  const Folder folder;
  const auto kind = [&](const std::string& name, const std::string& entry) {
    detail::ZipWriter zip(folder.path(name), "");
    zip.add(entry, [](const auto& write) { write("x", 1); });
    zip.commit();
    return detail::kind_of_file(folder.path(name));
  };
  BOOST_TEST((kind("a", "model.weights.h5") == FileKind::keras));
  BOOST_TEST((kind("b", "x.npy") == FileKind::npz));
  BOOST_TEST((kind("c", "x/data.pkl") == FileKind::torch));
  BOOST_TEST((kind("d", "x.txt") == FileKind::zip));
}

BOOST_AUTO_TEST_CASE(readers_name_the_kind_of_other_files) {
  const Folder folder;
  const std::string h5 = folder.write("x.h5", detail::Bytes{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0});
  const std::string it_is =
      "; it is an HDF5 file, as Keras writes weights and models: load_model() and load_weights() read it";
  check_throws<FileError>("[safetensors \"" + h5 + "\"] must be a safetensors file or an index of shards" + it_is,
                          [&] { SafetensorsFile{h5}; });
  check_throws<FileError>("[load_npy \"" + h5 + "\"] must be an array of NumPy (.npy)" + it_is, [&] { load_npy(h5); });
  check_throws<FileError>("[load_npz \"" + h5 + "\"] must be an archive of NumPy's arrays (.npz)" + it_is,
                          [&] { load_npz(h5); });
  save_npy(folder.path("a.npy"), Tensor({2}));
  check_throws<FileError>("[load_npz \"" + folder.path("a.npy") +
                              "\"] must be an archive of NumPy's arrays (.npz); it is an array of NumPy: load_npy() "
                              "reads it",
                          [&] { load_npz(folder.path("a.npy")); });
  const std::string onnx = folder.write("a.onnx", detail::Bytes{8, 7, 18});
  check_throws<FileError>("[load_npy \"" + onnx +
                              "\"] must be an array of NumPy (.npy); its suffix is that of an ONNX "
                              "model: load_onnx() of <mezzo/onnx.hpp> reads it",
                          [&] { load_npy(onnx); });
}

BOOST_AUTO_TEST_CASE(no_file_is_written_with_the_suffix_of_another_format) {
  const Folder folder;
  const std::string path = folder.path("x.pt");
  check_throws<FileError>(
      "[safetensors \"" + path +
          "\"] the file must end in .safetensors, or have a suffix of its own; \".pt\" is the suffix "
          "of a PyTorch file, which is not written",
      [&] { save_safetensors(path, {}); });
  for (const char* name : {"a.keras", "a.h5", "a.hdf5", "a.onnx", "a.PTH", "a.bin", "a.npz", "a.tflite", "a.pkl"}) {
    BOOST_CHECK_THROW(save_safetensors(folder.path(name), {}), FileError);
  }
  BOOST_CHECK_THROW(save_npy(folder.path("a.npz"), Tensor({2})), FileError);
  BOOST_CHECK_THROW(save_npz(folder.path("a.npy"), {}), FileError);
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
  for (const char* name : {"a.safetensors", "a.mezzo", "a.ckpt", "a", "a.weights"}) {
    save_safetensors(folder.path(name), {});
  }
}

BOOST_AUTO_TEST_SUITE_END()
