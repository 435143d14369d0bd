#include <mezzo/core/memory_info.hpp>

#include <fstream>
#include <limits>

namespace mezzo::detail {

std::map<std::string, std::int64_t> memory_info() {
  std::map<std::string, std::int64_t> out;
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::int64_t kib = 0; file >> name >> kib; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    out[name.substr(0, name.find(':'))] = kib * 1024;
  }
  return out;
}

}  // namespace mezzo::detail
