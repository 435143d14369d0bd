#pragma once

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace mezzo_tests {

// Makes stderr a pseudo-terminal of so many columns for its lifetime, and collects what is written.
class Terminal {
 public:
  // False where no pseudo-terminal can be opened, for example in a container without devpts.
  static bool available() {
    int master = -1, slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return false;
    ::close(slave);
    ::close(master);
    return true;
  }
  static constexpr const char* missing = "no pseudo-terminal can be opened (is devpts mounted?)";

  explicit Terminal(unsigned short columns) {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    BOOST_TEST_REQUIRE(::openpty(&master_, &slave_, nullptr, nullptr, &size) == 0);
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
    std::cerr << std::flush;
    saved_ = ::dup(STDERR_FILENO);
    ::dup2(slave_, STDERR_FILENO);
    reader_ = std::thread([this] { read(); });
  }
  ~Terminal() { finish(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // The text. Ends the collection.
  std::string text() {
    finish();
    return text_;
  }

 private:
  void finish() {
    if (saved_ < 0) return;
    std::cerr << std::flush;
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    saved_ = -1;
    done_ = true;
    reader_.join();
    ::close(slave_);
    ::close(master_);
  }

  void read() {
    for (bool last = false; !last;) {
      last = done_;
      std::array<char, 4096> bytes{};
      for (ssize_t count = 0; (count = ::read(master_, bytes.data(), bytes.size())) > 0;) {
        text_.append(bytes.data(), static_cast<std::size_t>(count));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  int master_ = -1, slave_ = -1, saved_ = -1;
  std::atomic<bool> done_{false};
  std::string text_;
  std::thread reader_;
};

// The rows that a text leaves on a screen of so many columns, without colours. Knows carriage returns, line ends and
// the codes that go up and clear.
class Screen {
 public:
  explicit Screen(std::size_t columns, const std::string& text) : columns_(columns) {
    for (std::size_t i = 0; i < text.size();) i = text[i] == '\x1b' ? code(text, i) : character(text, i);
  }

  // Trailing blanks are left out.
  std::string row(std::size_t number) const {
    std::string out;
    for (const std::string& cell : rows_.at(number)) out += cell;
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  }
  std::size_t rows() const { return rows_.size(); }
  // Rows that a text longer than the screen is wide has begun.
  std::size_t wrapped() const { return wrapped_; }

 private:
  std::size_t character(const std::string& text, std::size_t at) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    if (text[at] == '\r') {
      column_ = 0;
    } else if (text[at] == '\n') {
      next_row();
    } else {
      if (column_ == columns_) {
        ++wrapped_;
        column_ = 0;
        next_row();
      }
      std::vector<std::string>& row = rows_[row_];
      if (row.size() <= column_) row.resize(column_ + 1, " ");
      row[column_++] = text.substr(at, end - at);
    }
    return end;
  }

  std::size_t code(const std::string& text, std::size_t at) {
    const std::size_t end = text.find_first_of("AJKm", at);
    const std::string number = text.substr(at + 2, end - at - 2);
    if (text[end] == 'A') row_ -= number.empty() ? 1 : std::stoul(number);
    if (text[end] == 'K' || text[end] == 'J') rows_[row_].resize(std::min(rows_[row_].size(), column_));
    if (text[end] == 'J') rows_.resize(row_ + 1);
    return end + 1;
  }

  void next_row() {
    if (++row_ == rows_.size()) rows_.emplace_back();
  }

  std::size_t columns_, row_ = 0, column_ = 0, wrapped_ = 0;
  std::vector<std::vector<std::string>> rows_ = std::vector<std::vector<std::string>>(1);
};

}  // namespace mezzo_tests
