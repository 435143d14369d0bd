#include <mezzo/io/npz_lists.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/npy_format.hpp>

namespace mezzo::detail {
namespace {

/// A value of a pickle. Lists keep integers apart from other entries.
struct Item {
  enum class Kind { none, number, text, name, sequence, object, mark };
  struct Content {
    std::vector<std::int64_t> numbers;
    std::vector<Item> others;
    std::string text;
    int depth = 0;  ///< levels of other contents below
  };

  Kind kind = Kind::none;
  std::int64_t number = 0;
  std::shared_ptr<Content> content;
};

/// Runs the opcodes that numpy writes for an array of lists of integers (pickle protocols 2 to 4).
class ListPickle {
 public:
  ListPickle(const char* data, std::size_t size, const std::string& where)
      : at_(data), end_(data + size), where_(where) {}

  std::vector<std::vector<std::int64_t>> read() {
    while (step()) {
    }
    const Item top = pop();
    const bool array = top.kind == Item::Kind::object && top.content->others.size() == 1 && at_ == end_;
    if (!array) refuse("must be an array of lists");
    std::vector<std::vector<std::int64_t>> lists;
    for (const Item& list : top.content->others.front().content->others) {
      if (list.kind != Item::Kind::sequence || !list.content->others.empty()) refuse("must hold lists of integers");
      lists.push_back(list.content->numbers);
    }
    if (!top.content->others.front().content->numbers.empty()) refuse("must hold lists of integers");
    return lists;
  }

 private:
  using Kind = Item::Kind;

  [[noreturn]] void refuse(const std::string& expected) const {
    fail<FileError>(where_, "{}; got another pickle", expected);
  }

  std::uint64_t bytes(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) refuse("must be whole");
    std::uint64_t number = 0;
    std::memcpy(&number, at_, count);
    at_ += count;
    return number;
  }

  std::string text(std::uint64_t count) {
    if (static_cast<std::uint64_t>(end_ - at_) < count) refuse("must be whole");
    at_ += count;
    return {at_ - count, at_};
  }

  std::string line() {
    const auto* const end = static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    if (end == nullptr) refuse("must be whole");
    const std::string text(at_, end);
    at_ = end + 1;
    return text;
  }

  static Item made(Kind kind) { return {kind, 0, std::make_shared<Item::Content>()}; }
  void push_number(std::int64_t number) { stack_.push_back({Kind::number, number, nullptr}); }
  void push_text(std::string text) {
    stack_.push_back(made(Kind::text));
    stack_.back().content->text = std::move(text);
  }

  Item pop() {
    if (stack_.empty() || stack_.back().kind == Kind::mark) refuse("must be well-formed");
    Item top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }

  Item& top(Kind kind) {
    if (stack_.empty() || stack_.back().kind != kind) refuse("must be well-formed");
    return stack_.back();
  }

  void push_name(const std::string& module, const std::string& name) {
    for (const char* known : {"numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct",
                              "numpy ndarray", "numpy dtype", "_codecs encode"}) {
      if (module + " " + name == known) {
        stack_.push_back(made(Kind::name));
        stack_.back().content->text = name;
        return;
      }
    }
    fail<FileError>(where_, "names \"{} {}\", which could run code and is not called; only lists of integers are read",
                    module, name);
  }

  void append(Item& list, Item item) const {
    if (item.kind == Kind::number) {
      list.content->numbers.push_back(item.number);
      return;
    }
    // Deep nests would overflow the stack when they are destroyed.
    if (item.content) list.content->depth = std::max(list.content->depth, item.content->depth + 1);
    if (list.content->depth > 8) refuse("must hold lists of integers");
    list.content->others.push_back(std::move(item));
  }

  /// The items above the last mark. Drops the mark.
  std::vector<Item> above_mark() {
    std::size_t begin = stack_.size();
    while (begin > 0 && stack_[begin - 1].kind != Kind::mark) --begin;
    if (begin == 0) refuse("must be well-formed");
    std::vector<Item> items(std::make_move_iterator(stack_.begin() + static_cast<std::ptrdiff_t>(begin)),
                            std::make_move_iterator(stack_.end()));
    stack_.resize(begin - 1);
    return items;
  }

  void push_tuple(std::vector<Item> items) {
    Item tuple = made(Kind::sequence);
    for (Item& item : items) append(tuple, std::move(item));
    stack_.push_back(std::move(tuple));
  }

  void push_tuple(std::size_t count) {
    std::vector<Item> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }

