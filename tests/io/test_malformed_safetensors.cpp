#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>

#include "support/folder.hpp"
#include "support/safetensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;
using mezzo_tests::safetensors_bytes;
using mezzo_tests::tensor;

namespace {

const std::string truncated = ": the file is truncated, copy or download it again";

void check_refused(const detail::Bytes& bytes, const std::string& text) {
  const Folder folder;
  const std::string path = folder.write("a", bytes);
  check_throws<FileError>("[safetensors \"" + path + "\"] " + text, [&] { SafetensorsFile{path}; });
}

void check_refused(const std::string& header, std::size_t data, const std::string& text) {
  check_refused(safetensors_bytes(header, data), text);
}

/// Checks that the error has the parser's message.
void check_not_json(const std::string& header, const std::string& text) {
  const Folder folder;
  const std::string path = folder.write("a", safetensors_bytes(header));
  BOOST_CHECK_EXCEPTION(SafetensorsFile{path}, FileError, [&](const FileError& error) {
    const std::string what = error.what();
    BOOST_TEST_CONTEXT(what) {
      BOOST_TEST(what.find("[safetensors \"" + path + "\"] the header must be JSON; at its byte ") == 0U);
      BOOST_TEST(what.find(text) != std::string::npos);
    }
    return true;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(malformed_safetensors)

BOOST_AUTO_TEST_CASE(bad_lengths_are_refused) {
  check_refused({}, "must be a safetensors file or an index of shards; it is an empty file: get the file again");
  check_refused({2, 0, 0, 0, 0, 0, 0}, "must begin with 8 bytes, the header's length; got 7" + truncated);
  detail::Bytes bytes = safetensors_bytes("{}");
  bytes[0] = 3;
  check_refused(bytes, "the header must have 3 bytes; the file has 2 after its length" + truncated);
  bytes[4] = 1;
  check_refused(bytes, "the header must have at most 100000000 bytes; got 4294967299");
  check_refused(detail::Bytes(8, 255), "the header must have at most 100000000 bytes; got 18446744073709551615");
}

BOOST_AUTO_TEST_CASE(headers_that_are_no_json_objects_are_refused) {
  const std::string begins = "the header must begin with '{'; got ";
  check_refused("", 0, begins + "nothing");
  for (const char* header : {"[]", " {}", "\xef\xbb\xbf{}", "null"}) {
    check_refused(header, 0, begins + "another character");
  }
  for (const std::string header : {"{", "{}\n", "{} x", "{\"a"}) {
    check_refused(header, 0,
                  "the header must end with '}', padded with spaces; got another character at " +
                      std::to_string(header.size() - 1));
  }
  check_refused(std::string("{}\0}", 4), 0, "the header must not have zero bytes; got one at 2");
  check_not_json("{}{}", "expected end of input");
  check_not_json("{,}", "parse error");
  check_not_json("{/**/}", "parse error");
  check_not_json("{\"\xff\":{}}", "ill-formed UTF-8 byte");
  check_not_json("{\"\xc0\x80\":{}}", "ill-formed UTF-8 byte");
  check_not_json("{\"\\ud800\":{}}", "surrogate");
}

BOOST_AUTO_TEST_CASE(what_the_format_lacks_is_refused) {
  const std::string good = tensor("a", "U8", "[1]", "[0,1]");
  check_refused("{" + good + "," + good + "}", 1, "tensor \"a\": the name must be unique; got it twice");
  check_refused("{\"a\":[]}", 0, "tensor \"a\": must be an object; got an array");
  check_refused("{\"a\":null}", 0, "tensor \"a\": must be an object; got null");
  check_refused("{\"a\":true}", 0, "tensor \"a\": must be an object; got true");
  check_refused("{\"a\":{}}", 0, "tensor \"a\": must have the field dtype; it is missing");
  check_refused("{\"a\":{\"dtype\":\"U8\"}}", 0, "tensor \"a\": must have the field shape; it is missing");
  check_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}", 0,
                "tensor \"a\": must have the field data_offsets; it is missing");
  check_refused("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\"}}", 0,
                "tensor \"a\": \"dtype\" must be unique; got it twice");
  check_refused("{\"a\":{\"strides\":[]}}", 0,
                "tensor \"a\": the fields must be dtype, shape and data_offsets; got \"strides\"");
  check_refused("{\"a\":{\"dtype\":8}}", 0, "tensor \"a\": dtype must be a string; got 8");
  check_refused("{\"a\":{\"dtype\":{}}}", 0, "tensor \"a\": dtype must be a string; got an object");
  check_refused("{\"a\":{\"shape\":4}}", 0, "tensor \"a\": shape must be an array; got 4");
  check_refused("{\"a\":{\"shape\":{}}}", 0, "tensor \"a\": shape must be an array; got an object");
  std::string deep(100'000, '[');
  check_refused("{\"a\":{\"shape\":[" + deep + "}", 0,
                "tensor \"a\": shape must hold integers of 0 or more; got an array");
  deep.clear();
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  check_refused(deep + "}", 0, "tensor \"a\": the fields must be dtype, shape and data_offsets; got \"a\"");
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_refused) {
  for (const std::string name : {"F8_E4M2", "U128", "f32", ""}) {
    check_refused(
        "{" + tensor("a", name, "[1]", "[0,1]") + "}", 1,
        "tensor \"a\": dtype must be one of F32, F64, BF16, F16, I8, I16, I32, I64, U8, BOOL, U16, U32, U64, F8_E4M3, "
        "F8_E5M2, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, F6_E2M3, F6_E3M2, F4, C64; got \"" +
            name + "\"");
  }
  check_refused("{" + tensor("a", "U16", "[1]", "[0,1]") + "}", 1,
                "tensor \"a\": U16 (1,) must have 2 bytes; data_offsets give 1");
  check_refused("{" + tensor("a", "F4", "[3]", "[0,1]") + "}", 1,
                "tensor \"a\": F4 (3,) must have whole bytes; data_offsets give 1");
}

BOOST_AUTO_TEST_CASE(bad_metadata_is_refused) {
  check_refused("{\"__metadata__\":\"pt\"}", 0, "tensor \"__metadata__\": must be an object; got \"pt\"");
  check_refused("{\"__metadata__\":{\"a\":1}}", 0, "tensor \"__metadata__\": a must be a string; got 1");
  check_refused("{\"__metadata__\":{\"a\":{}}}", 0, "tensor \"__metadata__\": a must be a string; got an object");
  check_refused("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0,
                "tensor \"__metadata__\": \"a\" must be unique; got it twice");
  check_refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0,
                "tensor \"__metadata__\": the name must be unique; got it twice");
  for (const std::string text : {"", "0123456g", "0123456", "0123456789"}) {
    check_refused(
        "{\"__metadata__\":{\"crc32\":\"" + text + "\"}," + tensor("a", "U8", "[1]", "[0,1]") + "}", 1,
        "crc32 in the metadata must have 8 hexadecimal digits for the header and for each of 1 tensors; got \"" + text +
            "\"");
  }
}

BOOST_AUTO_TEST_CASE(bad_shapes_and_offsets_are_refused) {
  const auto check = [](const std::string& shape, const std::string& offsets, const std::string& text) {
    check_refused("{" + tensor("a", "F32", shape, offsets) + "}", 8, "tensor \"a\": " + text);
  };
  check("[3]", "[0,8]", "float32 (3,) must have 12 bytes; data_offsets give 8");
  check("[]", "[0,8]", "float32 () must have 4 bytes; data_offsets give 8");
  check("[2,0]", "[0,8]", "float32 (2, 0) must have 0 bytes; data_offsets give 8");
  check("[4611686018427387906]", "[0,8]",
        "float32 (4611686018427387906,) must have 2^64 or more bytes; data_offsets give 8");
  check("[4294967296,4294967296,2]", "[0,8]",
        "float32 (4294967296, 4294967296, 2) must have 2^64 or more bytes; data_offsets give 8");
  check("[9223372036854775808]", "[0,8]", "shape must hold integers of 0 or more; got 9223372036854775808");
  check("[18446744073709551616]", "[0,8]", "shape must hold integers of 0 or more; got 18446744073709551616");
  check("[-2]", "[0,8]", "shape must hold integers of 0 or more; got -2");
  check("[2.0]", "[0,8]", "shape must hold integers of 0 or more; got 2.0");
  check("[2e0]", "[0,8]", "shape must hold integers of 0 or more; got 2e0");
  check("[\"2\"]", "[0,8]", "shape must hold integers of 0 or more; got \"2\"");
  std::string ones = "[2";
  for (int i = 0; i < 32; ++i) ones += ",1";
  check(ones + "]", "[0,8]", "the rank must be at most 32; got more");
  check("[2]", "[0]", "data_offsets must be two numbers; got 1");
  check("[2]", "[0,8,8]", "data_offsets must be two numbers; got 3");
  check("[2]", "[8,0]", "data_offsets must not decrease; got 8, 0");
  check("[2]", "[-8,0]", "data_offsets must hold integers of 0 or more; got -8");
  check("[2]", "[4,12]", "the data must begin at 0, the end of the previous tensor; got 4");
}

BOOST_AUTO_TEST_CASE(tensors_must_fill_the_file_side_by_side) {
  const auto two = [](const std::string& second) {
    return "{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", second) + "}";
  };
  check_refused(two("[5,9]"), 9, "tensor \"b\": the data must begin at 4, the end of the previous tensor; got 5");
  check_refused(two("[3,7]"), 7, "tensor \"b\": the data must begin at 4, the end of the previous tensor; got 3");
  check_refused(two("[0,4]"), 4, "tensor \"b\": the data must begin at 4, the end of the previous tensor; got 0");
  check_refused(two("[4,8]"), 7, "the tensors have 8 bytes; after the header the file has 7" + truncated);
  check_refused(two("[4,8]"), 9, "the tensors have 8 bytes; after the header the file has 9");
  check_refused("{}", 1, "the tensors have 0 bytes; after the header the file has 1");
  check_refused("{" + tensor("a", "U8", "[18446744073709551]", "[0,18446744073709551]") + "}", 1,
                "the tensors have 18446744073709551 bytes; after the header the file has 1" + truncated);
}

BOOST_AUTO_TEST_CASE(a_damaged_header_is_refused) {
  const Folder folder;
  save_safetensors(folder.path("a"), {{"x", Tensor({4})}}, {{"step", "7"}});
  BOOST_TEST((SafetensorsFile(folder.path("a")).checksums() == SafetensorsFile::Checksums::all));
  const detail::Bytes good = detail::read_file(folder.path("a"), 1000);
  const std::string text(good.begin(), good.end());
  const auto changed = [&](const std::string& from, const std::string& to) {
    detail::Bytes bytes = good;
    std::copy(to.begin(), to.end(), bytes.begin() + static_cast<std::ptrdiff_t>(text.find(from)));
    return bytes;
  };
  const std::string differs = "the checksum of the header differs: the file is damaged";
  check_refused(changed("\"7\"", "\"5\""), differs);
  check_refused(changed("\"step\"", "\"stop\""), differs);
  check_refused(changed("\"x\"", "\"y\""), differs);
  // Another key is no checksum.
  const SafetensorsFile unchecked(folder.write("b", changed("\"crc32\"", "\"crc33\"")));
  BOOST_TEST((unchecked.checksums() == SafetensorsFile::Checksums::none));
  BOOST_TEST(unchecked.metadata().count("crc33") == 1U);
}

// Before, the header had no checksum.
BOOST_AUTO_TEST_CASE(checksums_of_tensors_alone_are_read) {
  const Folder folder;
  save_safetensors(folder.path("a"), {{"x", Tensor({1}, DType::uint8)}});
  const detail::Bytes good = detail::read_file(folder.path("a"), 1000);
  const std::string text(good.begin(), good.end());
  const std::string crc = text.substr(text.find("\"crc32\":\"") + 17, 8);
  const std::string header = "{\"__metadata__\":{\"crc32\":\"" + crc + "\"}," + tensor("x", "U8", "[1]", "[0,1]") + "}";
  detail::Bytes old = safetensors_bytes(header, 1);
  const SafetensorsFile file(folder.write("b", old));
  BOOST_TEST((file.checksums() == SafetensorsFile::Checksums::tensors));
  BOOST_TEST(file.read("x").item() == 0);
  old.back() = 1;
  BOOST_CHECK_THROW(SafetensorsFile(folder.write("c", old)).read("x"), FileError);
}

BOOST_AUTO_TEST_CASE(names_of_others_print_as_one_short_line) {
  const std::string escaped = "{\"a\\n\\u001b[2J\":[]}";
  check_refused(escaped, 0, "tensor \"a\\n\\x1b[2J\": must be an object; got an array");
  const Folder folder;
  // NOLINTNEXTLINE(bugprone-string-constructor): long by intent
  const std::string path = folder.write("a", safetensors_bytes("{\"" + std::string(10'000'000, 'n') + "\":[]}"));
  BOOST_CHECK_EXCEPTION(SafetensorsFile{path}, FileError, [](const FileError& error) {
    const std::string what = error.what();
    return what.size() < 9000 && what.find("bytes left out") != what.npos &&
           what.find("must be an object; got an array") != what.npos;
  });
}

BOOST_AUTO_TEST_CASE(bad_data_is_refused) {
  const Folder folder;
  detail::Bytes bytes = safetensors_bytes("{" + tensor("a", "BOOL", "[2]", "[0,2]") + "}", 2);
  bytes.back() = 2;
  const SafetensorsFile bools(folder.write("a", bytes));
  check_throws<FileError>(
      "[safetensors \"" + folder.path("a") + "\"] tensor \"a\": bools must be 0 or 1; got another value",
      [&] { bools.read("a"); });
  save_safetensors(folder.path("b"), {{"x", Tensor({4})}, {"y", Tensor({4})}});
  bytes = detail::read_file(folder.path("b"), 1000);
  bytes.back() ^= 1U;
  const SafetensorsFile damaged(folder.write("c", bytes));
  BOOST_TEST(damaged.read("x").size() == 4);
  check_throws<FileError>(
      "[safetensors \"" + folder.path("c") + "\"] tensor \"y\": the checksum differs: the file is damaged",
      [&] { damaged.read("y"); });
  BOOST_CHECK_THROW(damaged.check("y"), FileError);
  BOOST_CHECK_THROW(bools.check("a"), FileError);
  std::filesystem::resize_file(folder.path("c"), bytes.size() - 32);
  check_throws<FileError>("[safetensors \"" + folder.path("c") + "\"] tensor \"x\": the file must have " +
                              std::to_string(bytes.size()) + " bytes, as when it was opened; got " +
                              std::to_string(bytes.size() - 32),
                          [&] { damaged.read("x"); });
  BOOST_CHECK_THROW(damaged.check("x"), FileError);
}

BOOST_AUTO_TEST_SUITE_END()
