// Counts allocations: once warm, a request's heads and a refusal cost none.
#include "allocations.hpp"
#include "http/head_parser.hpp"
#include "http/local_reply.hpp"
#include "http/request_id.hpp"
#include "http/response_writer.hpp"
#include "http/rewrite.hpp"
#include "http/target.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::http;

constexpr std::string_view request_bytes =
    "GET /products/17?page=2 HTTP/1.1\r\nHost: Shop.example:8080\r\nUser-Agent: curl/7.88.1\r\n"
    "Accept: */*\r\nAccept-Encoding: gzip\r\nConnection: keep-alive, X-Gone\r\nX-Gone: 1\r\n"
    "Via: 1.1 a\r\n\r\n";
constexpr std::string_view response_bytes =
    "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n"
    "Connection: keep-alive\r\n\r\n";

// All that a worker keeps from request to request.
struct Worker {
    HeadParser parser{16 * 1024};
    HeadBuffer out;
    Response response;
    RequestIdSource ids;
    DateClock dates;
    std::string scratch;

    std::size_t serve() {
        const RequestIdSource::Text id = ids.make(WallTime{});
        const std::string_view id_text{id.data(), id.size()};
        std::size_t scanned = 0;
        const std::size_t end = find_head_end(request_bytes, scanned);
        const auto request = parser.parse_request(request_bytes.substr(0, end));
        const MediaType media = preferred_media_type(request->fields);
        std::size_t checked = normalise_host(request->authority, scratch).size();
        checked += normalise_path(request->path, {}, scratch)->text.size();
        out.clear();
        write_upstream_head(out, *request, {"192.0.2.7", "http", "", id_text});
        checked += out.view().size();
        const auto answer = parser.parse_response(response_bytes, "GET");
        out.clear();
        write_downstream_head(
            out, *answer, frame_response(1, answer->framing, true), id_text,
            dates.format(WallTime{}));
        checked += refuse(media, id_text);
        return checked;
    }

    // In the form that is preferred, and with a limit's own text; with all that limits may tell.
    std::size_t refuse(MediaType media, std::string_view id_text) {
        const PolicyState policy{
            .name = "per_client", .quota = 1, .window = Duration{1}, .draft = true, .legacy = true};
        const PolicyFields policies{{&policy, 1}, {}, {}};
        const ReplyContext context{id_text, media, policies};
        LimitedReply reply{"per_client", Duration{1}};
        out.clear();
        make_limited(response, context, reply);
        write_response(out, response, {.date = dates.format(WallTime{})});
        reply.content_type = "text/plain";
        reply.body = "again in {retry_after} s";
        make_limited(response, context, reply);
        write_response(out, response, {.date = dates.format(WallTime{})});
        return out.view().size();
    }
};

} // namespace

TEST_CASE("a warm worker parses, rewrites and refuses without an allocation") {
    Worker worker;
    const std::size_t first = worker.serve();
    std::size_t second = 0;

    CHECK(test::allocations_in([&] { second = worker.serve(); }) == 0);
    CHECK(first == second);
}
