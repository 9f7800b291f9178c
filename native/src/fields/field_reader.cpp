#include "fields/field_reader.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/error.h"

namespace starpo {
namespace {

using json = nlohmann::json;

// Formats whole numbers without a fraction: 4096 instead of 4096.0.
std::string limit_text(double value) {
  return std::floor(value) == value && std::abs(value) < 1e15 ? json(static_cast<std::int64_t>(value)).dump()
                                                              : json(value).dump();
}

int code_points(std::string_view text) {
  int count = 0;
  for (const unsigned char c : text) count += (c & 0xC0) != 0x80;
  return count;
}

class FieldReader final : public FieldVisitor {
 public:
  explicit FieldReader(const json& root) { frames_.push_back({&root, "", {}}); }

  void finish() { reject_unknown_keys(); }

  void number(std::string_view name, double& value, double minimum, double maximum) override {
    const json& found = find(name);
    const auto allowed = "a number from " + limit_text(minimum) + " to " + limit_text(maximum);
    if (!found.is_number()) reject_type(name, allowed, found);
    value = found.get<double>();
    if (!(value >= minimum && value <= maximum)) reject_value(name, allowed, found);
  }

  void boolean(std::string_view name, bool& value) override {
    const json& found = find(name);
    if (!found.is_boolean()) reject_type(name, "true or false", found);
    value = found.get<bool>();
  }

  void text(std::string_view name, std::string& value, const TextRule& rule) override {
    const json& found = find(name);
    if (!found.is_string()) reject_type(name, "a string", found);
    value = found.get<std::string>();
    const int length = code_points(value);
    if (length < rule.min_length || (rule.max_length >= 0 && length > rule.max_length))
      reject_value(name,
                   rule.max_length < 0 ? "a string that is not empty"
                                       : "a string of " + std::to_string(rule.min_length) + " to " +
                                             std::to_string(rule.max_length) + " characters",
                   found);
    // std::regex recurses per character, so cap the length. No pattern allows as many.
    if (!rule.pattern.empty() &&
        (value.size() > 256 || !std::regex_match(value, std::regex(std::string(rule.pattern)))))
      reject_value(name, "a string that matches " + std::string(rule.pattern), found);
  }

  void object(std::string_view name, std::string& json, const std::function<void(FieldVisitor&)>& fields) override {
    open_section(name);
    fields(*this);
    close_section();
    json = find(name).dump();
  }

  void check(std::string_view name, const std::function<std::string()>& problem) override {
    const auto clause = problem();
    if (!clause.empty())
      throw Error("config_invalid", path_of(name) + ": " + clause, "change " + path_of(name) + " in the configuration");
  }

 protected:
  void visit_integer(std::string_view name, std::int64_t& value, std::int64_t minimum, std::int64_t maximum) override {
    const json& found = find(name);
    const auto allowed = "an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum);
    if (!found.is_number()) reject_type(name, allowed, found);
    const double number = found.get<double>();
    if (!(number >= static_cast<double>(minimum) && number <= static_cast<double>(maximum)) ||
        std::floor(number) != number)
      reject_value(name, allowed, found);
    value = static_cast<std::int64_t>(number);
  }

  void visit_choice(std::string_view name, int& index, std::span<const std::string_view> names) override {
    const json& found = find(name);
    std::string allowed;
    for (const auto choice : names)
      allowed += (allowed.empty() ? "" : names.back() == choice ? " or " : ", ") + std::string(choice);
    if (!found.is_string()) reject_type(name, allowed, found);
    const auto place = std::find(names.begin(), names.end(), found.get<std::string>());
    if (place == names.end()) reject_value(name, allowed, found);
    index = static_cast<int>(place - names.begin());
  }

  void open_section(std::string_view name) override { open(find(name), path_of(name)); }

  void close_section() override {
    reject_unknown_keys();
    frames_.pop_back();
  }

  std::size_t open_list(std::string_view name, int minimum, int maximum) override {
    const json& found = find(name);
    const auto allowed = "a list of " + std::to_string(minimum) + " to " + std::to_string(maximum) + " elements";
    if (!found.is_array()) reject_type(name, allowed, found);
    if (static_cast<int>(found.size()) < minimum || found.size() > static_cast<std::size_t>(maximum))
      reject_value(name, allowed, found);
    list_ = &found;
    list_path_ = path_of(name);
    return found.size();
  }

  void open_element(std::size_t index) override {
    open((*list_)[index], list_path_ + "[" + std::to_string(index) + "]");
  }
  void close_list() override { list_ = nullptr; }

 private:
  struct Frame {
    const json* object;
    std::string path;
    std::set<std::string, std::less<>> seen_keys;
  };

  std::string path_of(std::string_view name) const {
    const auto& path = frames_.back().path;
    return path.empty() ? std::string(name) : path + "." + std::string(name);
  }

  const json& find(std::string_view name) {
    auto& frame = frames_.back();
    frame.seen_keys.emplace(name);
    const auto found = frame.object->find(std::string(name));
    if (found == frame.object->end())
      throw Error("config_invalid", path_of(name) + ": missing",
                  "add it; `starpo-trainer schema` lists every key with type and range");
    return *found;
  }

  void open(const json& value, std::string path) {
    if (!value.is_object()) throw Error("config_invalid", path + ": is " + display_text(value), "use an object {...}");
    frames_.push_back({&value, std::move(path), {}});
  }

  void reject_unknown_keys() const {
    for (const auto& item : frames_.back().object->items())
      if (!frames_.back().seen_keys.contains(item.key()))
        throw Error("config_invalid", path_of(item.key()) + ": unknown key",
                    "remove it; `starpo-trainer schema` lists every key");
  }

  // Lists and objects are not printed: dump() recurses, and they may be nested deeply.
  static std::string display_text(const json& value) {
    if (value.is_structured()) return value.is_object() ? "an object" : "a list";
    auto text = value.dump(-1, ' ', true);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
  }

  [[noreturn]] void reject_type(std::string_view name, const std::string& allowed, const json& found) const {
    throw Error("config_invalid", path_of(name) + ": " + display_text(found) + " has the wrong type", "use " + allowed);
  }

  [[noreturn]] void reject_value(std::string_view name, const std::string& allowed, const json& found) const {
    throw Error("config_invalid", path_of(name) + ": " + display_text(found) + " is not allowed", "use " + allowed);
  }

  std::vector<Frame> frames_;
  const json* list_ = nullptr;
  std::string list_path_;
};

}  // namespace

nlohmann::json parse_object(std::string_view text, std::string_view unreadable_code) {
  const auto unreadable = [&](const std::string& what) {
    return Error(std::string(unreadable_code), "the configuration " + what,
                 "use a JSON object with every key that `starpo-trainer schema` lists");
  };
  json root;
  try {
    root = json::parse(text);
  } catch (const json::parse_error& error) {
    throw unreadable("is not valid JSON (at byte " + std::to_string(error.byte) + ")");
  } catch (const json::out_of_range&) {
    throw unreadable("contains a number that is out of range");
  }
  if (!root.is_object()) throw unreadable("is not a JSON object");
  return root;
}

void read_fields(const nlohmann::json& object, const std::function<void(FieldVisitor&)>& description) {
  FieldReader reader(object);
  description(reader);
  reader.finish();
}

void read_fields(std::string_view json, std::string_view unreadable_code,
                 const std::function<void(FieldVisitor&)>& description) {
  read_fields(parse_object(json, unreadable_code), description);
}

}  // namespace starpo
