#include <mezzo/io/file_kind.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/io/open_file.hpp>
#include <mezzo/io/safetensors_header.hpp>
#include <mezzo/io/zip_directory.hpp>
#include <mezzo/io/zip_file.hpp>

namespace mezzo::detail {
namespace {

using namespace std::string_view_literals;

struct KindRow {
  FileKind kind;
  const char* name;
  std::string_view begin;              // first bytes; "": not recognized by them
  std::size_t offset;                  // of `begin`
  std::vector<std::string_view> ends;  // suffixes in lower case
  const char* reader;                  // what reads such a file
};

constexpr const char* other_reader = "mezzo doesn't read it: save the weights as safetensors, or as .npz";

constexpr const char* picture_reader = "image::read_image() reads it";
constexpr const char* table_reader = "mezzo doesn't read it: save the table as .csv";

/// Rows of files that stand in the place of others.
std::vector<KindRow> rows_in_place_of_files() {
  return {{FileKind::lfs_pointer,
           "a pointer of Git LFS",
           "version https://git-lfs.github.com/spec/v1"sv,
           0,
           {},
           "get the file itself with `git lfs pull`"},
          {FileKind::web_page, "a web page (HTML)", "", 0, {}, "download the file itself"},
          {FileKind::empty, "an empty file", "", 0, {}, "get the file again"},
          {FileKind::json,
           "a JSON text",
           "",
           0,
           {},
           "Tokenizer::from_file() reads a tokenizer.json, auto_model() the folder of a config.json"},
          {FileKind::text, "a text", "", 0, {}, "a failed download may have left a message in place of the file"}};
}

/// Rows of formats.
std::vector<KindRow> rows_of_formats() {
  return {
      {FileKind::safetensors,
       "a safetensors file",
       "",
       0,
       {".safetensors", ".mezzo"},
       "load_weights() and load_safetensors() read it, load_model() a model that Model::save() wrote"},
      {FileKind::shard_index, "an index of shards", "", 0, {".index.json"}, "load_weights() reads it"},
      {FileKind::npy, "an array of NumPy", "\x93NUMPY"sv, 0, {".npy"}, "load_npy() reads it"},
      {FileKind::npz, "an archive of NumPy's arrays", "", 0, {".npz"}, "load_npz() reads it"},
      {FileKind::torch_legacy,
       "a PyTorch file in the form from before 1.6",
       "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv,
       0,
       {},
       "mezzo reads the newer form: torch.save(torch.load(path, map_location=\"cpu\"), path)"},
      {FileKind::torch_script,
       "a TorchScript program",
       "",
       0,
       {},
       "mezzo doesn't read it: save its weights, torch.save(torch.jit.load(path).state_dict(), path)"},
      {FileKind::torch, "a PyTorch file", "", 0, {".pt", ".pth", ".bin"}, "load_weights() and TorchFile read it"},
      {FileKind::keras, "a Keras model", "", 0, {".keras"}, "load_model() and load_weights() read it"},
      {FileKind::hdf5,
       "an HDF5 file, as Keras writes weights and models",
       "\x89HDF\r\n\x1a\n"sv,
       0,
       {".h5", ".hdf5"},
       "load_model() and load_weights() read it"},
      {FileKind::idx, "an IDX file, as of MNIST", "", 0, {"-ubyte", ".idx"}, "read_idx_file() and mnist() read it"},
      {FileKind::table, "a table of comma-separated values", "", 0, {".csv", ".tsv"}, "read_csv() reads it"},
      {FileKind::tokenizer, "a tokenizer (JSON)", "", 0, {"tokenizer.json"}, "Tokenizer::from_file() reads it"},
      {FileKind::parquet, "a Parquet table", "PAR1"sv, 0, {".parquet"}, table_reader},
      {FileKind::arrow, "a table of Arrow", "ARROW1"sv, 0, {".arrow", ".feather"}, table_reader},
      {FileKind::excel, "an Excel workbook", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, 0, {".xlsx", ".xls"}, table_reader},
      {FileKind::other_picture, "a GIF picture", "GIF8"sv, 0, {".gif"}, "mezzo doesn't read it: convert it to PNG"},
      {FileKind::onnx, "an ONNX model", "", 0, {".onnx"}, "load_onnx() of <mezzo/onnx.hpp> reads it"},
      {FileKind::tensorflow, "a TensorFlow graph", "", 0, {".pb"}, other_reader},
      {FileKind::tflite, "a TensorFlow Lite model", "TFL3"sv, 4, {".tflite"}, other_reader},
      {FileKind::gguf, "a GGUF file of llama.cpp", "GGUF"sv, 0, {".gguf"}, other_reader},
      {FileKind::pickle,
       "a pickle of Python",
       "",
       0,
       {".pkl", ".pickle"},
       "mezzo doesn't read it, since it can run code: save arrays as .npz, tensors by torch.save()"},
      {FileKind::gzip, "a gzip file", "\x1f\x8b"sv, 0, {".gz"}, "decompress it first"},
      {FileKind::zip, "a zip archive", "PK\x03\x04"sv, 0, {".zip"}, "extract it first"},
      {FileKind::zip, "a zip archive", "PK\x05\x06"sv, 0, {}, "it is empty"},
      {FileKind::picture, "a picture", "\x89PNG\r\n\x1a\n"sv, 0, {".png"}, picture_reader},
      {FileKind::picture, "a picture", "\xff\xd8\xff"sv, 0, {".jpg", ".jpeg"}, picture_reader},
      {FileKind::picture, "a picture", "II*\0"sv, 0, {".tif", ".tiff"}, picture_reader},
      {FileKind::picture, "a picture", "MM\0*"sv, 0, {}, picture_reader},
      {FileKind::picture, "a picture", "WEBP"sv, 8, {".webp"}, picture_reader},
      {FileKind::picture, "a picture", "", 0, {".bmp"}, picture_reader}};
}

/// The table, first rows first.
const std::vector<KindRow>& kind_rows() {
  static const auto* const rows = [] {
    auto* const all = new std::vector<KindRow>(rows_of_formats());
    for (KindRow& row : rows_in_place_of_files()) all->push_back(std::move(row));
    return all;
  }();
  return *rows;
}

const KindRow& row_of(FileKind kind) {
  const auto& rows = kind_rows();
  return *std::find_if(rows.begin(), rows.end(), [&](const KindRow& row) { return row.kind == kind; });
}

/// Name of a path's file, in lower case.
std::string lower_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

/// Row of a path's suffix; null if no format has it.
const KindRow* row_of_suffix(const std::string& path) {
  const std::string name = lower_name(path);
  for (const KindRow& row : kind_rows()) {
    for (const std::string_view end : row.ends) {
      if (name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) return &row;
    }
  }
  return nullptr;
}

/// Kind of a zip archive by the names of its entries.
FileKind kind_of_archive(const std::string& path) {
  const ZipFile zip(path, "");
  const auto has = [&](std::string_view end) {
    return std::any_of(zip.entries().begin(), zip.entries().end(),
                       [&](const ZipEntry& entry) { return std::string_view(entry.name).ends_with(end); });
  };
  if (has("constants.pkl")) return FileKind::torch_script;
  if (has("data.pkl")) return FileKind::torch;
  if (has("model.weights.h5") || zip.find("config.json") != nullptr) return FileKind::keras;
  if (has("xl/workbook.xml")) return FileKind::excel;
  return has(".npy") ? FileKind::npz : FileKind::zip;
}

/// True for the start of a safetensors file: the length of a header, and the header's first character.
bool is_safetensors(std::string_view start) {
  constexpr std::size_t length_bytes = 8;
  if (start.size() <= length_bytes || start[length_bytes] != '{') return false;
  return little_endian(reinterpret_cast<const std::uint8_t*>(start.data()), length_bytes) <= max_header_bytes;
}

bool is_pickle(std::string_view start) {
  constexpr unsigned char protocol = 0x80, last_protocol = 5;
  return start.size() > 2 && static_cast<unsigned char>(start[0]) == protocol &&
         static_cast<unsigned char>(start[1]) <= last_protocol;
}

/// True for two zeros, a type and a rank. A long enough file is one of a checked shape only by its reader.
bool is_idx(std::string_view start) {
  constexpr std::string_view types = "\x08\x09\x0b\x0c\x0d\x0e";
  constexpr char largest_rank = 8;
  return start.size() > 4 && start[0] == 0 && start[1] == 0 && types.find(start[2]) != std::string_view::npos &&
         start[3] >= 1 && start[3] <= largest_rank;
}

/// True if the first bytes have no control character that texts don't have.
bool starts_as_text(std::string_view start) {
  return std::none_of(start.begin(), start.end(), [](char one) {
    const auto byte = static_cast<unsigned char>(one);
    return byte < ' ' && std::string_view("\t\n\v\f\r\x1b").find(one) == std::string_view::npos;
  });
}

/// Number of first bytes that are read.
constexpr std::size_t start_bytes = 64;

/// True if the first bytes are a text in UTF-8.
bool is_text(std::string_view start) {
  if (start.empty() || !starts_as_text(start)) return false;
  const std::size_t most = start.size() == start_bytes ? 3 : 0;  // of a character that is cut
  for (std::size_t cut = 0; cut <= most; ++cut) {
    if (is_utf8(start.substr(0, start.size() - cut))) return true;
  }
  return false;
}

/// The first bytes without white space.
std::string_view trimmed(std::string_view start) {
  return start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
}

bool is_web_page(std::string_view start) {
  std::string text(trimmed(start));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.starts_with("<!doctype html") || text.starts_with("<html");
}

/// True for the start of a JSON object or array.
bool is_json(std::string_view start) {
  const std::string_view text = trimmed(start);
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return false;
  const std::string_view rest = trimmed(text.substr(1));
  return rest.empty() || (text.front() == '{' ? "\"}"sv : "\"{[]-0123456789"sv).find(rest.front()) != rest.npos;
}

/// True for the start of an ONNX model: its version, 3 or more (a saved_model.pb of TensorFlow has 1), then another
/// field of a model.
bool is_onnx(std::string_view start) {
  constexpr char version_field = 0x08, last_version = 31;
  constexpr std::string_view next_fields = "\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca";
  return start.size() > 4 && start[0] == version_field && start[1] > 2 && start[1] <= last_version &&
         next_fields.find(start[2]) != std::string_view::npos;
}

/// Kind of a file whose first bytes no row has.
FileKind kind_of_text(std::string_view start) {
  if (start.empty()) return FileKind::empty;
  if (!is_text(start)) return FileKind::unknown;
  return is_json(start) ? FileKind::json : FileKind::text;
}

/// True for formats of texts that their suffix alone shows.
bool is_text_format(FileKind kind) {
  return kind == FileKind::shard_index || kind == FileKind::tokenizer || kind == FileKind::table;
}

/// Kind by the first bytes; unknown if no row has them.
FileKind kind_of_start(std::string_view start) {
  if (is_safetensors(start)) return FileKind::safetensors;  // its length may look like another kind
  for (const KindRow& row : kind_rows()) {
    if (row.begin.empty() || start.size() <= row.offset) continue;
    if (start.substr(row.offset).starts_with(row.begin)) return row.kind;
  }
  if (is_idx(start)) return FileKind::idx;
  if (is_onnx(start)) return FileKind::onnx;
  if (is_web_page(start)) return FileKind::web_page;
  return is_pickle(start) ? FileKind::pickle : FileKind::unknown;
}

bool is_readable(const std::string& path) {
  try {
    const OpenFile file(path, "");
    return true;
  } catch (const FileError&) {
    return false;
  }
}

std::string first_bytes(const std::string& path) {
  const OpenFile file(path, "");
  std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), start_bytes)), '\0');
  file.read(0, start.data(), start.size(), "");
  return start;
}

