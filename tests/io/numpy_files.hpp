#pragma once

#include <boost/test/unit_test.hpp>

#include <cstring>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>

#include "support/recorded.hpp"

namespace mezzo_tests {

inline mezzo::detail::Bytes from_hex(const std::string& digits) {
  mezzo::detail::Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline mezzo::detail::Bytes file_bytes(const nlohmann::json& recorded) {
  return from_hex(recorded.at("file").get<std::string>());
}

// Checks dtype, shape and bytes of a tensor against those that tests/parity/npy.py recorded.
inline void check_array(const mezzo::Tensor& tensor, const nlohmann::json& recorded) {
  BOOST_TEST(mezzo::dtype_name(tensor.dtype()) == recorded.at("dtype").get<std::string>());
  BOOST_TEST(tensor.shape() == recorded.at("shape").get<mezzo::Shape>(), boost::test_tools::per_element());
  const mezzo::detail::Bytes elements = from_hex(recorded.at("elements").get<std::string>());
  BOOST_TEST_REQUIRE(tensor.bytes() == elements.size());
  BOOST_TEST((elements.empty() || std::memcmp(tensor.raw(), elements.data(), elements.size()) == 0));
}

// Calls load(bytes) for the file with each of its bytes changed: it must return or throw a FileError.
template <class Load>
void check_mutations(const mezzo::detail::Bytes& file, const Load& load) {
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int value : {0, 1, 0x28, 0x39, 0x7f, 0xff, file[i] ^ 1}) {
      mezzo::detail::Bytes bytes = file;
      bytes[i] = static_cast<std::uint8_t>(value);
      BOOST_TEST_CONTEXT("byte " << i << " is " << value) {
        try {
          load(bytes);
        } catch (const mezzo::FileError&) {
        } catch (const std::exception& error) {
          BOOST_ERROR("not a FileError: " << error.what());
        }
      }
    }
  }
}

}  // namespace mezzo_tests
