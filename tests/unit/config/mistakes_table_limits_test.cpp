// Mistakes in limits, as a table.
#include "mistakes_table.hpp"

namespace stint::config {

namespace {

constexpr MistakeRow limit_rows[] = {
    {MistakeRow::after_base, "limits: [{name: a, requests: 1, per: 1s}]\nroutes: []\n",
     "3:9: limits: found a list; expected a map of limits by name such as {per_client: {requests: "
     "100, per: 1m}}"},
    {MistakeRow::after_base, "limits: {a: 10r/s}\nroutes: []\n",
     "3:13: limits.a: \"10r/s\" is a rate; expected a map with requests: 10 and per: 1s"},
    {MistakeRow::after_base, "limits: {a: {requests: 10r/s}}\nroutes: []\n",
     "3:24: limits.a.requests: \"10r/s\" is a rate; expected a number here and the time in a key "
     "of its own: requests: 10 and per: 1s"},
    {MistakeRow::after_base, "limits: {a: {requests: 0, per: 1s}}\nroutes: []\n",
     "3:24: limits.a.requests: a limit of 0 would refuse every request; expected at least 1 (to "
     "close a route, remove it; to shut clients or keys out, list them under deny)"},
    {MistakeRow::after_base, "limits: {a: {requests: -5, per: 1s}}\nroutes: []\n",
     "3:24: limits.a.requests: \"-5\" is negative; expected a whole number from 1 to "
     "1000000000000"},
    {MistakeRow::after_base, "limits: {a: {requests: 1.5, per: 1s}}\nroutes: []\n",
     "3:24: limits.a.requests: \"1.5\" is not a whole number; expected a whole number from 1 to "
     "1000000000000"},
    {MistakeRow::after_base, "limits: {a: {requests: 1,000, per: 1s}}\nroutes: []\n",
     "3:26: limits.a.000: unknown key; in { } a comma ends a value; write numbers without commas"},
    {MistakeRow::after_base, "limits: {a: {requests: 10}}\nroutes: []\n",
     "3:13: limits.a: per is missing; expected the window's length such as per: 1m"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 60}}\nroutes: []\n",
     "3:33: limits.a.per: \"60\" has no unit; expected a number with ms, s, m, h or d, from 1ms to "
     "366d, such as 800ms, or day, week or month of the calendar"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: minute}}\nroutes: []\n",
     "3:33: limits.a.per: \"minute\" is not a number (did you mean \"1m\"?); expected a number "
     "with ms, s, m, h or d, from 1ms to 366d, such as 800ms, or day, week or month of the "
     "calendar"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: hour}}\nroutes: []\n",
     "3:33: limits.a.per: \"hour\" is not a number (did you mean \"1h\"?); expected a number with "
     "ms, s, m, h or d, from 1ms to 366d, such as 800ms, or day, week or month of the calendar"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1w}}\nroutes: []\n",
     "3:33: limits.a.per: \"1w\" has no known unit (did you mean \"7d\"?); expected a number with "
     "ms, s, m, h or d, from 1ms to 366d, such as 800ms, or day, week or month of the calendar"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, concurrent: 3}}\nroutes: []\n",
     "3:37: limits.a.concurrent: excludes requests; make two limits of them"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, burst: 20}}\nroutes: []\n",
     "3:37: limits.a.burst: is only for algorithm: token_bucket; add that, or remove burst"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, nodelay: true}}\nroutes: []\n",
     "3:37: limits.a.nodelay: unknown key; without when_exceeded: wait a limit delays nothing; "
     "remove the key"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: 1s, algorithm: leaky_bucket}}\nroutes: []\n",
     "3:48: limits.a.algorithm: \"leaky_bucket\" is unknown; expected fixed_window, sliding_window "
     "or token_bucket"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, key: ip}}\nroutes: []\n",
     "3:42: limits.a.key: \"ip\" is not a key; did you mean \"client_ip\"?"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, key: remote_addr}}\nroutes: []\n",
     "3:42: limits.a.key: \"remote_addr\" is not a key; did you mean \"client_ip\"?"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: 1s, key: $binary_remote_addr}}\nroutes: []\n",
     "3:42: limits.a.key: \"$binary_remote_addr\" is not a key; did you mean \"client_ip\"?"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: 1s, key: $http_x_api_key}}\nroutes: []\n",
     "3:42: limits.a.key: \"$http_x_api_key\" is not a key; did you mean \"header:x-api-key\"?"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, key: X-Api-Key}}\nroutes: []\n",
     "3:42: limits.a.key: \"X-Api-Key\" is not a key; did you mean \"header:X-Api-Key\"?"},
    {MistakeRow::after_base, "limits: {a: {requests: 10, per: 1s, key: consumer}}\nroutes: []\n",
     "3:42: limits.a.key: \"consumer\" is not a key; expected client_ip, header:NAME, cookie:NAME, "
     "query:NAME, host, path, method, route, jwt:CLAIM, tls:subject or a list of these (or "
     "permit_key, of permits)"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: month, time_zone: Berlin}}\nroutes: []\n",
     "3:51: limits.a.time_zone: \"Berlin\" is not a time zone; expected a name such as "
     "Europe/Berlin"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: 1s, key: client_ip, exempt: 10.0.0.0/8}}\nroutes: []\n",
     "3:61: limits.a.exempt: found the value \"10.0.0.0/8\"; expected a list such as [10.0.0.0/8]"},
    {MistakeRow::after_base,
     "limits: {a: {requests: 10, per: 1s, key: client_ip, deny: [10.0.0.0/99]}}\nroutes: []\n",
     "3:60: limits.a.deny[0]: \"10.0.0.0/99\" is not a network; expected one such as 10.0.0.0/8 or "
     "2001:db8::/32, or an address"},
    {MistakeRow::after_base, "limits: {a: {concurrent: 5, per: 1s}}\nroutes: []\n",
     "3:29: limits.a.per: belongs to a window (requests), not to a cap (concurrent); remove it"},
    {MistakeRow::after_base, "limits: {a: {concurrent: 5, status: 200}}\nroutes: []\n",
     "3:37: limits.a.status: \"200\" is too small; expected a whole number from 400 to 599"},
    {MistakeRow::after_base, "limits: {a: {concurrent: 5, when_exceeded: queue}}\nroutes: []\n",
     "3:44: limits.a.when_exceeded: \"queue\" is unknown; expected refuse or wait"},
    {MistakeRow::after_base, "limits: {a: {concurrent: \"${NOT_SET}\"}}\nroutes: []\n",
     "3:26: the environment variable \"NOT_SET\" is not set; set it before the start, or write a "
     "default: ${NOT_SET:-default}"},
};

} // namespace

TEST_CASE("the table: limits") {
    check_rows(limit_rows);
}

} // namespace stint::config
