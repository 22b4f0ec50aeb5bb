"""The bus in AsyncAPI 3.0: every subject family, what is sent there, which service sends, receives and answers it.

The document describes the house as one application: `receive` is what a service takes in, `send` what it puts out,
and an operation's tag is the service. Payloads are the definitions of the JSON Schema files beside it.
"""

from typing import Final

from contracts.commands import COMMAND_VERSION
from contracts.commit import COMMIT_VERSION
from contracts.schema.channels import CHANNELS, PARAMETERS, Channel, message_name
from contracts.schema.groups import file_of
from contracts.schema.operations import OPERATIONS, Operation
from contracts.schema.text import Json, summary

_VERSION: Final = f"{COMMIT_VERSION}.{COMMAND_VERSION}.0"
_REPLY_ADDRESS: Final = {
    "location": "$message.header#/reply",
    "description": "The reply subject of the request, which the client's library makes.",
}


def document() -> Json:
    """The whole AsyncAPI document."""
    structs = {struct for channel in CHANNELS.values() for struct in channel.messages}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Croupier",
            "version": _VERSION,
            "description": "What crosses the bus of a Croupier card room, on NATS subjects. The version is that of the "
            "commits' format, then of the commands'. Generated from the contracts by `python -m contracts.schema`.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {name: _channel(channel) for name, channel in CHANNELS.items()},
        "operations": {operation.name: _operation(operation) for operation in OPERATIONS},
        "components": {
            "messages": {
                message_name(struct): {
                    "name": message_name(struct),
                    "title": struct.__name__,
                    "summary": summary(struct.__doc__),
                    "payload": {"$ref": f"./{file_of(struct)}#/$defs/{struct.__name__}"},
                }
                for struct in sorted(structs, key=message_name)
            },
            "parameters": PARAMETERS,
        },
    }


def _channel(channel: Channel) -> Json:
    return {
        "address": channel.address,
        "description": channel.description,
        "messages": {
            message_name(struct): {"$ref": f"#/components/messages/{message_name(struct)}"}
            for struct in channel.messages
        },
        **(
            {"parameters": {name: {"$ref": f"#/components/parameters/{name}"} for name in channel.parameters}}
            if channel.parameters
            else {}
        ),
    }


def _operation(operation: Operation) -> Json:
    reply = {
        "address": _REPLY_ADDRESS,
        "channel": {"$ref": "#/channels/answer"},
        "messages": [{"$ref": f"#/channels/answer/messages/{message_name(each)}"} for each in operation.answers],
    }
    return {
        "action": operation.action,
        "channel": {"$ref": f"#/channels/{operation.channel}"},
        "summary": operation.summary,
        "tags": [{"name": operation.service}],
        **({"reply": reply} if operation.answers else {}),
    }
