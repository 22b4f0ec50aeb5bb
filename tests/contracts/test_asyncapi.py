"""The AsyncAPI document holds together, and says of the bus what the subjects and the accounts say."""

import json
import re
from collections import defaultdict
from typing import Any, Final, get_args

import pytest

from contracts import schema, subjects
from contracts.events import EMITTERS, SERVICES
from contracts.schema.channels import ANSWERS, message_name
from contracts.schema.groups import GROUPS, structs
from contracts.subjects import LEDGERS, ActorKind
from services.bus.accounts import USERS, accounts

FILES: Final[dict[str, Any]] = {path.name: json.loads(path.read_text()) for path in schema.FOLDER.glob("*.json")}
DOCUMENT: Final[dict[str, Any]] = FILES["asyncapi.json"]
CHANNELS: Final[dict[str, Any]] = DOCUMENT["channels"]
OPERATIONS: Final[dict[str, Any]] = DOCUMENT["operations"]
MESSAGES: Final[dict[str, Any]] = DOCUMENT["components"]["messages"]
SENT: Final = {"commands", "queries", "outcomes", "commit", "views", "account_commands", "ledger"}
"""Groups whose structs are messages, or parts of some."""
NOT_SENT: Final = {"Cause"}
"""Structs of the groups that are no message: parts of one."""


