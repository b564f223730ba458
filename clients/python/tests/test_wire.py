"""Bytes: requests as the gateway wants them, answers however they may come, addresses."""

import json
import math
import os
import unittest
from unittest import mock

from support import ClientTest

from stint import RateLimitException, StintError, StintUnavailable
from stint._address import parse as parse_address
from stint._errors import Unproven
from stint._wire import MAX_ANSWER, Requests, check_there, parse, raise_for, take_path


class Asking(ClientTest):
    def test_a_request(self):
        made = Requests("gateway:8082", "s3cret").post("/v1/limits/a/take", {"key": "ö", "batch": None})
        self.assertEqual(made, b"POST /v1/limits/a/take HTTP/1.1\r\nHost: gateway:8082\r\n"
                               b"Authorization: Bearer s3cret\r\nContent-Type: application/json\r\n"
                               b'Content-Length: 16\r\n\r\n{"key":"\\u00f6"}')

    def test_names_are_data(self):
        for name, segment in (("shop_budget", "shop_budget"), ("a/b", "a%2Fb"), ("..", "%2E%2E"), (".", "%2E"),
                              ("größe 1", "gr%C3%B6%C3%9Fe%201"), ("a\r\nb?c#d%", "a%0D%0Ab%3Fc%23d%25")):
            self.assertEqual(take_path(name), f"/v1/limits/{segment}/take")
        for name in ("", None, 5):
            with self.assertRaises(ValueError):
                take_path(name)

    def test_many_paths_do_not_pile_up(self):
        requests = Requests("gateway", None)
        for number in range(2500):
            self.assertIn(b"/%d HTTP" % number, requests.post(f"/{number}", {}))
        self.assertLessEqual(len(requests._heads), 1000)


def head(*fields, status="HTTP/1.1 200 OK"):
    return "\r\n".join([status, *fields, "", ""]).encode()


