"""What a process shows of the bus over HTTP: the published document, its schemas, and a page that needs no other."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from contracts.schema import FOLDER
from services.bus.door import Door, Live
from services.bus.health import Health
from services.bus.schema_example import example
from services.bus.schema_files import ASYNCAPI, HERE, definition, document, published, schemas
from services.bus.schema_page import page, pages

HOUSE: Final = Path(__file__).parents[2]
WHOLE: Final = published(ASYNCAPI)
REGISTRY: Final[Registry[Any]] = Registry().with_resources(
    (name, Resource.from_contents(published(name))) for name in schemas()
)
VOID: Final = {"meta", "br", "hr", "img", "input", "link"}
MAY_END_BY_ITSELF: Final = {"th", "td", "tr"}


class Read(HTMLParser):
    """A page as a browser takes it in: ids, links, text, and whatever would be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.fetched: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.add(value or "")
            if name in {"src", "srcset", "action", "data"} or (tag, name) == ("link", "href"):
                self.fetched.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in MAY_END_BY_ITSELF:
            self.open.pop()
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@pytest.mark.parametrize("name", sorted(WHOLE["components"]["messages"]))
def test_the_example_of_a_message_is_what_its_schema_takes(name: str) -> None:
    reference = WHOLE["components"]["messages"][name]["payload"]["$ref"]
    schema, file = definition(reference, "")
    made = example(schema, file)
    Draft202012Validator({"$ref": reference.removeprefix("./")}, registry=REGISTRY).validate(made)


def test_what_the_services_of_a_process_take_part_in_is_marked_and_stands_first() -> None:
    shown = document(["dealer", "views"])
    marks = {name: channel.get(HERE) for name, channel in shown["channels"].items()}
    assert marks["view_public"] == ["views"]
    assert marks["fact"] == ["dealer", "views"]
    assert marks["answer"] == ["dealer", "views"]
    assert marks["command"] is None
    standing = [mark is not None for mark in marks.values()]
    assert standing == sorted(standing, reverse=True)
    tags = [operation["tags"][0]["name"] in {"dealer", "views"} for operation in shown["operations"].values()]
    assert tags == sorted(tags, reverse=True)
    unmarked = {name: {k: v for k, v in each.items() if k != HERE} for name, each in shown["channels"].items()}
    assert {**shown, "channels": unmarked} == WHOLE


def test_the_page_names_every_channel_party_and_field_and_fetches_nothing() -> None:
    read = Read(page(["dealer"]))
    assert (read.open, read.fetched) == ([], [])
    assert sorted(read.ids) == sorted(WHOLE["channels"])
    assert {link.removeprefix("#") for link in read.links if link.startswith("#")} == set(WHOLE["channels"])
    assert {link for link in read.links if not link.startswith("#")} <= {ASYNCAPI, *schemas()}
    said = "".join(read.said)
    assert all((channel["address"] or "") in said for channel in WHOLE["channels"].values())
    for operation in WHOLE["operations"].values():
        assert f"{operation['tags'][0]['name']} {operation['action']}s" in said
    fields = published("commands.json")["$defs"]["Act"]["properties"]
    assert all(name in said for name in fields)
    assert '"action": "call"' in said


async def _get(port: int, path: str) -> tuple[int, str, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    kind = next(line for line in head.decode().split("\r\n") if line.startswith("Content-Type: "))
    return int(head.split()[1]), kind.removeprefix("Content-Type: "), body


async def test_the_door_shows_the_page_and_all_that_it_links_to() -> None:
    services = ["rake"]
    door = Door(lambda: Live(live=True), lambda: Health(ready=True, reasons={}, services=services), pages(services))
    async with door.at("127.0.0.1", 0):
        status, kind, body = await _get(door.port, "/asyncapi")
        assert (status, kind) == (200, "text/html; charset=utf-8")
        assert body.decode() == page(services)
        for link in Read(body.decode()).links:
            if not link.startswith("#"):
                status, kind, _ = await _get(door.port, f"/{link}")
                assert (link, status, kind) == (link, 200, "application/json")
        assert json.loads((await _get(door.port, "/asyncapi.json"))[2]) == document(services)
        for name in schemas():
            assert json.loads((await _get(door.port, f"/{name}"))[2]) == json.loads((FOLDER / name).read_bytes())
        status, _, body = await _get(door.port, "/")
        assert status == 200
        assert json.loads(body)["paths"][:4] == ["/live", "/ready", "/asyncapi", "/asyncapi.json"]


def test_the_wheel_holds_what_the_pages_are_made_of(tmp_path: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("there is no uv to build a wheel with")
    built = subprocess.run(
        [uv, "build", "--wheel", "--out-dir", tmp_path, HOUSE], capture_output=True, text=True, check=False, timeout=100
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "unpacked")
    code = "from services.bus import schema_page; print(schema_page.__file__); print(schema_page.page(['table']))"
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    where, _, shown = made.stdout.partition("\n")
    assert Path(where).is_relative_to(tmp_path)
    assert shown.rstrip("\n") == page(["table"]).rstrip("\n")