  void keep(std::uint64_t index) {
    if (stack_.empty()) refuse("must be well-formed");
    memo_[index] = stack_.back().kind == Kind::text || stack_.back().kind == Kind::name ? stack_.back() : Item();
  }

  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    // Names may be used again. Lists may not: they could contain themselves.
    if (found == memo_.end() || !found->second.content) refuse("must be well-formed");
    stack_.push_back(found->second);
  }

  /// A call is not executed: an object replaces it.
  void reduce() {
    pop();
    top(Kind::name);
    stack_.pop_back();
    stack_.push_back(made(Kind::object));
  }

  /// State of an array: (version, shape, dtype, order, list). An object keeps the list, its only list of the state's
  /// last place.
  void build() {
    const Item state = pop();
    Item& object = top(Kind::object);
    if (state.kind != Kind::sequence) refuse("must be well-formed");
    object.content->others.clear();
    if (!state.content->others.empty() && state.content->others.back().kind == Kind::sequence) {
      append(object, state.content->others.back());
    }
  }

  bool step() {
    const auto code = static_cast<unsigned char>(bytes(1));
    switch (code) {
      case 0x80:
        bytes(1);
        break;
      case 0x95:
        bytes(8);
        break;
      case 'c': {
        const std::string module = line();
        push_name(module, line());
        break;
      }
      case 0x93: {
        const Item name = pop(), module = pop();
        if (name.kind != Kind::text || module.kind != Kind::text) refuse("must be well-formed");
        push_name(module.content->text, name.content->text);
        break;
      }
      case 'K':
        push_number(static_cast<std::int64_t>(bytes(1)));
        break;
      case 'M':
        push_number(static_cast<std::int64_t>(bytes(2)));
        break;
      case 'J':
        push_number(static_cast<std::int32_t>(bytes(4)));
        break;
      case 'N':
      case 0x88:
      case 0x89:
        stack_.emplace_back();
        break;
      case 'X':
      case 'T':
      case 'B':
        push_text(text(bytes(4)));
        break;
      case 0x8c:
      case 'U':
      case 'C':
        push_text(text(bytes(1)));
        break;
      case '(':
        stack_.push_back({Kind::mark, 0, nullptr});
        break;
      case ')':
        push_tuple(std::size_t{0});
        break;
      case 't':
        push_tuple(above_mark());
        break;
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple(static_cast<std::size_t>(code - 0x84));
        break;
      case ']':
        stack_.push_back(made(Kind::sequence));
        break;
      case 'a': {
        Item item = pop();
        append(top(Kind::sequence), std::move(item));
        break;
      }
      case 'e': {
        std::vector<Item> items = above_mark();
        Item& list = top(Kind::sequence);
        for (Item& item : items) append(list, std::move(item));
        break;
      }
      case 'q':
        keep(bytes(1));
        break;
      case 'r':
        keep(bytes(4));
        break;
      case 0x94:
        keep(memo_.size());
        break;
      case 'h':
        get(bytes(1));
        break;
      case 'j':
        get(bytes(4));
        break;
      case 'R':
        reduce();
        break;
      case 'b':
        build();
        break;
      case '.':
        return false;
      default:
        refuse("must hold lists of integers");
    }
    return true;
  }

  const char* at_;
  const char* end_;
  std::string where_;
  std::vector<Item> stack_;
  std::unordered_map<std::uint64_t, Item> memo_;
};

/// First byte of the pickle of an array of objects in `.npy`; 0 for other arrays.
std::size_t pickle_begin(std::string_view content) {
  if (content.size() < 12 || content.compare(0, 6, "\x93NUMPY") != 0) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(content[i])); };
  const bool short_header = byte(6) == 1;
  const std::size_t begin = short_header ? 10 : 12;
  const std::size_t length = byte(8) + (byte(9) << 8U) + (short_header ? 0 : (byte(10) << 16U) + (byte(11) << 24U));
  if (length > content.size() - begin) return 0;
  const std::string_view header = content.substr(begin, length);
  return header.find("'descr': '|O'") == std::string_view::npos ? 0 : begin + length;
}

}  // namespace

NpzLists load_npz_lists(const std::string& path) {
  NpzLists all;
  for_each_npz_entry(path, [&](const std::string& name, std::string_view content, const std::string& where) {
    if (const std::size_t begin = pickle_begin(content)) {
      all.lists[name] = ListPickle(content.data() + begin, content.size() - begin, where).read();
      return;
    }
    all.tensors[name] = read_npy(reader_of(content), content.size(), "", where);
  });
  return all;
}

}  // namespace mezzo::detail
