#include "tls/server_names.hpp"

#include "tls/openssl.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <openssl/err.h>
#include <openssl/tls1.h>
#include <utility>

namespace stint::tls {

namespace {

struct Choice {
    ServerNames names;
    std::vector<ContextPtr> others;
    UnknownName unknown;
};

// Removes a length of two bytes and that many bytes from the front of `rest`. Returns these bytes;
// empty if `rest` is too short.
std::string_view take_vector(std::string_view& rest) noexcept {
    if (rest.size() < 2)
        return {};
    const auto high = static_cast<unsigned char>(rest[0]);
    const auto low = static_cast<unsigned char>(rest[1]);
    const std::size_t size = std::size_t{high} << 8U | low;
    const std::string_view taken = rest.substr(2);
    if (taken.size() < size)
        return {};
    rest = taken.substr(size);
    return taken.substr(0, size);
}

// Returns the server name of the client's hello; empty if there is none. The extension is a list
// with one entry of type 0 (host_name). The final dot that it must not have is left out, as of the
// host of a request.
std::string_view name_in_hello(SSL* ssl) noexcept {
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &data, &size) != 1)
        return {};
    std::string_view extension{reinterpret_cast<const char*>(data), size};
    std::string_view entry = take_vector(extension);
    if (entry.empty() || entry.front() != TLSEXT_NAMETYPE_host_name)
        return {};
    entry.remove_prefix(1);
    std::string_view name = take_vector(entry);
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return name;
}

// Chooses the context at the client's hello. OpenSSL's callback for the server name would come too
// late: after a session ticket is opened. A ticket must not be valid for another name than it was
// issued for.
int on_hello(SSL* ssl, int* alert, void*) noexcept {
    const Choice* choice = Attached<Choice>::find(SSL_get_SSL_CTX(ssl));
    if (choice == nullptr)
        return SSL_CLIENT_HELLO_SUCCESS;
    try {
        if (SSL_CTX* context = choice->names.find(name_in_hello(ssl))) {
            SSL_set_SSL_CTX(ssl, context);
            return SSL_CLIENT_HELLO_SUCCESS;
        }
    } catch (const std::exception&) {
        ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
        return SSL_CLIENT_HELLO_ERROR;
    }
    if (choice->unknown == UnknownName::standard)
        return SSL_CLIENT_HELLO_SUCCESS;
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_CLIENT_HELLO_ERROR; // OpenSSL reports it as SSL_R_CALLBACK_FAILED
}

} // namespace

void ServerNames::add(const std::vector<std::string>& names, SSL_CTX& context) {
    for (const std::string& name : names)
        if (name.starts_with("*."))
            wildcards_.try_emplace(name.substr(1), &context);
        else
            exact_.try_emplace(name, &context);
}

SSL_CTX* ServerNames::find(std::string_view name) const {
    constexpr std::size_t longest = 255;
    if (name.empty() || name.size() > longest)
        return nullptr;
    std::string lower{name};
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (const auto found = exact_.find(lower); found != exact_.end())
        return found->second;
    const std::size_t dot = lower.find('.');
    if (dot == 0 || dot == std::string::npos)
        return nullptr;
    const auto found = wildcards_.find(std::string_view{lower}.substr(dot));
    return found != wildcards_.end() ? found->second : nullptr;
}

SSL_CTX* context_for(SSL_CTX& standard, std::string_view name) {
    const Choice* choice = Attached<Choice>::find(&standard);
    if (choice == nullptr)
        return &standard;
    if (SSL_CTX* context = choice->names.find(name))
        return context;
    return choice->unknown == UnknownName::standard ? &standard : nullptr;
}

void choose_by_name(
    SSL_CTX& standard, ServerNames names, std::vector<ContextPtr> others, UnknownName unknown) {
    Attached<Choice>::attach(
        standard, std::make_unique<Choice>(Choice{std::move(names), std::move(others), unknown}));
    SSL_CTX_set_client_hello_cb(&standard, &on_hello, nullptr);
}

} // namespace stint::tls
