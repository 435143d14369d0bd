#pragma once
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/tensor_file.hpp>

namespace mezzo {

namespace detail {
struct TorchArchive;
}

/// The tensors of a `.pt`, `.pth` or `.bin` file that torch.save() of PyTorch 1.6 or newer wrote, such as
/// `torch.save(model.state_dict(), "x.pt")`. Copies share it. Keys of dicts in dicts, and places in lists, are joined
/// by ".": "state_dict.conv1.weight", "losses.0". The `type` of an entry is the name of its storage.
///
/// Such a file holds a pickle, which can name functions for Python to call. Nothing is called here: the reader knows
/// dicts, lists, numbers, texts, tensors and parameters. The only names are `collections.OrderedDict`,
/// `torch._utils._rebuild_tensor_v2`, `torch._utils._rebuild_parameter` and torch's storages (`torch.FloatStorage`,
/// ...).
///
///     const TorchFile file("resnet18.pt");
///     const Tensor kernel = file.read("conv1.weight");
class MEZZO_API TorchFile : public TensorFile {
 public:
  /// Opens a file and reads its pickle. Throws a FileError that names the file if it is missing, malformed or damaged;
  /// if it names anything else, such as a class (a whole model: save its state_dict()); if it is TorchScript; or if it
  /// was written by PyTorch before 1.6 or with `_use_new_zipfile_serialization=False`.
  explicit TorchFile(const std::string& path);

  /// The same for a file that was recognized before.
  explicit TorchFile(const detail::RecognizedFile& file);

  /// Reads one tensor, row-major in any strides of the file. A complex or quantized tensor is read as bytes, uint8 with
  /// one more axis. Throws a NameError if there is none of that name, a FileError if its data is damaged or if the file
  /// was changed since it was opened.
  Tensor read(const std::string& name) const;

  /// Throws the errors of read() for damaged data, without memory for the tensor. Each storage is checked once: read()
  /// doesn't repeat it.
  void check(const std::string& name) const;

 private:
  void read_view(std::size_t index, void* to, const std::string& where) const;

  std::shared_ptr<detail::TorchArchive> archive_;
};

}  // namespace mezzo
