// Each want is answered once, whatever becomes of the store.
#include "fixture.hpp"
#include "net/post.hpp"
#include "stores/store_loop.hpp"
#include "stores/want_inbox.hpp"

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;
using limits::ShareAnswer;

namespace {

// No server is there.
StoreSettings nowhere() {
    StoreSettings made;
    made.name = "main";
    made.port = 1;
    made.gateway = "gw";
    return made;
}

} // namespace

TEST_CASE("a store that does not run answers within the call: failed") {
    Store store{nowhere()};
    Client client{store, {}};
    store.serve(client.limit(), limits::OnStoreFailure::share);
    client.want();
    CHECK(client.ask().answers == 1);
    CHECK(client.ask().answer == ShareAnswer::failed);
    store.start();
    store.stop();
    client.want();
    CHECK(client.ask().answers == 2);
    CHECK(client.ask().answer == ShareAnswer::failed);
    CHECK(store.counters().wants == 2);
    CHECK(store.counters().failed == 2);
}

TEST_CASE("a store without a server answers: failed, and its limits do not ask it") {
    Gateway gateway{nowhere()};
    CHECK_FALSE(gateway.client.admitted());
    CHECK(gateway.store.counters().wants == 0);
    gateway.client.want();
    await([&] { return gateway.client.ask().answers == 1; }, "there is no answer");
    CHECK(gateway.client.ask().answer == ShareAnswer::failed);
    await([&] { return !gateway.store.state().last_error.empty(); }, "no error is told");
    CHECK(gateway.store.state().last_error.find("127.0.0.1:1") != std::string::npos);
}

TEST_CASE("many threads' wants are all answered, also those that come while the store stops") {
    const Terms terms;
    for (int round = 0; round < 200; ++round) {
        Store store{nowhere()};
        std::vector<std::unique_ptr<Client>> clients;
        for (int i = 0; i < 3; ++i) {
            clients.push_back(std::make_unique<Client>(store, terms));
            store.serve(clients.back()->limit(), limits::OnStoreFailure::share);
        }
        store.start();
        std::vector<std::thread> threads;
        for (const auto& client : clients)
            threads.emplace_back([&client = *client] {
                for (int i = 0; i < 30; ++i) {
                    client.want();
                    await([&] { return client.ask().answers == i + 1; }, "there is no answer");
                }
            });
        std::this_thread::sleep_for(std::chrono::microseconds{100 + 5 * round});
        store.stop();
        for (std::thread& each : threads)
            each.join();
        CHECK(store.counters().wants == 90);
        CHECK(store.counters().failed == 90);
    }
}

TEST_CASE("a want that the store's thread has not taken when it ends is answered") {
    struct Catch final : limits::ShareSource {
        void want(const limits::ShareWanted&, std::uint64_t given, limits::ShareRequests&) noexcept
            override {
            number = given;
        }
        std::uint64_t number = 0;
    };
    StoreShared shared{nowhere()};
    StoreLoop loop{shared};
    shared.inbox.open();
    Requests requests;
    Ask request;
    Catch source;
    request.begin(requests, 1);
    request.ask(source, {});
    CHECK(shared.inbox.push({"c", {}, 1, {source.number, &requests}}) == WantInbox::Pushed::first);
    CHECK(net::post(loop.executor(), [&] { loop.stop(Duration::zero()); }));
    loop.run();
    requests.deliver();
    CHECK(request.answers == 1);
    CHECK(request.answer == ShareAnswer::failed);
}

TEST_CASE("an inbox tells its first want, and refuses when it is closed") {
    WantInbox inbox;
    CHECK(inbox.push({}) == WantInbox::Pushed::refused);
    inbox.open();
    CHECK(inbox.push({}) == WantInbox::Pushed::first);
    CHECK(inbox.push({}) == WantInbox::Pushed::behind);
    CHECK(inbox.take().size() == 2);
    CHECK(inbox.push({}) == WantInbox::Pushed::first);
    inbox.close();
    CHECK(inbox.push({}) == WantInbox::Pushed::refused);
    CHECK(inbox.take().size() == 1);
}
