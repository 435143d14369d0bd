#include <mezzo/io/torch_pickle.hpp>

#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/pickle_items.hpp>

namespace mezzo::detail {
namespace {

using Kind = PickleItem::Kind;

// A pickle can have dicts in dicts that are used many times over: the limits bound the names that come of them.
constexpr int most_levels = 32;
constexpr std::size_t most_values = 4'000'000, most_name_bytes = 64'000'000;

/// Collects the tensors below a value with their names.
class NameCollector {
 public:
  NameCollector(const PickleItems& items, TorchPickle& out, const std::string& where)
      : items_(items), out_(out), where_(where) {}

  void collect(const PickleItem& item, const std::string& name, int level) {
    if (level > most_levels || ++values_ > most_values) {
      fail<FileError>(where_, "must have at most {} values in {} levels of dicts and lists; got more", most_values,
                      most_levels);
    }
    const auto index = static_cast<std::size_t>(item.number);
    if (item.kind == Kind::tensor) {
      add(name, items_.tensors[index]);
    } else if (item.kind == Kind::dict) {
      for (const auto& [key, value] : items_.dicts[index]) collect(value, joined(name, key_text(key)), level + 1);
    } else if (item.kind == Kind::list || item.kind == Kind::tuple) {
      std::size_t place = 0;
      for (const PickleItem& value : items_.sequences[index]) {
        collect(value, joined(name, std::to_string(place++)), level + 1);
      }
    }
  }

 private:
  /// Text of a key; "?" for one that is neither a text nor an integer, below which there may be no tensor.
  std::string key_text(const PickleItem& key) const {
    if (key.kind == Kind::text) return items_.texts[static_cast<std::size_t>(key.number)];
    return key.kind == Kind::integer ? std::to_string(key.number) : "?";
  }

  std::string joined(const std::string& name, const std::string& key) {
    name_bytes_ += name.size() + key.size();
    if (name_bytes_ > most_name_bytes) {
      fail<FileError>(where_, "must have names of at most {} bytes in all; got more", most_name_bytes);
    }
    return name.empty() ? key : name + "." + key;
  }

  void add(const std::string& name, const TorchTensor& tensor) {
    if (!names_.insert(name).second) fail<FileError>(where_, "names must differ; got two tensors \"{}\"", name);
    out_.tensors.emplace_back(name, tensor);
  }

  const PickleItems& items_;
  TorchPickle& out_;
  const std::string& where_;
  std::size_t values_ = 0, name_bytes_ = 0;
  std::set<std::string> names_;
};

}  // namespace

TorchPickle read_torch_pickle(const std::uint8_t* data, std::uint64_t size, const std::string& where) {
  PickleItems items;
  const PickleItem root = run_torch_pickle(data, size, items, where);
  TorchPickle out;
  NameCollector(items, out, where).collect(root, "", 0);
  out.storages = std::move(items.storages);
  return out;
}

}  // namespace mezzo::detail
