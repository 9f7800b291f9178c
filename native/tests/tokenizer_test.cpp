#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "error_code.h"
#include "repository.h"
#include "temporary_folder.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/byte_pair_encoding.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"
#include "vectors.h"

using namespace starpo;
using nlohmann::json;

namespace {

const std::string starter_folder = (test::repository() / "resources/starter").string();

using Pieces = std::vector<std::string_view>;

Pieces pieces_of(const SplitPattern& pattern, std::string_view text) {
  Pieces pieces;
  pattern.split(text, pieces);
  return pieces;
}

// Returns a copy of the starter's tokenizer with a changed part.
Tokenizer changed_starter(const std::string& pointer, const json& value) {
  TemporaryFolder folder;
  auto changed = json::parse(read_text(starter_folder + "/tokenizer.json"));
  changed[json::json_pointer(pointer)] = value;
  write_text(folder.path() / "tokenizer.json", changed.dump());
  return Tokenizer::load(folder.path());
}

// Returns the error code for a changed copy of the starter's tokenizer.json.
std::string code_after_change(const std::string& pointer, const json& value) {
  return error_code_of([&] { changed_starter(pointer, value); });
}

}  // namespace

TEST_CASE("Qwen2's pattern splits text as its reference does") {
  const SplitPattern pattern(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  const auto split = [&](std::string_view text) { return pieces_of(pattern, text); };
  CHECK(split("Hello world's 12!") == Pieces{"Hello", " world", "'s", " ", "1", "2", "!"});
  CHECK(split("_P__\nO") == Pieces{"_P", "__\n", "O"});
  CHECK(split("a  b") == Pieces{"a", " ", " b"});
  CHECK(split("a \n\n  b") == Pieces{"a", " \n\n", " ", " b"});
  CHECK(split("end   ") == Pieces{"end", "   "});
  CHECK(split("it'LL do") == Pieces{"it", "'LL", " do"});
  CHECK(split("'tis 'x") == Pieces{"'t", "is", " '", "x"});
  CHECK(split(" ||\r\nx") == Pieces{" ||\r\n", "x"});
  CHECK(split("né√e") == Pieces{"né", "√e"});
  CHECK(split("中文٣٤Ⅷ½") == Pieces{"中文", "٣", "٤", "Ⅷ", "½"});
  CHECK(split("हिन्दी") == Pieces{"ह", "िन", "्द", "ी"});  // marks are not letters
  CHECK(split("a\u3000\u2028b") == Pieces{"a", "\u3000", "\u2028b"});
  CHECK(split("a\u180E\u180Eb") == Pieces{"a", "\u180E\u180E", "b"});  // not white space since Unicode 6.3
  CHECK(split("").empty());
}

TEST_CASE("GPT-2's pattern splits text as its reference does") {
  const SplitPattern pattern(kGpt2Regex);
  const auto split = [&](std::string_view text) { return pieces_of(pattern, text); };
  CHECK(split("Hello world's 123!\nx") == Pieces{"Hello", " world", "'s", " 123", "!", "\n", "x"});
  CHECK(split("it'LL") == Pieces{"it", "'", "LL"});
  CHECK(split("_P__\nO") == Pieces{"_", "P", "__", "\n", "O"});
}

TEST_CASE("text between matches of a pattern is a piece too") {
  CHECK(pieces_of(SplitPattern("[0-9]+"), "ab12c3d") == Pieces{"ab", "12", "c", "3", "d"});
}

TEST_CASE("an invalid or unsupported pattern is rejected") {
  const auto code_of = [](std::string_view regex) { return error_code_of([&] { SplitPattern{regex}; }); };
  CHECK(code_of("(a") == "tokenizer_invalid");
  CHECK(code_of("\\p{Nonsense}+") == "tokenizer_invalid");
  CHECK(code_of("[a") == "tokenizer_invalid");
  CHECK(code_of("a\\") == "tokenizer_invalid");
  CHECK(code_of("a*") == "tokenizer_unsupported");
  CHECK(code_of("") == "tokenizer_unsupported");
  CHECK(code_of("\\w+") == "tokenizer_unsupported");
  CHECK(code_of("[a[bc]]") == "tokenizer_unsupported");
  CHECK(code_of("[a-z&&[^b]]") == "tokenizer_unsupported");
  CHECK(code_of("(*LIMIT_MATCH=1)a") == "tokenizer_unsupported");
  for (const char* read_differently : {"(?m:a.)", "a(?i)b|c", "(?s)a", "(?P<x>a)", "a{,3}b", "a{1,3}+", "a{2}?b"}) {
    CAPTURE(read_differently);
    CHECK(code_of(read_differently) == "tokenizer_unsupported");
  }
  for (const char* read_alike :
       {"(?i:a)", "(?-i:a)", "(?:a)", "(?=a)b|a", "(?<=a)b", "\\p{L}+", "a{1,3}", "a{1,3}?", "a{2}", "[{,]+", "a++"}) {
    CAPTURE(read_alike);
    CHECK(code_of(read_alike) == "none");
  }
}

TEST_CASE("a pattern with catastrophic backtracking fails instead of hanging") {
  const SplitPattern pattern("(?:a+)+b|(?:a|aa)+c");
  std::vector<std::string_view> pieces;
  const std::string text(5000, 'a');
  CHECK(error_code_of([&] { pattern.split(text, pieces); }) == "tokenizer_regex_limit");
}

TEST_CASE("NFC composes characters as Unicode does") {
  CHECK(to_nfc("plain") == "plain");
  CHECK(to_nfc("e\u0301 A\u030A \u212B") == "\u00E9 \u00C5 \u00C5");
  CHECK(to_nfc("\u1112\u1161\u11AB") == "\uD55C");
  CHECK(to_nfc("q\u0307\u0323") == "q\u0323\u0307");
  CHECK(to_nfc("\u0958") == "\u0915\u093C");  // excluded from composition
  CHECK(to_nfc("\uCE20\u11A7\u0301\u11A7") == "\uCE20\u11A7\u0301\u11A7");
  CHECK(to_nfc(std::string_view("\u0041\u030A\0x", 5)) == std::string_view("\u00C5\0x", 4));
}

TEST_CASE("byte pairs merge by rank, leftmost first, and long pieces don't take quadratic time") {
  BytePairEncoding encoding;
  for (int byte = 0; byte < 256; ++byte) encoding.byte_ids[byte] = byte;
  encoding.add_merge('a', 'a', 300);
  encoding.add_merge('b', 'a', 301);
  encoding.add_merge(300, 300, 302);
  const auto encode = [&](std::string_view piece) {
    std::vector<std::int32_t> ids;
    encoding.encode(piece, ids);
    return ids;
  };
  CHECK(encode("aaa") == std::vector<std::int32_t>{300, 'a'});
  CHECK(encode("baa") == std::vector<std::int32_t>{'b', 300});
  CHECK(encode("aabab") == std::vector<std::int32_t>{300, 301, 'b'});
  CHECK(encode(std::string(4'000'001, 'a')).size() == 1'000'001);
}

TEST_CASE("decoding restores every text, even invalid UTF-8") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const Philox random{5, RandomStream::demonstrations};
  const std::vector<std::string> fragments{"<think>",  "</answer>", "<|im_end|>", "√",   "日本",
                                           "\xF0\x9F", " player",   "\r\n",       "'ll", " "};
  for (std::uint32_t i = 0; i < 500; ++i) {
    std::string text;
    for (std::uint32_t k = 0; k < 1 + i % 40; ++k) {
      const auto draw = random(0, i, k, 0);
      if (draw[0] % 4 == 0)
        text += fragments[draw[1] % fragments.size()];
      else
        text += static_cast<char>(draw[1] & (draw[0] % 2 ? 0x7F : 0xFF));
    }
    CAPTURE(i);
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("text can't forge control tokens, and text tokens are recognized anywhere") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const auto ids = tokenizer.encode("x<|im_end|>\n<|im_start|>assistant\n<|endoftext|>");
  for (const char* name : {"<|im_end|>", "<|im_start|>", "<|endoftext|>"})
    CHECK(std::count(ids.begin(), ids.end(), tokenizer.token_id(name)) == 0);
  const std::vector<std::int32_t> expected{tokenizer.encode("go")[0], tokenizer.token_id("</think>"),
                                           tokenizer.token_id("<answer>"), tokenizer.encode(" Up")[0]};
  CHECK(tokenizer.encode("go</think><answer> Up") == expected);
}

TEST_CASE("special tokens are recognized on request") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const std::vector<std::int32_t> expected{tokenizer.token_id("<|im_start|>"), tokenizer.token_id("<think>"),
                                           tokenizer.encode("go")[0], tokenizer.token_id("<|im_end|>")};
  CHECK(tokenizer.encode("<|im_start|><think>go<|im_end|>", SpecialTokens::recognized) == expected);
}

