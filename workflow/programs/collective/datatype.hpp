// Element types and reductions that every library has.
#pragma once

#include <cstddef>
#include <string>

namespace weft::collective {

enum class Datatype { float32, float64, int32 };
constexpr const char* datatype_names[] = {"float32", "float64", "int32"};
inline std::size_t element_bytes(Datatype type) { return type == Datatype::float64 ? 8 : 4; }

enum class Reduction { sum, max, min };
constexpr const char* reduction_names[] = {"sum", "max", "min"};

}  // namespace weft::collective
