#include <mezzo/compiler/memory.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>

namespace mezzo {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

bool live_together(const Lifetime& a, const Lifetime& b) {
  const bool a_wraps = a.first > a.last, b_wraps = b.first > b.last;
  if (a_wraps && b_wraps) return true;
  if (a_wraps || b_wraps) return a.first <= b.last || b.first <= a.last;
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::size_t aligned(std::size_t bytes) { return round_up(bytes, alignment); }

namespace {

/// First fit in that order, after the pieces with a given place.
MemoryPlan place_in_order(const std::vector<Lifetime>& pieces, const std::vector<std::size_t>& order) {
  MemoryPlan plan;
  plan.offsets.resize(pieces.size());
  std::vector<std::size_t> placed;  // pieces, in ascending order of offset
  const auto place = [&](std::size_t i, std::size_t offset) {
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + aligned(pieces[i].bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  i);
  };
  for (const std::size_t i : order) {
    if (pieces[i].offset) place(i, *pieces[i].offset);
  }
  for (const std::size_t i : order) {
    if (pieces[i].offset) continue;
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!live_together(pieces[i], pieces[other])) continue;
      if (offset + aligned(pieces[i].bytes) <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + aligned(pieces[other].bytes));
    }
    place(i, offset);
  }
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].bytes > pieces[b].bytes; });
  MemoryPlan by_size = place_in_order(pieces, order);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].first > pieces[b].first; });
  MemoryPlan by_time = place_in_order(pieces, order);
  return by_time.bytes < by_size.bytes ? by_time : by_size;
}

Arena::~Arena() { release(); }

void Arena::release() {
  if (data_ != nullptr && !borrowed_) munmap(data_, bytes_);
}

void Arena::borrow(unsigned char* data, std::size_t bytes) {
  release();
  copies.forget();
  data_ = data;
  bytes_ = bytes;
  borrowed_ = true;
}

void Arena::reserve(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), huge_page);  // memcpy needs an address even for 0 bytes
  if (bytes <= bytes_) return;
  void* fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) {
    fail<MemoryError>("[Plan]", "the arena of a step needs {} bytes ({}); the system has not that much memory", bytes,
                      detail::bytes_text(bytes));
  }
  detail::ask_for_huge_pages(fresh, bytes);
  release();
  copies.forget();
  data_ = static_cast<unsigned char*>(fresh);
  bytes_ = bytes;
  borrowed_ = false;
}

}  // namespace mezzo
