#include "core/option_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/error.hpp"
#include "core/options.hpp"

namespace weft {

namespace {

using option_text::Words;

constexpr std::pair<const char*, std::uint64_t> suffixes[] = {
    {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}, {"", 1}};

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein).
std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[to.size()];
}

}  // namespace

namespace option_text {

Words split(const std::string& text, char separator) {
  Words parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string join(const Words& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::optional<std::uint64_t> parse_integer(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  for (const auto& [suffix, factor] : suffixes) {
    const std::string ending = suffix;
    if (text.size() < ending.size() || text.substr(text.size() - ending.size()) != ending) continue;
    const auto value = parse_integer(text.substr(0, text.size() - ending.size()));
    if (!value || *value > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
    return *value * factor;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& name, const std::string& value, const std::string& why) {
  throw UsageError("--" + name + " " + (value.empty() ? "\"\"" : value) + ": " + why + ".");
}

}  // namespace option_text

std::string nearest(const std::string& word, const Words& known) {
  const std::size_t tolerance = std::max<std::size_t>(2, word.size() / 3);
  std::string best;
  std::size_t fewest = tolerance + 1;
  for (const std::string& candidate : known) {
    const std::size_t needed = edits(word, candidate);
    if (needed < fewest && needed < candidate.size()) {
      fewest = needed;
      best = candidate;
    }
  }
  return best;
}

std::string format_size(std::uint64_t size_bytes) {
  for (const auto& [suffix, factor] : suffixes)
    if (size_bytes >= factor && size_bytes % factor == 0) return std::to_string(size_bytes / factor) + suffix;
  return std::to_string(size_bytes);
}

}  // namespace weft
