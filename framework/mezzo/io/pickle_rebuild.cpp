#include <mezzo/io/pickle_rebuild.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

using Kind = PickleItem::Kind;

struct StorageType {
  const char* name;
  std::optional<DType> dtype;
  std::uint64_t element;
};

constexpr std::array<StorageType, 12> storage_types{{{"FloatStorage", DType::float32, 4},
                                                     {"DoubleStorage", DType::float64, 8},
                                                     {"HalfStorage", DType::float16, 2},
                                                     {"BFloat16Storage", DType::bfloat16, 2},
                                                     {"LongStorage", DType::int64, 8},
                                                     {"IntStorage", DType::int32, 4},
                                                     {"ShortStorage", DType::int16, 2},
                                                     {"CharStorage", DType::int8, 1},
                                                     {"ByteStorage", DType::uint8, 1},
                                                     {"BoolStorage", DType::boolean, 1},
                                                     {"ComplexFloatStorage", std::nullopt, 8},
                                                     {"ComplexDoubleStorage", std::nullopt, 16}}};

constexpr const char *ordered_dict = "collections.OrderedDict", *rebuild_tensor = "torch._utils._rebuild_tensor_v2",
                     *rebuild_parameter = "torch._utils._rebuild_parameter";
constexpr std::string_view torch_module = "torch.";
constexpr std::size_t most_axes = 64;  // torch's

/// Type of a storage's class: "torch.FloatStorage"; null for another name.
const StorageType* storage_type(const std::string& name) {
  for (const StorageType& type : storage_types) {
    if (name.size() > torch_module.size() && name.compare(0, torch_module.size(), torch_module) == 0 &&
        name.substr(torch_module.size()) == type.name) {
      return &type;
    }
  }
  return nullptr;
}

[[noreturn]] void malformed_tensor(const std::string& where) {
  fail<FileError>(where, "a tensor's arguments must be a storage, an offset, sizes and strides; got others");
}

/// Numbers of a tuple of integers of 0 or more.
Shape numbers_of(const PickleItem& item, const PickleItems& items, const std::string& where) {
  if (item.kind != Kind::tuple) malformed_tensor(where);
  Shape out;
  for (const PickleItem& number : items.sequences[static_cast<std::size_t>(item.number)]) {
    if (number.kind != Kind::integer || number.number < 0) malformed_tensor(where);
    out.push_back(number.number);
  }
  if (out.size() > most_axes) malformed_tensor(where);
  return out;
}

/// Checks that a tensor lies in its storage. A tensor that repeats elements could have any size.
void check_view(const TorchTensor& tensor, const TorchStorage& storage, const std::string& where) {
  std::uint64_t elements = 1, last = tensor.offset;
  bool overflow = false;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const auto size = static_cast<std::uint64_t>(tensor.shape[axis]);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[axis]);
    std::uint64_t span = 0;
    if (size == 0) return;
    overflow = overflow || __builtin_mul_overflow(elements, size, &elements) ||
               __builtin_mul_overflow(size - 1, stride, &span) || __builtin_add_overflow(last, span, &last);
  }
  if (overflow || last >= storage.count) {
    fail<FileError>(where, "a tensor of shape {} and strides {} must lie in its storage of {} elements", tensor.shape,
                    tensor.strides, storage.count);
  }
  if (elements > storage.count) {
    fail<FileError>(where,
                    "a tensor of shape {} must have at most the {} elements of its storage: copy an expanded "
                    "tensor, x.contiguous(), before it is saved",
                    tensor.shape, storage.count);
  }
}

PickleItem rebuilt_tensor(const std::vector<PickleItem>& arguments, PickleItems& items, const std::string& where) {
  // storage, offset, sizes, strides, requires_grad, hooks, and from torch 1.13 a dict of further states
  constexpr std::size_t least = 6, most = 7;
  const bool good = arguments.size() >= least && arguments.size() <= most && arguments[0].kind == Kind::storage &&
                    arguments[1].kind == Kind::integer && arguments[1].number >= 0;
  if (!good) malformed_tensor(where);
  if (arguments.size() == most && arguments[most - 1].kind == Kind::dict &&
      !items.dicts[static_cast<std::size_t>(arguments[most - 1].number)].empty()) {
    fail<FileError>(where,
                    "a tensor must have its numbers as they are; got one with a bit that negates or conjugates "
                    "them: copy it, x.resolve_neg().resolve_conj(), before it is saved");
  }
  TorchTensor tensor{.storage = static_cast<std::size_t>(arguments[0].number),
                     .offset = static_cast<std::uint64_t>(arguments[1].number),
                     .shape = numbers_of(arguments[2], items, where),
                     .strides = numbers_of(arguments[3], items, where)};
  if (tensor.shape.size() != tensor.strides.size()) malformed_tensor(where);
  check_view(tensor, items.storages[tensor.storage], where);
  items.tensors.push_back(std::move(tensor));
  return {Kind::tensor, static_cast<std::int64_t>(items.tensors.size() - 1)};
}

}  // namespace

void check_torch_name(const std::string& name, const std::string& where) {
  if (name == ordered_dict || name == rebuild_tensor || name == rebuild_parameter || storage_type(name) != nullptr) {
    return;
  }
  fail<FileError>(where,
                  "must hold tensors and dicts alone; it names {}, which could run code and is not called: save "
                  "model.state_dict(), whose values are tensors of the usual dtypes",
                  name);
}

PickleItem rebuild_torch(const std::string& name, const std::vector<PickleItem>& arguments, PickleItems& items,
                         const std::string& where) {
  if (name == rebuild_tensor) return rebuilt_tensor(arguments, items, where);
  if (name == rebuild_parameter) {
    if (arguments.empty() || arguments[0].kind != Kind::tensor) malformed_tensor(where);
    return arguments[0];
  }
  if (name == ordered_dict && arguments.empty()) {
    items.dicts.emplace_back();
    return {Kind::dict, static_cast<std::int64_t>(items.dicts.size() - 1)};
  }
  fail<FileError>(where, "must call {} as torch.save() writes it; got other arguments", name);
}

PickleItem torch_storage(const PickleItem& id, PickleItems& items, const std::string& where) {
  constexpr std::array<Kind, 5> kinds{Kind::text, Kind::name, Kind::text, Kind::text, Kind::integer};
  const bool is_tuple = id.kind == Kind::tuple;
  const auto parts = is_tuple ? items.sequences[static_cast<std::size_t>(id.number)] : std::vector<PickleItem>();
  const bool good = std::equal(parts.begin(), parts.end(), kinds.begin(), kinds.end(),
                               [](const PickleItem& part, Kind kind) { return part.kind == kind; });
  const auto text = [&](std::size_t i) { return items.texts[static_cast<std::size_t>(parts[i].number)]; };
  const StorageType* const type = good && text(0) == "storage" ? storage_type(text(1)) : nullptr;
  if (type == nullptr || parts[4].number < 0) {
    fail<FileError>(where, "a persistent id must be a storage of torch; got another");
  }
  items.storages.push_back({.type = type->name,
                            .dtype = type->dtype,
                            .element = type->element,
                            .key = text(2),
                            .count = static_cast<std::uint64_t>(parts[4].number)});
  return {Kind::storage, static_cast<std::int64_t>(items.storages.size() - 1)};
}

}  // namespace mezzo::detail
