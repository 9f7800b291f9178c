#include <nlohmann/json.hpp>

#include "fields/field_reader.h"

namespace starpo {
namespace {

using OrderedJson = nlohmann::ordered_json;

class SchemaPrinter final : public FieldVisitor {
 public:
  OrderedJson fields = OrderedJson::array();

  void number(std::string_view name, double&, double minimum, double maximum) override {
    auto& field = add(name, "number");
    field["minimum"] = minimum;
    field["maximum"] = maximum;
  }

  void boolean(std::string_view name, bool&) override { add(name, "boolean"); }

  void text(std::string_view name, std::string&, const TextRule& rule) override {
    auto& field = add(name, "string");
    if (!rule.pattern.empty()) field["pattern"] = "^" + std::string(rule.pattern) + "$";
    if (rule.names_files) field["names_files"] = true;
    if (rule.min_length > 0) field["min_length"] = rule.min_length;
    if (rule.max_length >= 0) field["max_length"] = rule.max_length;
  }

  void object(std::string_view name, std::string&, const std::function<void(FieldVisitor&)>&) override {
    add(name, "object");
  }
  void check(std::string_view, const std::function<std::string()>&) override {}

 protected:
  void visit_integer(std::string_view name, std::int64_t&, std::int64_t minimum, std::int64_t maximum) override {
    auto& field = add(name, "integer");
    field["minimum"] = minimum;
    field["maximum"] = maximum;
  }

  void visit_choice(std::string_view name, int&, std::span<const std::string_view> names) override {
    add(name, "choice")["choices"] = names;
  }

  void open_section(std::string_view name) override { prefixes_.push_back(prefixes_.back() + std::string(name) + "."); }
  void close_section() override { prefixes_.pop_back(); }

  std::size_t open_list(std::string_view name, int minimum, int maximum) override {
    auto& field = add(name, "list");
    field["minimum"] = minimum;
    field["maximum"] = maximum;
    prefixes_.push_back(prefixes_.back() + std::string(name) + "[].");
    return 1;
  }

  void open_element(std::size_t) override { prefixes_.push_back(prefixes_.back()); }
  void close_list() override { prefixes_.pop_back(); }

 private:
  OrderedJson& add(std::string_view name, const char* type) {
    fields.push_back({{"path", prefixes_.back() + std::string(name)}, {"type", type}, {"nullable", false}});
    return fields.back();
  }

  std::vector<std::string> prefixes_{""};
};

}  // namespace

std::string fields_as_json(const std::function<void(FieldVisitor&)>& description) {
  SchemaPrinter printer;
  description(printer);
  return printer.fields.dump();
}

}  // namespace starpo
