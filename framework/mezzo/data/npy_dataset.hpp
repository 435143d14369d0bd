#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
/// A `.npy` file that is a field of a data set.
struct NpyField {
  std::string name{};       ///< unique in the data set
  std::string path{};       ///< path of the file
  Role role = Role::input;  ///< purpose of the field
};
}  // namespace detail

/// A data set of `.npy` arrays that stay in their files: `npy_dataset({{"x", "x.npy"}, {"y", "y.npy", Role::target}})`,
/// for arrays larger than the memory, as numpy.load(mmap_mode="r"). The samples lie along axis 0. A sample is read when
/// it is needed, through the system's cache of files. If the file is replaced by another one, as save_npy() does, the
/// old content is still read. If it is shortened or written to, the next sample is a FileError, not a signal. Throws a
/// FileError as load_npy(), also for arrays in Fortran order or without axes; a ShapeError if the numbers of samples
/// differ; a ValueError if there is no field or two names are equal.
MEZZO_API Dataset npy_dataset(const std::vector<detail::NpyField>& fields);

}  // namespace mezzo
