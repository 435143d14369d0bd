#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/tensor_entry.hpp>

namespace mezzo {

namespace detail {
struct TorchArchive;
}

/// The tensors of a `.pt`, `.pth` or `.bin` file that torch.save() of PyTorch 1.6 or newer wrote, such as
/// `torch.save(model.state_dict(), "x.pt")`. Copies share it. The file is mapped into memory, so that it costs the
/// pages of the tensors that are read.
///
/// Such a file holds a pickle, which can name functions for Python to call. Nothing is called here: the reader knows
/// dicts, lists, numbers, texts, tensors and parameters. The only names are `collections.OrderedDict`,
/// `torch._utils._rebuild_tensor_v2`, `torch._utils._rebuild_parameter` and torch's storages (`torch.FloatStorage`,
/// ...).
///
///     const TorchFile file("resnet18.pt");
///     const Tensor kernel = file.read("conv1.weight");
class MEZZO_API TorchFile {
 public:
  /// A tensor of the file. `type` is the name of its storage.
  using Entry = TensorEntry;

  /// Opens a file and reads its pickle. Throws a FileError that names the file if it is missing, malformed or damaged;
  /// if it names anything else, such as a class (a whole model: save its state_dict()); if it is TorchScript; or if it
  /// was written by PyTorch before 1.6 or with `_use_new_zipfile_serialization=False`.
  explicit TorchFile(const std::string& path);

  /// The path given to the constructor.
  const std::string& path() const { return path_; }

  /// All tensors in the order of the file. Keys of dicts in dicts, and places in lists, are joined by ".":
  /// "state_dict.conv1.weight", "losses.0".
  const std::vector<Entry>& entries() const { return entries_; }

  /// Names of all tensors, in the order of entries().
  std::vector<std::string> names() const;

  /// Entry of a name; null if there is none.
  const Entry* find(const std::string& name) const;

  /// Reads one tensor, row-major in any strides of the file. A complex or quantized tensor is read as bytes, uint8 with
  /// one more axis. Throws a NameError if there is none of that name, a FileError if its data is damaged.
  Tensor read(const std::string& name) const;

 private:
  std::string path_;
  std::shared_ptr<const detail::TorchArchive> archive_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace mezzo
