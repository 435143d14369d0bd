#include <mezzo/training/step/agreement.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

Agreement agree(const ProcessGroup& group, const Progress& progress, const Agreement& own) {
  if (!group.shared()) return own;
  Communicator& ranks = *group.communicator();
  constexpr std::size_t count = 6;
  const std::array<double, count> numbers{static_cast<double>(progress.step),  static_cast<double>(progress.epoch),
                                          static_cast<double>(progress.batch), own.stops ? 1.0 : 0.0,
                                          static_cast<double>(own.signal),     own.seconds};
  std::vector<double> all(count * static_cast<std::size_t>(ranks.size()));
  std::copy(numbers.begin(), numbers.end(), all.begin() + static_cast<std::ptrdiff_t>(count) * ranks.rank());
  ranks.all_reduce({all.data(), static_cast<std::int64_t>(all.size()), DType::float64});
  const auto of = [&](int rank) { return all.data() + count * static_cast<std::size_t>(rank); };
  Agreement out{.seconds = of(0)[5]};
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (!std::equal(of(rank), of(rank) + 3, of(0))) {
      fail<RankError>(
          "[Trainer]",
          "all ranks must run the same steps; rank {} is at step {}, epoch {}, batch {}; rank 0 at step {}, "
          "epoch {}, batch {}",
          rank, of(rank)[0], of(rank)[1], of(rank)[2], of(0)[0], of(0)[1], of(0)[2]);
    }
    out.stops |= of(rank)[3] != 0;
    if (out.signal == 0) out.signal = static_cast<int>(of(rank)[4]);
  }
  return out;
}

}  // namespace mezzo::detail
