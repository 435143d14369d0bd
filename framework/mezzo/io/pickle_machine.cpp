#include <array>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/pickle_items.hpp>
#include <mezzo/io/pickle_rebuild.hpp>
#include <mezzo/io/zip_directory.hpp>

namespace mezzo::detail {
namespace {

using Kind = PickleItem::Kind;

/// The machine that Python's pickles are programs for, with the opcodes that torch.save() writes.
class PickleMachine {
 public:
  PickleMachine(const std::uint8_t* data, std::uint64_t size, PickleItems& items, const std::string& where)
      : at_(data), end_(data + size), items_(items), where_(where) {}

  PickleItem run() {
    while (step()) {
    }
    const PickleItem top = pop();
    if (!stack_.empty() || at_ != end_) malformed("it has values or bytes after its end");
    return top;
  }

 private:
  [[noreturn]] void malformed(const char* reason) const {
    fail<FileError>(where_, "the pickle must be whole and well-formed; {}", reason);
  }

  const std::uint8_t* take(std::uint64_t count) {
    if (static_cast<std::uint64_t>(end_ - at_) < count) malformed("it is truncated");
    at_ += count;
    return at_ - count;
  }

  std::uint64_t number(std::size_t bytes) { return little_endian(take(bytes), bytes); }

  std::string text(std::uint64_t count) {
    const auto* const bytes = reinterpret_cast<const char*>(take(count));
    return {bytes, static_cast<std::size_t>(count)};
  }

  std::string line() {
    const auto* const end =
        static_cast<const std::uint8_t*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    if (end == nullptr) malformed("it is truncated");
    std::string out = text(static_cast<std::uint64_t>(end - at_));
    ++at_;
    return out;
  }

  void push(Kind kind, std::int64_t value = 0) { stack_.push_back({kind, value}); }
  void push_text(Kind kind, std::string value) {
    items_.texts.push_back(std::move(value));
    push(kind, static_cast<std::int64_t>(items_.texts.size() - 1));
  }
  void push_sequence(Kind kind, std::vector<PickleItem> values) {
    items_.sequences.push_back(std::move(values));
    push(kind, static_cast<std::int64_t>(items_.sequences.size() - 1));
  }
  void push_dict() {
    items_.dicts.emplace_back();
    push(Kind::dict, static_cast<std::int64_t>(items_.dicts.size() - 1));
  }
  void push_name(const std::string& name) {
    check_torch_name(name, where_);
    push_text(Kind::name, name);
  }

  PickleItem pop() {
    if (stack_.empty() || stack_.back().kind == Kind::mark) malformed("a value is missing");
    const PickleItem top = stack_.back();
    stack_.pop_back();
    return top;
  }

  PickleItem top(Kind kind) const {
    if (stack_.empty() || stack_.back().kind != kind) {
      fail<FileError>(where_, "must hold tensors and dicts alone; it changes {} as if it were {}",
                      pickle_kind_name(stack_.empty() ? Kind::mark : stack_.back().kind), pickle_kind_name(kind));
    }
    return stack_.back();
  }

  /// The values above the last mark. Drops the mark.
  std::vector<PickleItem> above_mark() {
    std::size_t begin = stack_.size();
    while (begin > 0 && stack_[begin - 1].kind != Kind::mark) --begin;
    if (begin == 0) malformed("a mark is missing");
    std::vector<PickleItem> values(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin - 1);
    return values;
  }

  std::vector<PickleItem> popped(std::size_t count) {
    std::vector<PickleItem> values(count);
    for (std::size_t i = count; i-- > 0;) values[i] = pop();
    return values;
  }

  void append(const std::vector<PickleItem>& values) {
    auto& list = items_.sequences[static_cast<std::size_t>(top(Kind::list).number)];
    list.insert(list.end(), values.begin(), values.end());
  }

  void set_items(const std::vector<PickleItem>& values) {
    auto& dict = items_.dicts[static_cast<std::size_t>(top(Kind::dict).number)];
    if (values.size() % 2 != 0) malformed("a key has no value");
    for (std::size_t i = 0; i < values.size(); i += 2) dict.emplace_back(values[i], values[i + 1]);
  }

  void keep(std::uint64_t index) {
    if (stack_.empty()) malformed("a value is missing");
    memo_[index] = stack_.back();
  }

  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end() || found->second.kind == Kind::mark) malformed("it uses a value that it doesn't keep");
    stack_.push_back(found->second);
  }

  void reduce() {
    const PickleItem arguments = pop(), name = pop();
    if (name.kind != Kind::name || arguments.kind != Kind::tuple) malformed("it calls a value that is no name");
    const std::vector<PickleItem> values = items_.sequences[static_cast<std::size_t>(arguments.number)];
    const std::string called = items_.texts[static_cast<std::size_t>(name.number)];
    stack_.push_back(rebuild_torch(called, values, items_, where_));
  }

