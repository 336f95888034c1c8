// Inputs whose reduction is known exactly, and the check of what arrived, on the device that holds it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/operation.hpp"
#include "core/device.hpp"

namespace weft::collective {

/// Fills `count` elements with what rank `rank` sends: whole numbers below 256, different by position and
/// rank, so that sums of them are exact in every datatype up to 65536 ranks.
void fill_input(Stream& stream, void* elements, std::size_t count, Datatype datatype, int rank);

/// Fills `count` elements with a value that no operation yields.
void fill_poison(Stream& stream, void* elements, std::size_t count, Datatype datatype);

/// The number of the `count` received elements that are not as expected. `call.receive` is looked at. With
/// --inject-corruption the first one is altered before.
std::uint64_t count_wrong_elements(const Call& call, const Expectation& expectation, std::size_t count,
                                   int device);

}  // namespace weft::collective
