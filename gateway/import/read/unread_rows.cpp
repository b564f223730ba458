// Directives that are not read: those that Stint needs no setting for, and those that it has
// nothing for. All others are reported as unknown.
#include "import/read/reader.hpp"

#include <array>

namespace stint::import_nginx {

namespace {

constexpr std::string_view by_itself = "Stint chooses it itself";
constexpr std::string_view no_files = "Stint serves no files";
constexpr std::string_view no_cache = "Stint has no cache; left out";
constexpr std::string_view no_body_change = "Stint does not change bodies; left out";
constexpr std::string_view own_logs = "Stint's access log has a format of its own";
constexpr std::string_view tls_choice = "Stint chooses it itself; see tls of a listener";
constexpr std::string_view no_bandwidth = "Stint limits requests, not bytes a second; left out";
constexpr std::string_view streamed = "Stint streams bodies through buffers of its own";

constexpr Row needless(std::string_view name, std::string_view why) {
    return {.name = name, .why = why};
}
// idle: the argument that switches it off.
constexpr Row lost(std::string_view name, std::string_view why, std::string_view idle = {}) {
    return {.name = name, .why = why, .lost = true, .idle = idle};
}

constexpr std::array table_of_unread{
    needless("user", "the service manager chooses the user"),
    needless("pid", "Stint writes no such file"),
    needless("daemon", "Stint stays in the foreground"),
    needless("master_process", by_itself),
    needless("worker_processes", "one worker for each core; see workers"),
    needless("worker_cpu_affinity", "see pin_workers"),
    needless("worker_rlimit_nofile", "Stint raises its limit by itself"),
    needless("worker_shutdown_timeout", "see timeouts.drain"),
    needless("events", "see max_connections"),
    needless("load_module", "Stint has no modules"),
    needless("types", no_files),
    needless("types_hash_max_size", no_files),
    needless("types_hash_bucket_size", no_files),
    needless("server_names_hash_bucket_size", by_itself),
    needless("server_names_hash_max_size", by_itself),
    needless("map_hash_bucket_size", by_itself),
    needless("map_hash_max_size", by_itself),
    needless("variables_hash_max_size", by_itself),
    needless("variables_hash_bucket_size", by_itself),
    needless("proxy_headers_hash_max_size", by_itself),
    needless("proxy_headers_hash_bucket_size", by_itself),
    needless("sendfile", by_itself),
    needless("sendfile_max_chunk", by_itself),
    needless("aio", by_itself),
    needless("directio", no_files),
    needless("tcp_nopush", by_itself),
    needless("tcp_nodelay", by_itself),
    needless("server_tokens", "Stint names no version"),
    needless("server_name_in_redirect", by_itself),
    needless("port_in_redirect", by_itself),
    needless("keepalive_requests", "no such bound over HTTP/1; http2.max_requests over HTTP/2"),
    needless("keepalive_disable", by_itself),
    needless("reset_timedout_connection", by_itself),
    needless("lingering_close", by_itself),
    needless("lingering_time", by_itself),
    needless("lingering_timeout", by_itself),
    needless("index", no_files),
    needless("open_file_cache", no_files),
    needless("open_file_cache_valid", no_files),
    needless("open_file_cache_min_uses", no_files),
    needless("open_file_cache_errors", no_files),
    needless("open_log_file_cache", own_logs),
    needless("log_format", own_logs),
    needless("log_not_found", own_logs),
    needless("log_subrequest", own_logs),
    needless("resolver", "the system's resolver is asked; see resolve_interval"),
    needless("resolver_timeout", "the system's resolver is asked"),
    needless("client_body_buffer_size", streamed),
    needless("client_body_temp_path", streamed),
    needless("client_header_buffer_size", "see max_head"),
    needless("proxy_buffer_size", streamed),
    needless("proxy_buffers", streamed),
    needless("proxy_busy_buffers_size", streamed),
    needless("proxy_temp_path", streamed),
    needless("proxy_max_temp_file_size", streamed),
    needless("proxy_temp_file_write_size", streamed),
    needless("fastcgi_temp_path", no_files),
    needless("uwsgi_temp_path", no_files),
    needless("scgi_temp_path", no_files),
    needless("fastcgi_param", "of fastcgi_pass, which is listed by itself"),
    needless("fastcgi_index", "of fastcgi_pass, which is listed by itself"),
    needless("fastcgi_split_path_info", "of fastcgi_pass, which is listed by itself"),
    needless("fastcgi_read_timeout", "of fastcgi_pass, which is listed by itself"),
    needless("fastcgi_buffers", "of fastcgi_pass, which is listed by itself"),
    needless("fastcgi_buffer_size", "of fastcgi_pass, which is listed by itself"),
    needless("auth_basic_user_file", "of auth_basic, which is listed by itself"),
    needless("auth_request_set", "of auth_request, which is listed by itself"),
    needless("ssl_session_cache", tls_choice),
    needless("ssl_session_timeout", tls_choice),
    needless("ssl_session_tickets", tls_choice),
    needless("ssl_session_ticket_key", tls_choice),
    needless("ssl_prefer_server_ciphers", tls_choice),
    needless("ssl_ecdh_curve", tls_choice),
    needless("ssl_dhparam", tls_choice),
    needless("ssl_buffer_size", tls_choice),
    needless("ssl_verify_depth", tls_choice),
    needless("proxy_ssl_session_reuse", by_itself),
    needless("proxy_ssl_verify_depth", by_itself),
    needless("gzip_vary", "of gzip, which is listed by itself"),
    needless("gzip_proxied", "of gzip, which is listed by itself"),
    needless("gzip_comp_level", "of gzip, which is listed by itself"),
    needless("gzip_buffers", "of gzip, which is listed by itself"),
    needless("gzip_http_version", "of gzip, which is listed by itself"),
    needless("gzip_types", "of gzip, which is listed by itself"),
    needless("gzip_min_length", "of gzip, which is listed by itself"),
    needless("gzip_disable", "of gzip, which is listed by itself"),

    lost("gzip", no_body_change, "off"),
    lost("gunzip", no_body_change, "off"),
    lost("sub_filter", no_body_change),
    lost("charset", "Stint does not change Content-Type; left out", "off"),
    lost("limit_rate", no_bandwidth, "0"),
    lost("limit_rate_after", no_bandwidth),
    lost("proxy_limit_rate", no_bandwidth, "0"),
    lost("proxy_cache", no_cache, "off"),
    lost("proxy_cache_path", no_cache),
    lost("proxy_cache_key", no_cache),
    lost("proxy_cache_valid", no_cache),
    lost("proxy_cache_use_stale", no_cache, "off"),
    lost("proxy_cache_bypass", no_cache),
    lost("proxy_no_cache", no_cache),
    lost("proxy_cache_lock", no_cache, "off"),
    lost("proxy_store", no_cache, "off"),
    lost("error_page", "Stint answers refusals by itself; see body and status of a limit"),
    lost("satisfy", "Stint has no access rules of nginx's kind", "all"),
    lost("proxy_cookie_path", "Stint does not change Set-Cookie; left out", "off"),
    lost("proxy_cookie_domain", "Stint does not change Set-Cookie; left out", "off"),
    lost("proxy_cookie_flags", "Stint does not change Set-Cookie; left out", "off"),
    lost("proxy_bind", "the system chooses the address; left out", "off"),
    lost("proxy_next_upstream_timeout", "a request is tried again at once, or not; left out", "0"),
    lost("proxy_method", "Stint does not change methods; left out"),
    lost(
        "proxy_ignore_client_abort",
        "a client that is gone ends its request; see half_close",
        "off"),
    lost("proxy_ssl_protocols", "TLS 1.2 and 1.3; left out"),
    lost("proxy_ssl_ciphers", by_itself),
    lost("proxy_pass_header", "no header is hidden; see response of a route"),
    lost("ssl_ciphers", "Stint's own are ECDHE with AES-GCM or ChaCha20; see ciphers of tls"),
    lost("ssl_conf_command", "see tls of a listener; left out"),
    lost("ssl_stapling", "see ocsp_staple of a certificate; left out", "off"),
    lost("ssl_stapling_verify", "see ocsp_staple of a certificate; left out", "off"),
    lost("ssl_crl", "revocation lists are read from client_ca; left out"),
    lost("ssl_early_data", "Stint accepts no early data; left out", "off"),
    lost("ssl", "expected ssl behind an address of listen; left out", "off"),
    lost("underscores_in_headers", "names with _ pass, but for those that imitate others"),
    lost("ignore_invalid_headers", "Stint refuses malformed fields (400)"),
    lost("msie_padding", "has no counterpart; left out"),
    lost("chunked_transfer_encoding", "responses without a length are chunked; left out"),
    lost("expires", "Stint computes no Expires and Cache-Control; see response of a route", "off"),
    lost("split_clients", "Stint has no such choice; left out"),
    lost("valid_referers", "Stint has no such condition; left out"),
    lost("mirror", "Stint does not mirror requests; left out", "off"),
    lost("stream", "Stint forwards HTTP alone; left out"),
    lost("mail", "Stint forwards HTTP alone; left out"),
    lost("env", "see environment variables in docs/configuration.md; left out"),
    lost("image_filter", no_body_change, "off"),
    lost("add_trailer", "Stint adds no trailers; left out"),
    lost("slice", no_cache, "0"),
};

} // namespace

std::span<const Row> unread_rows() {
    return table_of_unread;
}

} // namespace stint::import_nginx
