"""Files of the studio as its pages meet them: a server process, its socket, and nothing that kills it."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from characters import tube
from conftest import Command
from ecorche.body.take import Take
from ecorche.document.files import read_rig, write_rig
from ecorche.io.formats import write_take
from ecorche.studio.access import SECURITY_HEADERS
from ecorche.studio.recovery import kept, left_behind
from studio_folders import SECRET, Scene, noted, tube_scene
from studio_pages import Server, served
from studio_sockets import Socket

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Scene]]:
    """A server that tests leave as it was; whatever they sent, it still answers."""
    scene = tube_scene(tmp_path_factory.mktemp("shared"))
    with served(scene.root / "tube.ecorche") as server:
        yield server, scene
        with Socket(server) as page:
            assert page.ask("document.get")["character"] == "tube"
        said = server.stop()
        assert "Traceback" not in said, said


@contextmanager
def visit(
    server: Server, method: str, path: str, body: Any = None, **headers: str
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a request of plain HTTP."""
    address = urlsplit(server.address)
    connection = http.client.HTTPConnection(address.hostname or "", address.port or 80, timeout=60)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        yield connection.getresponse()
    finally:
        connection.close()


def dropped(server: Server, name: str, content: bytes) -> dict[str, Any]:
    """What came of a file that was dropped on the page."""
    with visit(server, "POST", f"/upload?name={quote(name)}", content, x_ecorche_upload="1") as answer:
        return dict(json.loads(answer.read()))


def edited(page: Socket, name: str = "flexor") -> None:
    """A muscle more: an edit that the tube takes."""
    page.ask("muscle.add_between", **between(name))


def between(name: str) -> dict[str, Any]:
    return {"name": name, "origin": {"place": [0.05, 0.2, 0]}, "insertion": {"place": [0.05, 0.8, 0]}}


def muscles(path: Path) -> list[str]:
    return list(read_rig(path).spec.muscles.named)


def test_a_page_edits_saves_and_finds_the_same_rig_again(scene: Scene, ecorche: Command) -> None:
    path = scene.root / "tube.ecorche"
    with served(path) as server, Socket(server) as page:
        assert page.hello["open"]
        assert page.hello["file"] == "tube.ecorche"
        edited(page, MARKUP)
        assert page.ask("files.get")["dirty"]
        assert muscles(path) == []
        assert page.ask("files.save")["lines"] == ["saved tube.ecorche"]
        assert not page.ask("files.get")["dirty"]
        assert muscles(path) == [MARKUP]
        assert page.ask("files.save", name="copy.ecorche")["name"] == "copy.ecorche"
        assert page.ask("document.get")["file"] == "copy.ecorche"
        edited(page, "second")
        page.ask("files.save")
    assert muscles(path) == [MARKUP]
    assert muscles(scene.root / "copy.ecorche") == [MARKUP, "second"]
    assert {n for n in scene.names() if n.startswith(".")} == set()
    with served(scene.root / "copy.ecorche") as server, Socket(server) as page:
        assert [m["name"] for m in page.ask("document.get")["muscles"]] == [MARKUP, "second"]
    assert "2 muscles" in ecorche("info", scene.root / "copy.ecorche")


