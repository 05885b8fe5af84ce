"""Who may talk to the studio, what every answer carries, and messages that are too much."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from ecorche.errors import EcorcheError
from ecorche.studio import guard as guards
from ecorche.studio import incoming
from ecorche.studio.access import CONTENT_SECURITY_POLICY, SECURITY_HEADERS, Access, access, is_loopback
from ecorche.studio.guard import Guard, Message, Receive, Scope, Send
from ecorche.studio.incoming import parsed

TOKEN = "a-token-of-some-length"
HERE = Access("127.0.0.1", 8765)
OPEN = Access("0.0.0.0", 8765, TOKEN)


@pytest.mark.parametrize(
    ("host", "let_in"),
    [
        ("127.0.0.1:8765", True),
        ("localhost:8765", True),
        ("LOCALHOST:8765", True),
        ("[::1]:8765", True),
        ("localhost:9000", True),  # a tunnel
        ("evil.example:8765", False),
        ("127.0.0.1.evil.example:8765", False),
        ("localhost.evil.example", False),
        ("192.168.1.7:8765", False),
        ("", False),
        ("localhost:8765@evil.example", False),
        ("localhost/evil", False),
    ],
)
def test_the_name_of_a_stranger_that_points_here_is_refused(host: str, let_in: bool) -> None:
    for kind in ("page", "change", "websocket"):
        refused = HERE.refusal(kind, {"host": host})
        assert (refused is None) == let_in


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        ("http://127.0.0.1:8765", True),
        (None, True),  # no browser
        ("http://127.0.0.1:3000", False),  # another program's page on this machine
        ("http://localhost:8765", False),  # another name than the one that was asked
        ("https://127.0.0.1", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8765.evil.example", False),
        ("http://evil.example#http://127.0.0.1:8765", False),
        ("null", False),
        ("", False),
        ("file://", False),
        ("http://127.0.0.1:99999999", False),
    ],
)
def test_the_page_of_another_site_may_neither_talk_nor_send(origin: str | None, let_in: bool) -> None:
    headers = {"host": "127.0.0.1:8765"} | ({} if origin is None else {"origin": origin})
    for kind in ("change", "websocket"):
        assert (HERE.refusal(kind, headers) is None) == let_in
    assert HERE.refusal("page", headers) is None  # it cannot read the answer


def test_a_form_of_another_site_is_known_by_what_the_browser_says() -> None:
    headers = {"host": "127.0.0.1:8765", "sec-fetch-site": "cross-site"}
    assert HERE.refusal("change", headers) is not None
    assert HERE.refusal("change", headers | {"sec-fetch-site": "same-origin"}) is None


def test_another_address_always_has_a_token() -> None:
    made = access("0.0.0.0", 8765)
    assert made.token is not None
    assert len(made.token) >= 32
    assert made.token != access("0.0.0.0", 8765).token
    assert made.token in made.address
    assert access("127.0.0.1", 8765).token is None
    assert access("127.0.0.1", 8765, TOKEN).token == TOKEN
    for short in ("", "secret", "a b" * 10, "<script>alert(1)</script>"):
        with pytest.raises(EcorcheError, match="token"):
            access("0.0.0.0", 8765, short)
    assert [is_loopback(h) for h in ("localhost", "127.8.9.1", "::1", "0.0.0.0", "::", "10.0.0.1", "me")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("kind", ["page", "change", "websocket"])
def test_only_who_knows_the_token_is_let_in(kind: Any) -> None:
    host = {"host": "studio.example:8765"}
    assert OPEN.refusal(kind, host, f"token={TOKEN}") is None
    assert OPEN.refusal(kind, host, f"a=b&token={TOKEN}") is None
    assert OPEN.refusal(kind, host | {"authorization": f"Bearer {TOKEN}"}) is None
    assert OPEN.refusal(kind, host | {"cookie": f"x=y; {OPEN.cookie}={OPEN.secret}"}) is None
    for headers, query in (
        ({}, ""),
        ({}, "token="),
        ({}, f"token={TOKEN[:-1]}"),
        ({}, f"token={TOKEN}x"),
        ({}, f"token=x&token={TOKEN}"),
        ({}, "&".join(f"a{n}=1" for n in range(50))),
        ({"authorization": f"Basic {TOKEN}"}, ""),
        ({"cookie": f"{OPEN.cookie}={TOKEN}"}, ""),  # the cookie is not the token
        ({"cookie": f"ecorche-studio-1={OPEN.secret}"}, ""),
        ({"cookie": "\x00;;;=="}, ""),
    ):
        refused = OPEN.refusal(kind, host | headers, query)
        assert refused is not None
        assert refused.status == 401
    assert TOKEN not in OPEN.secret


def test_nothing_from_outside_may_be_loaded() -> None:
    rules = dict(part.split(" ", 1) for part in CONTENT_SECURITY_POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "http" not in CONTENT_SECURITY_POLICY
    assert "*" not in CONTENT_SECURITY_POLICY
    assert "unsafe-eval" not in CONTENT_SECURITY_POLICY


def visited(guard: Guard, scope: MutableMapping[str, Any]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    return sent


def http(path: str = "/", query: bytes = b"", method: str = "GET", **headers: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query,
        "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
    }


async def shop(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"server", b"x")]})
    await send({"type": "http.response.body", "body": b"hello"})


def test_every_answer_carries_the_headers_also_refusals() -> None:
    for scope in (http(host="localhost"), http(host="evil.example")):
        headers = dict(visited(Guard(shop, HERE), scope)[0]["headers"])
        assert {n: headers[n.encode()].decode() for n in SECURITY_HEADERS} == SECURITY_HEADERS
        assert b"server" not in headers


def test_the_token_goes_from_the_address_into_a_cookie() -> None:
    guard = Guard(shop, OPEN)
    start = visited(guard, http("/", f"token={TOKEN}".encode(), host="studio:8765"))[0]
    headers = dict(start["headers"])
    assert start["status"] == 303
    assert headers[b"location"] == b"/"
    cookie = headers[b"set-cookie"].decode()
    assert cookie == f"{OPEN.cookie}={OPEN.secret}; HttpOnly; SameSite=Strict; Path=/"
    again = visited(guard, http(host="studio:8765", cookie=cookie.partition(";")[0]))
    assert again[0]["status"] == 200
    elsewhere = visited(guard, http("//evil.example/", f"token={TOKEN}".encode(), host="studio:8765"))
    assert dict(elsewhere[0]["headers"])[b"location"] == b"/evil.example/"
    assert visited(guard, http(host="studio:8765"))[0]["status"] == 401


def test_two_hosts_in_one_request_are_refused() -> None:
    scope = http(host="localhost")
    scope["headers"].append((b"Host", b"localhost"))
    assert visited(Guard(shop, HERE), scope)[0]["status"] == 400


def test_a_websocket_is_refused_before_it_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = http(host="localhost:8765", origin="http://evil.example") | {"type": "websocket"}
    assert [m["type"] for m in visited(Guard(shop, HERE), scope)] == ["websocket.close"]
    good = http(host="localhost:8765", origin="http://localhost:8765") | {"type": "websocket"}
    assert [m["type"] for m in visited(Guard(shop, HERE), good)] == ["websocket.accept"]
    monkeypatch.setattr(guards, "MOST_VISITORS", 0)
    assert [m["type"] for m in visited(Guard(shop, HERE), good)] == ["websocket.close"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"{}", "is made of bytes"),
        ("", "is not JSON"),
        ("[]", "is not a table"),
        ("7", "is not a table"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ('{"a": 1e999}', "1e999 is no number"),
        ('{"a": ' + "9" * 10_000 + "}", "is not JSON"),
        ("[" * 1_000_000, "is too deep"),
        ('{"a":' * 500_000, "is too deep"),
        ('"' + "é" * (incoming.LARGEST_MESSAGE // 2) + '"', "is larger than 16 MB"),
        ('{"a": "\ud800', "is not JSON"),
    ],
)
def test_messages_that_are_none_are_refused(message: str | bytes, told: str) -> None:
    with pytest.raises(EcorcheError, match=told) as refused:
        parsed(message)
    assert len(str(refused.value)) < 400


def test_a_message_is_a_table() -> None:
    assert parsed('{"id": 7, "type": "document.get"}') == {"id": 7, "type": "document.get"}
