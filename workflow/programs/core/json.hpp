// A JSON value to write: records are only ever written here, and read by the Python side.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// A JSON value whose objects keep the order of insertion. Numbers are written so that no digit is lost;
/// a NaN or infinity is written as null, since JSON has neither.
class Json {
 public:
  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : text_(value ? "true" : "false") {}
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Json(T value) : text_(std::to_string(value)) {}
  Json(double value);
  Json(std::string_view value);
  Json(const char* value) : Json(std::string_view(value)) {}
  Json(const std::string& value) : Json(std::string_view(value)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  template <class T>
  Json(const std::vector<T>& values) : kind_(Kind::array) {
    for (const auto& value : values)
      push(Json(value));
  }

  static Json object(std::initializer_list<std::pair<std::string, Json>> members = {});
  static Json array();
  /// A value that is JSON already, e.g. what another process has dumped.
  static Json written(std::string text);

  /// Adds or replaces a member of an object.
  Json& set(const std::string& key, Json value);
  /// Adds all members of another object.
  Json& merge(const Json& other);
  /// Appends to an array.
  Json& push(Json value);
  const Json* find(std::string_view key) const;
  bool is_null() const { return kind_ == Kind::scalar && text_ == "null"; }

  /// One line, no blanks after separators.
  std::string dump() const;

 private:
  enum class Kind { scalar, object, array };
  Kind kind_ = Kind::scalar;
  std::string text_ = "null";  // a scalar as it is written
  std::vector<std::pair<std::string, Json>> members_;
  std::vector<Json> elements_;
};

}  // namespace weft
