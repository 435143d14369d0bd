#include "fuzz.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <mezzo/core/error.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/safetensors.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"

std::filesystem::path mezzo_tests::tests_dir() { return MEZZO_TESTS_DIR; }

namespace mezzo_fuzz {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void stop(const std::string& text) {
  std::cerr << text << '\n';
  std::abort();
}

std::map<std::string, const Target*>& targets() {
  static std::map<std::string, const Target*> all;
  return all;
}

const Target* chosen = nullptr;  // by the command line

// Takes the name of a target from the command line, which libFuzzer reads next.
void choose(int* argc, char*** argv) {
  const auto found = targets().find(*argc > 1 ? (*argv)[1] : "");
  if (found == targets().end()) {
    std::cerr << "usage: mezzo_fuzz TARGET [corpus folder or input] [options of libFuzzer]; targets:";
    for (const auto& entry : targets()) std::cerr << ' ' << entry.first;
    std::cerr << '\n';
    std::exit(2);
  }
  chosen = found->second;
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
}

// Descriptor of the one file in memory.
int descriptor() {
  static const int value = ::memfd_create("fuzz", 0);
  return value;
}

std::string path_of_file() { return "/proc/self/fd/" + std::to_string(descriptor()); }

void write_seeds(const fs::path& folder) {
  int number = 0;
  for (const Bytes& seed : chosen->seeds()) {
    std::ofstream out(folder / ("seed-" + std::to_string(number++)), std::ios::binary);
    out.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
}

void check_text(const std::string& text) {
  constexpr std::size_t longest = 40'000;  // 8,000 bytes, each of them escaped
  if (text.empty() || text.size() > longest) stop("an error's text has " + std::to_string(text.size()) + " bytes");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) stop("an error's text has a control character: " + text);
  }
}

}  // namespace

Target::Target(std::string name, void (*read_)(const Bytes& bytes), std::vector<Bytes> (*seeds_)())
    : read(read_), seeds(seeds_) {
  targets().emplace(std::move(name), this);
}

std::string file_of(const Bytes& bytes) {
  if (::ftruncate(descriptor(), 0) != 0 ||
      ::pwrite(descriptor(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    stop("the file in memory can't be written");
  }
  return path_of_file();
}

std::string with_checksums(const std::string& path) {
  static const mezzo_tests::Folder folder;
  const mezzo::SafetensorsFile file(path);
  mezzo::NamedTensors tensors;
  for (const auto& entry : file.entries()) tensors.emplace_back(entry.name, file.read(entry.name));
  mezzo::save_safetensors(folder.path("copy"), tensors, file.metadata());
  return folder.path("copy");
}

std::string folder_with(const std::string& name) {
  static const mezzo_tests::Folder folder;
  static std::set<std::string> made;
  if (made.insert(name).second) {
    const fs::path path = folder.path(name);
    fs::create_directories(path.parent_path());
    fs::create_symlink(path_of_file(), path);
  }
  return folder.path();
}

Bytes content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

volatile std::uint8_t sum_of_touched = 0;  // keeps the compiler from leaving the reads out

void touch(const mezzo::Tensor& tensor) {
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.raw());
  std::uint8_t total = 0;
  for (std::size_t i = 0; i < tensor.bytes(); ++i) total = static_cast<std::uint8_t>(total + bytes[i]);
  sum_of_touched = total;
}

}  // namespace mezzo_fuzz

// Chooses the target and writes its seeds into the first corpus folder of the command line if it is empty.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  ::setenv("TMPDIR", "/dev/shm", 0);  // in memory: targets that save files would wait for the disk
  mezzo::set_output([](const std::string&) {});
  mezzo_fuzz::choose(argc, argv);
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path path = (*argv)[i];
    if ((*argv)[i][0] == '-' || !std::filesystem::is_directory(path)) continue;
    if (std::filesystem::is_empty(path)) mezzo_fuzz::write_seeds(path);
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    mezzo_fuzz::chosen->read({data, data + size});
  } catch (const mezzo::Error& error) {
    mezzo_fuzz::check_text(error.what());
  }
  return 0;
}
