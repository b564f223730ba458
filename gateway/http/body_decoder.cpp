#include "http/body_decoder.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

namespace stint::http {

namespace {

using Kind = BodyFraming::Kind;

constexpr std::uint8_t max_size_digits = 15;
constexpr std::uint32_t max_extension_bytes = 4 * 1024;

} // namespace

// Each state is named after the next expected element.
enum class BodyDecoder::State : std::uint8_t {
    size,          // a digit of a chunk's size, or the end of the size
    extension_gap, // blanks before the ";" of an extension
    extension,     // up to CR
    size_lf,       // the LF of a chunk's first line
    payload,       // `remaining_` bytes (also for Kind::length and until_close)
    payload_cr,
    payload_lf,
    trailer_begin, // a trailer field's name, or the CR of the empty line
    trailer_name,  // up to ":"
    trailer_value, // up to CR
    trailer_lf,
    final_lf, // LF of the empty line
    done,
    failed,
};

BodyDecoder::BodyDecoder(BodyFraming framing) noexcept
    : kind_{framing.kind}, state_{framing.kind == Kind::chunked ? State::size : State::payload},
      remaining_{framing.kind == Kind::length ? framing.length : 0} {
    if (kind_ == Kind::none || (kind_ == Kind::length && remaining_ == 0))
        state_ = State::done;
}

Result<BodyDecoder::Step, HeadError> BodyDecoder::decode(std::span<char> data) noexcept {
    if (state_ == State::done)
        return Step{};
    if (kind_ == Kind::until_close)
        return Step{data.size(), data.size()};
    if (kind_ == Kind::chunked)
        return decode_chunked(data);

    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, data.size()));
    remaining_ -= taken;
    if (remaining_ == 0)
        state_ = State::done;
    return Step{taken, taken};
}

bool BodyDecoder::done() const noexcept {
    return state_ == State::done;
}

std::uint64_t BodyDecoder::unframed() const noexcept {
    if (state_ == State::done || kind_ == Kind::chunked)
        return 0;
    return kind_ == Kind::until_close ? unbounded : remaining_;
}

void BodyDecoder::pass(std::uint64_t payload) noexcept {
    if (kind_ != Kind::length)
        return;
    remaining_ -= payload;
    if (remaining_ == 0)
        state_ = State::done;
}

std::string_view BodyDecoder::trailer() const noexcept {
    if (trailer_ == nullptr || kind_ != Kind::chunked || !done())
        return {};
    return {trailer_, skipped_};
}

bool BodyDecoder::end_of_stream() noexcept {
    if (kind_ == Kind::until_close)
        state_ = State::done;
    return done();
}

Result<BodyDecoder::Step, HeadError> BodyDecoder::decode_chunked(std::span<char> data) noexcept {
    Step step;
    while (step.consumed < data.size() && state_ != State::done) {
        if (state_ != State::payload) {
            take_framing(data[step.consumed++]);
            if (state_ == State::failed)
                return HeadError{400, "The chunked framing of the body is malformed."};
            continue;
        }
        const auto taken = static_cast<std::size_t>(
            std::min<std::uint64_t>(remaining_, data.size() - step.consumed));
        if (step.payload != step.consumed)
            std::memmove(data.data() + step.payload, data.data() + step.consumed, taken);
        step.payload += taken;
        step.consumed += taken;
        remaining_ -= taken;
        if (remaining_ == 0)
            state_ = State::payload_cr;
    }
    return step;
}

