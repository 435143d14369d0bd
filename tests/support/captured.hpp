#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <mezzo/core/output.hpp>

namespace mezzo_tests {

// Collects the library's output to its sink for the lifetime of the object.
class CapturedOutput {
 public:
  CapturedOutput() {
    mezzo::set_output([this](const std::string& text) { text_ += text; });
  }
  ~CapturedOutput() { mezzo::set_output({}); }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Collects the output of the whole process to a file descriptor (1: stdout, 2: stderr) for the object's lifetime.
class CapturedDescriptor {
 public:
  explicit CapturedDescriptor(int descriptor) : descriptor_(descriptor), file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("no temporary file");
    flush();
    saved_ = ::dup(descriptor_);
    ::dup2(::fileno(file_), descriptor_);
  }
  ~CapturedDescriptor() {
    restore();
    std::fclose(file_);
  }
  CapturedDescriptor(const CapturedDescriptor&) = delete;
  CapturedDescriptor& operator=(const CapturedDescriptor&) = delete;

  // The collected output. Ends the capture.
  std::string text() {
    restore();
    std::rewind(file_);
    std::string out;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) out += static_cast<char>(c);
    return out;
  }

 private:
  static void flush() {
    std::cout << std::flush;
    std::cerr << std::flush;
    std::fflush(nullptr);
  }

  void restore() {
    if (saved_ < 0) return;
    flush();
    ::dup2(saved_, descriptor_);
    ::close(saved_);
    saved_ = -1;
  }

  int descriptor_;
  std::FILE* file_;
  int saved_ = -1;
};

}  // namespace mezzo_tests