class Answers(ClientTest):
    def test_an_answer_in_parts(self):
        whole = head("Content-Type: application/json", "content-length:2 ", "X: y") + b"{}"
        for length in range(len(whole)):
            self.assertIsNone(parse(whole[:length]))
        answer = parse(whole)
        self.assertEqual((answer.status, answer.body, answer.last, answer.members()), (200, b"{}", False, {}))

    def test_whether_the_connection_lives_on(self):
        for fields, status, last in (([], "HTTP/1.1 200 OK", False), (["Connection: close"], "HTTP/1.1 200 OK", True),
                                     (["connection:  Close"], "HTTP/1.1 429 No", True),
                                     (["Connection: keep-alive"], "HTTP/1.1 200 OK", False),
                                     ([], "HTTP/1.0 200 OK", True)):
            self.assertEqual(parse(head("Content-Length: 0", *fields, status=status)).last, last)

    def test_answers_that_name_what_they_made(self):
        for fields in (("Content-Length: 2", "Location: /a"), ("Content-Length: 2", "Location: /bcd"),
                       ("Location: /a", "Content-Length: 2"), ("Location: /bcd", "Content-Length: 3"),
                       ("Content-Length: 2", "Location: /a", "Connection: close"), ("Content-Length: 3", "Location: /a"),
                       ("Connection: close", "Content-Length: 2", "Location: /a"),
                       ("Content-Length: 2", "Location: /a", "X: y"), ("Content-Length: 2", "Location: /b")):
            length, last = 3 if "Content-Length: 3" in fields else 2, "Connection: close" in fields
            made = parse(head(*fields, status="HTTP/1.1 201 Created") + b"{ }"[:length])
            self.assertEqual((made.status, made.body, made.last), (201, b"{ }"[:length], last), fields)
            self.assertEqual(parse(head("Content-Length: 0")).status, 200)

    def test_what_is_no_answer(self):
        for bytes_ in (head(), head("Transfer-Encoding: chunked"), head("Content-Length: x"),
                       head("Content-Length: -1"), head("Content-Length: 1000000000"),
                       head("Content-Length: 0", status="SSH-2.0-OpenSSH"),
                       head("Content-Length: 0", status="HTTP/1.1 OK"),
                       head("Content-Length: 0", status="HTTP/2 200"),
                       head("Content-Length: 2") + b"{}HTTP/1.1", head("Content-Length: 20000000"),
                       b"x", b"HTTP/1.1 200 OK" * (MAX_ANSWER // 10), b"HTTP/9",
                       *(head("Content-Length: 0", status=line) for line in (
                           "HTTP/1.1 2000 OK", "HTTP/1.1\t200 OK", "HTTP/1.x 200 OK"))):
            with self.subTest(bytes_[:60]):
                answer = parse(bytes_)
                status = 200 if bytes_.startswith(b"HTTP/1.1 200 OK\r\n") else 0
                self.assertEqual((answer.status, answer.body, answer.last), (status, b"", True))
                with self.assertRaisesRegex(StintError, "permits:"):
                    raise_for(answer, "shop")

    def test_a_body_that_is_not_json(self):
        for body in (b"", b"<html>", b"[1]", b"\xff"):
            answer = parse(head(f"Content-Length: {len(body)}") + body)
            self.assertEqual(answer.members(), {})

    def raised(self, status, *fields, **problem):
        body = json.dumps(problem).encode()
        answer = parse(head(*fields, f"Content-Length: {len(body)}", status=f"HTTP/1.1 {status} X") + body)
        try:
            raise_for(answer, "shop")
        except Exception as error:
            return error

    def test_refusals(self):
        error = self.raised(429, "Retry-After: 2", "Retry-After-Ms: 1250", title="Too Many", detail="used up")
        self.assertEqual((type(error), error.remaining, error.never, error.status),
                         (RateLimitException, 1.25, False, 429))
        self.assertEqual(str(error), "shop: 1.250 s remain; used up")
        self.assertEqual(self.raised(429, "Retry-After: 2").remaining, 2)
        self.assertEqual(self.raised(503, "Retry-After-Ms: 10").status, 503)
        error = self.raised(429, title="Too Many")
        self.assertEqual((error.remaining, error.never), (math.inf, True))
        self.assertIn("never", str(error))

    def test_mistakes_and_failures(self):
        error = self.raised(404, title="Not Found", detail="no limit shop")
        self.assertEqual((type(error), error.status, error.title, error.detail),
                         (StintError, 404, "Not Found", "no limit shop"))
        self.assertEqual(str(error), "shop: 404; no limit shop")
        for status in (500, 502, 503, 504, 507):
            error = self.raised(status, title="Bad")
            self.assertEqual((type(error), error.status), (StintError, status))
            self.assertIn("permits:", str(error))
        for status in (204, 301, 400, 401, 403, 409, 413, 422, 431):
            self.assertEqual(self.raised(status, "Retry-After: 1").status, status)

    def there(self, status, *fields, proven=False):
        address = parse_address("http://there:1")
        address.proven = proven
        try:
            check_there(parse(head(*fields, "Content-Length: 0", status=f"HTTP/1.1 {status} X")), address)
        except Exception as error:
            return type(error)

    def test_what_a_proxy_says_in_the_gateway_s_place(self):
        for status, *fields in ((200,), (404,), (429,), (500,), (501,), (505,), (507,), (503, "Retry-After: 1")):
            self.assertIsNone(self.there(status, *fields, proven=True), status)
        for status in (502, 503, 504):
            self.assertIs(self.there(status), Unproven)
            self.assertIs(self.there(status, "Server: nginx"), Unproven)
            self.assertIs(self.there(status, "Retry-After: 1", proven=True), None if status == 503 else StintUnavailable)
            self.assertIs(self.there(status, proven=True), StintUnavailable)
            self.assertIs(self.there(status, "server:  Stint", proven=True), StintUnavailable)
        self.assertIs(self.there(503, "Server: stint"), Unproven)
        for status in (502, 504):
            self.assertIsNone(self.there(status, "Server: stint"))

    def test_the_exceptions_survive_pickling(self):
        import pickle
        for error in (RateLimitException("x", 1.5, never=True, status=503), StintError("x", 404, "t", "d"),
                      StintUnavailable("x"), Unproven("x")):
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((str(copy), vars(copy)), (str(error), vars(error)))
        self.assertEqual(RateLimitException("x", -0.2).remaining, 0)
        self.assertIsInstance(StintUnavailable("x"), OSError)


class Addresses(ClientTest):
    def test_urls(self):
        for url, wanted in (("http://127.0.0.1:8082", ("127.0.0.1:8082", "127.0.0.1", 8082, "")),
                            ("http://gateway/", ("gateway", "gateway", 80, "")),
                            ("http://[::1]:81", ("[::1]:81", "::1", 81, "")),
                            ("unix:/run/stint.sock", ("localhost", "", 0, "/run/stint.sock")),
                            ("unix:///run/a%20b", ("localhost", "", 0, "/run/a b"))):
            address = parse_address(url)
            self.assertEqual((address.authority, address.host, address.port, address.path), wanted)

    def test_the_environment_names_the_gateway(self):
        with mock.patch.dict(os.environ, {"STINT_URL": "http://there:1"}):
            self.assertEqual(str(parse_address(None)), "http://there:1")
            self.assertEqual(str(parse_address("unix:/here")), "unix:/here")
        for environment in ({"STINT_URL": ""}, {}):
            with mock.patch.dict(os.environ, environment, clear=True):
                self.assertEqual(str(parse_address(None)), "http://127.0.0.1:8082")

    def test_what_is_no_address_of_a_gateway(self):
        for url in ("", "gateway", "gateway:80", "https://gateway", "http://", "http://a/b", "http://a?b", "http://a#b",
                    "http://me@a", "unix:here", "unix:", "ftp://a", "http://a:port"):
            with self.subTest(url), self.assertRaises(ValueError):
                parse_address(url)


if __name__ == "__main__":
    unittest.main()
