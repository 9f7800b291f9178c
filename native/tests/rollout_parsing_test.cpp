#include <doctest/doctest.h>

#include "base/error.h"
#include "rollout/prompt.h"
#include "rollout/reply_parser.h"

using namespace starpo;

TEST_CASE("a reply with both blocks") {
  const auto reply = parse_reply("<think> go right </think> \n<answer>Right || Down</answer> and more", true);
  CHECK(reply.format_valid);
  CHECK(reply.think == "go right");
  CHECK(reply.answer == "Right || Down");
  CHECK(reply.actions == std::vector<std::string>{"Right", "Down"});
}

TEST_CASE("actions are split at the double bar, stripped, and blanks dropped") {
  CHECK(parse_reply("<think></think><answer>||  Up|| ||Left ||</answer>", true).actions ==
        std::vector<std::string>{"Up", "Left"});
  CHECK(parse_reply("<think></think><answer>Up | Left</answer>", true).actions ==
        std::vector<std::string>{"Up | Left"});
  const auto empty = parse_reply("<think></think><answer></answer>", true);
  CHECK(empty.format_valid);
  CHECK(empty.actions.empty());
}

TEST_CASE("the thought reaches to the first close that an answer follows") {
  const auto reply = parse_reply("<think>a</think> b </think>\t<answer>Up</answer>", true);
  CHECK(reply.think == "a b");
  CHECK(reply.actions == std::vector<std::string>{"Up"});
}

TEST_CASE("stray tags inside a block are no part of it") {
  const auto reply = parse_reply("<think><think>x</think><answer><answer>Up</answer>", true);
  CHECK(reply.think == "x");
  CHECK(reply.answer == "Up");
}

TEST_CASE("replies without a valid format have no actions") {
  for (const char* text : {"", "<think>", "<think>x</think>", "<think>x</think> so <answer>Up</answer>",
                           "<think>x</think><answer>Up", "x</think><answer>Up</answer>", "<answer>Up</answer>"}) {
    CAPTURE(text);
    const auto reply = parse_reply(text, true);
    CHECK_FALSE(reply.format_valid);
    CHECK_FALSE(reply.think.has_value());
    CHECK(reply.actions.empty());
  }
}

TEST_CASE("without thinking only the answer counts") {
  const auto reply = parse_reply("<answer> Up </answer><answer>Down</answer>", false);
  CHECK(reply.format_valid);
  CHECK_FALSE(reply.think.has_value());
  CHECK(reply.actions == std::vector<std::string>{"Up"});
  CHECK_FALSE(parse_reply("Up", false).format_valid);
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
