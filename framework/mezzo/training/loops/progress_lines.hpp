#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {

/// Numbers of a progress bar.
struct ProgressState {
  std::string title;
  std::int64_t done = 0, total = 0;  ///< batches; total -1: unknown
  double seconds = 0, seconds_left = 0;
  double rate = 0;  ///< batches a second
  Numbers numbers;
  std::optional<std::pair<std::int64_t, std::int64_t>> validated;  ///< batches done and all, during a validation
};

/// `Epoch 1/5: 100% 469/469 [00:12<00:00, 38.21it/s, loss=0.412, validation  33% 1/3]`.
std::string plain_line(const ProgressState& state);

/// Lines with colours, at most `columns` wide: the epoch, then its validation.
std::vector<std::string> rich_lines(const ProgressState& state, std::size_t columns);

/// The first `columns` characters of a UTF-8 text.
std::string cut(const std::string& text, std::size_t columns);

}  // namespace mezzo::detail
