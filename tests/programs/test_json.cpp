#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "core/json.hpp"

using weft::Json;

namespace {

std::string text(const Json& json) { return json.dump(); }

}  // namespace

TEST(scalars_are_written_as_json) {
  CHECK_EQ(text(Json()), std::string("null"));
  CHECK_EQ(text(true), std::string("true"));
  CHECK_EQ(text(-7), std::string("-7"));
  CHECK_EQ(text(std::numeric_limits<std::uint64_t>::max()), std::string("18446744073709551615"));
  CHECK_EQ(text("words"), std::string("\"words\""));
  CHECK_EQ(text(std::optional<int>()), std::string("null"));
  CHECK_EQ(text(std::optional<int>(3)), std::string("3"));
  CHECK_EQ(text(std::vector<int>{1, 2}), std::string("[1,2]"));
  CHECK_EQ(text(std::vector<bool>{true, false}), std::string("[true,false]"));
  CHECK(Json().is_null());
  CHECK(!Json("null").is_null());
}

TEST(doubles_are_the_shortest_that_read_back_the_same) {
  CHECK_EQ(text(0.1), std::string("0.1"));
  CHECK_EQ(text(1e-7), std::string("1e-07"));
  CHECK_EQ(text(3.94e11), std::string("3.94e+11"));
  for (const double value :
       {1.0 / 3, 2.7982101440429687e-09, 5e-324, 1.7976931348623157e308, -0.0, 4503599627370497.5})
    CHECK_EQ(std::strtod(text(value).c_str(), nullptr), value);
}

TEST(what_json_cannot_say_is_null) {
  CHECK_EQ(text(std::numeric_limits<double>::quiet_NaN()), std::string("null"));
  CHECK_EQ(text(std::numeric_limits<double>::infinity()), std::string("null"));
}

TEST(text_is_escaped) {
  CHECK_EQ(text("a\"b\\c"), std::string(R"("a\"b\\c")"));
  CHECK_EQ(text("line\nnext\ttab"), std::string(R"("line\nnext\ttab")"));
  CHECK_EQ(text(std::string("\x01\x1f\x7f\0z", 5)), std::string(R"("\u0001\u001f\u007f\u0000z")"));
  CHECK_EQ(text("</script>"), std::string("\"</script>\""));
}

TEST(utf8_passes_through) {
  const std::string words = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\xa7\xb5";
  CHECK_EQ(text(words), "\"" + words + "\"");
}

TEST(bytes_that_are_no_utf8_are_replaced_one_by_one) {
  const std::string replaced = "\xef\xbf\xbd";
  CHECK_EQ(text("a\xff"
                "b"),
           "\"a" + replaced + "b\"");
  CHECK_EQ(text("\xe2\x82"), "\"" + replaced + replaced + "\"");                 // cut short
  CHECK_EQ(text("\xc0\xaf"), "\"" + replaced + replaced + "\"");                 // overlong
  CHECK_EQ(text("\xed\xa0\x80"), "\"" + replaced + replaced + replaced + "\"");  // a surrogate
  CHECK_EQ(text("\xf4\x90\x80\x80"), "\"" + replaced + replaced + replaced + replaced + "\"");
}

TEST(objects_keep_their_order_and_replace_members) {
  Json object = Json::object({{"z", 1}, {"a", Json::array()}});
  object.set("m", 2).set("z", "again");
  CHECK_EQ(text(object), std::string(R"({"z":"again","a":[],"m":2})"));
  object.merge(Json::object({{"a", nullptr}, {"b", Json::object()}}));
  CHECK_EQ(text(object), std::string(R"({"z":"again","a":null,"m":2,"b":{}})"));
  CHECK_EQ(text(*object.find("m")), std::string("2"));
  CHECK(object.find("q") == nullptr);
}

TEST(members_and_elements_belong_to_objects_and_arrays) {
  CHECK_THROWS(Json(1).set("a", 1), std::logic_error);
  CHECK_THROWS(Json::object().push(1), std::logic_error);
  CHECK_THROWS(Json::object().merge(Json::array()), std::logic_error);
}
