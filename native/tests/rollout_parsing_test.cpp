#include <doctest/doctest.h>

#include "base/error.h"
#include "rollout/prompt.h"
#include "rollout/response_parser.h"

using namespace starpo;

TEST_CASE("a response with both blocks is parsed") {
  const auto parsed = parse_response("<think> go right </think> \n<answer>Right || Down</answer> and more", true);
  CHECK(parsed.format_valid);
  CHECK(parsed.think == "go right");
  CHECK(parsed.answer == "Right || Down");
  CHECK(parsed.actions == std::vector<std::string>{"Right", "Down"});
}

TEST_CASE("actions are split at || and stripped, and blanks are dropped") {
  CHECK(parse_response("<think></think><answer>||  Up|| ||Left ||</answer>", true).actions ==
        std::vector<std::string>{"Up", "Left"});
  CHECK(parse_response("<think></think><answer>Up | Left</answer>", true).actions ==
        std::vector<std::string>{"Up | Left"});
  const auto empty = parse_response("<think></think><answer></answer>", true);
  CHECK(empty.format_valid);
  CHECK(empty.actions.empty());
}

TEST_CASE("reasoning ends at the first closing tag that an answer follows") {
  const auto parsed = parse_response("<think>a</think> b </think>\t<answer>Up</answer>", true);
  CHECK(parsed.think == "a b");
  CHECK(parsed.actions == std::vector<std::string>{"Up"});
}

TEST_CASE("stray tags inside a block are removed") {
  const auto parsed = parse_response("<think><think>x</think><answer><answer>Up</answer>", true);
  CHECK(parsed.think == "x");
  CHECK(parsed.answer == "Up");
}

TEST_CASE("responses with an invalid format have no actions") {
  for (const char* text : {"", "<think>", "<think>x</think>", "<think>x</think> so <answer>Up</answer>",
                           "<think>x</think><answer>Up", "x</think><answer>Up</answer>", "<answer>Up</answer>"}) {
    CAPTURE(text);
    const auto parsed = parse_response(text, true);
    CHECK_FALSE(parsed.format_valid);
    CHECK_FALSE(parsed.think.has_value());
    CHECK(parsed.actions.empty());
  }
}

TEST_CASE("without reasoning, only the answer block is parsed") {
  const auto parsed = parse_response("<answer> Up </answer><answer>Down</answer>", false);
  CHECK(parsed.format_valid);
  CHECK_FALSE(parsed.think.has_value());
  CHECK(parsed.actions == std::vector<std::string>{"Up"});
  CHECK_FALSE(parse_response("Up", false).format_valid);
}

TEST_CASE("templates fill placeholders and keep doubled braces") {
  CHECK(fill_template("{state}: {{x}} {reward}", {{"state", "a{b}"}, {"reward", "0"}}, "p") == "a{b}: {x} 0");
  for (const char* text : {"{unknown}", "{state", "{"}) {
    CAPTURE(text);
    try {
      fill_template(text, {{"state", ""}}, "environments.lake.prompt.first");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == "config_invalid");
      CHECK(std::string(error.what()).find("environments.lake.prompt.first") == 0);
      CHECK_FALSE(error.hint().empty());
    }
  }
}