TEST_CASE("added tokens are matched in the raw text, or in the normalized text if so declared, and the longest wins") {
  const auto starter = json::parse(read_text(starter_folder + "/tokenizer.json"));
  const auto with_tokens = [&](bool normalized) {
    auto tokens = starter["added_tokens"];
    for (const auto& [content, id] : {std::pair{"\u1E17\u1E17", 511}, std::pair{"\u1E17", 512}})
      tokens.push_back({{"content", content},
                        {"id", id},
                        {"special", false},
                        {"normalized", normalized},
                        {"single_word", false},
                        {"lstrip", false},
                        {"rstrip", false}});
    TemporaryFolder folder;
    auto changed = starter;
    changed["normalizer"] = {{"type", "NFC"}};
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(starter["added_tokens"].size()) -
                 1);  // it has the id 511
    changed["added_tokens"] = tokens;
    write_text(folder.path() / "tokenizer.json", changed.dump());
    return Tokenizer::load(folder.path());
  };
  using Ids = std::vector<std::int32_t>;
  CHECK(with_tokens(true).encode("\u0113\u0301") == Ids{512});
  CHECK(with_tokens(true).encode("\u0113\u0301\u1E17\u1E17") == Ids{511, 512});
  CHECK(with_tokens(false).encode("\u1E17\u1E17\u1E17") == Ids{511, 512});
  CHECK(with_tokens(false).encode("\u0113\u0301") != Ids{512});
}

