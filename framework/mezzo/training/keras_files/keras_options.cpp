#include <mezzo/core/fail.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/training/keras_files/keras_operations.hpp>

namespace mezzo::detail {
namespace {

bool stands_for(const Json& value, const char* class_name) {
  const auto found = value.is_object() ? value.find("class_name") : value.end();
  return found != value.end() && *found == class_name;
}

std::optional<std::int64_t> bound_of(const Json& config, const char* name, const std::string& where) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return {};
  return read_size(*found, where + " " + name);
}

Index index_of(const Json& part, const std::string& where) {
  if (part.is_null()) return newaxis;
  if (part.is_number_integer()) return read_size(part, where);
  if (stands_for(part, "__ellipsis__")) return ellipsis;
  if (!stands_for(part, "__slice__")) {
    fail<ValueError>(where, "must have numbers, slices, None or \"...\"; got {}", excerpt(part));
  }
  const Json& config = member(part, "config", where);
  return Slice{bound_of(config, "start", where), bound_of(config, "stop", where), bound_of(config, "step", where)};
}

}  // namespace

void require_operation_elements(const std::string& where, std::int64_t count) {
  if (count <= max_operation_elements) return;
  fail<ValueError>(where, "an operation of keras.ops must have at most {} elements along an axis; got {}",
                   max_operation_elements, count);
}

const Json& without_tuple(const Json& value) {
  if (!stands_for(value, "__tuple__")) return value;
  const std::string where = "[Keras file] tuple";
  return member(member(value, "config", where), "value", where);
}

Value item_of_keras(const Value& x, const Json& key, const std::string& where) {
  const Json& parts = without_tuple(key);
  std::vector<Index> indices;
  if (!parts.is_array()) {
    indices.push_back(index_of(parts, where + " key"));
  } else {
    for (const Json& part : parts) indices.push_back(index_of(part, where + " key"));
  }
  return item_of(x, indices);
}

Json KerasOptions::value(const char* name) const {
  const auto found = json_.find(name);
  return found == json_.end() ? Json() : *found;
}

std::int64_t KerasOptions::integer(const char* name, std::int64_t otherwise) const {
  const Json given = value(name);
  return given.is_null() ? otherwise : read_size(given, what(name));
}

std::optional<std::int64_t> KerasOptions::axis(const char* name) const {
  const Json given = value(name);
  if (given.is_null()) return {};
  return read_size(given, what(name));
}

double KerasOptions::number(const char* name, std::optional<double> otherwise) const {
  const Json given = value(name);
  if (given.is_null() && otherwise) return *otherwise;
  return read_double(given, what(name));
}

bool KerasOptions::flag(const char* name) const {
  const Json given = value(name);
  return !given.is_null() && read_bool(given, what(name));
}

std::string KerasOptions::text(const char* name) const { return read_string(value(name), what(name)); }

Shape KerasOptions::integers(const char* name) const {
  const Json given = value(name);
  const Json& list = without_tuple(given);
  Shape out;
  if (list.is_null()) return out;
  if (list.is_array()) {
    for (const Json& item : list) out.push_back(read_size(item, what(name)));
  } else {
    out.push_back(read_size(list, what(name)));
  }
  for (const std::int64_t size : out) require_operation_elements(what(name), size);
  return out;
}

}  // namespace mezzo::detail