void BodyDecoder::take_framing(char c) noexcept {
    const auto expect = [c](char wanted, State next) { return c == wanted ? next : State::failed; };
    switch (state_) {
    case State::size:
        state_ = take_size(c);
        break;
    case State::extension_gap:
    case State::extension:
        state_ = take_extension(c);
        break;
    case State::size_lf:
        skipped_ = remaining_ == 0 ? 0 : skipped_; // the trailer's bytes are counted from 0
        state_ = expect('\n', remaining_ == 0 ? State::trailer_begin : State::payload);
        break;
    case State::payload_cr:
        state_ = expect('\r', State::payload_lf);
        break;
    case State::payload_lf:
        digits_ = 0;
        state_ = expect('\n', State::size);
        break;
    case State::trailer_begin:
    case State::trailer_name:
    case State::trailer_value:
        state_ = take_trailer(c);
        break;
    case State::trailer_lf:
        state_ = expect('\n', State::trailer_begin);
        break;
    case State::final_lf:
        state_ = expect('\n', State::done);
        break;
    default: // payload and done take no framing; a failure is final
        state_ = State::failed;
        break;
    }
}

std::optional<std::string> BodyDecoder::framed(std::string_view payload) const {
    const auto hexadecimal = [](std::uint64_t number, std::size_t digits) {
        char text[16];
        const char* const end = std::to_chars(text, std::end(text), number, 16).ptr;
        const auto size = static_cast<std::size_t>(end - text);
        return std::string(digits - std::min(digits, size), '0').append(text, size);
    };
    std::string out;
    const std::uint64_t left = state_ == State::payload ? remaining_ : 0;
    if (!payload.empty() || left > 0)
        out.append(hexadecimal(payload.size() + left, 1)).append("\r\n").append(payload);
    switch (state_) {
    case State::payload:
    case State::payload_cr:
        return out;
    case State::payload_lf:
        return out.append("\r");
    default:
        break;
    }
    if (!payload.empty())
        out.append("\r\n");
    if (state_ <= State::size_lf)
        out.append(digits_ > 0 ? hexadecimal(remaining_, digits_) : "");
    else
        out.append("0\r\n");
    switch (state_) {
    case State::extension_gap:
        return out.append(" ");
    case State::extension:
        return out.append(";");
    case State::size_lf:
    case State::final_lf:
        return out.append("\r");
    case State::trailer_name:
    case State::trailer_value:
    case State::trailer_lf:
        return std::nullopt;
    case State::done:
        return out.append("\r\n");
    default:
        return out;
    }
}

BodyDecoder::State BodyDecoder::take_size(char c) noexcept {
    if (const int digit = ascii::hex_value(c); digit >= 0) {
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return ++digits_ <= max_size_digits ? State::size : State::failed;
    }
    if (digits_ == 0)
        return State::failed;
    if (c == '\r')
        return State::size_lf;
    return take_extension_start(c);
}

// Takes a byte between a chunk's size and the ";" of an extension, where only blanks are valid.
BodyDecoder::State BodyDecoder::take_extension_start(char c) noexcept {
    if (++skipped_ > max_extension_bytes)
        return State::failed;
    if (c == ';')
        return State::extension;
    return ascii::is_blank(c) ? State::extension_gap : State::failed;
}

// Takes a byte of an extension. It may hold a quoted string, but no CR or LF even there: the end of
// the extension is never in doubt.
BodyDecoder::State BodyDecoder::take_extension(char c) noexcept {
    if (state_ == State::extension_gap)
        return take_extension_start(c);
    if (c == '\r')
        return State::size_lf;
    if (++skipped_ > max_extension_bytes || ascii::is_forbidden_control(c))
        return State::failed;
    return State::extension;
}

BodyDecoder::State BodyDecoder::take_trailer(char c) noexcept {
    if (++skipped_ > max_trailer_bytes)
        return State::failed;
    if (trailer_ != nullptr) [[unlikely]]
        trailer_[skipped_ - 1] = c;
    if (state_ == State::trailer_value) {
        if (c == '\r')
            return State::trailer_lf;
        return ascii::is_forbidden_control(c) ? State::failed : State::trailer_value;
    }
    if (state_ == State::trailer_begin && c == '\r')
        return State::final_lf;
    if (state_ == State::trailer_name && c == ':')
        return State::trailer_value;
    return ascii::token.contains(c) ? State::trailer_name : State::failed;
}

} // namespace stint::http