def test_a_killed_server_is_started_again_and_nothing_is_lost(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    server = Server(path)
    with Socket(server) as page:
        edited(page)
        while page.ask("files.get")["kept"] is None:
            pass
        server.kill()
    assert muscles(path) == []
    with served(path) as server, Socket(server, key=page.key) as page:
        assert not page.hello["resumed"]
        (left,) = page.ask("files.get")["recoveries"]
        assert left["name"] == "tube.ecorche"
        assert left["fits"]
        assert page.ask("document.get")["muscles"] == []  # nobody has decided yet
        assert page.ask("files.recover", recovery=left["id"])["lines"] == ["recovered what was not saved"]
        told = page.ask("document.get")
        assert [m["name"] for m in told["muscles"]] == ["flexor"]
        assert (told["dirty"], told["undo"]) == (True, "recover what was not saved")
        assert page.ask("files.get")["recoveries"] == []
        assert len(kept(path)) == 1  # still kept, now by this server
        server.kill()
    (left_again,) = left_behind(path)
    with served(path) as server, Socket(server) as page:
        page.ask("files.recover", recovery=left_again.path.name)
        page.ask("files.save")
    assert muscles(path) == ["flexor"]
    assert kept(path) == []


def test_left_work_can_be_discarded(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    with served(path) as server, Socket(server) as page:
        edited(page)
    (left,) = left_behind(path)  # Ctrl-C keeps what is unsaved too
    with served(path) as server, Socket(server) as page:
        assert "this recovery is gone" in page.refused("files.discard", recovery="../../secret.ecorche")
        page.ask("files.discard", recovery=left.path.name)
        assert page.ask("files.get")["recoveries"] == []
    assert kept(path) == []
    assert muscles(path) == []


def test_a_file_that_somebody_else_wrote_is_not_written_over(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    with served(path) as server, Socket(server) as page:
        edited(page, "mine")
        write_rig(path, noted(scene.rig, "theirs"))
        assert page.ask("files.get")["changed_on_disk"]
        told = page.ask("files.save")
        assert "was changed on disk since it was opened" in told["conflict"]["what"]
        assert read_rig(path).spec.notes == ("theirs",)
        page.ask("files.reload")
        reloaded = page.ask("document.get")
        assert (reloaded["muscles"], reloaded["dirty"]) == ([], False)
        page.ask("document.undo")
        assert [m["name"] for m in page.ask("document.get")["muscles"]] == ["mine"]
        page.ask("files.save")  # over the version that was reloaded, knowing it
        assert muscles(path) == ["mine"]
        write_rig(path, noted(scene.rig, "again"))
        found = page.ask("files.save")["found"]
        page.ask("files.save", over=found)
        assert muscles(path) == ["mine"]
        assert page.ask("files.save", name="tube.glb.ecorche")["conflict"] is None
        assert "ends in .ecorche" in page.refused("files.save", name="tube.glb")
        assert "is outside of the opened folder" in page.refused("files.save", name="../secret.ecorche")
    assert (scene.outside / "secret.ecorche").read_text() == SECRET


def test_two_pages_on_one_file_see_each_other_and_each_edit(scene: Scene) -> None:
    with served(scene.root / "tube.ecorche") as server, Socket(server) as first, Socket(server) as second:
        first.heard("files.changed")
        people = first.ask("files.get")["people"]
        assert [(p["number"], p["you"]) for p in people] == [(1, True), (2, False)]
        edited(first)
        told = second.heard("files.edited")
        assert told["number"] == 1
        assert "flexor" in told["did"]
        assert [m["name"] for m in second.ask("document.get")["muscles"]] == ["flexor"]
        second.ask("document.undo")
        assert first.heard("files.edited")["number"] == 2
        assert first.ask("document.get")["muscles"] == []
        second.raw.close()
        first.heard("files.changed")
        while len(first.ask("files.get")["people"]) > 1:
            pass


def test_two_servers_on_one_file_know_of_each_other(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    with served(path) as one, served(path) as other, Socket(one) as first, Socket(other) as second:
        edited(first, "first")
        while first.ask("files.get")["kept"] is None:
            pass
        told = second.ask("files.get")
        assert (told["elsewhere"], told["recoveries"]) == (True, [])
        assert not first.ask("files.get")["elsewhere"]
        edited(second, "second")
        first.ask("files.save")
        assert second.ask("files.save")["conflict"] is not None
    assert muscles(path) == ["first"]
    (left,) = left_behind(path)
    assert list(left.read().spec.muscles.named) == ["second"]


def test_two_pages_on_two_files_do_not_mix(scene: Scene) -> None:
    write_rig(scene.root / "other.ecorche", scene.rig)
    with (
        served(scene.root) as server,
        Socket(server) as first,
        Socket(server, file="other.ecorche") as second,
    ):
        assert not first.hello["open"]
        assert "nothing is open" in first.refused("document.get")
        assert "nothing is open" in first.refused("view.scene")
        assert second.hello["file"] == "other.ecorche"
        first.ask("files.open", name="tube.ecorche")
        edited(first)
        assert second.ask("document.get")["muscles"] == []
        assert "is open in a page" in first.refused("files.save", name="other.ecorche")
        second.ask("files.open", name="tube.ecorche")
        assert [m["name"] for m in second.ask("document.get")["muscles"]] == ["flexor"]


def test_a_request_that_comes_again_is_done_once(scene: Scene) -> None:
    with served(scene.root / "tube.ecorche") as server:
        with Socket(server) as page:
            answer = page.answer(page.send("muscle.add_between", 5, **between("flexor")))
            page.ask("view.rest")
        with Socket(server, key=page.key) as again:  # the connection was lost before the answer came
            assert again.hello["resumed"]
            assert again.answer(again.send("muscle.add_between", 5, **between("flexor"))) == answer
            told = again.answer(again.send("document.get", 900))["ok"]
            assert [m["name"] for m in told["muscles"]] == ["flexor"]
            assert again.answer(again.send("document.undo", 901))["ok"]
            assert again.answer(again.send("document.get", 902))["ok"]["undo"] is None


def test_a_request_whose_connection_is_lost_before_it_is_done_is_done_once(scene: Scene) -> None:
    with served(scene.root / "tube.ecorche") as server:
        page = Socket(server)
        page.send("muscle.add_between", 5, **between("flexor"))
        page.raw.socket.shutdown(socket.SHUT_RDWR)
        with Socket(server, key=page.key) as again:
            assert "ok" in again.answer(again.send("muscle.add_between", 5, **between("flexor")))
            told = again.answer(again.send("document.get", 6))["ok"]
            assert [m["name"] for m in told["muscles"]] == ["flexor"]


def test_a_character_without_rig_is_offered_one(scene: Scene) -> None:
    with served(scene.root / "tube.glb") as server, Socket(server) as page:
        found = page.ask("files.get")
        assert found["without_rig"] == {
            "name": "tube.glb",
            "proposed": "tube-2.ecorche",
            "rigs": ["tube.ecorche"],
        }
        assert not found["saved"]
        assert page.ask("files.make", character="tube.glb", muscles="none")["name"] == "tube-2.ecorche"
        page.ask("files.save")
        assert (scene.root / "tube-2.ecorche").is_file()
        assert page.refused("files.make", character="tube.glb", muscles="template")


def test_a_rig_whose_character_moved_is_offered_a_rebind(scene: Scene) -> None:
    write_take(scene.root / "tube.glb", Take(tube(rings=5, around=6, radius=0.15)))
    with served(scene.root / "tube.ecorche") as server, Socket(server) as page:
        assert not page.hello["open"]
        moved = page.ask("files.get")["moved"]
        assert "The bind points changed" in moved["problems"][0]
        told = page.ask("files.rebind", name="tube.ecorche")
        assert "same topology" in told["lines"][0]
        assert page.ask("document.get")["dirty"]
        while page.ask("files.get")["kept"] is None:
            pass
        page.ask("files.save")
    with served(scene.root / "tube.ecorche") as server, Socket(server) as page:
        assert page.hello["open"]


def test_dropped_files_are_bounded_named_and_kept_whole(shared: tuple[Server, Scene]) -> None:
    server, scene = shared
    assert dropped(server, "new.glb", (scene.root / "tube.glb").read_bytes()) == {"name": "new.glb"}
    assert dropped(server, "../../new.glb", b"broken") == {"name": "new-2.glb"}
    assert "the studio has no use for .exe" in dropped(server, "run.exe", b"x")["error"]["what"]
    with Socket(server) as page:
        assert "new-2.glb" in page.refused("files.open", name="new-2.glb")
        assert page.ask("files.get")["open"] == "tube.ecorche"  # what was open stays
        page.ask("files.open", name="new.glb")
    headers = {"x_ecorche_upload": "1", "content_length": str(1 << 31)}
    with visit(server, "POST", "/upload?name=huge.glb", None, **headers) as answer:
        assert "is larger than 1024 MB" in json.loads(answer.read())["error"]["what"]
    address = urlsplit(server.address)
    with socket.create_connection((address.hostname or "", address.port or 80)) as raw:  # breaks off
        raw.sendall(
            b"POST /upload?name=half.glb HTTP/1.1\r\nHost: localhost\r\nX-Ecorche-Upload: 1\r\n"
            b"Content-Length: 1000\r\n\r\nhalf"
        )
    with Socket(server) as page:
        page.ask("files.get")
    assert "half.glb" not in scene.names()


@pytest.mark.parametrize(
    "path",
    [
        "/secret.ecorche",
        "/../secret.ecorche",
        "/assets/../../../secret.ecorche",
        "/assets/%2e%2e/%2e%2e/app.py",
        "/assets//etc/passwd",
        "/assets/..%5c..%5capp.py",
        "/tube.ecorche",
        "/assets",
        "/assets/",
    ],
)
def test_no_path_leads_to_a_file_or_a_list_of_them(shared: tuple[Server, Scene], path: str) -> None:
    with visit(shared[0], "GET", path) as answer:
        text = answer.read().decode()
        assert answer.status in (404, 405, 307), path
    assert SECRET not in text
    assert "index" not in text


def test_every_answer_carries_the_headers(shared: tuple[Server, Scene]) -> None:
    for path, status in (("/", 200), ("/nowhere", 404)):
        with visit(shared[0], "GET", path) as answer:
            assert answer.status == status
            headers = {name.lower(): value for name, value in answer.getheaders()}
        assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert "server" not in headers


def test_other_sites_are_kept_out(shared: tuple[Server, Scene]) -> None:
    server, _ = shared
    for options in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"additional_headers": {"Host": "evil.example"}},
    ):
        with pytest.raises((InvalidStatus, AssertionError)):
            Socket(server, **options)
    with visit(server, "GET", "/", host="evil.example") as answer:
        assert answer.status == 421
    for headers in ({}, {"x_ecorche_upload": "1", "origin": "http://evil.example"}):
        with visit(server, "POST", "/upload?name=evil.glb", b"x", **headers) as answer:
            assert answer.status in (403, 503)


def test_a_token_is_asked_for_where_the_studio_is_open_to_others(scene: Scene) -> None:
    with served(scene.root / "tube.ecorche", "--host", "0.0.0.0") as server:
        address = urlsplit(server.address)
        token = address.query.removeprefix("token=")
        assert len(token) >= 32
        with visit(server, "GET", "/") as answer:
            assert answer.status == 401
        with pytest.raises(InvalidStatus):
            Socket(server)
        with visit(server, "GET", f"/?token={token}") as answer:
            assert (answer.status, answer.getheader("location")) == (303, "/")
            cookie = str(answer.getheader("set-cookie")).partition(";")[0]
        with visit(server, "GET", "/", cookie=cookie) as answer:
            assert answer.status == 200
        with Socket(server, additional_headers={"Cookie": cookie}) as page:
            assert page.hello["open"]
        said = server.stop()
        assert token not in said


def test_a_port_in_use_is_told_with_one_that_is_free(scene: Scene) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "ecorche", "studio", scene.root, "--port", str(port), "--no-browser"],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 2
    assert f"the port {port} is not free" in done.stderr
    assert "Give another with --port: " in done.stderr
    assert "Traceback" not in done.stderr


WRONG: tuple[str | bytes, ...] = (
    *("", "{", "[]", "7", "null", "\0", '{"id": 1}', '{"id": 1e999}', "[" * 100_000),
    '{"id": "x", "type": "document.get"}',
    '{"id": true, "type": "document.get"}',
    '{"id": 1, "type": ["document.get"]}',
    '{"id": 1, "type": "document.get", "x":' + '{"a":' * 5000,
    b"",
    b"\0" * 1000,
)


def _garbage(rng: random.Random, depth: int = 0) -> Any:
    kinds: list[Any] = [None, True, -1, 1e300, 2**70, "", "x" * 300, MARKUP, "../..", "\0", "\ud800", -0.0]
    pick = rng.random()
    if depth > 4 or pick < 0.5:
        return rng.choice(kinds)
    if pick < 0.75:
        return [_garbage(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(_garbage(rng, 9))[:20]: _garbage(rng, depth + 1) for _ in range(rng.randrange(4))}


def test_no_message_kills_the_server(shared: tuple[Server, Scene]) -> None:
    """Random values in every field of every request, broken text, bytes, and what is deep or long."""
    from ecorche.studio.messages import REQUESTS

    server, scene = shared
    rng = random.Random(10)
    # nothing that works for long, and nothing that changes what other tests find
    kinds = [
        k
        for n, k in REQUESTS.items()
        if n not in ("files.save", "files.figure", "document.save", "files.make")
    ]
    before = scene.names()
    with Socket(server) as page:
        for number in range(400):
            kind = rng.choice(kinds)
            fields = {f: _garbage(rng) for f in kind.model_fields if f != "type" and rng.random() < 0.8}
            if "name" in fields and rng.random() < 0.5:
                fields["name"] = rng.choice(["tube.ecorche", "../secret.ecorche", "tube.glb", "lower"])
            page.raw.send(json.dumps({"id": number, "type": kind.named(), **fields}))
            answer = page.answer(number)
            assert SECRET not in str(answer)
            assert "could not be done" not in str(answer), (kind.named(), fields, answer)
    for wrong in WRONG:
        with Socket(server) as page:
            page.raw.send(wrong)
            while "event" in (told := page.told()):
                pass
            assert told["error"]["what"]
            assert page.ask("document.get")["character"] == "tube"
    with Socket(server) as page, contextlib.suppress(ConnectionClosed):
        page.raw.send("x" * ((1 << 24) + 1))  # longer than any message may be: the page is let go
    with Socket(server) as page:
        assert page.ask("document.get")["character"] == "tube"
    assert scene.names() - before <= {n for n in scene.names() if n.startswith(".")}
