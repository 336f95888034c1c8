#include "core/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace weft {

namespace {

/// Length of the well-formed UTF-8 sequence at `position` (Unicode 15, table 3-7); 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t offset) -> unsigned {
    return position + offset < text.size() ? static_cast<unsigned char>(text[position + offset]) : 0;
  };
  const auto follows = [&](std::size_t offset, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(offset) >= low && byte(offset) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_control(std::string& out, unsigned char c) {
  constexpr char digits[] = "0123456789abcdef";
  out += "\\u00";
  out += digits[c >> 4];
  out += digits[c & 15];
}

std::string quote(std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text, i);
    if (length == 0)
      out += replacement;
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      append_control(out, static_cast<unsigned char>(c));
    else
      out += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return out + '"';
}

}  // namespace

Json::Json(double value) {
  if (!std::isfinite(value)) return;
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) throw std::logic_error("a double needs more than 32 characters");
  text_.assign(digits.data(), end);
}

Json::Json(std::string_view value) : text_(quote(value)) {}

Json Json::object(std::initializer_list<std::pair<std::string, Json>> members) {
  Json result;
  result.kind_ = Kind::object;
  for (const auto& [key, value] : members)
    result.set(key, value);
  return result;
}

Json Json::written(std::string text) {
  Json result;
  result.text_ = std::move(text);
  return result;
}

Json Json::array() {
  Json result;
  result.kind_ = Kind::array;
  return result;
}

Json& Json::set(const std::string& key, Json value) {
  if (kind_ != Kind::object)
    throw std::logic_error("member \"" + key + "\" set on a JSON value that is no object");
  for (auto& member : members_)
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  members_.emplace_back(key, std::move(value));
  return *this;
}

Json& Json::merge(const Json& other) {
  if (other.kind_ != Kind::object) throw std::logic_error("only a JSON object can be merged");
  for (const auto& [key, value] : other.members_)
    set(key, value);
  return *this;
}

Json& Json::push(Json value) {
  if (kind_ != Kind::array) throw std::logic_error("element added to a JSON value that is no array");
  elements_.push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& member : members_)
    if (member.first == key) return &member.second;
  return nullptr;
}

std::string Json::dump() const {
  if (kind_ == Kind::scalar) return text_;
  std::string out(1, kind_ == Kind::object ? '{' : '[');
  const char* separator = "";
  for (const auto& [key, value] : members_) {
    out += separator + quote(key) + ":" + value.dump();
    separator = ",";
  }
  for (const Json& element : elements_) {
    out += separator + element.dump();
    separator = ",";
  }
  out += kind_ == Kind::object ? '}' : ']';
  return out;
}

}  // namespace weft
