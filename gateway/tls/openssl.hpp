// Owners of OpenSSL's objects, and helpers. Internal to tls/.
#pragma once

#include "tls/context.hpp"

#include <memory>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>
#include <string_view>
#include <utility>

namespace stint::tls {

template <auto Free>
struct Freeing {
    template <class T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};
struct FreeingCertificates {
    void operator()(STACK_OF(X509) * certificates) const noexcept {
        sk_X509_pop_free(certificates, X509_free);
    }
};
using BioPtr = std::unique_ptr<BIO, Freeing<&BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, Freeing<&X509_free>>;
using ChainPtr = std::unique_ptr<STACK_OF(X509), FreeingCertificates>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freeing<&EVP_PKEY_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, Freeing<&SSL_SESSION_free>>;

// Clears the thread's OpenSSL error queue, at construction and at the end of the scope.
class ErrorsOf {
  public:
    ErrorsOf() noexcept;
    ~ErrorsOf();
    ErrorsOf(const ErrorsOf&) = delete;
    ErrorsOf& operator=(const ErrorsOf&) = delete;
};

// Returns OpenSSL's text of the last error in the thread's queue; "unknown" if there is none.
[[nodiscard]] std::string last_reason();

// Opens a file for reading. On failure returns nullptr and sets `fault` to "FILE cannot be read:
// ...".
[[nodiscard]] BioPtr open_file(const std::string& file, std::string& fault);

// Makes a context for clients or servers, with the settings that both sides share. Throws
// std::runtime_error if OpenSSL fails.
enum class Side : bool { client, server };
[[nodiscard]] ContextPtr make_context(Side side);

// Attaches an object of type T to a context, which owns it from then on. For callbacks, which may
// run after all C++ owners of the context are gone.
template <class T>
class Attached {
  public:
    static T* find(const SSL_CTX* context) noexcept {
        return static_cast<T*>(SSL_CTX_get_ex_data(context, index()));
    }
    static T& attach(SSL_CTX& context, std::unique_ptr<T> object) {
        T& attached = *object;
        if (SSL_CTX_set_ex_data(&context, index(), object.get()) == 1)
            (void)object.release();
        else
            throw std::bad_alloc{};
        return attached;
    }

  private:
    static int index() noexcept {
        static const int index = SSL_CTX_get_ex_new_index(
            0, nullptr, nullptr, nullptr,
            [](void*, void* object, CRYPTO_EX_DATA*, int, long, void*) {
                delete static_cast<T*>(object);
            });
        return index;
    }
};

} // namespace stint::tls
