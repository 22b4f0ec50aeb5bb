"""The bus as a page to read: every channel, who sends, who receives, what a message holds, and an example of each.

It needs no script, no other file and no network: it is read where a room runs, which may see no other host.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import Final

from services.bus.door import Page, Pages
from services.bus.schema_example import example
from services.bus.schema_files import ASYNCAPI, HERE, Json, definition, document, parties, published, schemas

_STYLE: Final = """
:root { color-scheme: light dark; --text: #1c2430; --dim: #5d6878; --line: #d9dee6; --soft: #f4f6f9; --page: #fff;
  --felt: #0b6b4f; --sent: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6eaf0; --dim: #98a3b3; --line: #313945; --soft: #1b2028;
  --page: #12161c; --felt: #4cc79c; --sent: #e0a458; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 0; }
p { margin: .4rem 0; max-width: 46rem; } a { color: var(--felt); }
code, pre { font: 13px/1.5 ui-monospace, monospace; } .dim { color: var(--dim); }
nav { columns: 3 15rem; margin: 1.25rem 0 2rem; padding: 1rem 1.25rem; background: var(--soft); border-radius: .5rem; }
nav a { display: block; text-decoration: none; padding: .1rem 0; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: 1rem 0; }
section.here { border-left: 4px solid var(--felt); }
.address { font: 600 15px/1.5 ui-monospace, monospace; word-break: break-all; }
.tag { display: inline-block; font-size: 12px; padding: .05rem .5rem; border-radius: 1rem; border: 1px solid; }
.receives, .here-tag { color: var(--felt); } .sends { color: var(--sent); }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line); } th { font-weight: 600; border-top: 0; }
details { border-top: 1px solid var(--line); padding: .45rem 0; } summary { cursor: pointer; }
pre { background: var(--soft); padding: .75rem 1rem; border-radius: .4rem; overflow-x: auto; margin: .5rem 0; }
"""


def pages(services: Sequence[str]) -> Pages:
    """What the door of a process with these services shows of the bus; `services` may still grow."""

    def written(document: Json) -> Page:
        return Page("application/json", json.dumps(document, ensure_ascii=False).encode())

    return {
        "/asyncapi": lambda: Page("text/html; charset=utf-8", page(services).encode()),
        f"/{ASYNCAPI}": lambda: written(document(services)),
        **{f"/{name}": partial(lambda name: written(published(name)), name) for name in schemas()},
    }


def page(services: Sequence[str]) -> str:
    """The page of a process with these services."""
    whole = document(services)
    channels: Json = whole["channels"]
    info = whole["info"]
    links = "".join(f'<a href="#{name}"><code>{escape(_name(name))}</code></a>' for name in channels)
    sections = "".join(_channel(whole, name) for name in channels)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>The bus of {escape(info['title'])}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>The bus of {escape(info['title'])}</h1>"
        f'<p class="dim">Version {escape(info["version"])}. In this process: {escape(", ".join(services) or "nothing")}'
        f'; what it takes part in stands first. As data: <a href="asyncapi.json">asyncapi.json</a>.</p>'
        f"<p>{_prose(info['description'])}</p><nav>{links}</nav>{sections}</main></body></html>"
    )


def _name(channel: str) -> str:
    return channel.replace("_", " ")


def _channel(whole: Json, name: str) -> str:
    channel = whole["channels"][name]
    here = channel.get(HERE, [])
    mark = f' <span class="tag here-tag">in this process: {escape(", ".join(here))}</span>' if here else ""
    address = escape(channel["address"] or "the reply subject of the request")
    messages = "".join(_message(whole, each) for each in channel["messages"])
    return (
        f'<section id="{name}"{" class=here" if here else ""}><h2>{escape(_name(name))}{mark}</h2>'
        f'<div class="address">{address}</div><p>{_prose(channel["description"])}</p>'
        f"{_parameters(whole, channel)}{_parties(whole, name)}{messages}</section>"
    )


def _parameters(whole: Json, channel: Json) -> str:
    rows = []
    for name in channel.get("parameters", {}):
        known = whole["components"]["parameters"][name]
        values = _codes(known["enum"]) if "enum" in known else ""
        rows.append(
            f"<tr><td><code>{{{escape(name)}}}</code></td><td>{_prose(known['description'])} {values}</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _parties(whole: Json, name: str) -> str:
    rows = []
    for service, operation in parties(whole, name):
        answers = operation["channel"]["$ref"] != f"#/channels/{name}"
        does = "sends" if answers else f"{operation['action']}s"
        what = "answers there" if answers else operation["summary"]
        on = "" if not answers else f" to {escape(_name(operation['channel']['$ref'].rpartition('/')[2]))}"
        rows.append(
            f'<tr><td><span class="tag {does}">{escape(service)} {does}</span></td><td>{_prose(what)}{on}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>" if rows else '<p class="dim">No service of the house: its clients.</p>'


def _message(whole: Json, name: str) -> str:
    message = whole["components"]["messages"][name]
    schema, file = definition(message["payload"]["$ref"], "")
    made = json.dumps(example(schema, file), indent=2, ensure_ascii=False)
    return (
        f"<details><summary><code>{escape(name)}</code> <span class=dim>{_prose(message['summary'])}</span></summary>"
        f"<p>{_prose(schema.get('description', ''))}</p>{_fields(schema, file)}"
        f'<p class="dim">An example with what it must hold; whole in <a href="{file}">{file}</a>:</p>'
        f"<pre>{escape(made)}</pre></details>"
    )


def _fields(schema: Json, file: str) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(of, file)}</td>"
        f"<td>{'required' if name in required else _default(of)}</td><td>{_prose(of.get('description', ''))}</td></tr>"
        for name, of in schema.get("properties", {}).items()
    )
    return f"<table><tr><th>Field<th>Type<th>Default<th></tr>{rows}</table>"


def _type(of: Json, file: str) -> str:
    if "$ref" in of:
        other, _, name = of["$ref"].rpartition("#/$defs/")
        return f'<a href="{escape(other or file)}"><code>{escape(name)}</code></a>'
    if "anyOf" in of:
        return " or ".join(_type(each, file) for each in of["anyOf"])
    if "enum" in of:
        return _codes(of["enum"])
    if of.get("type") == "array":
        return f"list of {_type(of.get('items', {}), file)}"
    return escape(str(of.get("type", "anything")))


def _default(of: Json) -> str:
    return f"<code>{escape(json.dumps(of['default']))}</code>" if "default" in of else ""


def _codes(values: Iterable[object]) -> str:
    return " ".join(f"<code>{escape(str(value))}</code>" for value in values)


def _prose(text: str) -> str:
    """A sentence of the contracts, whose code stands between back-ticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
