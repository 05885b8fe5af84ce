"""Who may talk to the studio: this machine alone, or whoever knows its token; never another site's page.

A page of any site can make a browser send requests to this machine. Three things stand against it: the
Host header must be a name of ours (else a site could let its own name point here, DNS rebinding), the
Origin header of a WebSocket or an upload must be our own page's, and answers forbid being embedded.
Other users of this machine reach its loopback too: a token keeps them out, given by ``--token``.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from ecorche.errors import EcorcheError

SHORTEST_TOKEN = 16
"""Characters of a token that a person gives."""

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"^(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # the component library writes its colours as styles
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing from outside, no script in a page's text, and no frame around it."""

SECURITY_HEADERS: dict[str, str] = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # an address may hold the token
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""With every answer."""

Kind = Literal["page", "change", "websocket"]
"""Reading, sending a file, or talking."""


@dataclass(frozen=True)
class Refused:
    """Why somebody is not let in.

    Attributes:
        status: Of HTTP.
        why: A sentence for the page.
    """

    status: int
    why: str


@dataclass(frozen=True)
class Access:
    """The rules of one server.

    Attributes:
        host: The address it listens on.
        port: The port it listens on.
        token: What visitors must know; None on loopback where nobody asked for one.
    """

    host: str
    port: int
    token: str | None = None

    @property
    def cookie(self) -> str:
        """Name of the cookie that says a browser knows the token; cookies do not see ports."""
        return f"ecorche-studio-{self.port}"

    @property
    def secret(self) -> str:
        """What the cookie holds: made of the token, and of no use to find it."""
        return hmac.new((self.token or "").encode(), b"ecorche studio cookie", hashlib.sha256).hexdigest()

    @property
    def address(self) -> str:
        """Where a person opens it."""
        name = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.host, self.host)
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def refusal(self, kind: Kind, headers: Mapping[str, str], query: str = "") -> Refused | None:
        """Why a request is refused; None lets it in.

        Args:
            kind: What it wants.
            headers: Its headers, names in small letters.
            query: The part of its address after ``?``.
        """
        host = headers.get("host", "")
        if not self._is_ours(host):
            return Refused(421, "This name is not one of this studio's: open the address that it printed")
        origin = headers.get("origin")
        if kind != "page":
            if origin is not None and not _same(origin, host):
                return Refused(403, "A page of another site may not talk to this studio")
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return Refused(403, "A page of another site may not talk to this studio")
        if self.token is None or self._knows_token(headers, query):
            return None
        return Refused(401, "This studio asks for its token: open the address that it printed")

    def greets(self, query: str) -> bool:
        """Whether the address of a page holds the right token: its cookie is set, the address cleaned."""
        return self.token is not None and self._is_token(_token_in(query))

    def _is_ours(self, host: str) -> bool:
        found = _HOST.match(host)
        if not found:
            return False
        name = found["name"].strip("[]").lower().removesuffix(".")
        if not is_loopback(self.host):
            return True  # a machine has many names; the token stands against strangers' pages
        # any port: a tunnel has another, and no site of a stranger is called localhost
        return name in _LOOPBACK_NAMES or name == self.host.lower()

    def _knows_token(self, headers: Mapping[str, str], query: str) -> bool:
        if self._is_token(_token_in(query)):
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given.strip()):
            return True
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        held = cookies.get(self.cookie)
        return held is not None and hmac.compare_digest(held.value.encode(), self.secret.encode())

    def _is_token(self, given: str) -> bool:
        # of hashes, so that the time does not even tell the length
        digests = (
            hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (given, self.token or "")
        )
        return bool(given) and hmac.compare_digest(*digests)


def access(host: str, port: int, token: str | None = None) -> Access:
    """The rules for an address: beyond this machine there is always a token, made where none is given.

    Args:
        host: To listen on: an address, or localhost.
        port: To listen on.
        token: Given by a person; None makes one where one is needed.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise EcorcheError(
            f"a token of {len(token)} characters is soon guessed",
            where="--token",
            remedy=f"Give {SHORTEST_TOKEN} or more, or leave it out: one is made where it is needed",
        )
    if token is not None and not re.fullmatch(r"[A-Za-z0-9._~-]+", token):
        raise EcorcheError(
            "a token goes into an address", where="--token", remedy="Give letters, digits and any of . _ ~ -"
        )
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    return Access(host, port, token)


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _token_in(query: str) -> str:
    try:
        return parse_qs(query, max_num_fields=20).get("token", [""])[0]
    except ValueError:
        return ""


def _same(origin: str, host: str) -> bool:
    """Whether an origin is the page that this host serves; ``null``, a page of nobody, never is."""
    try:
        parts = urlsplit(origin)
        standard = {"http": 80, "https": 443}[parts.scheme]
        theirs = ((parts.hostname or "").lower(), parts.port or standard)
        ours = urlsplit(f"//{host}")
        return bool(theirs[0]) and theirs == ((ours.hostname or "").lower(), ours.port or standard)
    except (KeyError, ValueError):
        return False
