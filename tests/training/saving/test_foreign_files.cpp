// Each reader is given a file of each kind, and each writer a path with the suffix of each.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <functional>
#include <set>

#include <mezzo/data/npy_dataset.hpp>
#include <mezzo/io/idx.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/io/zip_writer.hpp>
#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A file of a kind, and the text of errors about it.
struct Sample {
  std::string kind, path, text;
};

const std::string weights_reader = "mezzo doesn't read it: save the weights as safetensors, or as .npz";
const std::string other_table = "mezzo doesn't read it: save the table as .csv";

std::string archive(const Folder& folder, const std::string& name, const std::string& entry) {
  detail::ZipWriter zip(folder.path(name), "");
  zip.add(entry, [](const auto& write) { write("x", 1); });
  zip.commit();
  return folder.path(name);
}

/// Files that their first bytes show, without a suffix.
std::vector<Sample> recognized_files(const Folder& folder) {
  const auto write = [&](const std::string& name, const std::string& bytes) {
    return folder.write(name, {bytes.begin(), bytes.end()});
  };
  save_safetensors(folder.path("safetensors"), {{"x", Tensor({2})}});
  save_npy(folder.path("x.npy"), Tensor({2}));
  std::filesystem::rename(folder.path("x.npy"), folder.path("npy"));
  const std::string picture = "it is a picture: image::read_image() reads it";
  const auto recorded = tests_dir() / "parity" / "recorded" / "tensor_files" / "tensors.pt";
  return {
      {"safetensors", folder.path("safetensors"),
       "it is a safetensors file: load_weights() and load_safetensors() read"},
      {"npy", folder.path("npy"), "it is an array of NumPy: load_npy() reads it"},
      {"npz", archive(folder, "npz", "x.npy"), "it is an archive of NumPy's arrays: load_npz() reads it"},
      {"torch", recorded.string(), "it is a PyTorch file: load_weights() and TorchFile read it"},
      {"keras", archive(folder, "keras", "model.weights.h5"),
       "it is a Keras model: load_model() and load_weights() read it"},
      {"hdf5", write("hdf5", "\x89HDF\r\n\x1a\n rest"),
       "it is an HDF5 file, as Keras writes weights and models: load_model() and load_weights() read it"},
      {"gguf", write("gguf", "GGUF rest"), "it is a GGUF file of llama.cpp: " + weights_reader},
      {"pickle", write("pickle", "\x80\x04\x95 rest"),
       "it is a pickle of Python: mezzo doesn't read it, since it can run"},
      {"idx", write("idx", std::string("\0\0\x08\x01\0\0\0\1\7", 9)),
       "it is an IDX file, as of MNIST: read_idx_file() and mnist() read it"},
      {"parquet", write("parquet", "PAR1 rest"), "it is a Parquet table: " + other_table},
      {"arrow", write("arrow", "ARROW1 rest"), "it is a table of Arrow: " + other_table},
      {"excel", archive(folder, "excel", "xl/workbook.xml"), "it is an Excel workbook: " + other_table},
      {"gzip", write("gzip", "\x1f\x8b\x08 rest"), "it is a gzip file: decompress it first"},
      {"zip", archive(folder, "zip", "x.txt"), "it is a zip archive: extract it first"},
      {"picture", write("png", "\x89PNG\r\n\x1a\n rest"), picture},
      {"picture", write("jpeg", "\xff\xd8\xff rest"), picture},
      {"picture", write("webp", "RIFFxxxxWEBP rest"), picture},
      {"picture", write("tiff", std::string("II*\0 rest", 9)), picture},
      {"gif", write("gif", "GIF89a rest"), "it is a GIF picture: mezzo doesn't read it: convert it to PNG"},
      {"onnx", write("a.onnx", "\x08\x07\x12"), "its suffix is that of an ONNX model: load_onnx()"},
      {"tensorflow", write("a.pb", "\x08\x07\x12"), "its suffix is that of a TensorFlow graph: " + weights_reader},
      {"index", write("a.index.json", "{\"weight_map\": {}}"),
       "its suffix is that of an index of shards: load_weights()"},
      {"tokenizer", write("tokenizer.json", "{}"),
       "its suffix is that of a tokenizer (JSON): Tokenizer::from_file() reads it"},
      {"lfs", write("a.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0"),
       "it is a pointer of Git LFS: get the file itself with `git lfs pull`"},
      {"web page", write("a.npz", "<!doctype html><p>"), "it is a web page (HTML): download the file itself"},
      {"empty", write("a.npy", ""), "it is an empty file: get the file again"},
      {"text", write("a.pt", "not found"), "it is a text: a failed download may have left a message in place of"},
      {"json", write("json", "{\"error\": 1}"), "it is a JSON text: Tokenizer::from_file() reads a tokenizer.json, "},
  };
}

struct Reader {
  std::string name;
  std::function<void(const std::string& path)> read;
  std::set<std::string> kinds;  // that it doesn't refuse as another kind
};

