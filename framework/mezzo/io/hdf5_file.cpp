#include <mezzo/io/hdf5_file.hpp>

#include <algorithm>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/hdf5_chunks.hpp>
#include <mezzo/io/hdf5_groups.hpp>
#include <mezzo/io/inflater.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {
namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_name = 1024, max_texts = 65536;

std::string printable(std::string text) {
  if (text.size() > 80) text.resize(80);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

/// Bytes that the file has for an array.
std::uint64_t stored_bytes(const Hdf5Source& source, const Hdf5Object& object) {
  switch (object.layout.kind) {
    case Hdf5Layout::Kind::compact:
      return object.layout.data.size();
    case Hdf5Layout::Kind::contiguous:
      if (object.layout.address == hdf5_nowhere) return 0;
      source.check_place(object.layout.address, object.layout.size);
      return object.layout.size;
    case Hdf5Layout::Kind::chunked:
      return hdf5_chunk_bytes(source, object);
    default:
      return 0;
  }
}

void reverse_elements(std::uint8_t* bytes, std::size_t count, std::size_t element) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(bytes + i * element, bytes + (i + 1) * element);
}

/// Text in a heap of the file: length, address of the heap, index in it.
std::string heap_text(const Hdf5Source& source, Hdf5Cursor& reference) {
  const std::uint64_t length = reference.number(4), heap = reference.address(), wanted = reference.number(4);
  if (length == 0) return {};
  Hdf5Cursor head(source.read(heap, 16), source.where());
  head.expect("GCOL");
  head.skip(4);
  const std::uint64_t size = head.number(8);
  if (size < 16) fail<FileError>(source.where(), "a heap of texts is damaged");
  Hdf5Cursor part(source.read(heap + 16, size - 16), source.where());
  while (part.left() >= 16) {
    const std::uint64_t index = part.number(2);
    part.skip(6);
    const std::uint64_t bytes = part.number(8);
    if (index == 0) break;
    if (bytes > part.left()) break;
    if (index == wanted && length <= bytes) return part.text(static_cast<std::size_t>(length));
    part.skip(std::min<std::size_t>(static_cast<std::size_t>((bytes + 7) / 8 * 8), part.left()));
  }
  fail<FileError>(source.where(), "a text of an attribute is damaged");
}

}  // namespace

/// Visits all objects of a file and checks them.
class Hdf5File::Walk {
 public:
  Walk(Hdf5File& file) : file_(file), source_(*file.source_), left_(64 + file.size_ / 16) {}

  void visit(const std::string& path, std::uint64_t address, int depth) {
    if (depth > max_depth) refuse("groups must be nested at most {} deep", max_depth);
    Hdf5Object object = read_hdf5_object(source_, address);
    const std::string name = printable(path);
    if (object.layout.kind != Hdf5Layout::Kind::none || object.shape || object.null_space) {
      file_.arrays_.emplace(path, checked_array(object, name));
    } else if (object.has_tree || object.has_links) {
      for (const Hdf5Link& link : hdf5_links(source_, object, left_)) follow(path, link, depth);
    } else {
      refuse("\"{}\" must be a group or an array; got a type", name);
    }
    object.links.clear();
    file_.objects_.emplace(path, std::move(object));
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    fail<FileError>(source_.where(), "{}", fmt::format(text, std::forward<Args>(args)...));
  }

  void follow(const std::string& path, const Hdf5Link& link, int depth) {
    const std::string child = path.empty() ? link.name : path + "/" + link.name;
    if (left_-- == 0) refuse("a file of {} bytes can't have so many objects", source_.size());
    if (link.name.empty() || child.size() > max_name) refuse("names of objects must have 1 to {} bytes", max_name);
    if (!link.hard) refuse("\"{}\" is a soft or external link; these are not followed", printable(child));
    visit(child, link.address, depth + 1);
  }

  Hdf5Array checked_array(const Hdf5Object& object, const std::string& name) const {
    if (object.external) refuse("\"{}\" is stored in another file, which is not read", name);
    if (!object.type || !object.type->dtype) refuse("\"{}\" must be of numbers that mezzo has; got another type", name);
    if (!object.shape) refuse("\"{}\" must have 0 to 32 axes", name);
    if (object.layout.kind == Hdf5Layout::Kind::other) {
      refuse("\"{}\" must be stored in this file, as h5py does by default; got a virtual array or the like", name);
    }
    for (const int filter : object.filters) {
      if (filter != 1 && filter != 2)
        refuse("\"{}\" must be packed by gzip or not at all; got filter {}", name, filter);
    }
    check_size(object, name);
    return {.shape = *object.shape, .dtype = *object.type->dtype};
  }

