#include <mezzo/backends/xsimd/split_floats.hpp>
#include <mezzo/backends/xsimd/split_master.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

[[gnu::flatten]] void join(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end) {
  const auto* const upper = static_cast<const bfloat16*>(high) + begin;
  const auto* const lower = static_cast<const bfloat16*>(low) + begin;
  auto* const out = static_cast<float*>(whole) + begin;
  const auto body = [&](std::int64_t i, auto part) { store(out + i, load_split(upper + i, lower + i, part), part); };
  stream(end - begin, body, upper, lower);
}

[[gnu::flatten]] void split(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end) {
  const auto* const in = static_cast<const float*>(whole) + begin;
  auto* const upper = static_cast<bfloat16*>(high) + begin;
  auto* const lower = static_cast<bfloat16*>(low) + begin;
  const auto body = [&](std::int64_t i, auto part) { store_split(upper + i, lower + i, load(in + i, part), part); };
  stream(end - begin, body, in);
}

}  // namespace

constexpr SplitMasterFunctions split_master{.join = join, .split = split};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
