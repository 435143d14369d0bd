#pragma once
#include <initializer_list>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Kinds of files that are recognized. One table in file_kind.cpp has their first bytes, suffixes and descriptions.
enum class FileKind {
  unknown,
  safetensors,  ///< also `.mezzo` and checkpoints of mezzo
  shard_index,
  npy,
  npz,
  torch,
  torch_script,
  torch_legacy,
  keras,
  hdf5,
  onnx,
  tensorflow,
  tflite,
  gguf,
  pickle,
  idx,
  table,      ///< comma-separated values, by suffix alone
  tokenizer,  ///< tokenizer.json, by name alone
  parquet,
  arrow,
  excel,
  gzip,
  zip,
  picture,
  other_picture,  ///< of a format that is not read
  lfs_pointer,    ///< stands for a file in a clone by git that lacks Git LFS
  web_page,
  empty,
  json,  ///< a text that begins as JSON
  text,  ///< another text
};

/// Kind of an existing file by its first bytes, a zip archive by its entries, else by its suffix. A text is of the kind
/// of its suffix if that is a format of texts. unknown for a file that can't be read: who reads it has the reason.
FileKind kind_of_file(const std::string& path);

/// Returns the kind of a file. Throws a FileError if it is a known one that isn't one of `kinds`: `where`, `expected`
/// (the files that are read), the kind of the file and what reads it.
MEZZO_API FileKind check_kind(const std::string& path, std::initializer_list<FileKind> kinds, const std::string& where,
                              const char* expected);

/// The same for readers of texts, which have any suffix: it counts only if the file doesn't start as a text, or for
/// JSON.
FileKind check_kind_of_text(const std::string& path, std::initializer_list<FileKind> kinds, const std::string& where,
                            const char* expected);

/// The same for readers of binary files with any suffix: it counts only if the file is a text.
void check_content(const std::string& path, const std::string& where, const char* expected);

/// True if a path ends in a suffix, in lower or upper case: ".keras".
bool has_suffix(const std::string& path, const std::string& suffix);

/// True if a path has a suffix of another format than the one that is going to be written.
bool has_other_suffix(const std::string& path, FileKind written);

/// A FileError if a path has a suffix of another format than the one that is going to be written: no file has the name
/// of a format that it isn't. `expected` names the suffixes to choose.
MEZZO_API void check_suffix(const std::string& path, FileKind written, const std::string& where, const char* expected);

}  // namespace mezzo::detail
