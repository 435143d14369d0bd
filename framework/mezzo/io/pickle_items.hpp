#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/torch_pickle.hpp>

namespace mezzo::detail {

/// A value of a pickle. `number` is an integer, or an index in the list of PickleItems for that kind.
struct PickleItem {
  enum class Kind : std::uint8_t {
    mark,
    other,  ///< a value that is not used: None, a bool, a float, bytes
    integer,
    text,
    name,
    tuple,
    list,
    dict,
    storage,
    tensor,
  };
  Kind kind = Kind::other;
  std::int64_t number = 0;
};

/// Contents of the values of a pickle. Values refer to them by index, so that lists that contain themselves are no
/// leaks.
struct PickleItems {
  std::vector<std::string> texts;  ///< also of names: "collections.OrderedDict"
  std::vector<std::vector<PickleItem>> sequences;
  std::vector<std::vector<std::pair<PickleItem, PickleItem>>> dicts;
  std::vector<TorchStorage> storages;
  std::vector<TorchTensor> tensors;
};

/// Name of a kind for error texts: "a list".
const char* pickle_kind_name(PickleItem::Kind kind);

/// Runs the opcodes of a pickle and returns its value.
PickleItem run_torch_pickle(const std::uint8_t* data, std::uint64_t size, PickleItems& items, const std::string& where);

}  // namespace mezzo::detail
