#pragma once

#include <string_view>
#include <vector>

namespace starpo {

// How text is cut into the pieces within which byte pairs merge.
enum class SplitPattern { qwen2, gpt2 };

// The regular expression by which a tokenizer.json names Qwen2's pattern.
extern const std::string_view qwen2_regex;

// The pieces of the text, in order and without a gap: views into it.
std::vector<std::string_view> split_text(std::string_view text, SplitPattern);

}  // namespace starpo
