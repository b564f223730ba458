#include "redis/set_up.hpp"

#include "redis/resp/command.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::string_view info_command = "*1\r\n$4\r\nINFO\r\n";

std::string load_command(const std::string& script) {
    std::string text;
    write_command(text, std::array<std::string_view, 3>{"SCRIPT", "LOAD", script});
    return text;
}

std::string config_command() {
    std::string text;
    CommandWriter writer{text, 2 + std::size(config_facts)};
    writer.add("CONFIG");
    writer.add("GET");
    for (const std::string_view name : config_facts)
        writer.add(name);
    return text;
}

} // namespace

SetUp::SetUp(std::string script) : load_{load_command(script)} {}

// Replies come in order: when the script is loaded, the facts are there.
bool SetUp::begin(Connection& connection, Done done) {
    facts_ = {};
    const auto asked = [&](std::string_view command, ReplyHandler handler) {
        return connection.send(command, std::move(handler)).has_value();
    };
    return asked(
               info_command,
               [this](const Reply& reply) {
                   if (reply)
                       read_info(facts_, *reply);
               }) &&
           asked(
               config_command(),
               [this](const Reply& reply) {
                   if (reply)
                       read_config(facts_, *reply);
               }) &&
           asked(load_, [this, done = std::move(done)](const Reply& reply) {
               on_loaded(reply, done);
           });
}

void SetUp::on_loaded(const Reply& reply, const Done& done) {
    if (!reply)
        return; // the connection says so
    if (reply->is_error())
        return done(printable(reply->text));
    if (!reply->is_text())
        return done("SCRIPT LOAD has no SHA1 as its result");
    sha1_ = reply->text;
    done({});
}

bool SetUp::load_again(Connection& connection) {
    if (!loading_again_)
        loading_again_ =
            connection.send(load_, [this](const Reply&) { loading_again_ = false; }).has_value();
    return loading_again_;
}

} // namespace stint::redis
