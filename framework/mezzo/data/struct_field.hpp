#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/data/struct_member.hpp>

namespace mezzo::detail {

/// Codes of strings, their positions in `categories`, as int64 (count,). Throws a ValueError that names field and row
/// for a string that is none of them, and if two categories are equal. No categories: the strings, sorted.
MEZZO_API Tensor category_codes(const std::string& field, const std::vector<std::string>& texts,
                                std::vector<std::string> categories);

/// Throws a ValueError for a field with the name "", and for one whose member or function is empty.
MEZZO_API void check_struct_field(const std::string& name, bool empty);

/// A field of samples that are structs of type Row: a name and a member, or a function of a Row.
template <class Row>
class StructField {
 public:
  template <class Member, class = std::enable_if_t<std::is_invocable_v<const Member&, const Row&>>>
  StructField(std::string name, Member member, Role role = Role::input, std::vector<std::string> categories = {})
      : name_(std::move(name)),
        role_(role),
        empty_(is_empty(member, 0)),
        read_([member = std::move(member), categories = std::move(categories)](const std::string& field,
                                                                               const std::vector<Row>& rows) {
          return tensor_of(field, rows, member, categories);
        }) {}

  /// The values of all rows along axis 0. Throws a ValueError if the field has no name or no member.
  NamedTensor read(const std::vector<Row>& rows) const {
    check_struct_field(name_, empty_);
    return {name_, read_(name_, rows), role_};
  }

 private:
  /// True for a null pointer and for a std::function without a target.
  template <class Member>
  static auto is_empty(const Member& member, int) -> decltype(static_cast<bool>(member == nullptr)) {
    return member == nullptr;
  }
  template <class Member>
  static bool is_empty(const Member&, long) {
    return false;
  }

  template <class Member>
  static Tensor tensor_of(const std::string& field, const std::vector<Row>& rows, const Member& member,
                          const std::vector<std::string>& categories) {
    using Value = std::remove_cv_t<std::remove_reference_t<std::invoke_result_t<const Member&, const Row&>>>;
    if constexpr (std::is_same_v<Value, std::string>) {
      std::vector<std::string> texts;
      for (const Row& row : rows) texts.push_back(std::invoke(member, row));
      return category_codes(field, texts, categories);
    } else {
      StructColumn column(field);
      column.check_categories(categories);
      Shape shape{static_cast<std::int64_t>(rows.size())};
      StructMember<Value>::add_sizes(std::invoke(member, rows.front()), shape);
      Tensor out = Tensor::uninitialized(shape, DTypeOf<typename StructMember<Value>::Element>::value);
      auto* to = out.template mutable_data<typename StructMember<Value>::Element>();
      for (const Row& row : rows) {
        StructMember<Value>::write(std::invoke(member, row), shape.data() + 1, column, to);
        column.next_row();
      }
      return out;
    }
  }

  std::string name_;
  Role role_;
  bool empty_;
  std::function<Tensor(const std::string& field, const std::vector<Row>& rows)> read_;
};

}  // namespace mezzo::detail
