// Parses the description of a request in the body of POST /explain.
#include "admin/explain.hpp"
#include "base/ip_address.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace stint::admin {
namespace {

constexpr std::array<std::string_view, 6> members{"method",    "host",        "path",
                                                  "client_ip", "tls_subject", "headers"};

// Reads members of the description, and keeps the first error.
class Description {
  public:
    explicit Description(const Json& json) : json_{json} {
        for (const auto& [name, value] : json.items())
            if (std::ranges::find(members, name) == members.end())
                wrong(
                    in_quotes(name) +
                    " is unknown: there are method, host, path, client_ip, tls_subject, headers");
    }

    void text(const char* name, std::string& into) {
        const auto found = json_.find(name);
        if (found == json_.end())
            return;
        if (!found->is_string())
            return wrong(in_quotes(name) + " must be a text");
        into = found->get<std::string>();
        one_line(name, into);
    }

    void fields(std::vector<std::pair<std::string, std::string>>& into) {
        const auto found = json_.find("headers");
        if (found == json_.end())
            return;
        if (!found->is_object())
            return wrong("\"headers\" must be an object of names and texts");
        for (const auto& [name, value] : found->items()) {
            const Json values = value.is_array() ? value : Json::array({value});
            for (const Json& each : values) {
                if (!each.is_string())
                    return wrong("\"headers\" has a value that is no text: " + name);
                into.emplace_back(name, each.get<std::string>());
                one_line("headers", into.back().second);
            }
        }
    }

    void wrong(std::string why) {
        if (!wrong_)
            wrong_ = std::move(why);
    }
    [[nodiscard]] const std::optional<std::string>& what_is_wrong() const { return wrong_; }

  private:
    void one_line(const std::string& name, const std::string& value) {
        if (value.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
            wrong(in_quotes(name) + " has a line end in it");
    }

    const Json& json_;
    std::optional<std::string> wrong_;
};

} // namespace

Result<runtime::SyntheticRequest, Response> described_in(std::string_view body) {
    auto object = object_in(
        body, "The body must be a JSON object such as {\"method\": \"GET\", \"host\": "
              "\"shop.example\", \"path\": \"/\", \"client_ip\": \"192.0.2.1\", \"headers\": {}}.");
    if (!object)
        return std::move(object).error();
    const Json& json = *object;
    runtime::SyntheticRequest request;
    Description description{json};
    description.text("method", request.method);
    description.text("host", request.host);
    description.text("path", request.target);
    description.text("client_ip", request.client);
    description.text("tls_subject", request.tls_subject);
    description.fields(request.fields);
    if (!request.client.empty() && !IpAddress::parse(request.client))
        description.wrong("\"client_ip\" is not an IP address");
    if (description.what_is_wrong())
        return problem(400, *description.what_is_wrong() + ".");
    return request;
}

} // namespace stint::admin
