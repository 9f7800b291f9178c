#include "tokenizer/added_tokens.h"

namespace starpo {

void AddedTokens::add(const std::string& content, std::int32_t id) {
  ids_.insert_or_assign(content, id);
  lengths_[static_cast<unsigned char>(content.at(0))].insert(content.size());
}

AddedTokens::Found AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at)
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (length > text.size() - at) continue;
      if (const auto found = ids_.find(text.substr(at, length)); found != ids_.end()) return {at, length, found->second};
    }
  return {text.size(), 0, 0};
}

}  // namespace starpo
