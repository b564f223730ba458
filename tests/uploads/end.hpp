// One end of a TCP connection, plain or with TLS, that never blocks but where it says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace stint::uploads {

// What both sides of Stint speak; contexts are shared by all threads.
class TlsSetting {
  public:
    // A server with this certificate and key, and clients that believe nobody but `authority`.
    TlsSetting(
        const std::string& authority, const std::string& certificate, const std::string& key);
    ~TlsSetting();
    TlsSetting(const TlsSetting&) = delete;
    TlsSetting& operator=(const TlsSetting&) = delete;

    [[nodiscard]] ssl_st* make_server() const;
    [[nodiscard]] ssl_st* make_client() const;

  private:
    ssl_ctx_st* server_;
    ssl_ctx_st* client_;
};

class End {
  public:
    End() = default;
    End(int socket, ssl_st* ssl);
    End(End&& other) noexcept;
    End& operator=(End&& other) noexcept;
    ~End();

    // Refused: an End that is not open. tls: nullptr for a plain one.
    static End connect(std::uint16_t port, const TlsSetting* tls);

    [[nodiscard]] bool open() const noexcept { return socket_ >= 0; }
    [[nodiscard]] bool shake_hands(int milliseconds);

    static constexpr std::ptrdiff_t not_now = -1;
    static constexpr std::ptrdiff_t broken = -2;
    // Bytes, 0 at the end, not_now or broken.
    [[nodiscard]] std::ptrdiff_t read(char* into, std::size_t size);
    [[nodiscard]] std::ptrdiff_t write(std::string_view bytes);
    // Waits until there is something to read, or `writable` and room to write; false: too long.
    [[nodiscard]] bool wait(int milliseconds, bool writable = false) const;
    // What has come in and was not read; of TLS as it is sealed.
    [[nodiscard]] std::size_t unread() const;
    // Whether the peer has closed or reset, though there may be something to read yet.
    [[nodiscard]] bool peer_gone() const;

    void say_end(); // nothing more will be sent
    void close();
    void reset(); // so that the peer sees a reset

  private:
    [[nodiscard]] std::ptrdiff_t failed(int result);

    int socket_ = -1;
    ssl_st* ssl_ = nullptr;
};

// Listens on 127.0.0.1. Its connections have SO_RCVBUF 4096.
class Listener {
  public:
    Listener(std::uint16_t port, const TlsSetting* tls) : port_{port}, tls_{tls} { open(); }
    ~Listener() { close(); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void open();  // throws where it cannot
    void close(); // connections are refused until it is open again
    // One that has come within that time, else one that is not open.
    [[nodiscard]] End accept(int milliseconds) const;

  private:
    std::uint16_t port_;
    const TlsSetting* tls_;
    int socket_ = -1;
};

} // namespace stint::uploads
