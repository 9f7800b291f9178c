#include "rollout/reply_parser.h"

#include <algorithm>
#include <array>

namespace starpo {
namespace {

constexpr std::string_view white_space = " \t\n\r\f\v";
constexpr auto npos = std::string_view::npos;

std::string strip(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(white_space) - first + 1));
}

// A block may hold stray tags (a model that opens one twice); they are no part of what it says.
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

ParsedReply matched(std::optional<std::string> think, std::string_view answer) {
  ParsedReply reply{true, std::move(think), without_tags(answer), {}};
  reply.actions = split_actions(*reply.answer);
  return reply;
}

}  // namespace

ParsedReply parse_reply(std::string_view reply, bool think) {
  constexpr std::string_view think_open = "<think>", think_close = "</think>", answer_open = "<answer>",
                             answer_close = "</answer>";

  if (!think) {
    const auto open = reply.find(answer_open);
    if (open == npos) return {};
    const auto body = open + answer_open.size(), close = reply.find(answer_close, body);
    return close == npos ? ParsedReply{} : matched(std::nullopt, reply.substr(body, close - body));
  }

  const auto open = reply.find(think_open);
  if (open == npos) return {};
  const auto thought = open + think_open.size();
  for (auto close = reply.find(think_close, thought); close != npos; close = reply.find(think_close, close + 1)) {
    const auto next = reply.find_first_not_of(white_space, close + think_close.size());
    if (next == npos || reply.substr(next, answer_open.size()) != answer_open) continue;
    const auto body = next + answer_open.size(), end = reply.find(answer_close, body);
    if (end == npos) return {};
    return matched(without_tags(reply.substr(thought, close - thought)), reply.substr(body, end - body));
  }
  return {};
}

}  // namespace starpo
