#include "runtime/upgrade/successor_process.hpp"

#include "limits/limit.hpp"
#include "net/clock.hpp"
#include "net/types.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/upgrade/messages.hpp"

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int descriptor_of_child = 3;
constexpr auto longest_ending = 1s;
constexpr auto longest_end = 3s;
constexpr auto between_tries = 10ms;

// True if the system lacks something for now, such as room for descriptors on their way.
bool lacks_resources(const ErrorCode& error) {
    using namespace boost::system::errc;
    return error == no_buffer_space || error == not_enough_memory || error == too_many_files_open ||
           error.value() == ETOOMANYREFS;
}

// The environment of this process, without what names its own sockets and its own number.
std::vector<std::string> environment_of_child() {
    std::vector<std::string> variables;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view variable = *each;
        const std::string_view name = variable.substr(0, variable.find('='));
        if (name != "LISTEN_FDS" && name != "LISTEN_PID" && name != "LISTEN_FDNAMES" &&
            name != "WATCHDOG_PID" && name != SuccessorProcess::variable_of_descriptor)
            variables.emplace_back(variable);
    }
    variables.push_back(
        std::string{SuccessorProcess::variable_of_descriptor} + "=" +
        std::to_string(descriptor_of_child));
    return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// Starts the program, with signals held that would end it; `channel` becomes descriptor_of_child.
int spawn(pid_t& process, std::vector<std::string> arguments, int channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, channel, descriptor_of_child);
    // Sockets to upstreams are not close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions, descriptor_of_child + 1);
    sigset_t held; // until deliver_held_signals()
    sigemptyset(&held);
    for (const int number : {SIGHUP, SIGUSR1, SIGUSR2})
        sigaddset(&held, number);
    posix_spawnattr_setsigmask(&attributes, &held);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<std::string> environment = environment_of_child();
    const int failed = ::posix_spawn(
        &process, arguments.front().c_str(), &actions, &attributes, pointers_to(arguments).data(),
        pointers_to(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

// A descriptor to wait on, apart from the one that is read.
Descriptor copy_of(int descriptor) {
    return Descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
}

} // namespace

Result<std::unique_ptr<SuccessorProcess>, std::string>
SuccessorProcess::start(net::asio::io_context& control, const std::vector<std::string>& arguments) {
    auto channels = Channel::pair();
    if (!channels)
        return channels.error().message();
    auto& [own, other] = *channels;
    // A descriptor that is its own copy would keep its close-on-exec flag: it is moved away first.
    const Descriptor moved{::fcntl(other.descriptor(), F_DUPFD_CLOEXEC, descriptor_of_child + 1)};
    Descriptor readable = copy_of(own.descriptor());
    Descriptor writable = copy_of(own.descriptor());
    if (moved.get() < 0 || readable.get() < 0 || writable.get() < 0)
        return std::string{"there are too few descriptors"};
    pid_t process = -1;
    if (const int failed = spawn(process, arguments, moved.get()); failed != 0)
        return arguments.front() + " cannot be started: " + std::strerror(failed);
    return std::unique_ptr<SuccessorProcess>{new SuccessorProcess{
        control, std::move(own), std::move(readable), std::move(writable), process}};
}

SuccessorProcess::SuccessorProcess(
    net::asio::io_context& control,
    Channel channel,
    Descriptor readable,
    Descriptor writable,
    pid_t process)
    : control_{control}, channel_{std::move(channel)}, readable_{control, readable.release()},
      writable_{control, writable.release()}, later_{control}, process_{process} {}

SuccessorProcess::~SuccessorProcess() {
    if (!released_)
        end();
}

void SuccessorProcess::end() noexcept {
    if (channel_.has_message())
        kill(); // it is prepared, and might take the end of the pair for the end of this process
    channel_.shut();
    if (!await_exit(longest_end))
        kill();
}

void SuccessorProcess::kill() noexcept {
    if (std::exchange(ended_, true))
        return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
    }
}

bool SuccessorProcess::await_exit(Duration most) noexcept {
    const SteadyTime until = net::read_steady_clock() + most;
    while (!ended_ && net::read_steady_clock() < until) {
        const pid_t got = ::waitpid(process_, &status_, WNOHANG);
        ended_ = got == process_ || (got < 0 && errno == ECHILD);
        if (!ended_)
            ::usleep(1000);
    }
    return ended_;
}

std::string SuccessorProcess::ending() noexcept {
    if (!await_exit(longest_ending))
        return "it has closed its end";
    if (WIFSIGNALED(status_))
        return "it was ended by signal " + std::to_string(WTERMSIG(status_));
    return "it has exited with " + std::to_string(WEXITSTATUS(status_));
}

void SuccessorProcess::await_message(std::function<void(Result<Message>)> on_message) {
    readable_.async_wait(
        net::asio::posix::stream_descriptor::wait_read,
        [this, on_message = std::move(on_message)](const ErrorCode& error) {
            if (error == net::asio::error::operation_aborted)
                return;
            Result<Message> message = channel_.receive_now();
            if (!message && message.error() == net::asio::error::would_block)
                return await_message(on_message);
            on_message(std::move(message));
        });
}