/// Kind by the content; unknown for a damaged archive and for a file that can't be read. `texts`: also recognizes empty
/// files and texts.
FileKind kind_of_content(const std::string& path, bool texts) {
  try {
    const std::string start = first_bytes(path);
    const FileKind kind = kind_of_start(start);
    if (kind == FileKind::unknown && texts) return kind_of_text(start);
    return kind == FileKind::zip ? kind_of_archive(path) : kind;
  } catch (const FileError&) {
    return FileKind::unknown;
  }
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const FileKind kind = kind_of_content(path, true);
  const bool is_plain = kind == FileKind::json || kind == FileKind::text;
  if ((kind != FileKind::unknown && !is_plain) || !is_readable(path)) return kind;
  const KindRow* const row = row_of_suffix(path);
  return row == nullptr || (is_plain && !is_text_format(row->kind)) ? kind : row->kind;
}

FileKind check_kind(const std::string& path, std::initializer_list<FileKind> kinds, const std::string& where,
                    const char* expected) {
  const FileKind kind = kind_of_file(path);
  if (kind == FileKind::unknown || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return kind;
  const char* const is = kind_of_content(path, true) == kind ? "it is" : "its suffix is that of";
  fail<FileError>(where, "must be {}; {} {}: {}", expected, is, row_of(kind).name, row_of(kind).reader);
}

FileKind check_kind_of_text(const std::string& path, std::initializer_list<FileKind> kinds, const std::string& where,
                            const char* expected) {
  const KindRow* const row = row_of_suffix(path);
  const bool json = row != nullptr && (row->kind == FileKind::tokenizer || row->kind == FileKind::shard_index);
  const FileKind kind = kind_of_content(path, false);
  const bool any_suffix = kind == FileKind::unknown && !json && is_readable(path);
  if (any_suffix && starts_as_text(first_bytes(path))) return kind;
  return check_kind(path, kinds, where, expected);
}

void check_content(const std::string& path, const std::string& where, const char* expected) {
  const FileKind kind = kind_of_file(path);
  if (kind_of_content(path, true) == kind || is_text_format(kind)) check_kind(path, {}, where, expected);
}

bool has_suffix(const std::string& path, const std::string& suffix) { return lower_name(path).ends_with(suffix); }

bool has_other_suffix(const std::string& path, FileKind written) {
  const KindRow* const row = row_of_suffix(path);
  return row != nullptr && row->kind != written;
}

void check_suffix(const std::string& path, FileKind written, const std::string& where, const char* expected) {
  if (!has_other_suffix(path, written)) return;
  const KindRow& row = *row_of_suffix(path);
  const char* const writer = row.kind == FileKind::onnx    ? "export_onnx() of <mezzo/onnx.hpp> writes"
                             : row.kind == FileKind::keras ? "Model::save() writes"
                             : row.kind == FileKind::hdf5  ? "save_weights() writes as .weights.h5, for weights alone"
                                                           : "is not written";
  fail<FileError>(where, "the file must end in {}; \"{}\" is the suffix of {}, which {}", expected,
                  std::filesystem::path(path).extension().string(), row.name, writer);
}

}  // namespace mezzo::detail