  void check_size(const Hdf5Object& object, const std::string& name) const {
    const Shape& shape = *object.shape;
    const std::optional<std::uint64_t> bytes =
        checked_bytes(shape, std::max(object.type->size, dtype_size(*object.type->dtype)));
    const std::optional<std::uint64_t> needed = checked_bytes(shape, object.type->size);
    const std::uint64_t stored = bytes == 0 ? 0 : stored_bytes(source_, object);
    const bool packed = std::find(object.filters.begin(), object.filters.end(), 1) != object.filters.end();
    if (!bytes || !needed || *needed > (packed ? stored * most_inflation : stored)) {
      refuse("\"{}\" must have {} bytes, for shape {}; the file has {} for it", name, describe_bytes(bytes), shape,
             stored);
    }
    const std::vector<std::uint64_t>& chunk = object.layout.chunk;
    if (object.layout.kind != Hdf5Layout::Kind::chunked) return;
    if (chunk.size() != shape.size()) refuse("\"{}\" must have chunks of {} axes", name, shape.size());
    for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
      const auto size = static_cast<std::uint64_t>(shape[axis]);
      if (chunk[axis] == 0 || chunk[axis] > std::max<std::uint64_t>(size, 1024)) {
        refuse("\"{}\" must have chunks that are not larger than the array", name);
      }
    }
  }

  Hdf5File& file_;
  const Hdf5Source& source_;
  std::size_t left_;
};

Hdf5File::Hdf5File(const std::string& path, const std::string& where) : where_(where) {
  const auto file = std::make_shared<OpenFile>(path, where);
  size_ = file->size();
  source_ = std::make_unique<Hdf5Source>(
      size_,
      [file, where](std::uint64_t offset, void* to, std::uint64_t count) {
        file->read_unchanged(offset, to, count, where);
      },
      where);
  open();
}

Hdf5File::Hdf5File(const Bytes& image, const std::string& where) : where_(where), size_(image.size()) {
  source_ = std::make_unique<Hdf5Source>(
      size_,
      [image](std::uint64_t offset, void* to, std::uint64_t count) { std::memcpy(to, image.data() + offset, count); },
      where);
  open();
}

void Hdf5File::open() {
  const std::uint64_t root = hdf5_root(*source_);
  Walk(*this).visit("", root, 0);
  if (!has_group("")) fail<FileError>(where_, "the root must be a group");
}

const Hdf5Array* Hdf5File::find(const std::string& path) const {
  const auto found = arrays_.find(path);
  return found == arrays_.end() ? nullptr : &found->second;
}

bool Hdf5File::has_group(const std::string& path) const {
  return objects_.count(path) != 0 && arrays_.count(path) == 0;
}

std::int64_t Hdf5File::element_count() const {
  return std::accumulate(arrays_.begin(), arrays_.end(), std::int64_t{0}, [](std::int64_t sum, const auto& entry) {
    return sum + mezzo::element_count(entry.second.shape);
  });
}

Tensor Hdf5File::read(const std::string& path) const {
  const auto found = objects_.find(path);
  const Hdf5Array* const array = find(path);
  if (array == nullptr) fail<FileError>(where_, "must have the array \"{}\"; the file lacks it", path);
  const Hdf5Object& object = found->second;
  const std::size_t element = object.type->size;
  const bool wide = element != dtype_size(array->dtype);  // numbers without a sign
  Tensor out(array->shape, wide ? DType::int32 : array->dtype);
  if (out.size() == 0) return Tensor(array->shape, array->dtype);
  auto* const to = static_cast<std::uint8_t*>(out.mutable_raw());
  if (object.layout.kind == Hdf5Layout::Kind::compact) std::copy_n(object.layout.data.begin(), out.bytes(), to);
  if (object.layout.kind == Hdf5Layout::Kind::contiguous) source_->read(object.layout.address, to, out.bytes());
  if (object.layout.kind == Hdf5Layout::Kind::chunked) read_hdf5_chunks(*source_, object, element, to);
  if (object.type->big_endian && element > 1) reverse_elements(to, static_cast<std::size_t>(out.size()), element);
  if (array->dtype == DType::boolean) check_bools(out.raw(), out.bytes(), where_);
  if (!wide) return out;
  Tensor numbers(array->shape, DType::int64);
  auto* const signed_numbers = numbers.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    signed_numbers[i] = static_cast<std::uint32_t>(out.data<std::int32_t>()[i]);
  }
  return numbers;
}

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& object, const std::string& name) const {
  const auto found = objects_.find(object);
  if (found == objects_.end()) return {};
  const std::vector<Hdf5Attribute>& all = found->second.attributes;
  const auto attribute =
      std::find_if(all.begin(), all.end(), [&](const Hdf5Attribute& one) { return one.name == name; });
  if (attribute == all.end()) return {};
  std::uint64_t count = 1;
  for (const std::int64_t size : attribute->shape) {
    count = std::min(static_cast<std::uint64_t>(size), std::uint64_t{max_texts} + 1) * count;
    if (count > max_texts)
      fail<FileError>(where_, "attribute \"{}\" must have at most {} texts", printable(name), max_texts);
  }
  if (count == 0) return std::vector<std::string>{};  // of any type, as h5py writes empty lists
  const Hdf5Type& type = attribute->type;
  if (type.kind != Hdf5Type::Kind::text && type.kind != Hdf5Type::Kind::variable_text) {
    fail<FileError>(where_, "attribute \"{}\" must be a text", printable(name));
  }
  Hdf5Cursor data(attribute->data, where_);
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    out.push_back(type.kind == Hdf5Type::Kind::text ? data.text(type.size) : heap_text(*source_, data));
  }
  return out;
}

}  // namespace mezzo::detail
