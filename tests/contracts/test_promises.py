"""What clients were promised: a type or a code that was ever sent never goes away, and never means anything else."""

import json
from pathlib import Path
from typing import get_args

from contracts.outcomes import Code
from tests.contracts.shapes import STRUCTS, tag

PROMISED = Path(__file__).with_name("promised.json")
"""Every `code` and every `type` with the contract that it names, for ever. New ones are added."""


def now() -> dict[str, list[str]]:
    named = sorted(f"{tag(struct)}: {struct.__name__}" for struct in STRUCTS if struct.__struct_config__.tag)
    return {"codes": list(get_args(Code.__value__)), "types": named}


def test_nothing_that_was_promised_is_gone() -> None:
    """DESIGN 2: a new meaning is a new tag. Clients in any language know these by heart."""
    promised, known = json.loads(PROMISED.read_text(encoding="utf-8")), now()
    gone = {kind: sorted(set(promised[kind]) - set(known[kind])) for kind in promised}
    assert gone == {"codes": [], "types": []}


def test_everything_that_is_sent_is_promised() -> None:
    promised, known = json.loads(PROMISED.read_text(encoding="utf-8")), now()
    new = {kind: sorted(set(known[kind]) - set(promised[kind])) for kind in known}
    assert new == {"codes": [], "types": []}, f"add them to {PROMISED.name}, and never take them out again: {new}"
