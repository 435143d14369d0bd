#include <mezzo/io/shard_options.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

struct ShardUnit {
  std::string_view name;
  double bytes;
};

constexpr std::array<ShardUnit, 10> shard_units{{{"", 1},
                                                 {"B", 1},
                                                 {"KB", 1e3},
                                                 {"MB", 1e6},
                                                 {"GB", 1e9},
                                                 {"TB", 1e12},
                                                 {"KIB", 0x1p10},
                                                 {"MIB", 0x1p20},
                                                 {"GIB", 0x1p30},
                                                 {"TIB", 0x1p40}}};

/// Factor of a unit in any case; 0 for an unknown one.
double bytes_of_unit(std::string_view unit) {
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  std::string upper(unit);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const ShardUnit& known : shard_units) {
    if (upper == known.name) return known.bytes;
  }
  return 0;
}

}  // namespace

ShardSize::Checked ShardSize::checked(std::uint64_t bytes) {
  if (bytes == 0) fail<ValueError>("[ShardSize]", "must be at least 1 byte; got less");
  return {bytes};
}

ShardSize::ShardSize(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const double unit = bytes_of_unit({rest, static_cast<std::size_t>(end - rest)});
  const double bytes = number * unit;
  if (error != std::errc() || unit == 0 || !(bytes >= 0 && bytes < 0x1p63)) {
    fail<ValueError>("[ShardSize]",
                     "must be a number of bytes, or a number with a unit such as \"5GB\" or \"500 MiB\"; "
                     "got \"{}\"",
                     text);
  }
  bytes_ = checked(static_cast<std::uint64_t>(bytes)).bytes;
}

}  // namespace mezzo