std::vector<Reader> readers() {
  const auto weights = [](const std::string& path) {
    Dense layer(2);
    layer.build({1, 3});
    layer.load_weights(path);
  };
  return {
      {"read_csv", [](const std::string& path) { read_csv(path); }, {"gzip", "empty", "text", "json"}},
      {"CsvReader", [](const std::string& path) { CsvReader(path, 10); }, {"gzip", "empty", "text", "json"}},
      {"csv_dataset", [](const std::string& path) { csv_dataset(path); }, {"gzip", "empty", "text", "json"}},
      {"read_image", [](const std::string& path) { image::read_image(path); }, {"picture"}},
      {"load_npy", [](const std::string& path) { load_npy(path); }, {"npy"}},
      {"npy_dataset",
       [](const std::string& path) {
         npy_dataset({{"x", path}});
       },
       {"npy"}},
      {"load_npz", [](const std::string& path) { load_npz(path); }, {"npz", "zip"}},
      {"load_npz of a name", [](const std::string& path) { load_npz(path, "x"); }, {"npz", "zip"}},
      {"read_idx_file", [](const std::string& path) { read_idx_file(path); }, {"idx", "gzip"}},
      {"load_safetensors", [](const std::string& path) { load_safetensors(path); }, {"safetensors", "index", "json"}},
      {"TorchFile", [](const std::string& path) { TorchFile{path}; }, {"torch", "zip"}},
      {"load_weights", weights, {"safetensors", "index", "json", "torch", "keras", "hdf5"}},
      {"load_model", [](const std::string& path) { load_model(path); }, {"safetensors", "keras", "hdf5"}},
      {"FeatureSpace::load", [](const std::string& path) { FeatureSpace::load(path); }, {"safetensors"}},
      {"Tokenizer",
       [](const std::string& path) { Tokenizer::from_file(path); },
       {"tokenizer", "empty", "text", "json"}},
      {"WordPieceTokenizer", [](const std::string& path) { WordPieceTokenizer{path}; }, {"empty", "text", "json"}},
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(foreign_files)

BOOST_AUTO_TEST_CASE(every_reader_names_every_other_kind) {
  const Folder folder;
  for (const Sample& sample : recognized_files(folder)) {
    for (const Reader& reader : readers()) {
      if (reader.kinds.count(sample.kind) != 0) continue;
      const std::string text = refused<FileError>([&] { reader.read(sample.path); });
      BOOST_TEST(text.find(" must be a") != std::string::npos, reader.name << ": " << text);
      BOOST_TEST(text.find("; " + sample.text) != std::string::npos, reader.name << " " << sample.kind << ": " << text);
    }
  }
}

BOOST_AUTO_TEST_CASE(texts_have_any_suffix) {
  const Folder folder;
  const std::string table = "a,b\n1,2\n";
  for (const char* name : {"a.h5", "a.pt", "a.bin", "a.txt", "a", "a.png"}) {
    BOOST_TEST(read_csv(folder.write(name, {table.begin(), table.end()})).rows() == 1);
  }
  const std::string path = folder.write("a.csv", {table.begin(), table.end()});
  BOOST_TEST(refused<FileError>([&] { load_npy(path); }) ==
             "[load_npy \"" + path +
                 "\"] must be an array of NumPy (.npy); its suffix is that of a table of comma-separated values: "
                 "read_csv() reads it");
}

BOOST_AUTO_TEST_CASE(no_writer_takes_the_suffix_of_another_kind) {
  const Folder folder;
  Sequential model({Input({2}), Dense(1)});
  const FeatureSpace space({{"x", "float"}});
  const std::vector<std::pair<std::set<std::string>, std::function<void(const std::string&)>>> writers{
      {{".safetensors", ".mezzo", ".keras"}, [&](const std::string& path) { model.save(path); }},
      {{".safetensors", ".mezzo"}, [&](const std::string& path) { model.save_weights(path); }},
      {{".safetensors", ".mezzo"}, [&](const std::string& path) { space.save(path); }},
      {{".safetensors", ".mezzo"},
       [](const std::string& path) {
         save_safetensors(path, {{"x", Tensor({1})}});
       }},
      {{".npy"}, [](const std::string& path) { save_npy(path, Tensor({1})); }},
      {{".npz"},
       [](const std::string& path) {
         save_npz(path, {{"x", Tensor({1})}});
       }},
      {{".csv", ".tsv"}, [](const std::string& path) { save_csv(path, Tensor({1})); }},
      {{".csv", ".tsv"}, [](const std::string& path) { CSVLogger{path}; }},
  };
  for (const char* suffix :
       {".safetensors", ".mezzo", ".npy",    ".npz",  ".pt",   ".pth", ".bin", ".keras", ".h5",  ".hdf5",
        ".onnx",        ".pb",    ".tflite", ".gguf", ".pkl",  ".csv", ".tsv", ".gz",    ".zip", ".parquet",
        ".arrow",       ".xlsx",  ".png",    ".jpg",  ".webp", ".tif", ".bmp", ".gif",   ".idx"}) {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const std::string text = refused<FileError>([&] { writers[i].second(folder.path("a" + std::string(suffix))); });
      const bool own = writers[i].first.count(suffix) != 0;
      BOOST_TEST((own ? text.empty() : text.find("the file must end in .") != std::string::npos),
                 suffix << " of writer " << i << ": " << text);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
