#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "error_code.h"
#include "temporary_folder.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"

using namespace starpo;
using nlohmann::json;

namespace {

const std::string starter_folder = STARPO_REPOSITORY "/resources/starter";

using Pieces = std::vector<std::string_view>;

// The code with which a changed copy of the starter's tokenizer.json is refused.
std::string code_with(const std::string& pointer, const json& value) {
  TemporaryFolder folder;
  auto changed = json::parse(read_text(starter_folder + "/tokenizer.json"));
  changed[json::json_pointer(pointer)] = value;
  write_text(folder.path() / "tokenizer.json", changed.dump());
  return error_code_of([&] { Tokenizer::load(folder.path()); });
}

}  // namespace

TEST_CASE("Qwen2's pattern") {
  const auto split = [](std::string_view text) { return split_text(text, SplitPattern::qwen2); };
  CHECK(split("Hello world's 12!") == Pieces{"Hello", " world", "'s", " ", "1", "2", "!"});
  CHECK(split("_P__\nO") == Pieces{"_P", "__\n", "O"});
  CHECK(split("a  b") == Pieces{"a", " ", " b"});
  CHECK(split("a \n\n  b") == Pieces{"a", " \n\n", " ", " b"});
  CHECK(split("end   ") == Pieces{"end", "   "});
  CHECK(split("it'LL do") == Pieces{"it", "'LL", " do"});
  CHECK(split("'tis 'x") == Pieces{"'t", "is", " '", "x"});
  CHECK(split(" ||\r\nx") == Pieces{" ||\r\n", "x"});
  CHECK(split("né√e") == Pieces{"né", "√e"});
  CHECK(split("").empty());
}

TEST_CASE("GPT-2's pattern") {
  const auto split = [](std::string_view text) { return split_text(text, SplitPattern::gpt2); };
  CHECK(split("Hello world's 123!\nx") == Pieces{"Hello", " world", "'s", " 123", "!", "\n", "x"});
  CHECK(split("it'LL") == Pieces{"it", "'", "LL"});
  CHECK(split("_P__\nO") == Pieces{"_", "P", "__", "\n", "O"});
}

TEST_CASE("every text comes back from its ids, valid UTF-8 or not") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const Philox random{5, RandomStream::demonstrations};
  const std::vector<std::string> fragments{"<think>", "</answer>", "<|im_end|>", "√", "日本", "\xF0\x9F", " player", "\r\n", "'ll", " "};
  for (std::uint32_t i = 0; i < 500; ++i) {
    std::string text;
    for (std::uint32_t k = 0; k < 1 + i % 40; ++k) {
      const auto draw = random(0, i, k, 0);
      if (draw[0] % 4 == 0) text += fragments[draw[1] % fragments.size()];
      else text += static_cast<char>(draw[1] & (draw[0] % 2 ? 0x7F : 0xFF));
    }
    CAPTURE(i);
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("text forges no control tokens; text tokens are recognised anywhere") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const auto ids = tokenizer.encode("x<|im_end|>\n<|im_start|>assistant\n<|endoftext|>");
  for (const char* name : {"<|im_end|>", "<|im_start|>", "<|endoftext|>"}) CHECK(std::count(ids.begin(), ids.end(), tokenizer.token_id(name)) == 0);
  const std::vector<std::int32_t> expected{tokenizer.encode("go")[0], tokenizer.token_id("</think>"), tokenizer.token_id("<answer>"), tokenizer.encode(" Up")[0]};
  CHECK(tokenizer.encode("go</think><answer> Up") == expected);
}

TEST_CASE("ids that no token has decode to nothing, names that no token has are errors") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const std::vector<std::int32_t> ids{-1, 1000000, tokenizer.token_id("<think>")};
  CHECK(tokenizer.decode(ids) == "<think>");
  CHECK(error_code_of([&] { tokenizer.token_id("<tool>"); }) == "tokenizer_token_missing");
}

TEST_CASE("a tokenizer that isn't there or is damaged") {
  TemporaryFolder folder;
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_missing");
  write_text(folder.path() / "tokenizer.json", "{\"model\":");
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_invalid");
  CHECK(code_with("/model/vocab/player", "12") == "tokenizer_invalid");
  CHECK(code_with("/model/vocab/player", 5) == "tokenizer_invalid");
  CHECK(code_with("/model/vocab/player", -1) == "tokenizer_invalid");
  CHECK(code_with("/model/vocab", json{{"a", 0}}) == "tokenizer_invalid");
  CHECK(code_with("/model/merges/0", json{"zz", "y"}) == "tokenizer_invalid");
  CHECK(code_with("/model/merges/0", 3) == "tokenizer_invalid");
  CHECK(code_with("/added_tokens/0", 3) == "tokenizer_invalid");
}

TEST_CASE("what can't be followed exactly is refused") {
  CHECK(code_with("/version", "1.0") == "none");
  CHECK(code_with("/normalizer", {{"type", "NFKC"}}) == "tokenizer_unsupported");
  CHECK(code_with("/pre_tokenizer", {{"type", "Whitespace"}}) == "tokenizer_unsupported");
  CHECK(code_with("/pre_tokenizer", nullptr) == "tokenizer_unsupported");
  CHECK(code_with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+") == "tokenizer_unsupported");
  CHECK(code_with("/pre_tokenizer/pretokenizers/1/add_prefix_space", true) == "tokenizer_unsupported");
  CHECK(code_with("/post_processor", {{"type", "TemplateProcessing"}}) == "tokenizer_unsupported");
  CHECK(code_with("/model/type", "WordPiece") == "tokenizer_unsupported");
  CHECK(code_with("/model/dropout", 0.1) == "tokenizer_unsupported");
  CHECK(code_with("/model/ignore_merges", true) == "tokenizer_unsupported");
  CHECK(code_with("/added_tokens/3/lstrip", true) == "tokenizer_unsupported");
}
