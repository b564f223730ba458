#include "http/grpc_reply.hpp"

#include "base/base64.hpp"
#include "http/ascii.hpp"
#include "http/field_names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace stint::http {
namespace {

// A client need not take more fields than 8 KiB.
constexpr std::size_t longest_message = 1024;

// Appends fields of Protocol Buffers to a text (protobuf.dev, "Encoding").
class ProtoWriter {
  public:
    void number(unsigned field, std::uint64_t value) {
        varint(field << 3U);
        varint(value);
    }
    void bytes(unsigned field, std::string_view value) {
        varint(field << 3U | 2U);
        varint(value.size());
        text_ += value;
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U)
            text_ += static_cast<char>(value | 0x80);
        text_ += static_cast<char>(value);
    }

    std::string text_;
};

// google.protobuf.Any with a google.rpc.RetryInfo.
std::string retry_info(Duration delay) {
    using std::chrono::duration_cast;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(delay);
    const auto nanoseconds = duration_cast<std::chrono::nanoseconds>(delay - seconds);
    ProtoWriter duration;
    if (seconds.count() > 0)
        duration.number(1, static_cast<std::uint64_t>(seconds.count()));
    if (nanoseconds.count() > 0)
        duration.number(2, static_cast<std::uint64_t>(nanoseconds.count()));
    ProtoWriter info;
    info.bytes(1, duration.text());
    ProtoWriter any;
    any.bytes(1, "type.googleapis.com/google.rpc.RetryInfo");
    any.bytes(2, info.text());
    return any.text();
}

// The time to wait, in whole milliseconds as Retry-After-Ms has it. Requires: there is one.
std::chrono::milliseconds delay_of(const GrpcRefusal& refusal) {
    using std::chrono::milliseconds;
    return std::max(std::chrono::ceil<milliseconds>(*refusal.retry_after), milliseconds{1});
}

// google.rpc.Status.
std::string status_of(const GrpcRefusal& refusal, std::string_view message) {
    ProtoWriter status;
    status.number(1, static_cast<std::uint64_t>(refusal.code));
    status.bytes(2, message);
    if (refusal.retry_after)
        status.bytes(3, retry_info(delay_of(refusal)));
    return status.text();
}

// Writes grpc-message: printable ASCII but for the percent sign, and all else percent-encoded.
void write_message(HeadBuffer& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte <= 0x7e && c != '%') {
            out << std::string_view{&c, 1};
            continue;
        }
        out << "%" << digits.substr(byte >> 4U, 1) << digits.substr(byte & 15U, 1);
    }
}

} // namespace

GrpcCode grpc_code_of(int status) noexcept {
    switch (status) {
    case 400:
        return GrpcCode::internal;
    case 401:
        return GrpcCode::unauthenticated;
    case 403:
        return GrpcCode::permission_denied;
    case 404:
        return GrpcCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
        return GrpcCode::unavailable;
    default:
        return GrpcCode::unknown;
    }
}

bool is_grpc(std::span<const Field> fields) noexcept {
    constexpr std::string_view type = "application/grpc";
    const auto found = std::ranges::find_if(fields, [](const Field& field) {
        return ascii::equals_folded(field.name, "content-type");
    });
    if (found == fields.end())
        return false;
    const std::string_view value = found->value;
    return ascii::equals_folded(value.substr(0, type.size()), type) &&
           (value.size() == type.size() || value[type.size()] == '+' || value[type.size()] == ';');
}

void turn_into_grpc(Response& reply, const GrpcRefusal& refusal) {
    std::string_view text = reply.body_text().substr(0, longest_message);
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    HeadBuffer& out = reply.fields();
    out << "Grpc-Status: " << static_cast<std::uint64_t>(refusal.code) << "\r\nGrpc-Message: ";
    write_message(out, text);
    out << "\r\nGrpc-Status-Details-Bin: ";
    const std::string status = to_base64(status_of(refusal, text));
    out << std::string_view{status}.substr(0, status.find('=')); // gRPC wants no padding in "-bin"
    out << "\r\n";
    if (refusal.never)
        out << "Grpc-Retry-Pushback-Ms: -1\r\n";
    else if (refusal.retry_after)
        out << "Grpc-Retry-Pushback-Ms: " << static_cast<std::uint64_t>(delay_of(refusal).count())
            << "\r\n";
    reply.set_status(200);
    reply.set_content_type("application/grpc");
    reply.set_content(Response::Content::none);
    reply.body().clear();
}

} // namespace stint::http
