#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>

namespace mezzo {

namespace detail {
/// Number of batches that stands for all, where a loader has no size.
constexpr std::int64_t all_batches = std::int64_t{1} << 53;
}  // namespace detail

namespace detail {
/// Number of batches, an integer, or share of all batches, a floating-point number: `10`, `0.25`. 1 is one batch, 1.0
/// are all.
class MEZZO_API BatchLimit {
 public:
  BatchLimit(int batches) : BatchLimit(std::int64_t{batches}) {}
  /// A ValueError for a negative number.
  BatchLimit(std::int64_t batches);
  /// A ValueError for a share outside of [0, 1].
  BatchLimit(double share);
  BatchLimit(bool) = delete;

  /// Batches out of `total`; a share is rounded down. A ValueError that names `option` if a positive share is less than
  /// one batch.
  std::int64_t of(std::int64_t total, const char* option) const;

  /// Batches of a loader without a size: detail::all_batches for 1.0. A ValueError that names `option` for another
  /// share above 0.
  std::int64_t of_unsized(const char* option) const;

  /// The number or share: "10", "0.25", "1.0".
  std::string text() const;

  /// True for 0, 0.0: no batch.
  bool none() const { return share_ < 0 ? batches_ == 0 : share_ == 0; }

 private:
  std::int64_t batches_ = 0;
  double share_ = -1;  // negative: a number of batches
};

/// A time: seconds, a std::chrono duration, or a text "DD:HH:MM:SS" (days, hours, minutes, seconds).
class MEZZO_API Duration {
 public:
  /// A ValueError unless it is a finite number above 0.
  Duration(double seconds);
  Duration(int seconds) : Duration(static_cast<double>(seconds)) {}
  template <class Rep, class Period>
  Duration(const std::chrono::duration<Rep, Period>& time) : Duration(std::chrono::duration<double>(time).count()) {}
  /// A ValueError for a text of another form.
  template <class S, detail::IfName<S> = 0>
  Duration(const S& text) : Duration(parse(text)) {}
  Duration(bool) = delete;

  double seconds() const { return seconds_; }

 private:
  static double parse(const std::string& text);
  double seconds_;
};

/// How often fit validates within an epoch: an integer is the number of batches between validations, a floating-point
/// number in (0, 1] their share of the epoch, a text "DD:HH:MM:SS" or a std::chrono duration the time between them.
class MEZZO_API CheckInterval {
 public:
  CheckInterval(int batches) : CheckInterval(std::int64_t{batches}) {}
  /// A ValueError for a number below 1.
  CheckInterval(std::int64_t batches);
  /// A ValueError for a share outside of (0, 1].
  CheckInterval(double share);
  template <class Rep, class Period>
  CheckInterval(const std::chrono::duration<Rep, Period>& time) : seconds_(Duration(time).seconds()) {}
  /// A ValueError for a text of another form.
  template <class S, detail::IfName<S> = 0>
  CheckInterval(const S& text) : seconds_(Duration(text).seconds()) {}
  CheckInterval(bool) = delete;

  /// Batches between validations in an epoch of `total`; 0 if the interval is a time. A ValueError if the share has
  /// none.
  std::int64_t batches(std::int64_t total) const;

  /// The same for a loader without a size: detail::all_batches for 1.0. A ValueError for another share.
  std::int64_t batches_unsized() const;

  /// The number, share or time: "10", "0.25", "1.0", "60 s".
  std::string text() const;

  double seconds() const { return seconds_; }          ///< 0 unless the interval is a time
  bool is_whole_epoch() const { return share_ == 1; }  ///< true for 1.0
  bool is_share() const { return share_ > 0; }         ///< true for a share of the epoch

 private:
  std::int64_t batches_ = 0;
  double share_ = 0, seconds_ = 0;
};
}  // namespace detail

}  // namespace mezzo
