#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// A storage of torch: the numbers of one or more tensors, an entry of the archive.
struct TorchStorage {
  std::string type;            ///< "FloatStorage"
  std::optional<DType> dtype;  ///< nullopt: mezzo lacks it
  std::uint64_t element = 0;   ///< bytes of an element
  std::string key;             ///< name of the entry
  std::uint64_t count = 0;     ///< elements
};

/// A view of a storage. Offset and strides count elements.
struct TorchTensor {
  std::size_t storage = 0;  ///< index in TorchPickle::storages
  std::uint64_t offset = 0;
  Shape shape, strides;
};

/// The tensors of a pickle with their names, in its order: keys of dicts and places in lists, joined by ".".
struct TorchPickle {
  std::vector<TorchStorage> storages;
  std::vector<std::pair<std::string, TorchTensor>> tensors;
};

/// Reads the pickle `data.pkl` of a file of torch.save(), without calling anything; TorchFile describes the names that
/// it knows. Tensors lie in their storages and have at most the elements of these. Throws a FileError that starts with
/// `where` and names what else it meets.
TorchPickle read_torch_pickle(const std::uint8_t* data, std::uint64_t size, const std::string& where);

}  // namespace mezzo::detail
