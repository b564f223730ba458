#include "upload.hpp"

#include "dice.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace stint::uploads {
namespace {

constexpr std::string_view routes[] = {"/plain/", "/retry/", "/wait/"};

// From 1 KB to 200 KB, most of them between 4 KB and 100 KB: what may be at hand when Stint writes
// for the first time.
std::size_t some_size(Dice& dice) {
    switch (dice.below(8)) {
    case 0:
        return 1000 + dice.below(3000);
    case 1:
        return 100'000 + dice.below(100'000);
    case 2:
        return 40'000 + dice.below(60'000);
    default:
        return 4000 + dice.below(36'000);
    }
}

void append_unit(std::string& body, std::uint64_t id, std::size_t index) {
    std::array<char, unit + 16> text{};
    Dice noise{id, index};
    const auto word = [&noise] { return static_cast<unsigned long long>(noise.next()); };
    const unsigned long long a = word(), b = word(), c = word(), d = word();
    std::snprintf(
        text.data(), text.size(),
        "POST /forbidden HTTP/1.1\r\nHost: a\r\nX-Upload: %08llu-%05zu\r\n"
        "X-Forwarded-For: 10.6.6.6\r\nX-Noise: %016llx%016llx%016llx%013llx\r\n"
        "Content-Length: 0\r\n\r\n",
        static_cast<unsigned long long>(id), index, a, b, c, d >> 12);
    body.append(text.data(), unit);
}

} // namespace

Upload make_upload(std::uint64_t seed, std::uint64_t id) {
    Dice dice{seed, 1, id};
    Upload upload;
    upload.id = id;
    upload.method = dice.percent(50) ? "PUT" : "POST";
    upload.route = routes[dice.below(std::size(routes))];
    upload.scope = dice.percent(80) ? 0 : 1;
    upload.size = some_size(dice);
    upload.chunked = dice.percent(35);
    upload.chunked = upload.chunked && id != 1; // whose head is measured
    upload.chunk = 1 + (dice.percent(50) ? dice.below(40'000) : 1000 + dice.below(8000));
    return upload;
}

std::string number_of(std::uint64_t id) {
    std::string digits = std::to_string(id);
    return digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
}

std::string path_of(const Upload& upload) {
    return std::string{upload.route} + number_of(upload.id);
}

std::string head_of(const Upload& upload, std::size_t head_growth) {
    std::string before{upload.method};
    before.append(" ").append(path_of(upload)).append("?");
    std::string after = " HTTP/1.1\r\nHost: uploads.example\r\nX-Upload: " + number_of(upload.id) +
                        "\r\nX-Scope: " + std::to_string(upload.scope) + "\r\n";
    if (upload.chunked)
        after += "Transfer-Encoding: chunked\r\n\r\n";
    else
        after += "Content-Length: " + std::to_string(upload.size) + "\r\n\r\n";
    const std::size_t bare = before.size() + after.size() + head_growth;
    return before.append((unit - bare % unit) % unit, 'p') + after;
}

std::string body_of(const Upload& upload) {
    std::string body;
    body.reserve(upload.size + unit);
    for (std::size_t index = 0; body.size() < upload.size; ++index)
        append_unit(body, upload.id, index);
    body.resize(upload.size);
    return body;
}

std::string framed_body(const Upload& upload, std::string_view body) {
    if (!upload.chunked)
        return std::string{body};
    std::string framed;
    framed.reserve(body.size() + body.size() / upload.chunk * 16 + 64);
    while (!body.empty()) {
        const std::string_view piece = body.substr(0, upload.chunk);
        std::array<char, 24> size{};
        std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
        framed.append(size.data()).append(piece).append("\r\n");
        body.remove_prefix(piece.size());
    }
    return framed.append("0\r\n\r\n");
}

} // namespace stint::uploads
