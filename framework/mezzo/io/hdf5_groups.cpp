#include <mezzo/io/hdf5_groups.hpp>

namespace mezzo::detail {
namespace {

constexpr int most_tree_levels = 16;  // of a tree

/// Reads the tree of names of a group.
class NameTree {
 public:
  NameTree(const Hdf5Source& source, std::size_t most) : source_(source), most_(most) {}

  std::vector<Hdf5Link> read(std::uint64_t tree, std::uint64_t heap) {
    Hdf5Cursor head(source_.read(heap, 32), source_.where());
    head.expect("HEAP");
    head.skip(4);
    const std::uint64_t size = head.number(8);
    head.skip(8);
    names_ = source_.read(head.address(), size);
    visit(tree, 0);
    return std::move(links_);
  }

 private:
  void visit(std::uint64_t address, int depth) {
    if (depth > most_tree_levels) fail<FileError>(source_.where(), "the tree of a group is damaged");
    Hdf5Cursor head(source_.read(address, 24), source_.where());
    head.expect("TREE");
    const std::uint64_t kind = head.number(1), level = head.number(1), count = head.number(2);
    if (kind != 0) fail<FileError>(source_.where(), "the tree of a group is damaged");
    Hdf5Cursor entries(source_.read(address + 24, 16 * count + 8), source_.where());
    for (std::uint64_t i = 0; i < count; ++i) {
      entries.skip(8);
      const std::uint64_t child = entries.address();
      if (level == 0) {
        add_names(child);
      } else {
        if (++nodes_ > most_) fail<FileError>(source_.where(), "the tree of a group is damaged");
        visit(child, depth + 1);
      }
    }
  }

  void add_names(std::uint64_t address) {
    constexpr std::size_t entry_bytes = 40;
    Hdf5Cursor head(source_.read(address, 8), source_.where());
    head.expect("SNOD");
    head.skip(2);
    const std::uint64_t count = head.number(2);
    if (++nodes_ > most_ || count > most_ - links_.size()) {
      fail<FileError>(source_.where(), "a file of {} bytes can't have so many objects", source_.size());
    }
    Hdf5Cursor entries(source_.read(address + 8, entry_bytes * count), source_.where());
    for (std::uint64_t i = 0; i < count; ++i) {
      Hdf5Link link;
      link.name = name_at(entries.number(8));
      link.address = entries.address();
      constexpr std::uint64_t soft = 2;
      link.hard = entries.number(4) != soft;
      entries.skip(20);
      links_.push_back(std::move(link));
    }
  }

  std::string name_at(std::uint64_t offset) const {
    std::string name;
    while (offset < names_.size() && names_[offset] != 0) name += static_cast<char>(names_[offset++]);
    if (offset >= names_.size()) fail<FileError>(source_.where(), "the names of a group are damaged");
    return name;
  }

  const Hdf5Source& source_;
  std::size_t most_, nodes_ = 0;
  Bytes names_;
  std::vector<Hdf5Link> links_;
};

}  // namespace

std::uint64_t hdf5_root(const Hdf5Source& source) {
  const std::string& where = source.where();
  Hdf5Cursor block(source.read(0, source.size() < 96 ? source.size() : 96), where);
  block.expect("\x89HDF\r\n\x1a\n");
  const std::uint64_t version = block.number(1);
  if (version > 1) {
    fail<FileError>(where, "the HDF5 file must be of version 0, as h5py writes it by default; got version {}", version);
  }
  block.skip(4);
  if (block.number(1) != 8 || block.number(1) != 8) fail<FileError>(where, "the HDF5 file must have 64-bit addresses");
  block.skip(version == 0 ? 9 : 13);
  const std::uint64_t base = block.address();
  block.skip(8);
  const std::uint64_t end = block.address();
  block.skip(8);
  if (base != 0) fail<FileError>(where, "the HDF5 file must start at its beginning; got an offset of {}", base);
  if (end > source.size()) {
    fail<FileError>(where, "the HDF5 file must have {} bytes; it is cut off after {}", end, source.size());
  }
  block.skip(8);
  return block.address();
}

std::vector<Hdf5Link> hdf5_links(const Hdf5Source& source, const Hdf5Object& group, std::size_t most) {
  if (group.dense)
    fail<FileError>(source.where(), "a group must have its links in the form that h5py writes by default");
  if (group.has_tree) return NameTree(source, most).read(group.tree, group.heap);
  return group.links;
}

}  // namespace mezzo::detail
