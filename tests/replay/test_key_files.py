"""Files of hand keys are somebody's: what is none is told in a sentence."""

from pathlib import Path

import pytest

from services.command_line.key_files import keys_of
from services.command_line.refusals import WrongArgument


@pytest.mark.parametrize("opening", [b'[{"type":"hand_key","x":', b'{"type":"hand_key","x":'])
def test_a_file_nested_too_deeply_is_no_file_of_hand_keys(opening: bytes, tmp_path: Path) -> None:
    """It once ended `croupier verify` in a traceback."""
    path = tmp_path / "keys.json"
    path.write_bytes(opening + b"[" * 100_000)
    with pytest.raises(WrongArgument) as raised:
        keys_of([path], "T1")
    assert str(raised.value) == f"{path} is no file of hand keys: nested too deeply"
