#include "rollout/response_parser.h"

#include <algorithm>
#include <array>

namespace starpo {
namespace {

constexpr std::string_view kWhitespace = " \t\n\r\f\v";
constexpr auto kNotFound = std::string_view::npos;

std::string strip(std::string_view text) {
  const auto first = text.find_first_not_of(kWhitespace);
  if (first == kNotFound) return {};
  return std::string(text.substr(first, text.find_last_not_of(kWhitespace) - first + 1));
}

// Removes stray tags from a block, for example if a model opens one twice.
std::string without_tags(std::string_view text) {
  constexpr std::array<std::string_view, 6> tags{"<think>",   "</think>",     "<answer>",
                                                 "</answer>", "<|im_start|>", "<|im_end|>"};
  std::string result(text);
  for (const auto tag : tags)
    for (auto at = result.find(tag); at != std::string::npos; at = result.find(tag, at)) result.erase(at, tag.size());
  return strip(result);
}

std::vector<std::string> split_actions(std::string_view answer) {
  std::vector<std::string> actions;
  for (std::size_t start = 0; start <= answer.size();) {
    const auto end = std::min(answer.find("||", start), answer.size());
    if (auto name = strip(answer.substr(start, end - start)); !name.empty()) actions.push_back(std::move(name));
    start = end + 2;
  }
  return actions;
}

ParsedResponse parse_blocks(std::optional<std::string> think, std::string_view answer) {
  ParsedResponse parsed{true, std::move(think), without_tags(answer), {}};
  parsed.actions = split_actions(*parsed.answer);
  return parsed;
}

}  // namespace

ParsedResponse parse_response(std::string_view response, bool think) {
  constexpr std::string_view think_open = "<think>", think_close = "</think>", answer_open = "<answer>",
                             answer_close = "</answer>";

  if (!think) {
    const auto open = response.find(answer_open);
    if (open == kNotFound) return {};
    const auto body = open + answer_open.size(), close = response.find(answer_close, body);
    return close == kNotFound ? ParsedResponse{} : parse_blocks(std::nullopt, response.substr(body, close - body));
  }

  const auto open = response.find(think_open);
  if (open == kNotFound) return {};
  const auto reasoning = open + think_open.size();
  for (auto close = response.find(think_close, reasoning); close != kNotFound;
       close = response.find(think_close, close + 1)) {
    const auto next = response.find_first_not_of(kWhitespace, close + think_close.size());
    if (next == kNotFound || response.substr(next, answer_open.size()) != answer_open) continue;
    const auto body = next + answer_open.size(), end = response.find(answer_close, body);
    if (end == kNotFound) return {};
    return parse_blocks(without_tags(response.substr(reasoning, close - reasoning)), response.substr(body, end - body));
  }
  return {};
}

}  // namespace starpo