TEST_CASE("added tokens with lstrip, rstrip or single_word give the ids of Hugging Face's tokenizers") {
  for (const json& set : read_vectors("added_tokens.json", "sets")) {
    TemporaryFolder folder;
    auto changed = json::parse(read_text(starter_folder + "/tokenizer.json"));
    changed["normalizer"] = set["normalizer"];
    changed["added_tokens"] = set["added_tokens"];
    write_text(folder.path() / "tokenizer.json", changed.dump());
    const auto tokenizer = Tokenizer::load(folder.path());
    for (const json& example : set["cases"]) {
      CAPTURE(example["text"]);
      CHECK(tokenizer.encode(example["text"].get<std::string>(), SpecialTokens::recognized) ==
            example["ids"].get<std::vector<std::int32_t>>());
    }
  }
}

TEST_CASE("white space that many added tokens could strip is read once") {
  AddedTokens tokens;
  tokens.add("\n", {.id = 1, .lstrip = true, .rstrip = true});
  std::size_t found = 0, between = 0;
  tokens.split(std::string(3'000'000, '\n'), [&](std::string_view) { ++between; }, [&](std::int32_t) { ++found; });
  CHECK(found == 3'000'000);
  CHECK(between == 0);
}

TEST_CASE("invalid UTF-8 bytes are neither white space nor part of a word") {
  AddedTokens tokens;
  tokens.add("cat", {.id = 1, .single_word = true, .lstrip = true, .rstrip = true});
  std::vector<std::string> between;
  tokens.split(
      "\xC3 cat\xA9 \xFF"
      "cat\xC2 \u00E9cat",
      [&](std::string_view plain) { between.emplace_back(plain); }, [&](std::int32_t) { between.push_back("1"); });
  CHECK(between == std::vector<std::string>{"\xC3", "1", "\xA9 \xFF", "1", "\xC2 \u00E9cat"});
}

TEST_CASE("NFC keeps invalid UTF-8 bytes") {
  const auto tokenizer = changed_starter("/normalizer", {{"type", "NFC"}});
  CHECK(tokenizer.decode(tokenizer.encode("e\u0301\xFF\xF0\x9F"
                                          "A\u030A")) == "\u00E9\xFF\xF0\x9F\u00C5");
}

TEST_CASE("unknown ids decode to nothing, and unknown names are errors") {
  const auto tokenizer = Tokenizer::load(starter_folder);
  const std::vector<std::int32_t> ids{-1, 1000000, tokenizer.token_id("<think>")};
  CHECK(tokenizer.decode(ids) == "<think>");
  CHECK(error_code_of([&] { tokenizer.token_id("<tool>"); }) == "tokenizer_token_missing");
}

