// Reading the words of a command line: lists, numbers, sizes, and how they are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::option_text {

using Words = std::vector<std::string>;

/// Always one part at least; parts may be empty.
Words split(const std::string& text, char separator);
/// With commas between.
std::string join(const Words& words);

/// Digits only; empty where there is anything else or the number is too large.
std::optional<std::uint64_t> parse_integer(const std::string& text);
/// Bytes: digits, and KiB, MiB or GiB after them.
std::optional<std::uint64_t> parse_size(const std::string& text);

/// Throws the UsageError of an option's value.
[[noreturn]] void refuse(const std::string& name, const std::string& value, const std::string& why);

}  // namespace weft::option_text