  /// Attributes of a dict, such as `_metadata` of a state_dict, are dropped.
  void build() {
    const PickleItem state = pop();
    top(Kind::dict);
    if (state.kind != Kind::dict) malformed("a state is no dict");
  }

  void push_stack_name() {
    const PickleItem name = pop(), module = pop();
    if (name.kind != Kind::text || module.kind != Kind::text) malformed("a name is no text");
    const auto text_of = [&](const PickleItem& item) { return items_.texts[static_cast<std::size_t>(item.number)]; };
    push_name(text_of(module) + "." + text_of(name));
  }

  /// An integer of up to 255 bytes; one of more than 8 is a value that isn't used.
  void push_long() {
    const std::uint64_t count = number(1);
    const std::uint8_t* const bytes = take(count);
    if (count > 8) return push(Kind::other);
    std::uint64_t value = little_endian(bytes, count);
    const bool negative = count > 0 && (bytes[count - 1] & 0x80U) != 0;
    if (negative && count < 8) value |= ~std::uint64_t{0} << (8 * count);
    push(Kind::integer, static_cast<std::int64_t>(value));
  }

  bool step() {
    const auto code = static_cast<unsigned char>(number(1));
    return run_constant(code) || run_container(code) || run_other(code);
  }

  bool run_constant(unsigned char code) {
    switch (code) {
      case 'K':
        push(Kind::integer, static_cast<std::int64_t>(number(1)));
        return true;
      case 'M':
        push(Kind::integer, static_cast<std::int64_t>(number(2)));
        return true;
      case 'J':
        push(Kind::integer, static_cast<std::int32_t>(number(4)));
        return true;
      case 0x8a:
        push_long();
        return true;
      case 'G':
        take(8);
        push(Kind::other);
        return true;
      case 'N':
      case 0x88:
      case 0x89:
        push(Kind::other);
        return true;
      case 'X':
      case 'T':
        push_text(Kind::text, text(number(4)));
        return true;
      case 0x8c:
      case 'U':
        push_text(Kind::text, text(number(1)));
        return true;
      case 0x8d:
        push_text(Kind::text, text(number(8)));
        return true;
      case 'B':
        take(number(4));
        push(Kind::other);
        return true;
      case 'C':
        take(number(1));
        push(Kind::other);
        return true;
      default:
        return false;
    }
  }

  bool run_container(unsigned char code) {
    switch (code) {
      case '(':
        push(Kind::mark);
        return true;
      case ')':
        push_sequence(Kind::tuple, {});
        return true;
      case 't':
        push_sequence(Kind::tuple, above_mark());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_sequence(Kind::tuple, popped(code - 0x84U));
        return true;
      case ']':
        push_sequence(Kind::list, {});
        return true;
      case 'a':
        append(popped(1));
        return true;
      case 'e':
        append(above_mark());
        return true;
      case '}':
        push_dict();
        return true;
      case 's':
        set_items(popped(2));
        return true;
      case 'u':
        set_items(above_mark());
        return true;
      default:
        return false;
    }
  }

  /// False at the end.
  bool run_other(unsigned char code) {
    switch (code) {
      case 0x80:
        take(1);
        return true;
      case 0x95:
        take(8);
        return true;
      case 'q':
        keep(number(1));
        return true;
      case 'r':
        keep(number(4));
        return true;
      case 0x94:
        keep(memo_.size());
        return true;
      case 'h':
        get(number(1));
        return true;
      case 'j':
        get(number(4));
        return true;
      case 'c': {
        const std::string module = line();
        push_name(module + "." + line());
        return true;
      }
      case 0x93:
        push_stack_name();
        return true;
      case 'Q':
        stack_.push_back(torch_storage(pop(), items_, where_));
        return true;
      case 'R':
        reduce();
        return true;
      case 'b':
        build();
        return true;
      case '.':
        return false;
      default:
        fail<FileError>(where_, "must hold tensors and dicts alone; its pickle has the opcode {:#04x}", code);
    }
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  PickleItems& items_;
  const std::string& where_;
  std::vector<PickleItem> stack_;
  std::unordered_map<std::uint64_t, PickleItem> memo_;
};

}  // namespace

const char* pickle_kind_name(PickleItem::Kind kind) {
  constexpr std::array<const char*, 10> names{"nothing", "a value", "an integer", "a text",    "a name",
                                              "a tuple", "a list",  "a dict",     "a storage", "a tensor"};
  return names.at(static_cast<std::size_t>(kind));
}

PickleItem run_torch_pickle(const std::uint8_t* data, std::uint64_t size, PickleItems& items,
                            const std::string& where) {
  return PickleMachine(data, size, items, where).run();
}

}  // namespace mezzo::detail
