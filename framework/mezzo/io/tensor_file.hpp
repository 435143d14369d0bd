#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/io/tensor_entry.hpp>

namespace mezzo {

namespace detail {
/// Path of a file that was recognized as one of the kind that a reader reads.
struct RecognizedFile {
  std::string path;
};
}  // namespace detail

/// Names and descriptions of the tensors in a file: base of SafetensorsFile and TorchFile.
class MEZZO_API TensorFile {
 public:
  /// A tensor's description.
  using Entry = TensorEntry;

  /// The path given to the constructor.
  const std::string& path() const { return path_; }

  /// All tensors, in the order of the file.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Names of all tensors, in the order of entries().
  std::vector<std::string> names() const;

  /// Entry of a name; null if there is none.
  const Entry* find(const std::string& name) const;

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}  ///< path: for error texts

  /// Adds a tensor that the file lists; for readers of formats.
  void add(Entry entry);

  /// Index in entries() of a name. Throws a NameError that starts with `where` if there is none.
  std::size_t index_of(const std::string& name, const std::string& where) const;

 private:
  std::string path_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace mezzo
