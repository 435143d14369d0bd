#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/onnx/onnx_fields.hpp>

// Messages of arrays and types: see onnx_messages.hpp.
namespace mezzo::detail::onnx {

class StringStringEntryProto {
  MEZZO_PROTO_TEXT(key)
  MEZZO_PROTO_TEXT(value)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, key_);
    field(2, value_);
  }
};

class TensorProto {
 public:
  enum DataType : std::int32_t {
    UNDEFINED = 0,
    FLOAT = 1,
    UINT8 = 2,
    INT8 = 3,
    UINT16 = 4,
    INT16 = 5,
    INT32 = 6,
    INT64 = 7,
    STRING = 8,
    BOOL = 9,
    FLOAT16 = 10,
    DOUBLE = 11,
    UINT32 = 12,
    UINT64 = 13,
    COMPLEX64 = 14,
    COMPLEX128 = 15,
    BFLOAT16 = 16
  };
  enum DataLocation : std::int32_t { DEFAULT = 0, EXTERNAL = 1 };

  MEZZO_PROTO_LIST(std::int64_t, dims)
  MEZZO_PROTO_VALUE(std::int32_t, data_type)
  MEZZO_PROTO_TEXT(segment)
  MEZZO_PROTO_LIST(float, float_data)
  MEZZO_PROTO_LIST(std::int32_t, int32_data)
  MEZZO_PROTO_LIST(std::string, string_data)
  MEZZO_PROTO_LIST(std::int64_t, int64_data)
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_TEXT(raw_data)
  MEZZO_PROTO_LIST(double, double_data)
  MEZZO_PROTO_LIST(std::uint64_t, uint64_data)
  MEZZO_PROTO_LIST(StringStringEntryProto, external_data)
  MEZZO_PROTO_VALUE(DataLocation, data_location)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, dims_);
    field(2, data_type_);
    field(3, segment_);
    field(4, float_data_);
    field(5, int32_data_);
    field(6, string_data_);
    field(7, int64_data_);
    field(8, name_);
    field(9, raw_data_);
    field(10, double_data_);
    field(11, uint64_data_);
    field(13, external_data_);
    field(14, data_location_);
  }
};

class TensorShapeProto {
 public:
  class Dimension {
    MEZZO_PROTO_VALUE(std::int64_t, dim_value)
    MEZZO_PROTO_TEXT(dim_param)

    template <class Visitor>
    void visit(Visitor&& field) {
      field(1, dim_value_);
      field(2, dim_param_);
    }
  };

  MEZZO_PROTO_LIST(Dimension, dim)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, dim_);
  }
};

class TypeProto {
 public:
  class Tensor {
    MEZZO_PROTO_VALUE(std::int32_t, elem_type)
    MEZZO_PROTO_MESSAGE(TensorShapeProto, shape)

    template <class Visitor>
    void visit(Visitor&& field) {
      field(1, elem_type_);
      field(2, shape_);
    }
  };

  MEZZO_PROTO_MESSAGE(Tensor, tensor_type)
  MEZZO_PROTO_TEXT(sequence_type)  // the bytes of a message that is not read
  MEZZO_PROTO_TEXT(map_type)
  MEZZO_PROTO_TEXT(sparse_tensor_type)
  MEZZO_PROTO_TEXT(optional_type)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, tensor_type_);
    field(4, sequence_type_);
    field(5, map_type_);
    field(8, sparse_tensor_type_);
    field(9, optional_type_);
  }
};

class ValueInfoProto {
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_MESSAGE(TypeProto, type)
  MEZZO_PROTO_TEXT(doc_string)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, name_);
    field(2, type_);
    field(3, doc_string_);
  }
};

}  // namespace mezzo::detail::onnx
