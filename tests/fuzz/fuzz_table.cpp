// The first two bytes choose options.
#include <mezzo/data/tables/csv_reader.hpp>

#include "fuzz.hpp"

namespace {

mezzo::ReadCsvOptions options_of(unsigned bits) {
  const auto has = [&](unsigned bit) { return (bits >> bit & 1U) != 0; };
  mezzo::ReadCsvOptions options;
  options.sep = has(0) ? "auto" : has(1) ? ";" : ",";
  if (has(2)) options.header = std::nullopt;
  if (has(3)) options.dtype = mezzo::detail::CsvTypes(has(4) ? "category" : has(5) ? "int8" : "float32");
  if (has(6)) options.comment = "#";
  if (has(7)) options.thousands = "'";
  if (has(8)) options.na_values = {"-1", "?"};
  if (has(9)) options.skipinitialspace = true;
  if (has(10)) options.quotechar = has(11) ? "" : "'";
  if (options.quotechar == "'") options.thousands = "";
  if (has(12)) options.skiprows = 1;
  if (has(13)) options.nrows = 2;
  if (has(14)) options.names = {"a", "b"};
  return options;
}

void touch_all(const mezzo::Table& table) {
  for (const std::string& name : table.columns()) {
    const mezzo::Column& column = table[name];
    if (column.type() == "str") {
      const mezzo::Strings strings = column.strings();
      for (const std::string& text : strings.values()) static_cast<void>(text.size());
    } else {
      mezzo_fuzz::touch(column.values());
    }
    mezzo_fuzz::touch(column.isna());
  }
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  if (bytes.size() < 2) return;
  const mezzo::ReadCsvOptions options = options_of(bytes[0] | static_cast<unsigned>(bytes[1]) << 8U);
  const std::string path = file_of({bytes.begin() + 2, bytes.end()});
  const mezzo::Table whole = mezzo::read_csv(path, options);
  touch_all(whole);
  for (const mezzo::Table& part : mezzo::CsvReader(path, 3, options)) touch_all(part);
}

std::vector<Bytes> seeds() {
  const auto seed = [](unsigned bits, const std::string& text) {
    Bytes bytes{static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8U)};
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
  };
  return {seed(0, "id,city,income\n1,Lyon,1200.5\n2,\"a, \"\"b\"\"\",\n,NA,-3e2\n4,\"x\ny\",inf\n"),
          seed(1,
               "\xEF\xBB\xBF"
               "a;b\r\n1;2\r\n\r\n+3;1'000\r\n"),
          seed(0x1c8, "# c\na,b\rTrue,-1.0\r?,False # d\r"), seed(0x400c, "1.5,x\n\"2\",y\n")};
}

const Target target("table", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
