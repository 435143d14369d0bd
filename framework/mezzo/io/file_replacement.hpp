#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Writes or replaces a file atomically. The data goes to a temporary file in the same folder; commit() flushes it to
/// the disk and renames it to `path`. Until then a previous file stays unchanged. Destruction without commit() deletes
/// the temporary file. The temporary file of a process that was killed is deleted by the next replacement in that
/// folder. If `path` is a symbolic link, the file that it leads to is written or replaced. Throws FileErrors that start
/// with `where`.
class MEZZO_API FileReplacement {
 public:
  /// Throws a FileError if `path` is a read-only file, another kind of file or in a folder that can't be written.
  FileReplacement(const std::string& path, std::string where);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  /// Appends `count` bytes.
  void write(const void* from, std::size_t count);

  /// Flushes the written data to the disk. commit() does it too, unless it was done; nothing may be written after it.
  void flush();

  /// Makes the written data the content of the file. If flushing the folder fails, the file already has the new
  /// content, and the error text says so. After any other error a previous file is unchanged.
  void commit();

 private:
  /// File descriptor; -1 if none is open.
  struct Descriptor {
    Descriptor() = default;
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset(int other);

    int value = -1;
  };

  void create_temporary();
  /// A FileError for errors of earlier writes that a file system reports at a close.
  void check_close() const;
  [[noreturn]] void fail_with_errno(const char* message) const;

  std::string where_;
  std::string name_;       // of the target, in its folder
  std::string temporary_;  // its name in that folder; empty before it exists and after commit()
  Descriptor folder_, file_;
  bool flushed_ = false;
};

/// Writes or replaces a file with this content atomically. Throws the errors of FileReplacement.
MEZZO_API void replace_file(const std::string& path, std::string_view content, const std::string& where);

/// Makes or replaces a symbolic link atomically. A FileError that starts with `where`; a previous file of that name is
/// unchanged then.
void replace_link(const std::string& target, const std::string& path, const std::string& where);

/// Makes `path` a second name of the file `from` in the same folder, and so keeps its content when `from` is replaced.
/// Replaces a file of the name `path` atomically. On a file system without hard links `from` is renamed, and is absent
/// until it is written again. A FileError that starts with `where`; both files are unchanged then.
void keep_generation(const std::string& from, const std::string& path, const std::string& where);

}  // namespace mezzo::detail
