#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/fields.hpp>

// Lists of structs in configs.
namespace mezzo {

void detail::FieldsContent::check_all_known() const {
  for (const auto& item : json->items()) {
    if (known.count(item.key()) == 0) fail_unknown(where, "option", item.key(), known);
  }
}

void Fields::finish() const {
  if (!content_.writes) content_.check_all_known();
}

void Fields::objects(const char* name, std::size_t size, const std::function<void(std::size_t)>& resize,
                     const std::function<void(Fields&, std::size_t)>& describe_one) {
  const std::string what = fmt::format("{} {}", content_.where, name);
  const auto exchange_one = [&](detail::Json& json, std::size_t i) {
    detail::FieldsContent content{&json, content_.writes, fmt::format("{} {}:", what, i)};
    Fields fields(content);
    describe_one(fields, i);
    fields.finish();
  };
  if (content_.writes) {
    detail::Json& list = (*content_.json)[name] = detail::Json::array();
    for (std::size_t i = 0; i < size; ++i) exchange_one(list.emplace_back(detail::Json::object()), i);
    return;
  }
  content_.known.insert(name);
  const auto found = content_.json->find(name);
  if (found == content_.json->end()) return;
  if (!found->is_array()) fail<ValueError>(what, "must be a list; got {}", detail::excerpt(*found));
  resize(found->size());
  for (std::size_t i = 0; i < found->size(); ++i) {
    detail::Json& one = (*found)[i];
    if (!one.is_object()) fail<ValueError>(what, "must have objects; got {}", detail::excerpt(one));
    exchange_one(one, i);
  }
}

}  // namespace mezzo