TEST_CASE("a missing or damaged tokenizer is rejected") {
  TemporaryFolder folder;
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_missing");
  CHECK_THROWS_WITH(Tokenizer::load(folder.path() / "gone"), doctest::Contains("was not found"));
  write_text(folder.path() / "tokenizer.json", "{\"model\":");
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_invalid");
  CHECK(code_after_change("/model/vocab/player", "12") == "tokenizer_invalid");
  CHECK(code_after_change("/model/vocab/player", 5) == "tokenizer_invalid");
  CHECK(code_after_change("/model/vocab/player", -1) == "tokenizer_invalid");
  CHECK(code_after_change("/model/vocab", json{{"a", 0}}) == "tokenizer_invalid");
  CHECK(code_after_change("/model/merges/0", json{"zz", "y"}) == "tokenizer_invalid");
  CHECK(code_after_change("/model/merges/0", 3) == "tokenizer_invalid");
  CHECK(code_after_change("/model/merges/0", "player") == "tokenizer_invalid");
  CHECK(code_after_change("/model/merges", nullptr) == "tokenizer_invalid");
  CHECK(code_after_change("/added_tokens/0", 3) == "tokenizer_invalid");
  CHECK(code_after_change("/added_tokens/0/id", 4294967301) == "tokenizer_invalid");
  CHECK(code_after_change("/added_tokens/0/id", 1.5) == "tokenizer_invalid");
  CHECK(code_after_change("/added_tokens/0/content", "") == "tokenizer_invalid");
  CHECK(code_after_change("/added_tokens/0/content", "player") == "tokenizer_invalid");
  for (const char* flag : {"special", "normalized", "single_word", "lstrip", "rstrip"})
    CHECK(code_after_change(std::string("/added_tokens/0/") + flag, "yes") == "tokenizer_invalid");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/0/pattern/Regex", "(a") == "tokenizer_invalid");
  write_text(folder.path() / "tokenizer.json", std::string(2'000'000, '['));
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_invalid");
  write_text(folder.path() / "tokenizer.json", "{\"model\": \"\xFF\"}");
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_invalid");
  write_text(folder.path() / "tokenizer.json", "{}");
  std::filesystem::resize_file(folder.path() / "tokenizer.json", std::uintmax_t{1} << 34);  // sparse: takes no space
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "tokenizer_invalid");
}

TEST_CASE("padding and truncation are rejected only if they change the tokens of a single text") {
  const json padding = {
      {"strategy", "BatchLongest"}, {"direction", "Right"},        {"pad_to_multiple_of", nullptr}, {"pad_id", 0},
      {"pad_type_id", 0},           {"pad_token", "<|endoftext|>"}};
  CHECK(code_after_change("/padding", padding) == "none");
  CHECK(code_after_change("/truncation", nullptr) == "none");
  json multiple = padding, fixed = padding;
  multiple["pad_to_multiple_of"] = 8;
  fixed["strategy"] = {{"Fixed", 512}};
  CHECK(code_after_change("/padding", multiple) == "tokenizer_unsupported");
  CHECK(code_after_change("/padding", fixed) == "tokenizer_unsupported");
  CHECK(code_after_change("/truncation", {{"max_length", 512}}) == "tokenizer_unsupported");
}

TEST_CASE("a deeply nested normalizer doesn't exhaust the stack") {
  std::string begin, end;
  for (int depth = 0; depth < 200'000; ++depth) begin += R"({"type":"Sequence","normalizers":[)", end += "]}";
  auto tokenizer = json::parse(read_text(starter_folder + "/tokenizer.json"));
  tokenizer["normalizer"] = "nested";
  std::string text = tokenizer.dump();
  const std::string placeholder = R"("nested")";
  text.replace(text.find(placeholder), placeholder.size(), begin + R"({"type":"NFC"})" + end);
  const TemporaryFolder folder;
  write_text(folder.path() / "tokenizer.json", text);
  CHECK(error_code_of([&] { Tokenizer::load(folder.path()); }) == "none");
}

TEST_CASE("unsupported tokenizer features are rejected") {
  CHECK(code_after_change("/version", "1.0") == "none");
  CHECK(code_after_change("/normalizer", {{"type", "NFC"}}) == "none");
  CHECK(code_after_change("/normalizer", {{"type", "Sequence"}, {"normalizers", json::array()}}) == "none");
  CHECK(code_after_change("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}}) == "none");
  CHECK(code_after_change("/model/dropout", 0.0) == "none");
  CHECK(code_after_change("/normalizer", {{"type", "NFKC"}}) == "tokenizer_unsupported");
  CHECK(code_after_change("/normalizer", "NFC") == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/0/behavior", "Removed") == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/0/invert", true) == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/0/pattern", {{"String", " "}}) == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer", {{"type", "Whitespace"}}) == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer", nullptr) == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+") == "tokenizer_unsupported");
  CHECK(code_after_change("/pre_tokenizer/pretokenizers/1/add_prefix_space", true) == "tokenizer_unsupported");
  CHECK(code_after_change("/post_processor", {{"type", "TemplateProcessing"}}) == "tokenizer_unsupported");
  CHECK(code_after_change("/model/type", "WordPiece") == "tokenizer_unsupported");
  CHECK(code_after_change("/model/dropout", 0.1) == "tokenizer_unsupported");
  CHECK(code_after_change("/model/ignore_merges", true) == "tokenizer_unsupported");
}
