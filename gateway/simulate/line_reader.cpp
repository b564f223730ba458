#include "simulate/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace stint::simulate {
namespace {

std::string cannot_read(const std::string& name, int error) {
    return name + ": cannot be read: " + std::generic_category().message(error);
}

} // namespace

LineReader::LineReader(std::string name, std::FILE* file)
    : name_{std::move(name)}, file_{file}, block_(64 * 1024) {}

Result<LineReader, std::string> LineReader::open(const std::string& name) {
    std::FILE* const file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
    if (file == nullptr)
        return cannot_read(name, errno);
    return LineReader{name, file};
}

bool LineReader::fill() {
    const std::size_t size = std::fread(block_.data(), 1, block_.size(), file_.get());
    if (size == 0 && std::ferror(file_.get()) != 0)
        failure_ = cannot_read(name_, errno);
    unread_ = {block_.data(), size};
    return size > 0;
}

void LineReader::append(std::string_view piece) {
    const std::size_t room = longest - text_.size();
    too_long_ = too_long_ || piece.size() > room;
    text_ += piece.substr(0, std::min(piece.size(), room));
}

std::optional<std::string_view> LineReader::next() {
    text_.clear();
    too_long_ = false;
    bool any = false;
    while (!unread_.empty() || fill()) {
        any = true;
        const std::size_t end = unread_.find('\n');
        append(unread_.substr(0, end));
        if (end != std::string_view::npos) {
            unread_.remove_prefix(end + 1);
            break;
        }
        unread_ = {};
    }
    if (!any)
        return std::nullopt;
    ++line_;
    return text_;
}

} // namespace stint::simulate
