#include "rollout/prompt.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace starpo {

std::string fill_template(const std::string& text, const std::map<std::string, std::string>& values,
                          const std::string& path) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
    if ((text[i] == '{' || text[i] == '}') && doubled) {
      result += text[i++];
    } else if (text[i] == '{') {
      const auto end = text.find('}', i);
      if (end == std::string::npos)
        throw Error("config_invalid", path + ": a { is not closed", "close the placeholder with }, or write {{ for {");
      const auto name = text.substr(i + 1, end - i - 1);
      const auto value = values.find(name);
      if (value == values.end()) {
        std::string valid;
        for (const auto& entry : values) valid += (valid.empty() ? "{" : ", {") + entry.first + "}";
        throw Error("config_invalid", path + ": unknown placeholder {" + name + "}",
                    "use " + valid + "; write {{ for a literal {");
      }
      result += value->second;
      i = end;
    } else {
      result += text[i];
    }
  }
  return result;
}

ChatFormat::ChatFormat(const Tokenizer& tokenizer, bool think, const std::vector<std::int32_t>& more_stop_ids)
    : tokenizer_(tokenizer),
      turn_start_(tokenizer.token_id("<|im_start|>")),
      turn_end_(tokenizer.token_id("<|im_end|>")),
      stop_ids_{turn_end_},
      newline_(tokenizer.encode("\n")),
      generation_prompt_(tokenizer.encode(think ? "assistant\n<think>" : "assistant\n<answer>")),
      forced_prefix_(think ? "<think>" : "<answer>") {
  std::copy_if(more_stop_ids.begin(), more_stop_ids.end(), std::back_inserter(stop_ids_),
               [this](std::int32_t id) { return !ends_response(id); });
}

bool ChatFormat::ends_response(std::int32_t id) const {
  return std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end();
}

void ChatFormat::append_message(std::vector<std::int32_t>& ids, const std::string& role,
                                const std::string& content) const {
  const auto text = tokenizer_.encode(role + "\n" + content);
  ids.push_back(turn_start_);
  ids.insert(ids.end(), text.begin(), text.end());
  ids.push_back(turn_end_);
  ids.insert(ids.end(), newline_.begin(), newline_.end());
}

void ChatFormat::append_generation_prompt(std::vector<std::int32_t>& ids) const {
  ids.push_back(turn_start_);
  ids.insert(ids.end(), generation_prompt_.begin(), generation_prompt_.end());
}

std::vector<std::int32_t> ChatFormat::first_turn(const std::string& system, const std::string& user) const {
  std::vector<std::int32_t> ids;
  if (!system.empty()) append_message(ids, "system", system);
  append_message(ids, "user", user);
  append_generation_prompt(ids);
  return ids;
}

std::vector<std::int32_t> ChatFormat::next_turn(const std::string& user, bool repair_turn_end) const {
  std::vector<std::int32_t> ids;
  if (repair_turn_end) ids.push_back(turn_end_);
  ids.insert(ids.end(), newline_.begin(), newline_.end());
  append_message(ids, "user", user);
  append_generation_prompt(ids);
  return ids;
}

}  // namespace starpo
