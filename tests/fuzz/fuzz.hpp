// A fuzz target, and helpers for it. fuzz.cpp has libFuzzer's entry points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo_fuzz {

using Bytes = std::vector<std::uint8_t>;

// A reader under test, registered by its source as a static object.
struct Target {
  // `read` reads an input. A mezzo::Error means that the input is refused; any other exception is a finding. `seeds`
  // returns small inputs to start from.
  Target(std::string name, void (*read)(const Bytes& bytes), std::vector<Bytes> (*seeds)());

  void (*read)(const Bytes& bytes);
  std::vector<Bytes> (*seeds)();
};

// Path of a file with these bytes. The next call changes the file.
std::string file_of(const Bytes& bytes);

// Path of a folder in which the file `name` has the bytes of the last file_of().
std::string folder_with(const std::string& name);

// Path of a copy of a safetensors file with new checksums: mutations rarely have the right ones. Throws a mezzo::Error
// if the file can't be read. The next call changes the copy.
std::string with_checksums(const std::string& path);

// Content of a file.
Bytes content_of(const std::string& path);

// Reads all bytes of a tensor, so that AddressSanitizer sees a tensor that is too small.
void touch(const mezzo::Tensor& tensor);

inline Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
inline std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace mezzo_fuzz
