#pragma once
#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/json_fields.hpp>

namespace mezzo::detail {

/// Reader of the members of one type of a part.
template <class Part>
struct PartReader {
  const char* type;
  Part (*read)(JsonFields& fields);
};

/// Reads a part by its type. `kind` is its name in errors.
template <class Part, std::size_t n>
Part read_part(JsonFields& fields, const char* kind, const PartReader<Part> (&readers)[n]) {
  const std::string type = fields.text("type");
  std::vector<std::string> names;
  for (const PartReader<Part>& one : readers) {
    names.emplace_back(one.type);
    if (type != one.type) continue;
    Part part = one.read(fields);
    fields.done();
    return part;
  }
  fail<FileError>(fields.where(), "{}: unknown {} \"{}\"; known types: {}", fields.path("type"), kind, type,
                  fmt::join(names, ", "));
}

/// Reads a list of parts.
template <class Part>
std::vector<Part> read_list(JsonFields& fields, const char* name, Part (*read)(JsonFields)) {
  std::vector<Part> out;
  for (JsonFields& one : fields.objects(name)) out.push_back(read(std::move(one)));
  return out;
}

}  // namespace mezzo::detail
