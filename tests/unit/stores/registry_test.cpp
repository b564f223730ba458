#include "fixture.hpp"
#include "stores/store_registry.hpp"

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;

namespace {

StoreSettings settings_with(Duration timeout) {
    StoreSettings made;
    made.name = "main";
    made.port = 1;
    made.gateway = "gw";
    made.timeout = timeout;
    return made;
}

} // namespace

TEST_CASE("a reload keeps a store whose settings are the same, and replaces any other") {
    StoreRegistry registry;
    const StorePtr first = registry.obtain(settings_with(20ms));
    CHECK(registry.obtain(settings_with(20ms)) != first); // it is not in force
    registry.keep({first});
    CHECK(registry.obtain(settings_with(20ms)) == first);
    const StorePtr other = registry.obtain(settings_with(30ms));
    CHECK(other != first);
    CHECK(first->runs());
    CHECK_FALSE(other->runs());

    Client client{*first, {}};
    first->serve(client.limit(), limits::OnStoreFailure::share);
    registry.keep({first}); // goes on
    client.want();
    await([&] { return client.ask().answers == 1; }, "there is no answer");
    await([&] { return !first->state().last_error.empty(); }, "it does not run");
    registry.keep({other});
    CHECK_FALSE(first->runs());
    CHECK(other->runs());
    client.want();
    CHECK(client.ask().answers == 2); // within the call: it has stopped
    await([&] { return !other->state().last_error.empty(); }, "it does not run");
}

TEST_CASE("a limit goes from a store to the one that replaces it") {
    if (no_server())
        return;
    RedisProcess server;
    StoreRegistry registry;
    StoreSettings with = settings(server, "gw");
    const StorePtr first = registry.obtain(with);
    Client client{*first, {}};
    first->serve(client.limit(), limits::OnStoreFailure::share);
    registry.keep({first});
    await([&] { return client.admitted(); }, "no request was admitted");

    with.timeout = 30ms;
    const StorePtr second = registry.obtain(with);
    second->serve(client.limit(), limits::OnStoreFailure::share);
    CHECK(client.share() > 0); // the first one is in force
    registry.keep({second});
    await([&] { return second->state().asking; }, "the second has no session");
    CHECK(client.share() == 0);
    client.use(*second);
    await([&] { return client.admitted(); }, "no request was admitted");

    server.kill();
    await([&] { return !second->state().up; }, "the end of the server is not noticed");
    with.timeout = 40ms;
    const StorePtr third = registry.obtain(with);
    third->serve(client.limit(), limits::OnStoreFailure::share);
    registry.keep({third}); // the second cannot tell the server that it goes
    server.start();
    await([&] { return third->state().asking; }, "the third has no session");
    CHECK(client.share() == 0); // what the second held does not come back
    registry.keep({});
    CHECK_FALSE(client.limit()->share_policy().asking());
}
