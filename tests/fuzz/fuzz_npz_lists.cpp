// The reader of pickled lists. An input is the .npy entry of a .npz file, so that mutations need no right checksums.
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/io/npz_lists.hpp>

#include "fuzz.hpp"
#include "support/base64.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"

namespace {

using mezzo_fuzz::Bytes;

void add(Bytes& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i, number >>= 8U) out.push_back(static_cast<std::uint8_t>(number));
}

void add(Bytes& out, const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

// A ZIP file with one entry, x.npy, that is stored without compression.
Bytes zipped(const Bytes& content) {
  const Bytes name = mezzo_fuzz::bytes_of("x.npy");
  Bytes common;  // of the entry's header and of the directory
  add(common, 20, 2);
  add(common, 0, 8);  // flags, stored, time and date
  add(common, crc32(0, content.data(), static_cast<uInt>(content.size())), 4);
  add(common, content.size(), 4);
  add(common, content.size(), 4);
  add(common, name.size(), 2);
  add(common, 0, 2);
  Bytes out;
  add(out, 0x04034b50, 4);
  add(out, common);
  add(out, name);
  add(out, content);
  const std::size_t directory = out.size();
  add(out, 0x02014b50, 4);
  add(out, 20, 2);
  add(out, common);
  add(out, 0, 14);  // comment, disk, attributes, place of the entry
  add(out, name);
  const std::size_t size = out.size() - directory;
  add(out, 0x06054b50, 4);
  add(out, 0, 4);
  add(out, 1, 2);
  add(out, 1, 2);
  add(out, size, 4);
  add(out, directory, 4);
  add(out, 0, 2);
  return out;
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const mezzo::detail::NpzLists read = mezzo::detail::load_npz_lists(file_of(zipped(bytes)));
  for (const auto& [name, tensor] : read.tensors) touch(tensor);
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  std::vector<Bytes> out;
  for (const char* name : {"imdb", "reuters", "function", "words"}) {
    const auto& file = mezzo_tests::recorded("word_sequences").at(name).at("file");
    const std::string path = folder.write("a.npz", mezzo_tests::decoded_base64(file.get<std::string>()));
    mezzo::detail::for_each_npz_entry(path, [&](const std::string&, std::string_view content, const std::string&) {
      out.push_back(bytes_of(std::string(content)));
    });
  }
  return out;
}

const Target target("npz_lists", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
