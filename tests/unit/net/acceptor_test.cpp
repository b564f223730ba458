#include "net/acceptor.hpp"
#include "net/address.hpp"

#include <doctest/doctest.h>

#include <array>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <stdlib.h>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace stint::net;
using stint::Descriptor;
namespace errc = boost::system::errc;

const Endpoint any_port = *ip_endpoint("127.0.0.1", 0);

struct Folder {
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "stint-net-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }

    [[nodiscard]] std::string file() const { return path / "s"; }
    [[nodiscard]] Endpoint address() const { return *unix_endpoint(file()); }

    std::filesystem::path path;
};

Descriptor connect_to(const Endpoint& address) {
    Descriptor socket{
        ::socket(address.data()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const int result =
        ::connect(socket.get(), address.data(), static_cast<socklen_t>(address.size()));
    if (result != 0 && errno != EINPROGRESS)
        socket = {};
    return socket;
}

// Accepts on whichever of the sockets the connection came in.
Descriptor accept_from(const std::vector<Descriptor>& sockets) {
    std::vector<pollfd> ready;
    for (const Descriptor& socket : sockets)
        ready.push_back({socket.get(), POLLIN, 0});
    REQUIRE(::poll(ready.data(), ready.size(), 10'000) > 0);
    for (const pollfd& each : ready)
        if (each.revents != 0)
            return Descriptor{::accept4(each.fd, nullptr, nullptr, SOCK_CLOEXEC)};
    return {};
}

struct stat state_of(const Folder& folder) {
    struct stat file {};
    REQUIRE(::lstat(folder.file().c_str(), &file) == 0);
    return file;
}

mode_t mode_of(const Folder& folder) {
    return state_of(folder).st_mode & 07777;
}

// As somebody who cannot give files away: root becomes nobody for a while, in a folder that nobody
// may write to.
class Powerless {
  public:
    explicit Powerless(const Folder& folder) {
        std::filesystem::permissions(folder.path, std::filesystem::perms::all);
        if (former_ == 0)
            REQUIRE(::seteuid(65534) == 0);
    }
    Powerless(const Powerless&) = delete;
    Powerless& operator=(const Powerless&) = delete;
    ~Powerless() { CHECK(::seteuid(former_) == 0); }

  private:
    const uid_t former_ = ::geteuid();
};

constexpr gid_t no_group_of_ours = 3'000'000'000;

in_port_t port_of(int socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
}

std::uint16_t free_port() {
    return port_of(open_listeners(any_port, 1)->sockets.front().get());
}

Endpoint free_address() {
    return *ip_endpoint("127.0.0.1", free_port());
}

bool refused_by(const Endpoint& address) {
    const Descriptor socket{::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const int result =
        ::connect(socket.get(), address.data(), static_cast<socklen_t>(address.size()));
    return result != 0 && errno == ECONNREFUSED;
}

} // namespace

TEST_CASE("a second opener of a TCP port is refused although its sockets would share it") {
    const auto first = open_listeners(any_port, 2);
    REQUIRE(first.has_value());

    const auto second = open_listeners(first->address, 2);

    REQUIRE_FALSE(second.has_value());
    CHECK(second.error() == errc::address_in_use);
}

TEST_CASE("a port is free again once its sockets are closed") {
    Endpoint address;
    {
        const auto first = open_listeners(any_port, 2);
        REQUIRE(first.has_value());
        address = first->address;
    }

    CHECK(open_listeners(address, 2).has_value());
}

TEST_CASE("port 0 becomes one port that all sockets share") {
    const auto opened = open_listeners(any_port, 3);

    REQUIRE(opened.has_value());
    REQUIRE(opened->sockets.size() == 3);
    const in_port_t port = port_of(opened->sockets[0].get());
    CHECK(port != 0);
    CHECK(to_text(opened->address) == "127.0.0.1:" + std::to_string(port));
    for (const Descriptor& socket : opened->sockets)
        CHECK(port_of(socket.get()) == port);
}

TEST_CASE("an accepted connection sends small writes at once") {
    const auto opened = open_listeners(any_port, 1);
    REQUIRE(opened.has_value());
    const Descriptor client = connect_to(opened->address);

    const Descriptor accepted = accept_from(opened->sockets);

    REQUIRE(accepted.get() >= 0);
    int on = 0;
    socklen_t size = sizeof on;
    REQUIRE(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
    CHECK(on != 0);
}

TEST_CASE("an address that is not this machine's is an error") {
    const auto opened = open_listeners(*ip_endpoint("192.0.2.1", 0), 1);

    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error() == errc::address_not_available);
}

TEST_CASE("a unix socket is opened as often as asked, and each copy accepts") {
    const Folder folder;

    const auto opened = open_listeners(folder.address(), 3);

    REQUIRE(opened.has_value());
    REQUIRE(opened->sockets.size() == 3);
    for (const Descriptor& socket : opened->sockets) {
        const Descriptor client = connect_to(folder.address());
        REQUIRE(client.get() >= 0);
        CHECK(Descriptor{::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC)}.get() >= 0);
    }
}

TEST_CASE(
    "a unix socket's file has the mode and the group that were asked for, whatever the umask") {
    const Folder folder;
    for (const mode_t mask : {0, 077}) {
        const mode_t former = ::umask(mask);
        const auto usual = open_listeners(folder.address(), 1);
        REQUIRE(usual.has_value());
        CHECK(mode_of(folder) == 0660);
        CHECK(state_of(folder).st_gid == ::getegid());
        remove_socket_file(folder.address(), usual->file);
        const auto opened = open_listeners(folder.address(), 2, {0606, ::getegid()});
        REQUIRE(opened.has_value());
        CHECK(mode_of(folder) == 0606);
        CHECK(state_of(folder).st_gid == ::getegid());
        CHECK_FALSE(set_socket_file(folder.address(), opened->file, {0600}));
        CHECK(mode_of(folder) == 0600);
        remove_socket_file(folder.address(), opened->file);
        ::umask(former);
    }
    CHECK_FALSE(set_socket_file(any_port, {}, {0600}));
}

TEST_CASE("a unix socket whose file cannot be given away is not opened, and leaves none") {
    const Folder folder;
    const Powerless powerless{folder};
    const auto opened = open_listeners(folder.address(), 1, {0660, no_group_of_ours});
    CHECK_FALSE(opened.has_value());
    CHECK_FALSE(std::filesystem::exists(folder.file()));
}

TEST_CASE("an open unix socket whose file cannot be given away is left to its owner alone") {
    const Folder folder;
    const Powerless powerless{folder};
    const auto opened = open_listeners(folder.address(), 1, {0660});
    REQUIRE(opened.has_value());
    REQUIRE(mode_of(folder) == 0660);

    CHECK(set_socket_file(folder.address(), opened->file, {0640, no_group_of_ours}));

    CHECK(mode_of(folder) == 0600); // its former group is not who was meant
}

TEST_CASE("the unix socket of a process that is gone is replaced") {
    const Folder folder;
    REQUIRE(open_listeners(folder.address(), 1).has_value()); // closed at once, its file stays
    REQUIRE(std::filesystem::is_socket(folder.file()));

    const auto opened = open_listeners(folder.address(), 1);

    REQUIRE(opened.has_value());
    CHECK(connect_to(folder.address()).get() >= 0);
}

TEST_CASE("a trial of an address fails as an opening would, and leaves it free") {
    const auto taken = open_listeners(any_port, 1);
    CHECK(AddressTrial{}.bind(taken->address) == errc::address_in_use);

    const Endpoint free = free_address();
    CHECK_FALSE(AddressTrial{}.bind(free).failed());
    CHECK(open_listeners(free, 1).has_value());
}

TEST_CASE("no client can connect to an address while it is tried") {
    const Endpoint free = free_address();
    const Folder folder;
    AddressTrial trial;
    REQUIRE_FALSE(trial.bind(free).failed());
    REQUIRE_FALSE(trial.bind(folder.address(), {.mode = 0666}).failed());

    CHECK(refused_by(free));
    CHECK(refused_by(folder.address()));
    CHECK(mode_of(folder) == 0666);
}

TEST_CASE(
    "of two addresses that exclude each other a trial refuses the second, as an opening does") {
    constexpr std::array<const char*, 5> hosts{"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"};
    for (const char* const one : hosts)
        for (const char* const other : hosts) {
            CAPTURE(one);
            CAPTURE(other);
            const std::uint16_t port = free_port(); // another process may take it soon
            const Endpoint first = *ip_endpoint(one, port);
            const Endpoint second = *ip_endpoint(other, port);
            bool opened = false;
            {
                const auto held = open_listeners(first, 1);
                REQUIRE(held.has_value());
                opened = open_listeners(second, 1).has_value();
            }
            AddressTrial trial;
            REQUIRE_FALSE(trial.bind(first).failed());
            CHECK(trial.bind(second).failed() == !opened);
        }
}

TEST_CASE("a trial of the unix socket of a process that is gone leaves its file") {
    const Folder folder;
    (void)open_listeners(folder.address(), 1);
    const auto before = state_of(folder).st_ino;

    CHECK_FALSE(AddressTrial{}.bind(folder.address()).failed());

    CHECK(state_of(folder).st_ino == before);
}

TEST_CASE("a trial of one unix socket by two paths fails, and leaves nothing") {
    const Folder folder;
    {
        AddressTrial trial;
        REQUIRE_FALSE(trial.bind(folder.address()).failed());
        CHECK(
            trial.bind(*unix_endpoint((folder.path / "." / "s").string())) == errc::address_in_use);
    }
    CHECK_FALSE(std::filesystem::exists(folder.file()));
}

TEST_CASE("a trial of a stale unix socket that may not be replaced fails as an opening does") {
    using std::filesystem::perms;
    const Folder folder;
    (void)open_listeners(folder.address(), 1, {.mode = 0666});
    SUBCASE("because nobody may write to its folder") {
        std::filesystem::permissions(folder.path, static_cast<perms>(0555));
    }
    SUBCASE("because only owners may remove files from its folder") {
        if (::geteuid() != 0)
            return; // this process is the owner
        std::filesystem::permissions(folder.path, perms::all | perms::sticky_bit);
    }
    {
        const Folder open_to_all;
        const Powerless nobody{open_to_all};
        CHECK(AddressTrial{}.bind(folder.address()) == errc::address_in_use);
        CHECK(open_listeners(folder.address(), 1).error() == errc::address_in_use);
    }
    std::filesystem::permissions(folder.path, perms::owner_all);
}

TEST_CASE("of two that open a unix socket at the same time one gets it, and can be reached") {
    const Folder folder;
    for (int round = 0; round < 200; ++round) {
        (void)open_listeners(folder.address(), 1); // stale by now: each would replace it
        std::array<std::vector<Descriptor>, 2> opened;
        std::barrier together{2};
        const auto open = [&](std::vector<Descriptor>& sockets) {
            together.arrive_and_wait();
            if (auto got = open_listeners(folder.address(), 1))
                sockets = std::move(got->sockets);
        };
        {
            const std::jthread other{open, std::ref(opened[0])};
            open(opened[1]);
        }
        CAPTURE(round);
        REQUIRE(opened[0].empty() != opened[1].empty());
        REQUIRE(connect_to(folder.address()).get() >= 0);
    }
}

TEST_CASE("a unix socket that another process is about to open is not taken for a stale one") {
    const Folder folder;
    const Endpoint address = folder.address();
    const Descriptor locked{::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    REQUIRE(::flock(locked.get(), LOCK_EX) == 0);
    const Descriptor first{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(first.get(), address.data(), static_cast<socklen_t>(address.size())) == 0);
    stint::ErrorCode refused;
    {
        const std::jthread second{[&] { refused = open_listeners(address, 1).error(); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{50}); // or later: the same outcome
        REQUIRE(::listen(first.get(), 5) == 0);
        REQUIRE(::flock(locked.get(), LOCK_UN) == 0);
    }
    CHECK(refused == errc::address_in_use);
    CHECK(connect_to(address).get() >= 0);
}

TEST_CASE("whoever keeps a folder locked keeps no unix socket from being opened and removed") {
    const Folder folder;
    const Descriptor locked{::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    REQUIRE(::flock(locked.get(), LOCK_SH) == 0); // reading the folder is enough for it

    const auto opened = open_listeners(folder.address(), 1);

    REQUIRE(opened.has_value());
    CHECK(connect_to(folder.address()).get() >= 0);
    remove_socket_file(folder.address(), opened->file);
    CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a unix socket that cannot be opened for want of descriptors leaves no file") {
    const Folder folder;
    rlimit usual{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const int lowest_free = Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)}.get();
    for (const rlim_t left : {0U, 1U, 2U, 3U}) {
        rlimit few = usual;
        few.rlim_cur = static_cast<rlim_t>(lowest_free) + left;
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
        const auto opened = open_listeners(folder.address(), 2);
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);

        CHECK_FALSE(opened.has_value());
        CHECK(std::filesystem::is_empty(folder.path));
    }
}

TEST_CASE("a live unix socket is refused and goes on living") {
    const Folder folder;
    const auto first = open_listeners(folder.address(), 1);
    REQUIRE(first.has_value());

    const auto second = open_listeners(folder.address(), 1);

    REQUIRE_FALSE(second.has_value());
    CHECK(second.error() == errc::address_in_use);
    // The second opener's question is the first connection; a client's is the one after it.
    const Descriptor client = connect_to(folder.address());
    CHECK(client.get() >= 0);
    CHECK(accept_from(first->sockets).get() >= 0);
}

TEST_CASE("a live unix socket whose queue is full is not taken for a stale one") {
    const Folder folder;
    const Endpoint address = folder.address();
    const Descriptor busy{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(busy.get(), address.data(), static_cast<socklen_t>(address.size())) == 0);
    REQUIRE(::listen(busy.get(), 0) == 0);
    std::vector<Descriptor> waiting;
    do
        waiting.push_back(connect_to(address));
    while (waiting.back().get() >= 0 && waiting.size() < 100);
    REQUIRE(waiting.size() < 100); // the queue is full now

    const auto second = open_listeners(address, 1);

    CHECK_FALSE(second.has_value());
    CHECK(std::filesystem::is_socket(folder.file()));
}

TEST_CASE("a regular file in a unix socket's place is an error and stays") {
    const Folder folder;
    std::ofstream{folder.file()} << "precious";

    const auto opened = open_listeners(folder.address(), 1);

    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error() == errc::address_in_use);
    CHECK(std::filesystem::file_size(folder.file()) == 8);
}

TEST_CASE("a symbolic link in a unix socket's place is an error, and what it leads to stays") {
    const Folder folder;
    const std::string target = folder.path / "target";
    REQUIRE(open_listeners(*unix_endpoint(target), 1).has_value()); // stale by now
    std::filesystem::create_symlink(target, folder.file());

    CHECK_FALSE(open_listeners(folder.address(), 1).has_value());

    CHECK(std::filesystem::is_socket(target));
    CHECK(std::filesystem::is_symlink(folder.file()));
}

TEST_CASE("a unix socket's file is removed at its end, nothing for TCP") {
    const Folder folder;
    const auto opened = open_listeners(folder.address(), 1);
    REQUIRE(opened.has_value());

    remove_socket_file(any_port, {});
    CHECK(std::filesystem::exists(folder.file()));
    remove_socket_file(folder.address(), opened->file);

    CHECK_FALSE(std::filesystem::exists(folder.file()));
}

TEST_CASE("what has taken the place of a unix socket's file is neither changed nor removed") {
    const Folder folder;
    auto first = open_listeners(folder.address(), 1);
    REQUIRE(first.has_value());
    first->sockets.clear();
    const std::string target = folder.path / "target";
    std::ofstream{target} << "precious";
    std::optional<ListeningSockets> second;
    SUBCASE("the socket of another process") {
        second = *open_listeners(folder.address(), 1, {0660});
    }
    SUBCASE("a symbolic link") {
        std::filesystem::remove(folder.file());
        std::filesystem::create_symlink(target, folder.file());
    }
    SUBCASE("a regular file") {
        std::filesystem::rename(target, folder.file());
    }
    const auto followed = std::filesystem::status(folder.file());

    CHECK(set_socket_file(folder.address(), first->file, {0606, 1}) == errc::address_in_use);
    remove_socket_file(folder.address(), first->file);

    REQUIRE(std::filesystem::exists(folder.file()));
    CHECK(std::filesystem::status(folder.file()).permissions() == followed.permissions());
    if (second)
        CHECK(connect_to(folder.address()).get() >= 0);
}

TEST_CASE("a descriptor is closed by its owner alone") {
    int raw = -1;
    {
        Descriptor first{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        raw = first.get();
        Descriptor second{std::move(first)};
        CHECK(first.get() == -1);
        CHECK(second.get() == raw);
        second = Descriptor{second.release()};
        CHECK(second.get() == raw);
    }

    CHECK(::fcntl(raw, F_GETFD) == -1);
}
