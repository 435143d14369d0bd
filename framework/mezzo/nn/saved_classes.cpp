#include <map>
#include <mutex>
#include <typeindex>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/family_names.hpp>

namespace mezzo::detail {
namespace {

/// Name of a family in errors.
template <class Base>
constexpr const char* family = "object";
template <>
constexpr const char* family<Constraint> = "constraint";
template <>
constexpr const char* family<Initializer> = "initializer";
template <>
constexpr const char* family<Layer> = "layer";
template <>
constexpr const char* family<Loss> = "loss";
template <>
constexpr const char* family<Metric> = "metric";
template <>
constexpr const char* family<Optimizer> = "optimizer";
template <>
constexpr const char* family<Regularizer> = "regularizer";
template <>
constexpr const char* family<Schedule> = "schedule";

/// Classes of one family. Entries stay where they are until the program ends.
template <class Base>
class ClassTable {
 public:
  static ClassTable& one() {
    static auto* const table = new ClassTable;
    return *table;
  }

  void set_source(std::vector<SavedClass<Base>> (*classes)()) { source_ = classes; }

  const SavedClass<Base>* find(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    fill();
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
  }

  const SavedClass<Base>* find(const std::type_info& type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    fill();
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? nullptr : found->second;
  }

  void add_users(SavedClass<Base> entry) {
    const std::string where = fmt::format("[register_class \"{}\"]", entry.name);
    const std::size_t mark = entry.name.find('>');
    if (mark == 0 || mark == std::string::npos || mark + 1 == entry.name.size()) {
      fail<NameError>(where, "the name must have a package: \"my>Scale\"");
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    fill();
    const auto found = by_name_.find(entry.name);
    if (found != by_name_.end() && *found->second.type != *entry.type) {
      fail<NameError>(where, "another {} has this name already", family<Base>);
    }
    add(std::move(entry));
  }

  std::vector<std::string> names() {
    const std::lock_guard<std::mutex> lock(mutex_);
    fill();
    std::vector<std::string> out;
    for (const auto& entry : by_name_) out.push_back(entry.first);
    return out;
  }

 private:
  void fill() {
    if (source_ == nullptr) return;
    for (SavedClass<Base>& entry : source_()) add(std::move(entry));
    source_ = nullptr;
  }

  void add(SavedClass<Base> entry) {
    const auto added = by_name_.insert_or_assign(entry.name, entry).first;
    by_type_[*added->second.type] = &added->second;
  }

  std::mutex mutex_;
  std::vector<SavedClass<Base>> (*source_)() = nullptr;
  std::map<std::string, SavedClass<Base>> by_name_;
  std::map<std::type_index, const SavedClass<Base>*> by_type_;
};

/// Families whose objects have names: "mse".
template <class Base>
Any<Base> from_name(const std::string& name) {
  if constexpr (std::is_same_v<Base, Schedule> || std::is_same_v<Base, Layer>) {
    fail<ValueError>("", "a {} must be an object with \"class_name\"; got \"{}\"", family<Base>, name);
  } else {
    return Base::from_name(name);
  }
}

}  // namespace

template <class Base>
void register_classes(std::vector<SavedClass<Base>> (*classes)()) {
  ClassTable<Base>::one().set_source(classes);
}

template <class Base>
const SavedClass<Base>* find_class(const std::type_info& type) {
  return ClassTable<Base>::one().find(type);
}

template <class Base>
const SavedClass<Base>* find_class(const std::string& name) {
  return ClassTable<Base>::one().find(name);
}

template <class Base>
std::vector<std::string> class_names() {
  return ClassTable<Base>::one().names();
}

template <class Base>
Json write_options(const SavedClass<Base>& entry, const std::any& options) {
  const ConfigDepth depth;  // as read_options()
  Json json = Json::object();
  FieldsContent content{&json, true, fmt::format("[{}]", entry.name)};
  Fields fields(content);
  try {
    entry.write(options, fields);
  } catch (const std::bad_any_cast&) {
    fail<ValueError>(content.where,
                     "the options of this {} are not known: its constructor must hand its options struct "
                     "to that of the base class (see register_class)",
                     family<Base>);
  }
  return json;
}

template <class Base>
Any<Base> read_options(const SavedClass<Base>& entry, const Json& config, const std::string& name,
                       const Policy& dtype) {
  const ConfigDepth depth;
  Json json = config;
  FieldsContent content{&json, false, fmt::format("[{}]", entry.name)};
  Fields fields(content);
  return entry.make(fields, name, dtype);
}

template <class Base>
Json write_object(const Any<Base>& object) {
  if (!object) return nullptr;
  const Base& held = *object;
  held.check_not_moved();
  const SavedClass<Base>* entry = find_class<Base>(typeid(held));
  if (entry == nullptr) {
    fail<ValueError>("[save]",
                     "the {} must be of mezzo or of a class that register_class() knows; got a function or "
                     "another class. Functions of a program can't be saved",
                     family<Base>);
  }
  return {{"class_name", entry->name}, {"config", write_options(*entry, entry->options(held))}};
}

template <class Base>
Any<Base> read_object(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return from_name<Base>(json.get<std::string>());
  const ObjectParts parts = read_parts(json, family<Base>);
  const SavedClass<Base>* entry = find_class<Base>(parts.class_name);
  if (entry == nullptr) {
    fail<NameError>("",
                    "unknown {} \"{}\"; classes of your own must be registered by register_class() before loading; "
                    "known: {}{}",
                    family<Base>, parts.class_name, fmt::join(class_names<Base>(), ", "),
                    nearest_text(parts.class_name, class_names<Base>()));
  }
  return read_options(*entry, parts.config);
}

Any<Layer> copy_of_layer(const Layer& layer) {
  const SavedClass<Layer>* entry = find_class<Layer>(typeid(layer));
  return entry != nullptr ? entry->copy(layer) : layer_configs().copy(layer);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define MEZZO_FAMILY(Base)                                                                             \
  void register_saved(SavedClass<Base> entry) { ClassTable<Base>::one().add_users(std::move(entry)); } \
  template void register_classes<Base>(std::vector<SavedClass<Base>>(*)());                            \
  template const SavedClass<Base>* find_class<Base>(const std::type_info&);                            \
  template const SavedClass<Base>* find_class<Base>(const std::string&);                               \
  template std::vector<std::string> class_names<Base>();                                               \
  template Json write_options<Base>(const SavedClass<Base>&, const std::any&);                         \
  template Any<Base> read_options<Base>(const SavedClass<Base>&, const Json&, const std::string&, const Policy&)
// NOLINTEND(bugprone-macro-parentheses)

MEZZO_FAMILY(Constraint);
MEZZO_FAMILY(Initializer);
MEZZO_FAMILY(Layer);
MEZZO_FAMILY(Loss);
MEZZO_FAMILY(Metric);
MEZZO_FAMILY(Optimizer);
MEZZO_FAMILY(Regularizer);
MEZZO_FAMILY(Schedule);
#undef MEZZO_FAMILY

#define MEZZO_OBJECTS(Base)                           \
  template Json write_object<Base>(const Any<Base>&); \
  template Any<Base> read_object<Base>(const Json&)

MEZZO_OBJECTS(Constraint);
MEZZO_OBJECTS(Initializer);
MEZZO_OBJECTS(Loss);
MEZZO_OBJECTS(Metric);
MEZZO_OBJECTS(Optimizer);
MEZZO_OBJECTS(Regularizer);
MEZZO_OBJECTS(Schedule);
#undef MEZZO_OBJECTS

}  // namespace mezzo::detail