def references(part: Any) -> list[str]:
    """Every `$ref` in a document."""
    if isinstance(part, list):
        return [each for inner in part for each in references(inner)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
    return own + [each for inner in part.values() for each in references(inner)]


def resolved(reference: str, file: str) -> Any:
    """What a `$ref` in `file` leads to; raises KeyError where it leads nowhere."""
    name, _, pointer = reference.partition("#")
    found = FILES[name.removeprefix("./") or file]
    for key in pointer.strip("/").split("/"):
        found = found[key.replace("~1", "/").replace("~0", "~")]
    return found


def filled(address: str, **parts: str) -> str:
    return address.format(**{name: parts.get(name, name) for name in parameters(address)})


def parameters(address: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", address)


def test_every_reference_leads_somewhere() -> None:
    found = {(file, each) for file, document in FILES.items() for each in references(document)}
    assert len(found) > len(FILES)
    for file, reference in found:
        assert isinstance(resolved(reference, file), dict), f"{file}: {reference}"


def test_the_document_has_the_parts_that_asyncapi_asks_for() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert DOCUMENT.keys() == {"asyncapi", "info", "defaultContentType", "channels", "operations", "components"}
    assert DOCUMENT["info"].keys() == {"title", "version", "description", "license"}
    for channel in CHANNELS.values():
        assert {"address", "description", "messages"} <= channel.keys()
        assert channel.keys() <= {"address", "description", "messages", "parameters"}
    for operation in OPERATIONS.values():
        assert {"action", "channel", "summary", "tags"} <= operation.keys()
        assert operation.keys() <= {"action", "channel", "summary", "tags", "reply"}
        assert operation["action"] in {"send", "receive"}
    for parameter in DOCUMENT["components"]["parameters"].values():
        assert parameter.keys() <= {"description", "enum", "default", "examples"}
        assert all(isinstance(value, str) for value in parameter.get("enum", []) + parameter.get("examples", []))


def test_every_operation_works_on_a_channel_and_is_a_services() -> None:
    for operation in OPERATIONS.values():
        assert operation["channel"]["$ref"].removeprefix("#/channels/") in CHANNELS
        assert [tag["name"] in USERS for tag in operation["tags"]] == [True]


def test_every_channel_is_used() -> None:
    used = {operation["channel"]["$ref"] for operation in OPERATIONS.values()}
    used |= {operation["reply"]["channel"]["$ref"] for operation in OPERATIONS.values() if "reply" in operation}
    assert used == {f"#/channels/{name}" for name in CHANNELS}


def test_every_message_carries_the_struct_that_it_names() -> None:
    for name, message in MESSAGES.items():
        payload = resolved(message["payload"]["$ref"], "asyncapi.json")
        assert (message["name"], message["title"]) == (name, payload["title"])
        assert payload["type"] == "object"
        if "type" in payload["properties"]:
            assert payload["properties"]["type"] == {"enum": [name]}


def test_every_message_is_sent_on_a_channel() -> None:
    sent = {each["$ref"] for channel in CHANNELS.values() for each in channel["messages"].values()}
    assert sent == {f"#/components/messages/{name}" for name in MESSAGES}


def test_every_command_query_answer_view_and_commit_is_a_message() -> None:
    whole = {struct for group in GROUPS if group.name in SENT for struct in structs(group)}
    inside = {
        each.rpartition("/")[2]
        for file in (f"{group.name}.json" for group in GROUPS if group.name in SENT)
        for struct, definition in FILES[file]["$defs"].items()
        if "anyOf" not in definition
        for each in references(definition)
    }
    assert {message["title"] for message in MESSAGES.values()} == {
        struct.__name__ for struct in whole if struct.__name__ not in inside
    }


@pytest.mark.parametrize("name", sorted(set(CHANNELS) - {"answer"}))
def test_a_channels_parameters_are_those_of_its_address(name: str) -> None:
    channel = CHANNELS[name]
    assert list(channel["parameters"]) == parameters(channel["address"])


def test_the_addresses_are_the_subjects() -> None:
    """Each address, filled in, is what the subjects' builders build."""
    assert {name: channel["address"] and filled(channel["address"]) for name, channel in CHANNELS.items()} == {
        "table": subjects.guarded("room", "table", "service", "fact").subject,
        "fact": subjects.fact_pattern("room", "table", "service", "fact"),
        "heads": subjects.heads("service", "room", "table"),
        "refused": subjects.refused("room", "table"),
        "command": subjects.command("room", "table", "player", "name").replace(".player.", ".kind."),
        "query_table": subjects.query("table", "room", "table", "player", "name").replace(".player.", ".asker."),
        "query_cards": subjects.query("cards", "room", "table", "player", "name"),
        "query_hands": subjects.query("hands", "room", "table", "player", "name"),
        "query_key": subjects.query("key", "room", "table", "operator", "name"),
        "query_log": subjects.query("log", "room", "table", "operator", "name"),
        "ledger": subjects.guarded("house", "ledger", "cashier", "entry", LEDGERS).subject,
        "entry": subjects.fact_pattern("house", "ledger", "cashier", "entry", LEDGERS),
        "ledger_heads": subjects.heads("cashier", "house", "ledger", LEDGERS),
        "ledger_refused": subjects.refused("house", "ledger", LEDGERS),
        "cashier": subjects.command("house", "ledger", "lobby", "name", LEDGERS).replace(".lobby.", ".payer."),
        "query_account": subjects.query("account", "house", "ledger", "lobby", "name").replace(".lobby.", ".asker."),
        "answer": None,
        "view_public": subjects.public_view("room", "table"),
        "view_player": subjects.player_view("room", "table", "player"),
        "account": subjects.balance("player"),
    }


def test_every_subject_family_has_its_channel() -> None:
    """The families are those at the top of contracts/subjects.py."""
    families = set(re.findall(r"^    (\w+)\.<?\w+", subjects.__doc__ or "", flags=re.MULTILINE))
    assert len(families) == 13
    assert {channel["address"].split(".")[0] for channel in CHANNELS.values() if channel["address"]} == families


def test_the_parameters_list_who_and_what_there_is() -> None:
    known = DOCUMENT["components"]["parameters"]
    assert known["service"]["enum"] == list(SERVICES)
    assert known["fact"]["enum"] == list(EMITTERS)
    assert known["kind"]["enum"] == list(get_args(ActorKind.__value__))


def test_whoever_asks_gets_one_of_the_answers_named() -> None:
    """Commands and queries are requests: exactly they have a reply, on the reply subject of the request."""
    asked = {name for name in CHANNELS if name in ("command", "cashier") or name.startswith("query_")}
    replies = {
        operation["channel"]["$ref"].removeprefix("#/channels/"): operation["reply"]
        for operation in OPERATIONS.values()
        if "reply" in operation
    }
    assert set(replies) == asked == set(ANSWERS)
    for name, reply in replies.items():
        assert reply["channel"] == {"$ref": "#/channels/answer"}
        assert re.fullmatch(r"\$message\.header#/\w+", reply["address"]["location"])
        answers = [each["$ref"].removeprefix("#/channels/answer/messages/") for each in reply["messages"]]
        assert answers == [message_name(struct) for struct in ANSWERS[name]]
        assert set(answers) <= CHANNELS["answer"]["messages"].keys()


def test_only_commands_and_their_answers_are_told_apart_by_a_tag() -> None:
    """Several messages share a channel only where each says in `type` which one it is."""
    for channel in CHANNELS.values():
        payloads = [resolved(MESSAGES[name]["payload"]["$ref"], "asyncapi.json") for name in channel["messages"]]
        assert len(payloads) == 1 or all("type" in payload["required"] for payload in payloads)


def test_the_services_do_what_their_accounts_allow() -> None:
    """Who sends, receives and answers what is what the server's permissions say, subject by subject."""
    assert described() == granted()


def described() -> dict[str, set[tuple[str, str]]]:
    """Account -> what its service does by the document: (does, subject)."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for operation in OPERATIONS.values():
        (tag,) = operation["tags"]
        service = tag["name"]
        address = resolved(operation["channel"]["$ref"], "asyncapi.json")["address"].replace("{service}", "{room}")
        subject = re.sub(r"\{\w+\}", "*", address)
        does = "answers" if "reply" in operation else operation["action"]
        if does == "send" and subject.split(".")[0] == "table":
            subject = f"table.*.*.{service}.*"
        if does == "send" and subject.split(".")[0] == "heads":
            subject = f"heads.{service}.*.*"
        if does == "send" and subject.split(".")[0] == "command":
            subject = f"command.*.*.{service}.*"
        if subject.startswith(("heads.*", "refused.", "ledger_heads.", "ledger_refused.")) and does == "receive":
            continue  # read from a stream, by requests to the server
        whose = re.search(r"\{(kind|asker|payer)\}", address)
        told_apart = whose is not None and does == "answers"
        kinds = DOCUMENT["components"]["parameters"][whose[1]]["enum"] if whose is not None and told_apart else [""]
        for kind in kinds:
            found[USERS[service]].add((does, re.sub(r"\.\*\.\*$", f".{kind}.*", subject) if kind else subject))
    return dict(found)


def granted() -> dict[str, set[tuple[str, str]]]:
    """The same by the accounts: what a service exports it answers or shows, what it imports it sends or follows."""
    block = accounts(dict.fromkeys(USERS, "secret"))
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for service in (*SERVICES, "cashier", "views", "replay"):
        account = USERS[service]
        for export in block[account]["exports"]:
            found[account].add(("answers", export["service"]) if "service" in export else ("send", export["stream"]))
        for each in block[account]["imports"]:
            subject = (each.get("service") or each["stream"])["subject"]
            if "stream" in each:
                found[account].add(
                    ("receive", subject.replace("fact.>", "fact.*.*.*.*").replace("entry.>", "entry.house.*.cashier.*"))
                )
            elif not subject.startswith("$JS."):
                found[account].add(("send", subject))
    return dict(found)