void SuccessorProcess::post(Message message) {
    if (broken_)
        return;
    posted_.push_back(std::move(message));
    send_posted();
}

void SuccessorProcess::send_posted() {
    while (!posted_.empty() && !waits_ && !broken_) {
        const ErrorCode error = channel_.send_now(posted_.front());
        if (error == net::asio::error::would_block)
            return await_room();
        if (lacks_resources(error))
            return retry_later();
        if (error == boost::system::errc::broken_pipe ||
            error == boost::system::errc::connection_reset)
            broken_ = true;
        else if (error)
            spdlog::error("upgrade: a message to the new process is lost: {}", error.message());
        posted_.pop_front();
    }
    if (broken_)
        posted_.clear();
}

void SuccessorProcess::await_room() {
    waits_ = true;
    writable_.async_wait(
        net::asio::posix::stream_descriptor::wait_write, [this](const ErrorCode& failed) {
            waits_ = false;
            if (failed != net::asio::error::operation_aborted)
                send_posted();
        });
}

void SuccessorProcess::retry_later() {
    waits_ = true;
    later_.expires_after(between_tries);
    later_.async_wait([this](const ErrorCode& failed) {
        waits_ = false;
        if (failed != net::asio::error::operation_aborted)
            send_posted();
    });
}

void SuccessorProcess::flush(Duration most) {
    const SteadyTime until = net::read_steady_clock() + most;
    while (!posted_.empty() && !broken_) {
        if (channel_.send(posted_.front(), until - net::read_steady_clock()))
            return;
        posted_.pop_front();
    }
}

void SuccessorProcess::post_from_any_thread(Message message) {
    auto shared = std::make_shared<Message>(std::move(message)); // a handler has to be copyable
    net::asio::post(control_, [this, shared = std::move(shared)] { post(std::move(*shared)); });
}

void SuccessorProcess::take(server::HandedConnection connection) noexcept try {
    Message message{MessageKind::connection, encode(connection)};
    message.descriptors.push_back(std::move(connection.socket));
    post_from_any_thread(std::move(message));
} catch (const std::exception& failure) {
    spdlog::error("upgrade: a connection could not be handed over: {}", failure.what());
}

void SuccessorProcess::given_back(
    const limits::Limit& limit,
    Hash128 key,
    const limits::Receipt& receipt,
    std::uint64_t cost) noexcept try {
    if (!limit.identity().store.empty())
        return; // this process's share has it
    post_from_any_thread(
        {MessageKind::given_back, encode(GivenBack{key_of(limit.identity()), key, receipt, cost})});
} catch (const std::exception&) { // the slot is free when this process ends
}

void SuccessorProcess::tell_pauses_of(limits::CooldownSet& cooldowns, SteadyTime now) {
    const auto known = cooldowns.by_key();
    // The pauses of shared cool-downs that begin later reach the new process through the store.
    if (!cooldowns.is_shared()) {
        {
            const std::lock_guard lock{mutex_};
            for (const auto& [key, cooldown] : known)
                keys_.emplace(cooldown.get(), key);
        }
        cooldowns.share_by(shared_from_this(), now);
    }
    for (const auto& [key, cooldown] : known) // also those that others have told this process of
        if (const limits::CooldownState state = cooldown->state(now);
            state.phase == limits::CooldownState::Phase::paused)
            post_from_any_thread(
                {MessageKind::paused, encode(HandedPause{
                                          .of = cooldowns.identity(),
                                          .digest = limits::digest_of(state.of),
                                          .pause = {state.status, now + state.left},
                                          .key = std::pair{key, std::string{state.of}}})});
}

Hash128 SuccessorProcess::join(
    const limits::CooldownIdentity& identity,
    const Hash128& digest,
    const std::shared_ptr<limits::Cooldown>& cooldown,
    SteadyTime now) {
    const Hash128 whole = limits::digest_of(identity.owner + '\0' + identity.scope);
    const Hash128 name{digest.high ^ whole.high, digest.low ^ whole.low};
    HandedPause pause{.of = identity, .digest = digest, .pause = {}};
    const std::lock_guard lock{mutex_};
    if (const auto key = keys_.find(cooldown.get()); key != keys_.end())
        pause.key.emplace(key->second, cooldown->state(now).of);
    pauses_.try_emplace(name, std::move(pause));
    return name;
}

void SuccessorProcess::tell(const Hash128& name, const limits::SharedPause& pause) noexcept try {
    HandedPause handed;
    {
        const std::lock_guard lock{mutex_};
        const auto known = pauses_.find(name);
        if (known == pauses_.end())
            return;
        handed = known->second;
    }
    handed.pause = pause;
    post_from_any_thread({MessageKind::paused, encode(handed)});
} catch (const std::exception&) { // the upstream will ask again
}

} // namespace stint::runtime
