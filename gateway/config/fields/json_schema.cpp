#include "config/fields/json_schema.hpp"

#include "config/fields/json_schema_types.hpp"
#include "config/fields/reference.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {
namespace {

using json_schema_types::Json;

// Keys of which one depends on the section's others.
bool is_always_required(const SectionReference& section, const Field& field) {
    constexpr std::array<std::string_view, 2> by_others{
        "limits.NAME.overrides.KEY", "routes[].limits[]"};
    return field.required && std::ranges::find(by_others, section.path) == by_others.end();
}

Json schema_of(const SectionReference& section) {
    Json properties = Json::object();
    Json::array_t required;
    for (const SectionReference::Key& key : section.keys) {
        std::string path{section.path};
        path.append(path.empty() ? "" : ".").append(key.field.key);
        Json property = json_schema_types::type_of(key.field.type, path);
        // Beside a $ref draft-07 ignores all else.
        if (property.contains("$ref"))
            property = Json{{"allOf", Json::array_t{std::move(property)}}};
        property["description"] = key.field.about;
        if (key.has_value)
            property["default"] = key.otherwise;
        properties[std::string{key.field.key}] = std::move(property);
        if (is_always_required(section, key.field))
            required.emplace_back(key.field.key);
    }
    Json schema{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty())
        schema["required"] = std::move(required);
    return schema;
}

// A gateway without `permits` has something to serve.
Json top_level(Json schema) {
    schema["if"] = {{"required", {"permits"}}};
    schema["else"] = {{"required", {"listeners", "routes"}}};
    return schema;
}

} // namespace

std::string json_schema() {
    Json whole{
        {"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Stint's configuration"}};
    Json definitions = json_schema_types::definitions_of_types();
    for (const SectionReference& section : reference()) {
        if (section.path.empty())
            whole.update(top_level(schema_of(section)));
        else
            definitions[std::string{section.path}] = schema_of(section);
    }
    Json limit = definitions.at(std::string{json_schema_types::named_limit});
    definitions[std::string{json_schema_types::inline_limit}] = limit;
    limit["properties"].erase("name");
    definitions[std::string{json_schema_types::named_limit}] = std::move(limit);
    whole["definitions"] = std::move(definitions);
    return whole.dump(1) + "\n";
}

} // namespace stint::config
