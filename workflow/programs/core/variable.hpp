// Variables of the environment, read one way.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace weft {

/// Its value; empty where it is not set, or set to nothing.
inline std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

/// Its value where that is a whole number from 0 on; empty otherwise.
inline std::optional<int> number_variable(const char* name) {
  const auto text = variable(name);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text->c_str(), &end, 10);
  if (*end != '\0' || value < 0) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace weft
